"""An event loop whose time jumps to the next timer: an hour of waiting takes no time at all.

`run_virtual(coroutine)` runs one coroutine on such a loop. Only timers move time; a coroutine that waits for
something no timer will ever bring raises `Stuck` instead of hanging the suite.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stuck(RuntimeError):
    """Everything waits, and no timer is armed."""


class _Instant(selectors.SelectSelector):
    """A selector that never blocks: instead of waiting it moves the loop's time on."""

    def __init__(self) -> None:
        super().__init__()
        self.loop: VirtualLoop | None = None

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and self.loop is not None:
            if timeout is None:
                raise Stuck("every task waits and no timer is armed")
            self.loop.advance(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 0.0 seconds; `time()` moves only when every task waits."""

    def __init__(self) -> None:
        self._now = 0.0
        selector = _Instant()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        # The smallest step that a float at this size can show: a timer due "now" must not stall the loop.
        self._now += max(seconds, 1e-9) if seconds > 0 else 0.0


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end in virtual time; nothing in it may need a thread or a socket."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
