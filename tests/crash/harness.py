"""Crashes a whole meeting at a chosen point, lets it come back, and says what is wrong with what came of it.

Every commit, Discord call and model call of a run is a numbered point. A run is deterministic, so point n of
the undisturbed run is point n of a run in which something happens there for the first time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.app import App, build
from bot.errors import UserError
from bot.settings import Settings
from bot.stage import Refused, Uncertain
from bot.store import ledger, meetings, minutes, outbox, overview
from tests.crash.injecting import EPOCH, Injector, Killed, TappedModel, watching
from tests.crash.outcome import Outcome
from tests.crash.script import CHANNEL, MEETING, PEOPLE, PLACE, Act, ScriptedModel, person, start_request
from tests.crash.world import Link, Posted, World

PATIENCE_S = 3 * 3600.0  # after the last act; a meeting that is not closed by then never will be


@dataclass
class Run:
    """One meeting with what `plan` does to it. `down_s`: how long the process is away after each crash."""

    url: str
    plan: Mapping[int, str] = field(default_factory=dict)
    down_s: float = 5.0
    model: str = "scripted"
    language: str = "ja"
    acts: Sequence[Act] = MEETING
    fresh_nonces: bool = False
    blind: bool = False
    clock_ahead_s: float = 0.0  # the bot's clock before Discord's

    def __post_init__(self) -> None:
        self.tap = Injector(self.plan)
        self.world = World(lambda: self.now() - timedelta(seconds=self.clock_ahead_s))
        self.tap.world = self.world
        self.out = Outcome(self.world, self.tap.points)
        self.app: App | None = None
        self._owed: list[Act] = []  # commands and reactions whose answer never came: people try again
        self._next = 0
        self._interaction = 5000
        self._heard: set[str] = set()
        self._again = False  # what is told now was tried before

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    # -- the lives of the process

    async def play(self) -> Outcome:
        with watching() as errors:
            try:
                await self._live()
                while self._next < len(self.acts) and not self._refused():
                    if not await self._wait_until(self._due()):
                        await self._come_back()
                        continue
                    act = self.acts[self._next]
                    self._next += 1
                    self._happens(act)
                    await self._told(act)
                await self._end()
            finally:
                await self._stop()
        self.out.errors = list(errors)
        return self.out

    async def _live(self) -> None:
        """Start a process and let it recover; it may die on the way, and comes back then."""
        self.tap.revive()
        app = build(
            Settings(database_url=self.url, model="offline", seed=1),
            self.now,
            wrap_model=lambda m: TappedModel(ScriptedModel() if self.model == "scripted" else m, self.tap),
        )
        self.app = app
        await app.open()
        app.db.hooks.append(self.tap.commit)
        app.attach(Link(self.world, self.tap, fresh_nonces=self.fresh_nonces, blind=self.blind))
        if not await self._carefully(self._begin(app)):
            await self._come_back()
            return
        owed, self._owed = self._owed, []
        for act in owed:
            if act.do == "react" and not await self._wait_until(asyncio.get_running_loop().time() + 10.0):
                self._owed.append(act)  # they wait for what the bot shows of the message
                await self._come_back()
            elif act.do != "react" or not self._counted(act):
                self._again = True
                await self._told(act)
                self._again = False

    def _counted(self, act: Act) -> bool:
        """What people put while the bot was away was found in the history: they have no reason to try again."""
        assert self.app is not None
        mine, who = f"r:{self.out.ids[act.ref]}:", PEOPLE[act.who]
        entries = [e for room in self.app.meetings.rooms_of(PLACE.guild_id) for e in room.entries]
        return any(e.source_key.startswith(mine) and e.author_id == who for e in entries)

    async def _begin(self, app: App) -> None:
        await app.meetings.recover()
        if self._kickoff is None and app.meetings.count == 0:
            await app.meetings.start(start_request(self.language))

    def _refused(self) -> bool:
        """The channel took no kickoff: there is no meeting, and the chair was told so."""
        assert self.app is not None
        return self._kickoff is None and self.app.meetings.count == 0

    async def _come_back(self) -> None:
        self.out.crashed = True
        await self._kill()
        self.out.downs.append(asyncio.get_running_loop().time())
        until = self.out.downs[-1] + self.down_s
        while self._kickoff and self._next < len(self.acts) and self._due() <= until:
            await asyncio.sleep(max(0.0, self._due() - asyncio.get_running_loop().time()))
            act = self.acts[self._next]
            self._next += 1
            self._happens(act)
            if act.do in ("react", "extend", "end"):
                self._owed.append(act)
        await asyncio.sleep(until - asyncio.get_running_loop().time())
        self.out.ups.append(until)
        await self._live()

    @property
    def _kickoff(self) -> Posted | None:
        return next((m for m in self.world.mine if m.post and m.post.pin), None)

    def _due(self) -> float:
        """When the next act happens: people talk once they have seen the kickoff."""
        kickoff = self._kickoff
        begun = (kickoff.at - EPOCH).total_seconds() if kickoff else asyncio.get_running_loop().time()
        return begun + self.acts[self._next].at

    async def _kill(self) -> None:
        """Nothing of the old process runs on; what it had not committed is gone."""
        self.tap.dead = True
        me = asyncio.current_task()
        for _ in range(20):
            others = [t for t in asyncio.all_tasks() if t is not me]
            if not others:
                break
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        assert self.app is not None
        self.app.db.hooks.clear()
        await self.app.db.close()

    async def _stop(self) -> None:
        await self._kill()

    # -- people

    async def _wait_until(self, at: float) -> bool:
        """False where the process died first."""
        left = at - asyncio.get_running_loop().time()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.tap.died.wait(), max(0.0, left))
        return not self.tap.dead

    async def _carefully(self, work: Any) -> bool:
        """Run one call of the process; False where it died of it."""
        task = asyncio.ensure_future(work)
        dying = asyncio.ensure_future(self.tap.died.wait())
        await asyncio.wait({task, dying}, return_when=asyncio.FIRST_COMPLETED)
        dying.cancel()
        if not task.done():
            return False
        try:
            task.result()
        except Killed:
            return False
        except (UserError, Uncertain, Refused) as error:
            self.out.errors.append(repr(error))
        return not self.tap.dead

    def _happens(self, act: Act) -> None:
        """In Discord, whether the bot is there or not."""
        self.apply(act, asyncio.get_running_loop().time())
        if act.do in ("edit", "delete") and act.ref not in self._heard:
            self.out.unseen_change = True

    def apply(self, act: Act, seconds: float) -> None:
        world, ids = self.world, self.out.ids
        match act.do:
            case "say":
                ref = act.ref or f"at {act.at:g}"
                ids[ref] = world.person_says(CHANNEL, PEOPLE[act.who], act.who, act.text)
                self.out.said[ref] = seconds
            case "edit":
                world.person_edits(CHANNEL, ids[act.ref], act.text)
            case "delete":
                world.person_deletes(CHANNEL, ids[act.ref])
            case "react":
                world.person_reacts(CHANNEL, ids[act.ref], PEOPLE[act.who], act.who, act.text)
                self.out.said[f"{act.text} {act.ref}"] = seconds
            case "extend" | "end":
                self.out.said[act.do] = seconds

    async def _told(self, act: Act) -> None:
        """The bot hears of it, and perhaps dies of it."""
        assert self.app is not None
        if not await self._carefully(self._event(act)):
            if act.do in ("react", "extend", "end"):
                self._owed.append(act)
            await self._come_back()
        elif act.do == "say":
            self._heard.add(act.ref)

    async def _event(self, act: Act) -> None:
        assert self.app is not None
        meetings_, who = self.app.meetings, person(act.who)
        self._interaction += 1
        match act.do:
            case "say":
                posted = self.world.find(CHANNEL, self.out.ids[act.ref or f"at {act.at:g}"])
                await meetings_.receive(PLACE, self.world.seen(posted))
            case "edit":
                await meetings_.edited(PLACE, self.out.ids[act.ref], act.text, self.now())
            case "delete":
                await meetings_.deleted(PLACE, [self.out.ids[act.ref]], self.now())
            case "react":
                if self._again:  # it stands there already: to put it anew it is taken back first
                    await meetings_.reacted(PLACE, self.out.ids[act.ref], who, act.text, False)
                await meetings_.reacted(PLACE, self.out.ids[act.ref], who, act.text, True)
            case "extend":
                status = await meetings_.status(PLACE)
                if status.meeting.planned_end - status.meeting.started_at == timedelta(
                    minutes=60
                ):  # see the board
                    await meetings_.extend(PLACE, who, int(act.text), self._interaction)
            case "end":
                await meetings_.end(PLACE, who, now=False, interaction_id=self._interaction)

    async def _end(self) -> None:
        """Until the process has nothing left to do."""
        limit = asyncio.get_running_loop().time() + PATIENCE_S
        while asyncio.get_running_loop().time() < limit:
            if not await self._wait_until(asyncio.get_running_loop().time() + 5.0):
                await self._come_back()
            elif self.app is not None and self.app.meetings.count == 0:
                break
        self.out.ended_at = asyncio.get_running_loop().time()
        await asyncio.sleep(60)  # whatever still runs shows itself
        if self.tap.dead:
            await self._come_back()
            await asyncio.sleep(60)
        await self._read()

    async def _read(self) -> None:
        assert self.app is not None

        async def work(c: Any) -> None:
            found = await meetings.latest_in(c, PLACE.guild_id, PLACE.channel_id)
            self.out.meeting = found
            if found is None:
                return
            self.out.entries = await ledger.everything(c, found.id)
            self.out.stored = await minutes.get(c, found.id)
            keys = [row.key for row in await overview.posts(c, found.id)]
            self.out.rows = [row for key in keys if (row := await outbox.get(c, found.id, key)) is not None]

        await self.app.db.unit(work)
