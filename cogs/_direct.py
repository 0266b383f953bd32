"""One person's direct channel as the port `bot.assistant.line.Line`, and what that person may read."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

import discord

from bot.assistant.shelf import Reader
from bot.stage import Outgoing, Place, Seen
from cogs._rights import channels_of
from cogs._stage import DiscordStage

AT_ONCE = 5  # requests for a person's roles on servers
ABSENT_S = 600.0  # how long somebody who is not on a server is not looked up there again
_REMEMBERED = 10_000


class DirectStage(DiscordStage):
    """What a direct channel needs beside what every channel does."""

    async def recent(self, channel_id: int, before: int | None, limit: int) -> list[Seen]:
        channel = self._bot.get_partial_messageable(channel_id)
        start = discord.Object(before) if before is not None else None
        async with self._request():
            found = [message async for message in channel.history(before=start, limit=limit)]
        return [self._seen(message) for message in reversed(found)]

    async def reader(self, members: Members, user_id: int, guild_ids: Sequence[int]) -> Reader:
        async with self._request():
            return await members.reader(user_id, guild_ids)


class Members:
    """Who is on which server with which roles, asked of Discord each time: the client keeps no members.

    Only absence is remembered, for ten minutes: being wrong about that hides something for a while, and shows
    nothing.
    """

    def __init__(self, bot: discord.Client) -> None:
        self._bot = bot
        self._absent: OrderedDict[tuple[int, int], float] = OrderedDict()

    async def reader(self, user_id: int, guild_ids: Sequence[int]) -> Reader:
        channels: dict[int, frozenset[int]] = {}
        for start in range(0, len(guild_ids), AT_ONCE):
            ids = guild_ids[start : start + AT_ONCE]
            for guild_id, found in zip(
                ids, await asyncio.gather(*(self._channels(user_id, g) for g in ids)), strict=True
            ):
                if found:
                    channels[guild_id] = found
        return Reader(user_id, channels)

    async def _channels(self, user_id: int, guild_id: int) -> frozenset[int]:
        guild = self._bot.get_guild(guild_id)
        now = asyncio.get_running_loop().time()
        if guild is None or now < self._absent.get((guild_id, user_id), 0.0):
            return frozenset()
        try:
            member = await guild.fetch_member(user_id)
        except discord.NotFound:
            self._absent[guild_id, user_id] = now + ABSENT_S
            self._absent.move_to_end((guild_id, user_id))
            if len(self._absent) > _REMEMBERED:
                self._absent.popitem(last=False)
            return frozenset()
        return channels_of(guild, member)


class DirectLine:
    """Implements `bot.assistant.line.Line`."""

    def __init__(self, bot: discord.Client, members: Members, channel_id: int, user_id: int) -> None:
        self._members = members
        self._stage = DirectStage(bot)
        self._place = Place(0, channel_id)  # of no server
        self._user_id = user_id

    @property
    def channel_id(self) -> int:
        return self._place.channel_id

    @property
    def user_id(self) -> int:
        return self._user_id

    async def say(self, post: Outgoing) -> int:
        return await self._stage.say(self._place, post)

    async def edit(self, message_id: int, post: Outgoing) -> None:
        await self._stage.edit(self._place, message_id, post)

    async def typing(self) -> None:
        await self._stage.typing(self._place)

    async def recent(self, before: int | None, limit: int) -> list[Seen]:
        return await self._stage.recent(self.channel_id, before, limit)

    async def reader(self, guild_ids: Sequence[int]) -> Reader:
        return await self._stage.reader(self._members, self._user_id, guild_ids)
