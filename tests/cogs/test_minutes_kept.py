"""Minutes that found no channel: who can see them from elsewhere on the server, and who cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.backend.models import Overwrite

from bot.phrases import t
from bot.store import audit
from tests.cogs.real import MANAGE, Product, product
from tests.cogs.test_experience import LANGUAGES, end, hidden_channel, start, thread

OF_A_MEMBER = 1  # the kind of an overwrite
MARKED = {"ja": "決定：価格は980円", "en": "Decision: the price is 9 euros"}
both_languages = pytest.mark.parametrize(("language", "locale"), LANGUAGES)


async def lose(world: Product, language: str, place: Any, how: str, title: str = "定例") -> int:
    """A meeting in `place` whose channel is taken away before its minutes; its number."""
    await start(world, place, title=title, language=language)
    await world.say(world.chair, MARKED[language], channel=place)
    live: Any = world.bot.get_channel(place.id)
    if how == "gone":
        await world.do(live.delete())
    else:
        await world.do(live.set_permissions(live.guild.me, view_channel=False, send_messages=False))
    await world.run(2 * 3600)
    return max(await world.app.db.unit(audit.meeting_ids))


def files(world: Product) -> list[str]:
    """Of the last answer."""
    return [attachment.filename for attachment in world.last.attachments]


async def refused(world: Product, who: Any, number: int, channel: Any = None) -> bool:
    language = "ja" if world.locale == "ja" else "en"
    for name in ("minutes show", "minutes export"):
        answer = await world.slash(who, name, channel, meeting=number)
        if answer != t("error.no_minutes_here", language) or files(world):
            return False
    return True


@pytest.mark.parametrize("how", ["gone", "forbidden"])
@both_languages
async def test_the_chair_and_managers_see_them_from_any_channel_and_nobody_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, locale: str, how: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        number = await lose(world, language, world.guild.create_text_channel("lost"), how)
        stored = await world.app.minutes_export(number)
        assert stored is not None
        assert "980" in stored["text"] or "9 euros" in stored["text"]
        for who in (world.chair, world.manager):
            assert "定例" in await world.slash(who, "minutes show", meeting=number)
            assert files(world) == ["minutes.md"]
            for form in ("md", "json", "csv"):
                await world.slash(who, "minutes export", meeting=number, form=form)
                (name,) = files(world)
                assert str(number) in name
                assert name.endswith(form)
        assert await refused(world, world.guest, number)


async def test_those_of_a_meeting_in_a_thread_that_is_gone_are_kept_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        inside = thread(world, world.channel, "topic")
        number = await lose(world, "en", inside, "gone")
        for who in (world.chair, world.manager):  # the manager reads its channel, and so read the thread
            await world.slash(who, "minutes show", meeting=number)
            assert files(world) == ["minutes.md"]
        assert await refused(world, world.guest, number)


async def hears_nothing(world: Product, who: Any, language: str, number: int) -> bool:
    """Neither minutes nor a title: not by the number, not in the answer without one, not among suggestions."""
    nothing = t("error.no_minutes_here", language)
    told = [await world.slash(who, name) for name in ("minutes show", "minutes export")]
    offered = [
        await who.autocomplete(world.channel, name, "meeting", "")
        for name in ("minutes show", "minutes export")
    ]
    return await refused(world, who, number) and told == [nothing] * 2 and offered == [[], []]


async def sees(world: Product, who: Any, number: int) -> bool:
    await world.slash(who, "minutes show", meeting=number)
    shown = files(world)
    await world.slash(who, "minutes export", meeting=number)
    offered = await who.autocomplete(world.channel, "minutes show", "meeting", "")
    named = await world.slash(who, "minutes show")
    return shown == ["minutes.md"] and [c["value"] for c in offered] == [number] and "PELICAN" in named


@pytest.mark.parametrize("then", ["gone", "readable"])
@both_languages
async def test_a_private_channel_closed_to_the_bot_keeps_its_minutes_from_managers_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, locale: str, then: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        private = hidden_channel(world)
        number = await lose(world, language, private, "forbidden", title="PELICAN")
        assert await hears_nothing(world, world.manager, language, number)
        assert await sees(world, world.chair, number)
        if then == "gone":
            world.env.backend.delete_channel(private.id)
        else:
            let_in = Overwrite(
                world.manager.id, OF_A_MEMBER, allow=discord.Permissions(view_channel=True).value
            )
            world.env.backend.set_overwrite(private.id, let_in)
        await world.run(1)
        assert await sees(world, world.manager, number)
        assert await hears_nothing(world, world.guest, language, number)


@both_languages
async def test_a_thread_that_is_not_known_any_more_may_be_there_and_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        inside = thread(world, world.channel, "topic", private=True)
        number = await lose(world, language, inside, "gone", title="PELICAN")
        assert await hears_nothing(world, world.manager, language, number)
        assert await sees(world, world.chair, number)


async def test_a_public_thread_is_judged_by_its_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        private = hidden_channel(world)
        number = await lose(world, "en", thread(world, private, "topic"), "gone", title="PELICAN")
        assert await hears_nothing(world, world.manager, "en", number)
        live: Any = world.bot.get_channel(private.id)
        await world.do(live.delete())
        assert await sees(world, world.manager, number)


async def test_of_a_server_that_is_not_known_whole_no_channel_counts_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        number = await lose(world, "en", world.guild.create_text_channel("lost"), "gone", title="PELICAN")
        guild: Any = world.bot.get_guild(world.guild.id)
        guild.unavailable = True
        assert await hears_nothing(world, world.manager, "en", number)
        guild.unavailable = False
        assert await sees(world, world.manager, number)


async def test_no_right_reaches_into_another_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with product(tmp_path, monkeypatch) as world:
        number = await lose(world, "en", world.guild.create_text_channel("lost"), "gone")
        twin = world.env.create_guild("Twin")
        general = twin.create_text_channel("general")
        admins = twin.create_role("admins", permissions=MANAGE)
        chair_there = twin.add_member(world.chair.user, roles=[admins])
        assert await refused(world, chair_there, number, general)
        assert await world.slash(chair_there, "minutes show", general) == t("error.no_minutes_here", "en")
        assert await chair_there.autocomplete(general, "minutes show", "meeting", "") == []


async def test_minutes_that_stand_in_their_channel_stay_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may read the channel goes on deciding, also for the chair: it may have been taken from them since."""
    async with product(tmp_path, monkeypatch) as world:
        place = world.guild.create_text_channel("place")
        number = await world.meet((world.chair, MARKED["en"]), channel=place, language="en")
        for who in (world.chair, world.manager, world.guest):
            assert await refused(world, who, number)
            await world.slash(who, "minutes show", place, meeting=number)
            assert files(world) == ["minutes.md"]


@both_languages
async def test_without_a_number_the_chair_is_told_which_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, locale: str
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        world.locale = locale
        first = await lose(world, language, world.guild.create_text_channel("one"), "gone", title="ALPHA")
        second = await lose(world, language, world.guild.create_text_channel("two"), "gone", title="BETA")
        for who in (world.chair, world.manager):
            named = f"#{second} BETA / #{first} ALPHA"
            told = t("error.minutes_kept", language, meetings=named, meeting=second)
            assert await world.slash(who, "minutes show") == told
            assert await world.slash(who, "minutes export", meeting=4711) == told
        nothing = t("error.no_minutes_here", language)
        assert await world.slash(world.guest, "minutes show") == nothing
        # A channel with a meeting of its own shows that one.
        await start(world, title="GAMMA", language=language)
        await end(world)
        assert "GAMMA" in await world.slash(world.chair, "minutes show")


async def test_kept_minutes_are_suggested_to_those_who_may_see_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        here = await world.meet((world.chair, MARKED["en"]), language="en")
        kept = await lose(world, "en", world.guild.create_text_channel("lost"), "gone")

        async def offered(who: Any, command: str) -> list[int]:
            choices = await who.autocomplete(world.channel, command, "meeting", "")
            return [choice["value"] for choice in choices]

        for command in ("minutes show", "minutes export"):
            assert await offered(world.chair, command) == [kept, here]
            assert await offered(world.manager, command) == [kept, here]
            assert await offered(world.guest, command) == [here]
        assert await offered(world.chair, "minutes amend") == [here]  # what was posted nowhere has no thread
