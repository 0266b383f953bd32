"""Time comes in from outside: `now()` and `wait(awaitable, reason)`.

In the product `now` is discord.utils.utcnow and `wait` just awaits. The rehearsal hands both in, so that
virtual time drives everything. Every sleep and every model call goes through `wait`; only leaves call it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

Now = Callable[[], datetime]


class Wait(Protocol):
    def __call__(self, awaitable: Awaitable[T], reason: str) -> Awaitable[T]: ...


async def just_wait(awaitable: Awaitable[T], reason: str) -> T:
    """The product's `wait`: nothing but awaiting (`reason` is for whoever drives time)."""
    return await awaitable


@dataclass(frozen=True, slots=True)
class Clock:
    now: Now
    wait: Callable[[Awaitable[Any], str], Awaitable[Any]] = just_wait

    async def sleep(self, seconds: float, reason: str) -> None:
        await self.wait(asyncio.sleep(max(0.0, seconds)), reason)


class Deadline:
    """A moment of the running loop's time that ends a call, and that others may bring nearer.

    `async with deadline.timeout(cap): ...` raises TimeoutError at the deadline (or after `cap` seconds, if
    that comes first). `shorten(seconds)` moves the end to at most `seconds` from now, for a call under way too:
    a wish to end must not wait for a turn that has just begun to think.
    """

    def __init__(self, seconds: float) -> None:
        self._end = asyncio.get_running_loop().time() + seconds
        self._active: set[asyncio.Timeout] = set()

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - asyncio.get_running_loop().time())

    def shorten(self, seconds: float) -> None:
        end = asyncio.get_running_loop().time() + seconds
        if end >= self._end:
            return
        self._end = end
        for timeout in self._active:
            when = timeout.when()
            if when is not None and when > end:
                timeout.reschedule(end)

    def timeout(self, cap: float | None = None) -> _Bounded:
        return _Bounded(self, cap)

    @property
    def end(self) -> float:
        return self._end


class _Bounded:
    def __init__(self, deadline: Deadline, cap: float | None) -> None:
        self._deadline, self._cap = deadline, cap
        self._timeout: asyncio.Timeout | None = None

    async def __aenter__(self) -> None:
        end = self._deadline.end
        if self._cap is not None:
            end = min(end, asyncio.get_running_loop().time() + self._cap)
        self._timeout = asyncio.timeout_at(end)
        await self._timeout.__aenter__()
        self._deadline._active.add(self._timeout)

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        assert self._timeout is not None
        self._deadline._active.discard(self._timeout)
        await self._timeout.__aexit__(kind, error, trace)


class Scheduler:
    """Sleeps to the earliest due moment of all rooms and starts at most one step task a room.

    `run(key)` takes one room's due steps and returns when the room wants to be looked at next (None: only when
    armed). It must not raise; whoever hands it in catches. One sleeping task serves any number of rooms, because
    parked tasks cost and because nothing here may wait idly on a queue or event.
    """

    def __init__(self, clock: Clock, run: Callable[[int], Awaitable[datetime | None]]) -> None:
        self._clock, self._run = clock, run
        self._due: dict[int, datetime] = {}
        self._running: dict[int, asyncio.Task[None]] = {}
        self._sleeper: asyncio.Task[None] | None = None
        self._sleep_until: datetime | None = None
        self._closed = False

    def arm(self, key: int, at: datetime) -> None:
        """Look at room `key` at `at`, or earlier if it was armed for earlier."""
        if self._closed:
            return
        before = self._due.get(key)
        if before is None or at < before:
            self._due[key] = at
        if key not in self._running:
            self._wake_for(self._due[key])

    def disarm(self, key: int) -> None:
        self._due.pop(key, None)

    def _wake_for(self, at: datetime) -> None:
        asleep = self._sleeper is not None and not self._sleeper.done()
        if asleep and self._sleep_until is not None and self._sleep_until <= at:
            return
        if asleep and self._sleeper is not None:
            self._sleeper.cancel()
        self._sleep_until = at
        self._sleeper = asyncio.get_running_loop().create_task(self._sleep(), name="ketsugi-scheduler")

    async def _sleep(self) -> None:
        while not self._closed:
            now = self._clock.now()
            for key in [k for k, at in self._due.items() if at <= now and k not in self._running]:
                self._start(key)
            waiting = [at for k, at in self._due.items() if k not in self._running]
            if not waiting:
                self._sleep_until = None
                return
            self._sleep_until = min(waiting)
            await self._clock.sleep((self._sleep_until - now).total_seconds(), "until the next due step")

    def _start(self, key: int) -> None:
        self._due.pop(key, None)
        task = asyncio.get_running_loop().create_task(self._step(key), name=f"ketsugi-room-{key}")
        self._running[key] = task

    async def _step(self, key: int) -> None:
        again: datetime | None = None
        try:
            again = await self._run(key)
        finally:
            self._running.pop(key, None)
        if again is not None:
            self.arm(key, again)
        elif key in self._due:
            self._wake_for(self._due[key])

    @property
    def busy(self) -> bool:
        return bool(self._running)

    async def close(self, grace: float = 10.0) -> None:
        """Start nothing more; give steps under way `grace` seconds, then cancel them."""
        self._closed = True
        if self._sleeper is not None:
            self._sleeper.cancel()
        running = list(self._running.values())
        if running:
            _, late = await asyncio.wait(running, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._sleeper is not None:
            await asyncio.gather(self._sleeper, return_exceptions=True)
