"""What all use cases of a meeting share: the services, handed in once by `app.build`, and one way to change a room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from bot import phrases
from bot.clock import Clock
from bot.errors import StageError
from bot.facilitation.policy import FREE, Policy
from bot.guard.generator import Generator
from bot.meeting.model import LANGUAGES, Entry, Language, Meeting, Message, Route
from bot.meeting.words import Words
from bot.stage import Stage
from bot.store.engine import Connection, Database

if TYPE_CHECKING:
    from bot.facilitation.room import Room

Watcher = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Limits:
    deadline_s: float = 25.0
    minutes_deadline_s: float = 120.0
    retention_days: int = 90
    patience: float = 1.0  # steps' own deadlines are so many times longer; measuring slow machines only

    def seconds(self, of_step: float) -> float:
        return of_step * self.patience


@dataclass
class Change:
    """What one committed unit changed, for the room's cache. `posts`: outbox rows were added."""

    meeting: Meeting | None = None
    entries: list[Entry] = field(default_factory=list)
    posts: bool = False
    value: Any = None
    said: Message | None = None  # a panelist's post that has become part of the transcript


@dataclass
class Core:
    db: Database
    clock: Clock
    generator: Generator
    salt: Callable[[], bytes]
    owner: str  # names this process in attempt rows
    limits: Limits
    model_name: Callable[[Route], str]
    degraded: Callable[[], bool]
    watchers: list[Watcher] = field(default_factory=list)
    arm: Callable[[int, Any], None] = lambda key, at: None
    policy: Policy = field(default_factory=Policy)
    _stage: Stage | None = None
    _sending: WeakValueDictionary[int, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @property
    def stage(self) -> Stage:
        if self._stage is None:
            raise StageError("no stage is attached")
        return self._stage

    @property
    def has_stage(self) -> bool:
        return self._stage is not None

    def model_for(self, route: Route, guild_id: int) -> str:
        """The model of a route on one server: its own choice, else the application's."""
        return self.policy.settings(guild_id).models.get(route.value) or self.model_name(route)

    def models_of(self, guild_id: int) -> tuple[str, ...]:
        """Every model that may be sent something of this server, the offline engine aside."""
        names = (self.model_for(route, guild_id) for route in Route)
        return tuple(sorted({name for name in names if name != FREE}))

    def models_shown(self, guild_id: int, language: Language) -> str:
        """The same as people are told before anything is sent; the offline engine where there are none."""
        return phrases.t("board.joiner", language).join(self.models_of(guild_id)) or FREE

    def sending(self, meeting_id: int) -> asyncio.Lock:
        """Held while a meeting's posts go out: two at once would each find the other's attempt unanswered."""
        return self._sending.setdefault(meeting_id, asyncio.Lock())

    def attach(self, stage: Stage) -> None:
        self._stage = stage

    def watch(self, kind: str, /, **facts: Any) -> None:
        for watcher in self.watchers:
            watcher(kind, facts)

    async def commit(
        self, room: Room, work: Callable[[Connection], Awaitable[Change]], *, first: bool = False
    ) -> Change:
        """Run `work` as one unit and bring the room's cache up to it, in the order of commits.

        `first`: people did it, and it goes before the bot's own work.

        A caller cancelled in between leaves the room marked stale: whoever comes next reads it anew.
        """
        async with room.write:
            if room.stale:
                await room.reload()
            room.stale = True
            change = await self.db.unit(work, first=first)
            room.apply(change)
            room.stale = False
        room.rearm()
        return change


def books() -> tuple[Words, ...]:
    """The words of every language: marks are recognised whatever the meeting's language is."""
    return tuple(phrases.words(language) for language in LANGUAGES)
