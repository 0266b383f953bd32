"""The application's own webhook in a channel, through which AI participants speak under their names.

Its token is a secret: it comes from Discord each time a process needs it and stays in memory. Requests are wrapped
by the stage, so that they fail only as StageError.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import discord

from bot.stage import BOT_NAME, Outgoing, Place, Refused
from cogs._render import LIMIT, NO_PINGS, cut

TOO_MANY = 30007
NAME_LIMIT = 80

Request = Callable[[], AbstractAsyncContextManager[None]]


def _code(error: Refused) -> int:
    cause = error.__cause__
    return cause.code if isinstance(cause, discord.HTTPException) else 0


class Webhooks:
    def __init__(self, bot: discord.Client, request: Request) -> None:
        self._bot, self._request = bot, request
        self._known: dict[int, discord.Webhook] = {}  # by channel

    async def id_of(self, place: Place, known: int | None) -> int:
        """Found among the channel's own or made. Refused("no_webhook") where `known` is gone, or there can be none."""
        channel = await self._home(place)
        cached = self._known.get(channel.id)
        if cached is not None and known in (None, cached.id):
            return cached.id
        found = await self._mine(channel)
        if known is not None:
            kept = next((w for w in found if w.id == known), None)
            if kept is None:
                raise Refused("no_webhook", "deleted")
        else:
            kept = found[0] if found else await self._make(channel)
        self._known[channel.id] = kept
        return kept.id

    async def say(self, place: Place, post: Outgoing) -> int:
        channel = await self._home(place)
        webhook = self._known.get(channel.id)
        if webhook is None or webhook.id != post.webhook_id:
            raise Refused("no_webhook", "deleted")
        where: dict[str, Any] = {}
        if channel.id != place.channel_id:
            where["thread"] = discord.Object(place.channel_id)
        try:
            async with self._request():
                message = await webhook.send(
                    cut(post.text, LIMIT),
                    username=post.speaker[:NAME_LIMIT],
                    allowed_mentions=NO_PINGS,
                    wait=True,
                    **where,
                )
        except Refused as refused:
            if refused.reason not in ("gone", "forbidden"):
                raise
            # Deleted, or its token is void. If it is the channel that is gone, the bot's own post will tell.
            self._known.pop(channel.id, None)
            raise Refused("no_webhook", "deleted") from refused
        return message.id

    async def delete(self, place: Place, message_id: int) -> bool:
        """Take a message of ours away; False where it is not our webhook's."""
        try:
            channel = await self._home(place)
            found = await self._mine(channel)
        except Refused:
            return False
        where = {} if channel.id == place.channel_id else {"thread": discord.Object(place.channel_id)}
        for webhook in found:
            with suppress(Refused):
                async with self._request():
                    await webhook.delete_message(message_id, **where)
                return True
        return False

    async def _home(self, place: Place) -> Any:
        """The channel that webhooks belong to: a thread's or post's is its parent."""
        guild = self._bot.get_guild(place.guild_id)
        channel: Any = guild.get_channel_or_thread(place.channel_id) if guild is not None else None
        if channel is None:
            async with self._request():
                channel = await self._bot.fetch_channel(place.channel_id)
        home = channel.parent if isinstance(channel, discord.Thread) else channel
        if home is None or not hasattr(home, "create_webhook"):
            raise Refused("no_webhook", "kind")
        return home

    async def _mine(self, channel: Any) -> list[discord.Webhook]:
        me = self._bot.user.id if self._bot.user is not None else 0
        try:
            async with self._request():
                found: list[discord.Webhook] = await channel.webhooks()
        except Refused as refused:
            raise self._none(refused) from refused
        return [w for w in found if w.token is not None and w.user is not None and w.user.id == me]

    async def _make(self, channel: Any) -> discord.Webhook:
        try:
            async with self._request():
                made: discord.Webhook = await channel.create_webhook(name=BOT_NAME)
        except Refused as refused:
            raise self._none(refused) from refused
        return made

    @staticmethod
    def _none(refused: Refused) -> Refused:
        return Refused("no_webhook", "full" if _code(refused) == TOO_MANY else "forbidden")
