"""The Stage port over discord.py: posts become requests, what goes wrong becomes one of three errors.

discord.py itself repeats 500/502/504/524 up to five times with the same nonce, neither 503 nor a dropped
connection, and waits out short rate limits (read in its 2.7.1 source). Hence a limit around every request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import discord

from bot.errors import StageError
from bot.meeting.model import LANGUAGES, Persona
from bot.phrases import t
from bot.stage import Busy, Outgoing, Place, Refused, Seen, Uncertain
from cogs._render import LIMIT, NO_PINGS, cut, embeds_of, files_of, seen, shown_name
from cogs._rights import readable_by_all
from cogs._views import buttons
from cogs._webhooks import Webhooks

log = logging.getLogger(__name__)

# Seconds that one request may take, discord.py's own repeats included (of a 500 they alone would take 25). A person
# waits 25 s at most for an answer, its generation included: what can safely be tried again is cut off early.
UPLOAD_TIMEOUT = 20.0  # with files
TIMEOUT = 7.0  # a post of text is found again by its nonce or in the history, reading changes nothing
COSMETIC_TIMEOUT = 5.0  # signs, typing, pins, the board: people wait for what comes after them
OVERLOADED_WAIT = 5.0  # seconds after a 503, which names none
BANNED_WAIT = 60.0  # seconds after a 429 without details (Cloudflare's)
NOT_US_WAIT = 60.0  # seconds after a 401; 10,000 answers of 401 and 403 in 10 minutes ban the address
THREAD_EXISTS = 160004

_REASONS: dict[int, Any] = {
    10003: "gone",  # unknown channel
    10004: "gone",  # unknown guild
    10008: "gone",  # unknown message
    50001: "forbidden",  # missing access
    50013: "forbidden",  # missing permissions
    50007: "forbidden",  # takes no direct messages
    50027: "forbidden",  # a webhook's token is void (401)
    160005: "locked",  # locked thread
    50083: "locked",  # archived thread that this request does not reopen
    30046: "too_old",  # edits of messages older than an hour are limited
}
_BY_STATUS: dict[int, Any] = {403: "forbidden", 404: "gone"}


def stage_error(error: BaseException) -> StageError:
    """What an exception of discord.py or the connection says of a request: done perhaps, never, not yet."""
    if isinstance(error, discord.RateLimited):
        return Busy(error.retry_after)
    if isinstance(error, discord.HTTPException):
        if error.status == 429:
            return Busy(_retry_after(error))
        if error.status == 503:
            return Busy(OVERLOADED_WAIT)
        if error.status >= 500:
            return Uncertain(f"status {error.status}")
        known = _REASONS.get(error.code)
        if known is None and error.status == 401:
            return Busy(NOT_US_WAIT)  # our token was reset: nothing is said of the channel
        if error.status in _BY_STATUS and not error.code:
            return Uncertain(f"status {error.status} without a code")  # a proxy's: Discord's always name one
        reason = known or _BY_STATUS.get(error.status, "invalid")
        return Refused(reason, f"status {error.status} code {error.code}")
    if isinstance(error, ValueError | TypeError):
        return Refused("invalid", type(error).__name__)  # refused by discord.py before any request
    return Uncertain(type(error).__name__)


def _retry_after(error: discord.HTTPException) -> float:
    try:
        return float(error.response.headers["Retry-After"])
    except (KeyError, ValueError):
        return BANNED_WAIT


_NAMELESS = (Persona.SYSTEM, Persona.PANEL)


def name_line(persona: Persona, language: str) -> str:
    """The bold line that tells who of the two speaks; "" for the system's posts."""
    return "" if persona in _NAMELESS else f"**{t(f'persona.{persona.value}', language)}**"


_NAME_LINES = tuple(name_line(p, language) for p in Persona if p not in _NAMELESS for language in LANGUAGES)


def body(post: Outgoing) -> str:
    """What is sent: the name line, then the text; cut as the last defence of Discord's limit."""
    head = f"**{post.speaker}**" if post.speaker else name_line(post.persona, post.language)
    return cut(f"{head}\n{post.text}".strip() if head else post.text, LIMIT)


def without_name_line(content: str) -> str:
    """`Outgoing.text` again from what was sent."""
    first, _, rest = content.partition("\n")
    return rest if first in _NAME_LINES else content


def _limit(post: Outgoing) -> float:
    return UPLOAD_TIMEOUT if post.files else TIMEOUT


class DiscordStage:
    """Implements `bot.stage.Stage`. `timeout`: seconds that no request may exceed, whatever its kind."""

    def __init__(self, bot: discord.Client, timeout: float = UPLOAD_TIMEOUT) -> None:
        self._bot = bot
        self._longest = timeout
        self._typing: set[asyncio.Task[None]] = set()
        self._webhooks = Webhooks(bot, self._request)

    async def webhook(self, place: Place, known: int | None) -> int:
        return await self._webhooks.id_of(place, known)

    async def say(self, place: Place, post: Outgoing) -> int:
        if post.webhook_id is not None:
            return await self._webhooks.say(place, post)
        channel = self._channel(place)
        async with self._request(_limit(post)):
            message = await channel.send(body(post), **self._content(post), **self._reference(place, post))
        if post.pin:
            await self._pin(place, message.id)
        return message.id

    async def edit(self, place: Place, message_id: int, post: Outgoing) -> None:
        changes: dict[str, Any] = {
            "embeds": embeds_of(post),
            "attachments": files_of(post),
            "view": buttons(post),
        }
        async with self._request(UPLOAD_TIMEOUT if post.files else COSMETIC_TIMEOUT):
            message = self._channel(place).get_partial_message(message_id)
            await message.edit(content=body(post), allowed_mentions=NO_PINGS, **changes)

    async def delete(self, place: Place, message_id: int) -> None:
        try:
            async with self._request():
                await self._channel(place).get_partial_message(message_id).delete()
        except Refused as refused:
            # What our webhook said only the webhook may take away, unless we hold Manage Messages.
            if refused.reason != "forbidden" or not await self._webhooks.delete(place, message_id):
                raise

    async def react(self, place: Place, message_id: int, emoji: str) -> None:
        async with self._request(COSMETIC_TIMEOUT):
            await self._channel(place).get_partial_message(message_id).add_reaction(emoji)

    async def reactors(self, place: Place, message_id: int, emoji: str) -> list[tuple[int, str]]:
        async with self._request():
            message = await self._channel(place).fetch_message(message_id)
            found = next((r for r in message.reactions if str(r.emoji) == emoji), None)
            users = [] if found is None else [user async for user in found.users()]
        return [(user.id, shown_name(user)) for user in users if not user.bot]

    async def open_thread(self, place: Place, message_id: int, name: str) -> Place:
        try:
            async with self._request():
                message = self._channel(place).get_partial_message(message_id)
                await message.create_thread(name=name[:100].strip() or "…")
        except Refused as refused:
            cause = refused.__cause__
            if not (isinstance(cause, discord.HTTPException) and cause.code == THREAD_EXISTS):
                raise
        return Place(place.guild_id, message_id)  # a thread made from a message has that message's id

    async def history(self, place: Place, after: int, limit: int | None = None) -> list[Seen]:
        # Without a limit from the newest back: simulated Discords page alike only that way.
        forward = limit is not None
        messages = self._channel(place).history(
            after=discord.Object(after), limit=limit, oldest_first=forward
        )
        found: list[Seen] = []
        while True:
            async with self._request():  # at most one page of 100 is fetched within
                message = await anext(messages, None)
            if message is None:
                return found if forward else found[::-1]
            found.append(self._seen(message))

    async def direct_message(self, user_id: int, post: Outgoing) -> int:
        async with self._request(_limit(post)):
            return (await (await self._user(user_id)).send(body(post), **self._content(post))).id

    async def withdraw(self, user_id: int, message_id: int) -> None:
        async with self._request():
            user = await self._user(user_id)
            channel = user.dm_channel or await user.create_dm()
            await channel.get_partial_message(message_id).delete()

    async def _user(self, user_id: int) -> discord.User:
        return self._bot.get_user(user_id) or await self._bot.fetch_user(user_id)

    async def readable_by_all(self, place: Place, other: Place) -> bool:
        guild = self._bot.get_guild(place.guild_id)
        if guild is None or place.guild_id != other.guild_id:
            return False
        return readable_by_all(guild, place.channel_id, other.channel_id)

    async def typing(self, place: Place) -> None:
        task = asyncio.create_task(self._type(place))
        self._typing.add(task)  # asyncio keeps no strong reference itself
        task.add_done_callback(self._typing.discard)

    async def _type(self, place: Place) -> None:
        with suppress(StageError):
            async with self._request(COSMETIC_TIMEOUT):
                await self._channel(place).typing()

    async def _pin(self, place: Place, message_id: int) -> None:
        """A board that is not pinned is still a board: rights or the limit of pins may be missing."""
        try:
            async with self._request(COSMETIC_TIMEOUT):
                await self._channel(place).get_partial_message(message_id).pin()
        except StageError as error:
            log.info("board not pinned: %s", error)

    def _channel(self, place: Place) -> discord.PartialMessageable:
        """Needs no cache; without the server's id it could not create threads."""
        return self._bot.get_partial_messageable(place.channel_id, guild_id=place.guild_id)

    def _content(self, post: Outgoing) -> dict[str, Any]:
        options: dict[str, Any] = {"allowed_mentions": NO_PINGS, "nonce": post.nonce}
        if post.embeds:
            options["embeds"] = embeds_of(post)
        if post.files:
            options["files"] = files_of(post)
        if (view := buttons(post)) is not None:
            options["view"] = view
        return options

    def _reference(self, place: Place, post: Outgoing) -> dict[str, Any]:
        if post.reply_to is None:
            return {}
        reference = discord.MessageReference(
            message_id=post.reply_to,
            channel_id=place.channel_id,
            guild_id=place.guild_id,
            fail_if_not_exists=False,
        )
        return {"reference": reference, "mention_author": False}

    def _seen(self, message: discord.Message) -> Seen:
        me = self._bot.user.id if self._bot.user is not None else 0
        mine = message.author.id == me
        return seen(message, me, without_name_line(message.content) if mine else None)

    @asynccontextmanager
    async def _request(self, seconds: float = TIMEOUT) -> AsyncIterator[None]:
        """One request: limited in time, and failing only as StageError."""
        try:
            async with asyncio.timeout(min(seconds, self._longest)):
                yield
        except (discord.DiscordException, aiohttp.ClientError, OSError, ValueError, TypeError) as error:
            raise stage_error(error) from error  # OSError holds TimeoutError too
        except (RuntimeError, AttributeError) as error:
            if not self._bot.is_closed():
                raise
            raise Uncertain("the client is closed") from error
