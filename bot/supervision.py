"""Background work never dies silently, and logs never hold what people wrote."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.clock import Clock

log = logging.getLogger("ketsugi")


def log_failure(what: str, error: BaseException, *, level: int = logging.ERROR) -> None:
    """Log where `error` came from: its type and its frames, never its message.

    Messages of validation, database and HTTP errors quote their input, which here is what people wrote.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    cause = f" (from {type(error.__cause__).__name__})" if error.__cause__ else ""
    log.log(level, "%s: %s%s\n%s", what, type(error).__name__, cause, frames)


class Supervisor:
    """Runs recurring background work: catches, logs, backs off, goes on; keeps a heartbeat for `doctor`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self.beats: dict[str, datetime] = {}
        self.failures: dict[str, int] = {}

    def every(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Call `work` every `seconds`; after n failures in a row the pause grows to at most 2^n times, 10 min."""
        task = asyncio.get_running_loop().create_task(
            self._repeat(seconds, name, work), name=f"ketsugi-{name}"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _repeat(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            failures = self.failures.get(name, 0)
            await self._clock.sleep(min(seconds * 2 ** min(failures, 8), max(600.0, seconds)), name)
            try:
                await work()
            except Exception as error:
                self.failures[name] = failures + 1
                log_failure(f"background work {name} failed, goes on", error)
            else:
                self.failures[name] = 0
                self.beats[name] = self._clock.now()

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
