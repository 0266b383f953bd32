"""Background work never dies silently, and logs never hold what people wrote."""

from __future__ import annotations

import asyncio
import logging
import math
import traceback
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.clock import Clock

log = logging.getLogger("ketsugi")

LAG_WARN_S = 0.5  # of the 3 s in which Discord wants a command acknowledged
LAG_TOLD_S = 60.0
LAG_KEPT_S = 600.0


def log_failure(what: str, error: BaseException, *, level: int = logging.ERROR) -> None:
    """Log where `error` came from: its type and its frames, never its message.

    Messages of validation, database and HTTP errors quote their input, which here is what people wrote.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    cause = f" (from {type(error.__cause__).__name__})" if error.__cause__ else ""
    log.log(level, "%s: %s%s\n%s", what, type(error).__name__, cause, frames)


@dataclass(slots=True)
class Worker:
    """`at` is the last success, before the first one the start; `failures` in a row since, the last one's class."""

    every_s: float
    at: datetime
    failures: int = 0
    error: str = ""


class Supervisor:
    """Runs recurring background work: catches, logs, backs off, goes on; `workers` tells `doctor` how each fares."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self.workers: dict[str, Worker] = {}

    def every(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Call `work` every `seconds`; after n failures in a row the pause grows to at most 2^n times, 10 min."""
        worker = self.workers[name] = Worker(seconds, self._clock.now())
        task = asyncio.get_running_loop().create_task(
            self._repeat(name, worker, work), name=f"ketsugi-{name}"
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _repeat(self, name: str, worker: Worker, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            pause = worker.every_s * 2 ** min(worker.failures, 8)
            await self._clock.sleep(min(pause, max(600.0, worker.every_s)), name)
            try:
                await work()
            except Exception as error:
                worker.failures, worker.error = worker.failures + 1, type(error).__name__
                log_failure(f"background work {name} failed, goes on", error)
            else:
                worker.at, worker.failures, worker.error = self._clock.now(), 0, ""

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class LoopLag:
    """How late the event loop wakes who sleeps: what blocks it keeps every meeting waiting, and shows nowhere else.

    `measure` is to be called `every_s` after it returned; what is beyond that on the loop's clock is the lag.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due: float | None = None
        self._lags: deque[float] = deque(maxlen=math.ceil(LAG_KEPT_S / every_s))
        self._untold: list[float] = []
        self._told_at = -math.inf

    @property
    def worst(self) -> float:
        """Seconds, of the last ten minutes; 0 before the first measurement."""
        return max(self._lags, default=0.0)

    async def measure(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._due is not None:
            self._note(max(0.0, now - self._due), now)
        self._due = now + self._every_s

    def _note(self, lag: float, now: float) -> None:
        self._lags.append(lag)
        if lag > LAG_WARN_S:
            self._untold.append(lag)
        # At most one line a minute: a loop that is late every second must not fill the log as well.
        if self._untold and now - self._told_at >= LAG_TOLD_S:
            log.warning(
                "the event loop was held up %d time(s), for %.1f s at worst: something blocks it or the machine is"
                " overloaded; meetings answer late",
                len(self._untold),
                max(self._untold),
            )
            self._untold, self._told_at = [], now
