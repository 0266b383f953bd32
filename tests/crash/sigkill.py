"""A real process on a real file, killed with SIGKILL at random moments, while Discord lives on in its parent.

The child plays the same meeting as the harness, in virtual time; every call to Discord and everything people
do goes through a pipe to the parent, which holds the world and what has happened so far.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from bot.errors import StageError
from tests.crash.harness import Run
from tests.crash.injecting import EPOCH
from tests.crash.instant import instant_sqlite
from tests.crash.judging import problems
from tests.crash.outcome import Outcome
from tests.crash.script import MEETING, Act
from tests.crash.search import LONG_S, SHORT_S, Judge
from tests.crash.world import World
from tests.virtual_time import VirtualLoop

LONGEST_LIFE_S = 1.2  # of real time until the kill; the whole meeting takes about as long


class RemoteWorld:
    """The world as the child sees it: every method is a question to the parent."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        if name in ("mine", "channels"):
            return self._ask("look", name)
        return lambda *args: self._ask("world", name, args)


class KilledRun(Run):
    """The harness's run inside the child: what has happened is asked of the parent, and told to it."""

    def begin(self, pipe: Connection, at: float) -> None:
        self._pipe, self._up_at = pipe, at
        self.world = RemoteWorld(self._ask)  # type: ignore[assignment]
        self.out.world = self.world
        self._next, self._owed, self.out.ids = self._ask("memory")
        # Ids never come again in Discord: one of an earlier life would be taken for the same command twice.
        self._interaction = 1000 * (5 + round(at))

    def _ask(self, *question: Any) -> Any:
        self._pipe.send((self.now(), *question))
        answer = self._pipe.recv()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def play(self) -> Outcome:
        while self._kickoff and self._next < len(self.acts) and self._due() <= self._up_at:
            self._next += 1
            self._happens(self.acts[self._next - 1])
            if self.acts[self._next - 1].do in ("react", "extend", "end"):
                self._owed.append(self.acts[self._next - 1])
        out = await super().play()
        self._ask("over", out.meeting, out.entries, out.rows, out.stored, out.ended_at, out.errors)
        return out

    def _happens(self, act: Act) -> None:
        self.out.ids = self._ask("act", self.acts.index(act))

    async def _told(self, act: Act) -> None:
        await super()._told(act)
        self._ask("told", self.acts.index(act))


@dataclass
class Parent:
    """One meeting's world and memory; `lives` of the child come and go."""

    url: str
    chance: random.Random
    world: World = field(init=False)
    now: Any = EPOCH
    next: int = 0
    told: set[int] = field(default_factory=set)
    out: Outcome = field(init=False)
    kills: int = 0
    done: bool = False

    def __post_init__(self) -> None:
        self.world = World(lambda: self.now)
        self.out = Outcome(self.world, [])

    def play(self, kills: int) -> Outcome:
        at = 0.0
        while not self.done:
            self._life(at, kill=self.kills < kills)
            if not self.done:
                self.out.crashed = True
                self.out.downs.append((self.now - EPOCH).total_seconds())
                at = self.out.downs[-1] + self.chance.choice((SHORT_S, LONG_S))
                self.out.ups.append(at)
        return self.out

    def _life(self, at: float, *, kill: bool) -> None:
        ours, theirs = Pipe()
        pid = os.fork()
        if pid == 0:
            ours.close()
            _child(self.url, theirs, at)
        theirs.close()
        timer = threading.Timer(self.chance.uniform(0.0, LONGEST_LIFE_S), os.kill, (pid, signal.SIGKILL))
        if kill:
            timer.start()
        try:
            while True:
                self.now, *question = ours.recv()
                ours.send(self._answer(*question))
        except (EOFError, ConnectionError):
            pass
        finally:
            timer.cancel()
            _, status = os.waitpid(pid, 0)
            ours.close()
        if os.WIFSIGNALED(status):
            self.kills += 1
        elif not self.done:
            raise AssertionError(f"the child ended by itself with status {os.WEXITSTATUS(status)}")

    def _answer(self, what: str, *args: Any) -> Any:
        match what:
            case "memory":
                owed = [
                    act
                    for number, act in enumerate(MEETING[: self.next])
                    if number not in self.told and act.do in ("react", "extend", "end")
                ]
                return self.next, owed, self.out.ids
            case "look":
                return getattr(self.world, args[0])
            case "world":
                try:
                    return getattr(self.world, args[0])(*args[1])
                except StageError as error:
                    return error
            case "act":
                self._act(args[0])
                return self.out.ids
            case "told":
                self.told.add(args[0])
            case "over":
                (
                    self.out.meeting,
                    self.out.entries,
                    self.out.rows,
                    self.out.stored,
                    self.out.ended_at,
                    self.out.errors,
                ) = args
                self.done = True
        return None

    def _act(self, number: int) -> None:
        if number < self.next:
            return
        self.next = number + 1
        act = MEETING[number]
        heard = {MEETING[n].ref for n in self.told if MEETING[n].do == "say"}
        if act.do in ("edit", "delete") and act.ref not in heard:
            self.out.unseen_change = True
        run = Run("", acts=MEETING)
        run.world, run.out = self.world, self.out
        run.apply(act, (self.now - EPOCH).total_seconds())


def _child(url: str, pipe: Connection, at: float) -> None:
    """Never returns."""
    status = 1
    try:
        with instant_sqlite():
            loop = VirtualLoop()
            loop.advance(at)
            asyncio.set_event_loop(loop)
            run = loop.run_until_complete(_made(url, pipe, at))
            loop.run_until_complete(run.play())
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)


async def _made(url: str, pipe: Connection, at: float) -> KilledRun:
    run = KilledRun(url)
    run.begin(pipe, at)
    return run


def kill_often(kills: int, seed: int, show: Callable[[str], None] = print, per_meeting: int = 5) -> int:
    """At least so many SIGKILLs over as many meetings as that takes; returns how many meetings were wrong."""
    judge, chance = Judge(), random.Random(seed)
    expected, began = judge.calm("ja", "scripted"), time.monotonic()
    judge.folder.close()
    done = meetings = failed = 0
    while done < kills:
        folder = Path(tempfile.mkdtemp())
        try:
            parent = Parent(f"sqlite+aiosqlite:///{folder / 'ketsugi.db'}", chance)
            wrong = problems(parent.play(min(per_meeting, kills - done)), expected)
        finally:
            shutil.rmtree(folder)
        done, meetings = done + parent.kills, meetings + 1
        if wrong:
            failed += 1
            ups = [str(timedelta(seconds=round(up))) for up in parent.out.ups]
            show(f"FAILED meeting {meetings}, killed before {ups}: {wrong}")
    show(
        f"seed {seed}: {done} kills in {meetings} meetings, {failed} wrong, {time.monotonic() - began:.0f} s"
    )
    return failed
