"""What people do in channels becomes calls of the meetings service; it knows whether a meeting is held there.

Edits, deletions and reactions come as raw events, since those of uncached messages come no other way.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import discord
from discord.ext import commands

from bot.facilitation.requests import Person
from bot.meeting.model import Language
from bot.meeting.text import is_japanese
from bot.phrases import t
from bot.stage import Place
from cogs._render import readable, seen, shown_name
from cogs._stage import DiscordStage

if TYPE_CHECKING:
    from bot.client import KetsugiBot

log = logging.getLogger(__name__)

_SPOKEN = (
    discord.MessageType.default,
    discord.MessageType.reply,
)  # others are Discord's own: pins, joins, threads


class Turns(commands.Cog):
    def __init__(self, bot: KetsugiBot) -> None:
        self.bot = bot

    @property
    def _me(self) -> int:
        assert self.bot.user is not None  # events come only after the login
        return self.bot.user.id

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        await self.bot.app.meetings.recover()

    @commands.Cog.listener()
    async def on_resumed(self) -> None:
        await self.bot.app.meetings.recover()

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        if not by_person(message):
            return
        if message.guild is None:
            return  # cogs/direct.py answers these
        where, said = Place(message.guild.id, message.channel.id), seen(message, self._me)
        held = await self.bot.app.meetings.receive(where, said)
        if said.mentions_me and held is False:
            await self._say_how(message, await self.bot.app.meetings.language_of(where))

    async def _say_how(self, message: discord.Message, language: Language) -> None:
        """Who speaks to the bot where no meeting is held is told what it does, instead of hearing nothing."""
        spoken = "ja" if is_japanese(message.content) else language
        try:
            await message.reply(t("reply.no_meeting_here", spoken), mention_author=False)
        except discord.HTTPException as error:
            log.info("mention outside of a meeting not answered (%d)", error.code)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        message = event.message
        # Without an edit time it was Discord that changed the message: a preview, a pin, a thread on it.
        if event.guild_id is None or message.edited_at is None or not by_person(message):
            return
        where = Place(event.guild_id, event.channel_id)
        await self.bot.app.meetings.edited(where, message.id, readable(message, self._me), message.edited_at)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            await self._deleted(Place(event.guild_id, event.channel_id), [event.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        if event.guild_id is not None:
            await self._deleted(Place(event.guild_id, event.channel_id), sorted(event.message_ids))

    async def _deleted(self, where: Place, message_ids: list[int]) -> None:
        # Discord sends no time of a deletion, so it is the time at which it is heard of.
        await self.bot.app.meetings.deleted(where, message_ids, discord.utils.utcnow())

    @commands.Cog.listener()
    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        await self._reacted(event, added=True)

    @commands.Cog.listener()
    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        await self._reacted(event, added=False)

    async def _reacted(self, event: discord.RawReactionActionEvent, *, added: bool) -> None:
        if event.guild_id is None or event.user_id == self._me or (event.member and event.member.bot):
            return
        where = Place(event.guild_id, event.channel_id)
        by = _reacting(event)
        await self.bot.app.meetings.reacted(where, event.message_id, by, str(event.emoji), added)

    @commands.Cog.listener()
    async def on_raw_typing(self, event: discord.RawTypingEvent) -> None:
        if event.guild_id is None or event.user_id == self._me or (event.user and event.user.bot):
            return
        by = Person(event.user_id, shown_name(event.user or discord.Object(event.user_id)), manager=False)
        await self.bot.app.meetings.typing(Place(event.guild_id, event.channel_id), by)


def by_person(message: discord.Message) -> bool:
    return not message.author.bot and message.webhook_id is None and message.type in _SPOKEN


def _reacting(event: discord.RawReactionActionEvent) -> Person:
    """Discord names the member only where a reaction is added."""
    if event.member is None:
        return Person(event.user_id, "", manager=False)
    return Person(event.user_id, shown_name(event.member), event.member.guild_permissions.manage_guild)


async def setup(bot: KetsugiBot) -> None:
    bot.app.attach(DiscordStage(bot))
    await bot.add_cog(Turns(bot))
