"""`/settings` as an administrator meets it, on the whole product, and that what is set is what happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.meeting.model import LANGUAGES, Activity, Route
from bot.phrases import t
from bot.store import generations, meetings, transcript
from tests.cogs.real import MANAGE, Product, product
from tests.fakes import FakeGemini


async def change(world: Product, **options: Any) -> str:
    return await world.slash(world.manager, "settings set", **options)


async def meeting(world: Product, number: int) -> Any:
    return await world.app.db.unit(lambda c: meetings.get(c, number))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_set_is_shown_and_holds_for_the_next_meeting(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = "ja" if language == "ja" else "en-US"
        text = await change(world, language="ja", activity="quiet", **{"transcript-days": 30})
        assert t("reply.settings_saved", language) in text
        shown = await world.slash(world.manager, "settings show")
        for part in (
            t("reply.language.ja", language),
            t("reply.activity.quiet", language),
            t("reply.settings_kept_ledger", language, days=30),
            "Asia/Tokyo",
            t("reply.settings_everyone", language),
        ):
            assert part in shown
        made = await meeting(world, await world.meet((world.chair, "決定：価格は980円")))
        assert (made.language, made.timezone, made.activity) == ("ja", "Asia/Tokyo", Activity.QUIET)
        board = world.mine(world.channel.id)
        assert any("議事録" in m.content + str(m.embeds) for m in board)


async def test_the_time_zone_is_the_servers_else_japans_else_the_applications(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with product(tmp_path, monkeypatch, timezone="Europe/Paris") as world:
        assert (await meeting(world, await world.meet())).timezone == "Europe/Paris"
        assert (await meeting(world, await world.meet(language="ja"))).timezone == "Asia/Tokyo"
        await change(world, timezone="america/new york")
        assert (await meeting(world, await world.meet(language="ja"))).timezone == "America/New_York"
        await change(world, timezone="default")
        assert (await meeting(world, await world.meet())).timezone == "Europe/Paris"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_cannot_be_used_is_refused_in_words_and_changes_nothing(
    tmp_path: Path, monkeypatch: Any, language: str
) -> None:
    async with product(tmp_path, monkeypatch, messages_per_day=500) as world:
        world.locale = "ja" if language == "ja" else "en-US"
        before = await world.slash(world.manager, "settings show")
        refusals: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
            ({}, "settings_nothing", {}),
            ({"timezone": "Tokyo Time"}, "settings_timezone", {"entered": "Tokyo Time"}),
            ({"model": "gemini-9"}, "settings_model", {"model": "gemini-9", "known": "offline"}),
            ({"route": "minutes"}, "settings_model_missing", {}),
            ({"messages_per_day": 501}, "settings_range", {"most": 500}),
            ({"generations_per_day": -1}, "settings_range", {"most": 2000}),
            ({"transcript_days": 3651}, "settings_range", {"most": 3650}),
            ({"cost_per_day": -0.5}, "settings_cost", {"most": "∞"}),
            ({"ledger_days": 10}, "settings_ledger_shorter", {"days": 90}),
        ]
        for options, key, values in refusals:
            given = {**options, "activity": "active"} if options else {}
            assert await change(world, **_named(given)) == t(f"error.{key}", language, **values), options
        assert await world.slash(world.manager, "settings show") == before


def _named(options: dict[str, Any]) -> dict[str, Any]:
    return {
        name.replace("_", "-") if name.endswith(("_day", "_days", "_role")) else name: v
        for name, v in options.items()
    }


async def test_zones_and_models_are_suggested(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        found = await world.manager.autocomplete(world.channel, "settings set", "timezone", "toky")
        assert [choice["value"] for choice in found] == ["Asia/Tokyo"]
        found = await world.manager.autocomplete(world.channel, "settings set", "timezone", "new york")
        assert found[0]["value"] == "America/New_York"
        found = await world.manager.autocomplete(world.channel, "settings set", "model", "")
        assert [choice["value"] for choice in found] == ["default", "offline"]
        found = await world.manager.autocomplete(world.channel, "settings set", "timezone", "")
        assert 1 < len(found) <= 25


async def test_only_the_chosen_role_starts_meetings(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        role = world.guild.create_role("leads")
        lead = world.guild.add_member(world.env.create_user("mori"), roles=[role])
        await change(world, **{"starter-role": role})
        assert await world.slash(world.chair, "meeting start", title="A") == t("error.may_not_start", "en")
        assert "A" in await world.slash(lead, "meeting start", title="A")
        other = world.guild.create_text_channel("other")
        assert "B" in await world.slash(world.manager, "meeting start", other, title="B")
        await change(world, **{"starter-role": world.guild.default_role})
        third = world.guild.create_text_channel("third")
        assert "C" in await world.slash(world.chair, "meeting start", third, title="C")


async def test_a_route_is_asked_of_the_model_its_server_chose(tmp_path: Path, monkeypatch: Any) -> None:
    async with FakeGemini() as gemini:
        options = {
            "model": "gemini-3.8-flash",
            "gemini_base_url": gemini.url,
            "models": "gemini-3.5-flash-lite",
        }
        async with product(tmp_path, monkeypatch, **options) as world:
            await change(world, route="turn", model="gemini-3.5-flash-lite")
            shown = await world.slash(world.manager, "settings show")
            assert f"gemini-3.5-flash-lite: {t('reply.route.turn', 'en')}" in shown
            number = await world.meet(
                (world.chair, "Good morning."), (world.guest, "Decision: we ship on Friday")
            )
            made = await world.app.db.unit(lambda c: generations.everything(c, number))
            asked = {(g.route, g.model) for g in made}
            assert (Route.TURN, "gemini-3.5-flash-lite") in asked
            assert (Route.MINUTES, "gemini-3.8-flash") in asked
            assert {r.model for r in gemini.requests} == {"gemini-3.8-flash", "gemini-3.5-flash-lite"}
            await change(world, model="offline")
            before = len(gemini.requests)
            await world.meet((world.chair, "Decision: we ship on Monday"))
            assert len(gemini.requests) == before


async def test_beyond_the_generations_of_a_day_no_model_is_asked_and_minutes_come_all_the_same(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with FakeGemini() as gemini:
        options = {"model": "gemini-3.8-flash", "gemini_base_url": gemini.url}
        async with product(tmp_path, monkeypatch, **options) as world:
            await change(world, **{"generations-per-day": 2})
            number = await world.meet(
                (world.chair, "Good morning."),
                (world.guest, "Decision: we ship on Friday"),
                (world.chair, "Decision: the price is 9 euros"),
            )
            made = await world.app.db.unit(lambda c: generations.everything(c, number))
            assert [g.model for g in made].count("gemini-3.8-flash") == 2
            assert {g.model for g in made[2:]} == {"offline"}
            texts = [m.content + str(m.embeds) for m in world.mine()]
            assert sum(t("notice.cap_model", "en") in text for text in texts) == 1
            exported = await world.app.minutes_export(number)
            assert exported is not None
            assert [d["text"] for d in exported["document"]["decisions"]] == [
                "we ship on Friday",
                "the price is 9 euros",
            ]
            asked = len(gemini.requests)
            await world.run(86_400)
            await world.meet((world.chair, "Good morning."))
            assert len(gemini.requests) > asked, "a new day is a new allowance"


async def test_the_board_says_that_a_cap_is_reached(tmp_path: Path, monkeypatch: Any) -> None:
    async with FakeGemini() as gemini:
        options = {"model": "gemini-3.8-flash", "gemini_base_url": gemini.url, "generations_per_day": 1}
        async with product(tmp_path, monkeypatch, **options) as world:
            await world.slash(world.chair, "meeting start", title="Launch", minutes=30)
            await world.run(20)
            await world.say(world.chair, "Decision: we ship on Friday")
            assert any(t("board.limited", "en") in str(m.embeds) for m in world.mine())


async def test_beyond_the_messages_of_a_day_only_what_is_marked_is_recorded(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await change(world, **{"messages-per-day": 2})
        number = await world.meet(
            (world.chair, "Good morning."),
            (world.guest, "Hello."),
            (world.guest, "This is one too many."),
            (world.chair, "Decision: we ship on Friday"),
        )
        stored = await world.app.db.unit(lambda c: transcript.everything(c, number))
        assert [m.text for m in stored] == ["Good morning.", "Hello.", "Decision: we ship on Friday"]
        notices = [m for m in world.mine() if m.content == t("notice.cap_messages", "en")]
        assert len(notices) == 1
        exported = await world.app.minutes_export(number)
        assert exported is not None
        assert [d["text"] for d in exported["document"]["decisions"]] == ["we ship on Friday"]


async def test_a_restart_remembers_what_was_used(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.chair, "Good morning."), (world.guest, "Hello."))
        world.app.core.policy._today.clear()  # as in a new process
        shown = await world.slash(world.manager, "settings show")
        assert "2 of 20000" in shown


async def test_beyond_the_cost_of_a_day_no_model_is_asked(tmp_path: Path, monkeypatch: Any) -> None:
    async with FakeGemini() as gemini:
        options = {"model": "gemini-2.5-flash", "gemini_base_url": gemini.url, "models": "gemini-3.9-flash"}
        async with product(tmp_path, monkeypatch, **options) as world:
            unpriced = await change(world, **{"model": "gemini-3.9-flash", "cost-per-day": 1.0})
            assert unpriced == t("error.settings_no_price", "en", model="gemini-3.9-flash")
            # One answer of the stand-in: 120 tokens in, 100 of them cached, 42 out; its version has no price.
            await change(world, **{"cost-per-day": 0.0002})
            number = await world.meet(
                (world.chair, "Good morning."),
                (world.guest, "Decision: we ship on Friday"),
                (world.chair, "Yes."),
            )
            made = await world.app.db.unit(lambda c: generations.everything(c, number))
            asked = [g for g in made if g.model == "gemini-2.5-flash"]
            assert 0 < len(asked) < len(made)
            assert made[-1].model == "offline"
            assert "of 0.0002" in await world.slash(world.manager, "settings show")


async def test_one_server_changes_nothing_on_another(tmp_path: Path, monkeypatch: Any) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await change(world, language="ja", activity="quiet", **{"messages-per-day": 1})
        there = world.env.create_guild("Elsewhere")
        channel = there.create_text_channel("general")
        admins = there.create_role("admins", permissions=MANAGE)
        boss = there.add_member(world.env.create_user("boss"), roles=[admins])
        shown = await world.slash(boss, "settings show", channel)
        assert t("reply.language.en", "en") in shown
        assert t("reply.activity.normal", "en") in shown
        assert "0 of 20000" in shown
        await world.meet((world.chair, "Good morning."), (world.guest, "Hello."))
        assert "0 of 20000" in await world.slash(boss, "settings show", channel)


async def test_discord_shows_settings_only_to_those_who_may_change_them(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        payload = world.bot.tree.get_command("settings").to_dict(world.bot.tree)  # type: ignore[union-attr]
        assert payload["default_member_permissions"] == MANAGE.value
