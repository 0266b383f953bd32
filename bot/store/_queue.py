"""Whose turn it is at the one connection: what people just wrote goes before the bot's own work."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

# So many in a row may pass; then one of the others has its turn, so that a flood delays no notice for long.
PASSING = 4


class Queue:
    """A lock with two classes of waiters, each in order of arrival."""

    def __init__(self) -> None:
        self._held = False
        self._first: deque[asyncio.Future[None]] = deque()
        self._rest: deque[asyncio.Future[None]] = deque()
        self._passed = 0

    @asynccontextmanager
    async def turn(self, *, first: bool = False) -> AsyncIterator[None]:
        """Hold the lock; one that is cancelled while it waits gives its place up."""
        await self._acquire(self._first if first else self._rest)
        try:
            yield
        finally:
            self._hand_on()

    async def _acquire(self, waiting: deque[asyncio.Future[None]]) -> None:
        if not self._held:
            self._held = True
            return
        mine = asyncio.get_running_loop().create_future()
        waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._hand_on()  # it had just been handed over
            raise

    def _hand_on(self) -> None:
        while (turn := self._next()) is not None:
            if not turn.done():
                turn.set_result(None)
                return
        self._held = False

    def _next(self) -> asyncio.Future[None] | None:
        if self._first and not (self._rest and self._passed >= PASSING):
            self._passed += 1
            return self._first.popleft()
        self._passed = 0
        return self._rest.popleft() if self._rest else None
