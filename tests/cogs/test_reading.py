"""Who may read what: the caller's channels for search and list, everyone's for links to past decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discord
import pytest

from cogs._rights import channels_of, readable_by_all
from tests.cogs.real import Product, product
from tests.cogs.test_experience import start, thread

SEE = discord.PermissionOverwrite(view_channel=True, read_message_history=True)
HIDE = discord.PermissionOverwrite(view_channel=False)


def channel(world: Product, name: str, **who: discord.PermissionOverwrite) -> Any:
    """`who`: everyone, chair, guest; the bot always sees it."""
    people = {"everyone": world.guild.default_role, "chair": world.chair, "guest": world.guest}
    overwrites: Any = {people[name]: rule for name, rule in who.items()}
    return world.guild.create_text_channel(
        name, overwrites=overwrites | ({world.bot.user: SEE} if who else {})
    )


async def test_everyone_here_may_read_there_only_where_it_is_certain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        guild = world.bot.get_guild(world.guild.id)
        assert guild is not None
        everybody = world.channel
        also = channel(world, "also")
        chairs = channel(world, "chairs", everyone=HIDE, chair=SEE)
        chairs_too = channel(world, "chairs-too", everyone=HIDE, chair=SEE)
        guests = channel(world, "guests", everyone=HIDE, guest=SEE)
        no_history = channel(
            world, "no-history", everyone=discord.PermissionOverwrite(read_message_history=False)
        )
        but_one = channel(world, "but-one", guest=HIDE)
        voice = world.guild.create_voice_channel("voice")
        inside, inside_chairs = thread(world, also, "inside"), thread(world, chairs, "inside-chairs")
        secret = thread(world, also, "secret", private=True)
        await world.timing.settle()

        def may(here: Any, there: Any) -> bool:
            return readable_by_all(guild, here.id, there.id)

        for here in (everybody, also, chairs, guests, inside, secret, but_one, voice):
            assert may(here, here)
            assert may(here, also), here.name
            assert may(here, inside), here.name
        assert may(chairs, chairs_too)
        assert may(chairs_too, inside_chairs)
        assert may(inside_chairs, chairs)
        for there in (chairs, guests, no_history, but_one, voice, secret, inside_chairs):
            assert not may(everybody, there), there.name
        assert not may(chairs, guests)
        assert not may(also, secret)
        assert not readable_by_all(guild, everybody.id, 4711)
        assert not readable_by_all(guild, 4711, chairs.id)


async def test_the_chat_of_a_voice_channel_takes_the_right_to_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        guild = world.bot.get_guild(world.guild.id)
        assert guild is not None
        board, lounge = (world.guild.create_voice_channel(name) for name in ("board", "lounge"))
        await world.timing.settle()
        inside = guild.get_channel(board.id)
        assert isinstance(inside, discord.VoiceChannel)
        chair, guest = [await guild.fetch_member(who.id) for who in (world.chair, world.guest)]
        await inside.set_permissions(guild.default_role, connect=False)
        await inside.set_permissions(chair, connect=True)
        await world.timing.settle()
        assert {board.id, lounge.id} <= channels_of(guild, chair)
        assert lounge.id in channels_of(guild, guest)
        assert board.id not in channels_of(guild, guest)


async def test_nothing_of_a_channel_shows_to_who_cannot_read_it_not_even_when_turning_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        places = {
            "open": channel(world, "open"),
            "hidden": channel(world, "hidden", everyone=HIDE, chair=SEE),
            "muted": channel(
                world, "muted", everyone=discord.PermissionOverwrite(read_message_history=False), chair=SEE
            ),
        }
        places["inside"] = thread(world, places["open"], "inside")
        places["private"] = thread(world, places["open"], "private", private=True)
        places["inside-hidden"] = thread(world, places["hidden"], "inside-hidden")
        for name, place in places.items():
            await start(world, place, title=f"Title {name}", language="en")
            await world.say(world.chair, f"Decision: the colour is {name} blue", channel=place)
            await world.slash(world.chair, "meeting end", place, now=True)
        await world.run(90)
        readable = {
            world.guest: {"open", "inside"},
            world.chair: {"open", "inside", "hidden", "muted", "inside-hidden"},
            world.manager: {"open", "inside"},
        }
        for who, names in readable.items():
            found = await world.slash(who, "decisions search", query="colour blue")
            listed = await world.slash(who, "meeting list")
            for name in places:
                assert (f"is {name} blue" in found) == (name in names), (who.name, name)
                assert (f"[Title {name}]" in listed) == (name in names), (who.name, name)
        # In a private thread itself, whoever is there reads it.
        there = await world.slash(world.guest, "decisions search", places["private"], query="colour")
        assert "is private blue" in there
        assert "is hidden blue" not in there


async def test_rights_are_those_of_the_moment_of_the_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        place = channel(world, "open")
        await world.meet((world.chair, "Decision: the colour is blue"), channel=place, language="en")
        assert "blue" in await world.slash(world.guest, "decisions search", query="colour")
        live = world.bot.get_channel(place.id)
        assert isinstance(live, discord.TextChannel)
        await world.do(live.set_permissions(live.guild.default_role, view_channel=False))
        assert "blue" not in await world.slash(world.guest, "decisions search", query="colour")
        assert "Launch" not in await world.slash(world.guest, "meeting list")


async def test_another_server_shows_nothing_though_people_titles_and_channels_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with product(tmp_path, monkeypatch) as world:
        await world.meet((world.chair, "Decision: the colour is blue"), title="Weekly", language="en")
        twin = world.env.create_guild("Team")
        general = twin.create_text_channel("general")
        same = twin.add_member(world.chair.user)
        assert "blue" not in await world.slash(same, "decisions search", general, query="colour")
        assert "Weekly" not in await world.slash(same, "meeting list", general)
        await world.slash(same, "meeting start", general, title="Weekly", minutes=30, language="en")
        await world.run(10)
        await world.say(same, "Decision: the colour is red", channel=general)
        await world.run(30)
        assert not [m for m in world.mine(general.id) if "blue" in m.content]
        assert "blue" not in await world.slash(same, "ledger list", general)
        assert "red" not in await world.slash(world.guest, "decisions search", query="colour")
