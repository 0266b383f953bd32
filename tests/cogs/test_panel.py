"""`/panel start` and `/panel stop` as people meet them: every wrong input has a clear answer, in both languages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.http import router

from bot.meeting.display import display
from bot.meeting.model import MeetingState
from bot.panel.presets import PRESETS, presets
from bot.panel.roles import Plan, check
from bot.phrases import t
from bot.rehearsal.shims import webhook_in_thread
from bot.store import meetings, panels
from tests.cogs.real import Product, product

LOCALES = {"en": "en-US", "ja": "ja"}
TWO = {
    "en": "Design: fun within three minutes; Build: what we can finish",
    "ja": "企画：三分で面白い；開発：作り切れる",
}


@asynccontextmanager
async def panelling(tmp_path: Path, monkeypatch: Any, language: str = "en") -> AsyncIterator[Product]:
    dispatch = router.dispatch

    def in_threads(backend: Any, method: str, path: str, **kwargs: Any) -> Any:
        with webhook_in_thread(backend, path.strip("/").split("/"), kwargs.get("params")):
            return dispatch(backend, method, path, **kwargs)

    monkeypatch.setattr(router, "dispatch", in_threads)
    async with product(tmp_path, monkeypatch) as world:
        world.locale = LOCALES[language]
        yield world


async def begin(world: Product, who: Any = None, channel: Any = None, **options: Any) -> str:
    given = {"topic": "A new game", "roles": TWO["en"], "turns": 4, "language": "en"} | options
    return await world.slash(who or world.chair, "panel start", channel, **given)


def thread_of(world: Product) -> Any:
    return max(world.channel.threads, key=lambda thread: thread.id)


def told(world: Product, channel: Any) -> list[Any]:
    """All messages of a channel or thread, oldest first."""
    found = world.env.backend.messages.get(channel.id, {}).values()
    return sorted((m for m in found if m.type in (0, 19)), key=lambda m: m.id)


def spoken(world: Product, channel: Any) -> list[tuple[str, str]]:
    """(name, text) of what panelists said through the webhook."""
    return [(m.author_name, m.content) for m in told(world, channel) if m.webhook_id is not None]


ROLE = "x" * 2_000
WRONG: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("one role", {"roles": "Design: fun"}, "role_count", {"count": 1, "fewest": 2, "most": 5}),
    (
        "six roles",
        {"roles": ";".join(f"Role {n}: stands for {n}" for n in range(6))},
        "role_count",
        {"count": 6, "fewest": 2, "most": 5},
    ),
    (
        "five of one name",
        {"roles": ";".join(["Design: fun"] * 5)},
        "names_same",
        {"name": "Design", "count": 5},
    ),
    (
        "one name in two widths",
        {"roles": "Design: a;Ｄｅｓｉｇｎ: b"},
        "names_same",
        {"name": "Ｄｅｓｉｇｎ", "count": 2},
    ),
    ("no standpoint", {"roles": "Design: fun;Build:"}, "standpoint_missing", {"name": "Build"}),
    ("no name", {"roles": "Design: fun;: cheap"}, "name_missing", {"standpoint": "cheap"}),
    ("no colon", {"roles": "Design: fun;Build"}, "role_form", {"start": "Build"}),
    ("a facilitator", {"roles": "Design: fun;Facilitator: order"}, "name_taken", {"name": "Facilitator"}),
    ("an assistant", {"roles": "Design: fun;アシスタント: record"}, "name_taken", {"name": "アシスタント"}),
    ("Clyde", {"roles": "Design: fun;Clyde: jokes"}, "name_taken", {"name": "Clyde"}),
    (
        "discord in the name",
        {"roles": "Design: fun;My DISCORD bot: jokes"},
        "name_taken",
        {"name": "My DISCORD bot"},
    ),
    (
        "a mention",
        {"roles": "Design: fun;<@123>: jokes"},
        "name_characters",
        {"name": "<@123>", "found": "< @ >"},
    ),
    (
        "markdown",
        {"roles": "**Design**: fun;Build: cheap"},
        "name_characters",
        {"name": "**Design**", "found": "*"},
    ),
    (
        "2,000 characters",
        {"roles": f"Design: fun;Build: {ROLE}"},
        "standpoint_long",
        {"name": "Build", "length": 2_000, "most": 300},
    ),
    (
        "a name of 2,000",
        {"roles": f"Design: fun;{ROLE}: cheap"},
        "name_long",
        {"start": ROLE[:20], "length": 2_000, "most": 32},
    ),
    ("no turns", {"turns": 0}, "turns", {"turns": 0, "fewest": 1, "most": 60}),
    ("61 turns", {"turns": 61}, "turns", {"turns": 61, "fewest": 1, "most": 60}),
    ("a cap of 0", {"cost_cap": 0.0}, "cost", {"cap": "0", "most": "1000"}),
    ("a negative cap", {"cost_cap": -1.0}, "cost", {"cap": "-1", "most": "1000"}),
    ("an empty topic", {"topic": " \u200b"}, "topic_missing", {}),
]


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_every_wrong_input_has_a_clear_answer(tmp_path: Path, monkeypatch: Any, language: str) -> None:
    async with panelling(tmp_path, monkeypatch, language) as world:
        for what, options, key, values in WRONG:
            options = {name.replace("_", "-"): value for name, value in options.items()}
            shown = {k: display(v, 500) if isinstance(v, str) else v for k, v in values.items()}
            expected = t(f"panel.error.{key}", language, **shown)
            assert await begin(world, **options) == expected, what
        assert told(world, world.channel) == [], "nothing was posted"
        assert world.channel.threads == []
        given = {"topic": "A new game", "turns": 4}
        assert await world.slash(world.chair, "panel start", **given) == t(
            "panel.error.roles_missing", language
        )
        assert await world.slash(world.chair, "panel stop") == t("panel.error.no_panel", language)


async def test_a_panel_opens_a_thread_and_everybody_speaks_under_their_own_name(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        text = await begin(world, constraints="The CEO must be an AI")
        thread = thread_of(world)
        assert f"<#{thread.id}>" in text
        assert "🤖 Design, 🤖 Build" in text
        assert t("panel.reply.marker", "en") in text
        await world.run(60)
        said = spoken(world, thread)
        assert [name for name, _ in said] == ["🤖 Design", "🤖 Build"] * 2
        assert len({words for _, words in said}) == 4
        await world.run(120)
        files = [a["filename"] for m in told(world, thread) for a in m.attachments]
        assert files == ["minutes.md"]
        # Nobody took the webhook's messages for a person's.
        stored = await _panel(world, thread)
        assert stored is not None
        assert stored.stop_reason == "turns"


async def _panel(world: Product, thread: Any) -> Any:
    async def work(c: Any) -> Any:
        meeting = await meetings.latest_in(c, world.guild.id, thread.id)
        assert meeting is not None
        return await panels.get(c, meeting.id)

    return await world.app.db.unit(work)


async def test_people_write_in_the_thread_at_any_time_and_confirm(tmp_path: Path, monkeypatch: Any) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        await begin(world, turns=6)
        thread = thread_of(world)
        await world.run(11)
        await world.say(world.guest, "Decision: the trial is out in August", channel=thread)
        await world.run(20)
        proposal = next(m for m in told(world, thread) if m.webhook_id and m.content.startswith("Proposal:"))
        assert any(r.emoji == "🤖" for r in proposal.reactions)
        await world.run(20)
        question = next(m for m in told(world, thread) if m.webhook_id and "Question:" in m.content)
        message = next(m for m in thread.history() if m.id == question.id)
        await world.do(world.guest.react(message, "✅"))
        room = world.app.meetings.rooms_of(world.guild.id)[0]
        asked = next(i for i in room.view.open_questions if i.original.message_id == question.id)
        assert asked.confirmed_by == ("suzuki",)
        assert not asked.panels
        decided = room.view.decisions[0]
        assert (decided.text, decided.status) == ("the trial is out in August", "confirmed")


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_without_manage_webhooks_names_stand_in_front_and_it_says_so_once(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with panelling(tmp_path, monkeypatch, language) as world:
        denied = discord.PermissionOverwrite(manage_webhooks=False)
        channel = world.guild.create_text_channel("plain", overwrites={world.guild.default_role: denied})
        text = await begin(world, channel=channel, roles=TWO[language], language=language)
        assert t("panel.reply.no_webhooks", language) in text
        thread = max(channel.threads, key=lambda one: one.id)
        await world.run(60)
        assert spoken(world, thread) == []
        said = [m.content for m in told(world, thread)]
        names = [s.split("\n")[0] for s in said if s.startswith("**🤖")]
        roles = ["Design", "Build"] if language == "en" else ["企画", "開発"]
        assert names == [f"**🤖 {name}**" for name in roles * 2]
        assert sum(s == t("panel.no_webhook.forbidden", language) for s in said) == 1


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_a_webhook_deleted_in_between_is_missed_once(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with panelling(tmp_path, monkeypatch, language) as world:
        await begin(world, roles=TWO[language], language=language)
        thread = thread_of(world)
        await world.run(12)
        assert len(spoken(world, thread)) == 1
        (webhook_id,) = world.env.backend.webhooks
        world.env.backend.delete_webhook(webhook_id)
        await world.run(50)
        said = [m.content for m in told(world, thread)]
        assert len(spoken(world, thread)) == 1
        assert sum(s.startswith("**🤖") for s in said) == 3
        assert sum(s == t("panel.no_webhook.deleted", language) for s in said) == 1
        assert world.env.backend.webhooks == {}, "not made again against somebody's will"


async def test_the_webhook_of_an_earlier_panel_is_used_again(tmp_path: Path, monkeypatch: Any) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        for _ in range(2):
            await begin(world, turns=1)
            await world.run(200)
        assert len(world.env.backend.webhooks) == 1
        assert len(world.channel.threads) == 2


async def test_within_a_thread_or_a_post_it_is_held_right_there(tmp_path: Path, monkeypatch: Any) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        await begin(world, turns=1)
        thread = thread_of(world)
        assert await begin(world, channel=thread) == t("error.already_open", "en")
        await world.run(200)
        await begin(world, channel=thread, turns=2)
        await world.run(30)
        assert len(spoken(world, thread)) == 3
        assert len(world.channel.threads) == 1


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_without_the_right_to_open_threads_it_says_which_it_needs(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with panelling(tmp_path, monkeypatch, language) as world:
        denied = discord.PermissionOverwrite(create_public_threads=False)
        channel = world.guild.create_text_channel("flat", overwrites={world.guild.default_role: denied})
        name = t("reply.permission.create_public_threads", language)
        assert await begin(world, channel=channel) == t("panel.error.permissions", language, permissions=name)


async def test_a_role_named_like_a_member_carries_the_mark_everywhere(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        text = await begin(world, roles="sato: says yes;suzuki: says no", turns=2)
        assert t("panel.reply.marker", "en") in text
        await world.run(40)
        assert [name for name, _ in spoken(world, thread_of(world))] == ["🤖 sato", "🤖 suzuki"]
        room = world.app.meetings.rooms_of(world.guild.id)[0]
        assert [s.name for s in room.ranked_speakers if s.user_id < 0] != []
        assert all(s.name.startswith("🤖 ") for s in room.ranked_speakers)


@pytest.mark.parametrize("language", ["en", "ja"])
async def test_the_chair_and_manage_server_stop_it(tmp_path: Path, monkeypatch: Any, language: str) -> None:
    async with panelling(tmp_path, monkeypatch, language) as world:
        await begin(world, turns=30)
        thread = thread_of(world)
        await world.run(20)
        assert await world.slash(world.guest, "panel stop", thread) == t(
            "panel.error.rights", language, chair="sato"
        )
        assert await world.slash(world.manager, "panel stop", thread) == t("panel.reply.stopped", language)
        assert await world.slash(world.chair, "panel stop", thread) == t("panel.error.ended", language)
        before = len(spoken(world, thread))
        await world.run(5)
        room = world.app.meetings.rooms_of(world.guild.id)[0]
        assert room.meeting.state is MeetingState.READ_BACK
        await world.run(120)
        assert len(spoken(world, thread)) == before
        assert await world.slash(world.chair, "panel stop", thread) == t("panel.error.no_panel", language)


async def test_without_a_topic_a_form_opens_with_the_presets_roles(tmp_path: Path, monkeypatch: Any) -> None:
    async with panelling(tmp_path, monkeypatch) as world:
        shown = await world.do(world.chair.slash(world.channel, "panel start", preset="product", turns=2))
        assert shown.modal is not None
        assert "Engineering: only what a small team can finish" in str(shown.modal)
        filled = {
            "topic": "A new game",
            "agenda": "Core loop",
            "constraints": "",
            "roles": "Design: fun within three minutes\nBuild: what we can finish",
            "turns": "２回",
        }
        result = await world.do(world.chair.submit_modal(shown, filled))
        assert "🤖 Design, 🤖 Build" in world.answered(result)
        await world.run(60)
        assert len(spoken(world, thread_of(world))) == 2
        shown = await world.do(world.chair.slash(world.channel, "panel start", preset="product"))
        result = await world.do(world.chair.submit_modal(shown, filled | {"turns": "many"}))
        assert world.answered(result) == t("panel.error.turns", "en", turns="many", fewest=1, most=60)


def test_every_preset_can_be_used_in_both_languages() -> None:
    for language in ("en", "ja"):
        found = presets(language)  # type: ignore[arg-type]
        assert tuple(found) == PRESETS
        for roles in found.values():
            assert check(Plan(roles)).roles == roles
    assert [len(presets("ja")[key]) for key in PRESETS] == [len(presets("en")[key]) for key in PRESETS]
