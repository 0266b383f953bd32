"""Virtual time: who moves the simulated clock, how far, and when it has to follow the real one."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

# simcord publishes no way to ask when the next timer is due, or what the real time is while it is attached.
from simcord._dpy_internals import real_monotonic
from simcord._settlement import _next_virtual_timer
from simcord.env import Env

from bot.errors import KetsugiError

T = TypeVar("T")

LONGEST_STEP_S = 1800.0
# simcord polls this often while the bot works; its own 0.05 makes 40 messages take 4.7 s instead of 1.8.
IDLE_S = 0.001
FOLLOW_S = 0.02  # how often virtual time catches up with real time during a real call
PACE_TICK_S = 0.25
MOST_STALLS = 5


class Stuck(KetsugiError):
    """The bot keeps working without end in one moment of virtual time."""


class Timing:
    """Moves one simulated Discord through time.

    Steps lead to due moments and never past them while a real call (a model over the network) is pending:
    during one, virtual time follows real time, so that deadlines and waits are as long as a person would find
    them.
    `pace` is virtual seconds a real second, None as fast as possible.
    """

    def __init__(self, env: Env, pace: float | None = None) -> None:
        self._env = env
        self._pace = pace
        self._calls: set[asyncio.Task[Any]] = set()
        self.attached = False  # whether a bot is there to be driven
        self.stalls: list[str] = []

    def seconds(self) -> float:
        """Virtual seconds since the simulated Discord began."""
        return self._env.backend.clock.elapsed

    async def wait(self, awaitable: Awaitable[T], reason: str) -> T:
        """The product's `wait` hook: sleeps are virtual, everything else is a real call."""
        task = asyncio.current_task()
        assert task is not None
        work = self._env._work
        real = not _is_sleep(awaitable) and task not in work.external_waits
        if real:
            self._calls.add(task)
        try:
            if task not in work.tasks or task in work.external_waits:
                return await awaitable
            return await self._env.external_wait(awaitable, reason=reason)  # type: ignore[no-any-return]
        finally:
            if real:
                self._calls.discard(task)

    async def sleep(self, seconds: float) -> None:
        """Sleep virtually inside the bot's work, also inside a call that would otherwise follow real time."""
        task = asyncio.current_task()
        assert task is not None
        counted = task in self._calls
        self._calls.discard(task)
        try:
            await self.wait(asyncio.sleep(seconds), "sleep")
        finally:
            if counted:
                self._calls.add(task)

    async def settle(self) -> None:
        """Let the bot finish what it can without time passing."""
        if self.attached:
            await self._tolerating(self._env.settle(idle=IDLE_S))

    async def run_until(self, moment: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Let virtual time pass until `moment` (seconds since the beginning) or until `stop` says so."""
        while self.seconds() < moment and not stop():
            if self._calls:
                await self._follow(moment)
                continue
            step = min(self._next_step(moment), LONGEST_STEP_S)
            if self._pace:
                step = min(step, PACE_TICK_S * self._pace)
                await asyncio.sleep(step / self._pace)
            await self._advance(step)

    def _next_step(self, moment: float) -> float:
        now = self.seconds()
        due = _next_virtual_timer(self._env._settlement_state()) if self.attached else None
        if due is None or due >= moment:
            return moment - now
        # A timer that is due already runs with the smallest step; its next one then lies ahead.
        return max(due - now, 1e-6)

    async def _follow(self, moment: float) -> None:
        begun = real_monotonic()
        await asyncio.wait(self._calls, timeout=FOLLOW_S, return_when=asyncio.FIRST_COMPLETED)
        await self._advance(min(real_monotonic() - begun, moment - self.seconds()))

    async def _advance(self, seconds: float) -> None:
        if self.attached:
            await self._tolerating(self._env.advance_time(seconds))
        else:
            self._env.backend.advance_clock(seconds)

    async def _tolerating(self, operation: Awaitable[None]) -> None:
        """simcord gives up after 5 s of real time in one moment; a busy machine may need several."""
        try:
            await operation
        except TimeoutError as error:
            self.stalls.append(str(error))
            if len(self.stalls) >= MOST_STALLS:
                raise Stuck(self.stalls[-1]) from error


def _is_sleep(awaitable: object) -> bool:
    return inspect.iscoroutine(awaitable) and awaitable.cr_code is asyncio.sleep.__code__
