"""One bot and its meetings in an undisturbed world, for scenarios written by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any

from bot.app import App, build
from bot.meeting import ledger as folding
from bot.meeting.model import LedgerView, Meeting
from bot.models.base import Model
from bot.settings import Settings
from bot.stage import Place
from bot.store import ledger, meetings, minutes, outbox
from tests.crash.injecting import EPOCH, watching
from tests.crash.instant import run_instant
from tests.crash.judging import minutes_messages
from tests.crash.script import PEOPLE, PLACE, ScriptedModel, person, start_request
from tests.crash.world import Link, Posted, Tap, World


class Table:
    """`async with Table(model) as t`: a bot that is up. `errors` collects what it logs as unforeseen."""

    def __init__(self, model: Model | None = None, url: str = "sqlite://", tap: Tap | None = None) -> None:
        self.world = World(self.now)
        self._model, self._url, self._tap = model or ScriptedModel(), url, tap
        self._watching: AbstractContextManager[list[str]] = watching()
        self._number = 100
        self.errors: list[str] = []

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    @property
    def seconds(self) -> float:
        return asyncio.get_running_loop().time()

    async def __aenter__(self) -> Table:
        self.errors = self._watching.__enter__()
        self.app: App = build(
            Settings(database_url=self._url, model="offline", seed=1),
            self.now,
            wrap_model=lambda m: self._model,
        )
        await self.app.open()
        self.app.attach(Link(self.world, self._tap))
        return self

    async def __aexit__(self, *error: object) -> None:
        self._watching.__exit__(None, None, None)
        await self.app.close()

    # -- people

    async def start(self, language: str = "ja", minutes: int = 30, place: Place = PLACE) -> Meeting:
        return await self.app.meetings.start(start_request(language, minutes, place))

    async def say(self, who: str, text: str, place: Place = PLACE, *, then: float = 0.0) -> int:
        message_id = self.world.person_says(place.channel_id, PEOPLE[who], who, text)
        seen = self.world.seen(self.world.find(place.channel_id, message_id))
        await self.app.meetings.receive(place, seen)
        await asyncio.sleep(then)
        return message_id

    async def end(self, who: str = "佐藤", *, now: bool = False, place: Place = PLACE) -> None:
        await self.app.meetings.end(place, person(who), now=now, interaction_id=self.interaction())

    def interaction(self) -> int:
        self._number += 1
        return self._number

    # -- looking

    def posts(self, holding: str = "", place: Place = PLACE) -> list[Posted]:
        """The bot's own messages in a channel, in order; the board left out."""
        mine = [m for m in self.world.channels.get(place.channel_id, []) if m.mine]
        return [m for m in mine if holding in m.text and not (m.post and m.post.pin)]

    def with_button(self, action: str) -> list[Posted]:
        return [m for m in self.posts() if m.post and any(b.action == action for b in m.post.buttons)]

    def board(self, place: Place = PLACE) -> Posted:
        return next(m for m in self.world.channels[place.channel_id] if m.post and m.post.pin)

    @property
    def minutes(self) -> list[Posted]:
        return minutes_messages(self.world)

    async def until(self, holds: Callable[[], bool], at_most: float = 7200.0) -> float:
        """Let time pass until something holds; the seconds it took. Fails where it never does."""
        began = self.seconds
        while not holds():
            assert self.seconds - began < at_most, "never"
            await asyncio.sleep(0.25)
        return self.seconds - began

    async def over(self) -> None:
        await self.until(lambda: self.app.meetings.count == 0)
        await asyncio.sleep(30)

    async def nonce(self, key: str, meeting_id: int = 1) -> str:
        row = await self.app.db.unit(lambda c: outbox.get(c, meeting_id, key))
        assert row is not None
        return row.nonce

    async def record(self, meeting: Meeting) -> tuple[Meeting, LedgerView, Any]:
        async def work(c: Any) -> tuple[Meeting, LedgerView, Any]:
            found = await meetings.get(c, meeting.id)
            assert found is not None
            return (
                found,
                folding.fold(await ledger.everything(c, meeting.id)),
                await minutes.get(c, meeting.id),
            )

        return await self.app.db.unit(work)


def at_table(
    scenario: Callable[[Table], Coroutine[Any, Any, None]],
    model: Model | None = None,
    tap: Tap | None = None,
) -> None:
    """Run one scenario in virtual time; nothing may fail unforeseen in it."""

    async def main() -> None:
        async with Table(model, tap=tap) as table:
            await scenario(table)
            assert not table.errors, table.errors

    run_instant(main())
