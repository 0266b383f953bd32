"""An in-memory Discord: what is in it stays, whoever crashes. `Link` is one process's way to it.

Modelled as RELIABILITY.md says: nonces de-duplicate for 300 s and are never shown again, a second thread on a
message is the first one, edits and reactions are idempotent, a request may be applied and its answer lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeVar

from bot.facilitation.delivery import snowflake
from bot.stage import Busy, Outgoing, Place, Refused, Seen, Uncertain

T = TypeVar("T")

ME = 1
NONCE_S = 300.0


@dataclass
class Posted:
    """One message as Discord holds it. `tag`: the nonce its sender gave, which no history shows."""

    message_id: int
    channel_id: int
    author_id: int
    author_name: str
    text: str
    at: datetime
    reply_to: int | None = None
    edited_at: datetime | None = None
    post: Outgoing | None = None
    tag: str | None = None
    reactions: set[str] = field(default_factory=set)
    by_people: dict[str, dict[int, str]] = field(default_factory=dict)  # emoji: name by user id
    edits: list[tuple[datetime, Outgoing]] = field(default_factory=list)
    webhook_id: int | None = None

    @property
    def mine(self) -> bool:
        return self.author_id == ME


class World:
    """`now` is virtual time. Everything here is applied at once; delays and faults are the link's."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.now = now
        self.channels: dict[int, list[Posted]] = {}
        self.threads: dict[int, int] = {}
        self.dms: list[tuple[int, Outgoing]] = []
        self.withdrawn: list[int] = []  # direct messages taken away, by id
        self.gone: set[int] = set()
        self.forbidden: set[int] = set()
        self.too_old: dict[int, int] = {}  # messages whose edits are refused, and how often each was tried
        self.reacted_at: dict[tuple[int, str], datetime] = {}
        self.typed: list[Place] = []
        self.webhooks: set[int] = set()
        self.no_webhooks: str | None = None
        self._nonces: dict[str, tuple[datetime, int]] = {}
        self._last_id = 0

    # -- people

    def person_says(
        self, channel: int, author_id: int, name: str, text: str, reply_to: int | None = None
    ) -> int:
        posted = Posted(self._id(), channel, author_id, name, text, self.now(), reply_to)
        self.channels.setdefault(channel, []).append(posted)
        return posted.message_id

    def person_edits(self, channel: int, message_id: int, text: str) -> None:
        message = self.find(channel, message_id)
        message.text, message.edited_at = text, self.now()

    def person_deletes(self, channel: int, message_id: int) -> None:
        self.channels[channel].remove(self.find(channel, message_id))

    def person_reacts(self, channel: int, message_id: int, who: int, name: str, emoji: str) -> None:
        self.find(channel, message_id).by_people.setdefault(emoji, {})[who] = name

    def person_takes_back(self, channel: int, message_id: int, who: int, emoji: str) -> None:
        self.find(channel, message_id).by_people.get(emoji, {}).pop(who, None)

    # -- the bot

    def say(self, place: Place, post: Outgoing, nonce: str | None) -> int:
        self._reachable(place.channel_id)
        now = self.now()
        if nonce is not None:
            known = self._nonces.get(nonce)
            if known is not None and (now - known[0]).total_seconds() < NONCE_S:
                return known[1]
        posted = Posted(
            self._id(), place.channel_id, ME, "Ketsugi", post.text, now, post.reply_to, None, post, post.nonce
        )
        if post.speaker:
            self._as_speaker(posted, post)
            nonce = None if post.webhook_id is not None else nonce  # webhooks know none
        self.channels.setdefault(place.channel_id, []).append(posted)
        if nonce is not None:
            self._nonces[nonce] = (now, posted.message_id)
        return posted.message_id

    def _as_speaker(self, posted: Posted, post: Outgoing) -> None:
        """Under the speaker's own name through a webhook, else by a bold prefix."""
        if post.webhook_id is None:
            posted.text = f"**{post.speaker}**\n{post.text}"
            return
        if post.webhook_id not in self.webhooks:
            raise Refused("no_webhook", "deleted")
        posted.author_id = posted.webhook_id = post.webhook_id
        posted.author_name = post.speaker

    def webhook(self, place: Place, known: int | None) -> int:
        """`no_webhooks`: why there can be none here."""
        self._reachable(place.channel_id)
        if self.no_webhooks is not None:
            raise Refused("no_webhook", self.no_webhooks)
        if known is not None and known not in self.webhooks:
            raise Refused("no_webhook", "deleted")
        if not self.webhooks:
            self.webhooks.add(self._id())
        return min(self.webhooks)

    def edit(self, place: Place, message_id: int, post: Outgoing) -> None:
        self._reachable(place.channel_id)
        message = self._known(place.channel_id, message_id)
        if message_id in self.too_old:
            self.too_old[message_id] += 1
            raise Refused("too_old", "30046")
        message.text, message.post = post.text, post
        message.edits.append((self.now(), post))

    def delete(self, place: Place, message_id: int) -> None:
        self._reachable(place.channel_id)
        self.channels[place.channel_id].remove(self._known(place.channel_id, message_id))

    def react(self, place: Place, message_id: int, emoji: str) -> None:
        self._reachable(place.channel_id)
        self._known(place.channel_id, message_id).reactions.add(emoji)
        self.reacted_at.setdefault((message_id, emoji), self.now())

    def typing(self, place: Place) -> None:
        self.typed.append(place)

    def reactors(self, place: Place, message_id: int, emoji: str) -> list[tuple[int, str]]:
        self._reachable(place.channel_id)
        return sorted(self._known(place.channel_id, message_id).by_people.get(emoji, {}).items())

    def open_thread(self, place: Place, message_id: int) -> Place:
        self._reachable(place.channel_id)
        self._known(place.channel_id, message_id)
        self.threads[message_id] = message_id
        self.channels.setdefault(message_id, [])
        self._reachable(message_id)
        return Place(place.guild_id, message_id)

    def history(self, place: Place, after: int) -> list[Seen]:
        self._reachable(place.channel_id)
        return [
            self.seen(m)
            for m in sorted(self.channels.get(place.channel_id, []), key=lambda m: m.message_id)
            if m.message_id > after
        ]

    def direct_message(self, user_id: int, post: Outgoing) -> int:
        self.dms.append((user_id, post))
        return self._id()

    def expire_nonces(self) -> None:
        self._nonces.clear()

    # -- reading

    def seen(self, m: Posted) -> Seen:
        post = m.post
        return Seen(
            message_id=m.message_id,
            author_id=m.author_id,
            author_name=m.author_name,
            text=m.text,
            at=m.at,
            mine=m.mine,
            bot=m.mine or m.webhook_id is not None,
            webhook_id=m.webhook_id,
            reply_to=m.reply_to,
            edited_at=m.edited_at,
            embed_footers=tuple(e.footer for e in post.embeds if e.footer) if post else (),
            files=tuple(f.name for f in post.files) if post else (),
            mentions_me="@Ketsugi" in m.text,
            reactions=tuple((emoji, len(people)) for emoji, people in m.by_people.items() if people),
        )

    def find(self, channel: int, message_id: int) -> Posted:
        return next(m for m in self.channels[channel] if m.message_id == message_id)

    @property
    def mine(self) -> list[Posted]:
        """Every message of the bot, in order of appearance."""
        return sorted((m for c in self.channels.values() for m in c if m.mine), key=lambda m: m.message_id)

    def _known(self, channel: int, message_id: int) -> Posted:
        for m in self.channels.get(channel, []):
            if m.message_id == message_id:
                return m
        raise Refused("gone", "10008")

    def _reachable(self, channel: int) -> None:
        if channel in self.gone:
            raise Refused("gone", "10003")
        if channel in self.forbidden:
            raise Refused("forbidden", "50013")

    def _id(self) -> int:
        self._last_id = max(self._last_id + 1, snowflake(self.now()))
        return self._last_id


class Tap(Protocol):
    """What happens to a call on its way: the injector of a harness, or nothing."""

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T: ...


class Calm:
    """No faults: a request takes 80 ms there and 40 ms back."""

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        await asyncio.sleep(0.08)
        value = apply()
        await asyncio.sleep(0.04)
        return value


class Link:
    """Implements `bot.stage.Stage`. `fresh_nonces` and `blind` take the outbox's two locks away."""

    def __init__(
        self, world: World, tap: Tap | None = None, *, fresh_nonces: bool = False, blind: bool = False
    ) -> None:
        self.world, self.tap = world, tap or Calm()
        self._fresh, self._blind = fresh_nonces, blind
        self._sent = 0

    @property
    def me(self) -> int:
        return ME

    async def say(self, place: Place, post: Outgoing) -> int:
        self._sent += 1
        nonce = f"fresh{id(self)}{self._sent}" if self._fresh else post.nonce
        return await self.tap.call("stage", "say", lambda: self.world.say(place, post, nonce))

    async def webhook(self, place: Place, known: int | None) -> int:
        return await self.tap.call("stage", "webhook", lambda: self.world.webhook(place, known))

    async def edit(self, place: Place, message_id: int, post: Outgoing) -> None:
        await self.tap.call("stage", "edit", lambda: self.world.edit(place, message_id, post))

    async def delete(self, place: Place, message_id: int) -> None:
        await self.tap.call("stage", "delete", lambda: self.world.delete(place, message_id))

    async def react(self, place: Place, message_id: int, emoji: str) -> None:
        await self.tap.call("stage", "react", lambda: self.world.react(place, message_id, emoji))

    async def reactors(self, place: Place, message_id: int, emoji: str) -> list[tuple[int, str]]:
        return await self.tap.call("stage", "reactors", lambda: self.world.reactors(place, message_id, emoji))

    async def open_thread(self, place: Place, message_id: int, name: str) -> Place:
        return await self.tap.call("stage", "open_thread", lambda: self.world.open_thread(place, message_id))

    async def history(self, place: Place, after: int, limit: int | None = None) -> list[Seen]:
        found = await self.tap.call("stage", "history", lambda: self.world.history(place, after))
        if self._blind:
            found = [s for s in found if not s.mine]
        return found[:limit]

    async def direct_message(self, user_id: int, post: Outgoing) -> int:
        return await self.tap.call(
            "stage", "direct_message", lambda: self.world.direct_message(user_id, post)
        )

    async def withdraw(self, user_id: int, message_id: int) -> None:
        await self.tap.call("stage", "withdraw", lambda: self.world.withdrawn.append(message_id))

    async def readable_by_all(self, place: Place, other: Place) -> bool:
        return place == other

    async def typing(self, place: Place) -> None:
        self.world.typing(place)


def failing(how: str) -> Exception:
    """The error of a fault kind, where the request itself was not applied."""
    return {"500": Uncertain("500"), "busy": Busy(2.0)}[how]
