"""Faults at the numbered points of a run: every commit, Discord call and model call, over all lives of the process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from bot.models.base import Draft, Model, Out, ProviderError, Request
from bot.stage import Uncertain
from tests.crash.script import CHANNEL
from tests.crash.world import World, failing

T = TypeVar("T")


EPOCH = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)

# What may happen at a point. Commits know the two crashes only.
COMMIT_FAULTS = ("crash before", "crash after")
STAGE_FAULTS = ("crash before", "crash after", "lost", "500", "expired", "busy", "hang")
HANG_S = 7.0  # the product's own limit of one request
MODEL_FAULTS = ("crash before", "crash after", "500", "hang")
PERMANENT = ("gone", "forbidden")


class Killed(BaseException):
    """The process is dead: raised wherever its code still tries to do something."""


@dataclass(frozen=True)
class Point:
    kind: Literal["commit", "stage", "model"]
    name: str
    at: float  # seconds since the start of the run


@dataclass
class Injector:
    """Numbers the points of a run, over all lives of the process, and does what `plan` says at them."""

    plan: Mapping[int, str] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    died: asyncio.Event = field(default_factory=asyncio.Event)
    dead: bool = False
    world: World | None = None
    _committing: str | None = None

    def _next(self, kind: Literal["commit", "stage", "model"], name: str) -> str | None:
        how = self.plan.get(len(self.points))
        self.points.append(Point(kind, name, asyncio.get_running_loop().time()))
        return how

    def die(self) -> None:
        self.dead = True
        self.died.set()
        raise Killed

    def revive(self) -> None:
        self.dead, self.died, self._committing = False, asyncio.Event(), None

    def alive(self) -> None:
        if self.dead:
            raise Killed

    def commit(self, moment: str) -> None:
        if moment == "before":
            self.alive()
            self._committing = self._next("commit", "commit")
            if self._committing == "crash before":
                self.die()
        else:
            how, self._committing = self._committing, None
            self.alive()
            if how is not None:
                self.die()

    async def call(self, kind: Literal["stage", "model"], name: str, apply: Callable[[], T]) -> T:
        self.alive()
        how = self._next(kind, name)
        await asyncio.sleep(0.08)
        self.alive()
        if how == "crash before":
            self.die()
        if how in ("500", "busy"):
            raise failing(how)
        if how == "hang" and kind == "stage":
            await asyncio.sleep(HANG_S)
            raise Uncertain("timeout")
        if how in PERMANENT:
            assert self.world is not None
            (self.world.gone if how == "gone" else self.world.forbidden).add(CHANNEL)
        value = apply()
        if how == "crash after":
            self.die()
        if how in ("lost", "expired"):
            if how == "expired" and self.world is not None:
                self.world.expire_nonces()
            raise Uncertain(how)
        await asyncio.sleep(0.04)
        self.alive()
        return value


class TappedModel:
    """A model whose calls are points too."""

    def __init__(self, inner: Model, tap: Injector) -> None:
        self._inner, self._tap = inner, tap

    @property
    def name(self) -> str:
        return self._inner.name

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        tap = self._tap
        tap.alive()
        how = tap._next("model", request.scene.route.value)
        if how == "crash before":
            tap.die()
        if how == "hang":
            await asyncio.sleep(1e6)
        if how == "500":
            raise ProviderError("server", "injected")
        draft = await self._inner.generate(request)
        tap.alive()
        if how == "crash after":
            tap.die()
        return draft

    async def close(self) -> None:
        await self._inner.close()


class Failures(logging.Handler):
    """What the product itself reports as unforeseen: a step, rule or unit that raised."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if "was refused" in line or "could not be read" in line or "cannot be edited" in line:
            return  # Discord said no, and the product said so
        self.lines.append(line)


@contextmanager
def watching() -> Any:
    """Collect error lines of the product's logs; nothing is printed."""
    handler, log, units = Failures(), logging.getLogger("ketsugi"), logging.getLogger("bot.store.engine")
    asyncio.get_running_loop().set_exception_handler(_of_the_dead)
    log.addHandler(handler)
    before, log.propagate, units.disabled = log.propagate, False, True
    try:
        yield handler.lines
    finally:
        log.removeHandler(handler)
        log.propagate, units.disabled = before, False


def _of_the_dead(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A task that died with its process is nobody's to look after; anything else is reported as always."""
    if not isinstance(context.get("exception"), Killed):
        loop.default_exception_handler(context)
