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

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        assert self._timeout is not None
        self._deadline._active.discard(self._timeout)
        return await self._timeout.__aexit__(kind, error, trace)
