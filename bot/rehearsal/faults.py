"""Faults a scenario asks for: which calls fail, how, and for how long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from bot.models.base import Draft, Model, Out, ProviderError, Request
from bot.rehearsal.scenario import Fault

Error = Literal["timeout", "drop", "lost"]


@dataclass(frozen=True, slots=True)
class Hit:
    """How one call fails: an HTTP status, or an error of the connection."""

    status: int | None = None
    error: Error | None = None


class Faults:
    """Armed faults of one side; `seconds` tells virtual time, seconds since the beginning."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._armed: list[_Armed] = []

    def arm(self, fault: Fault) -> None:
        until = self._seconds() + fault.for_s if fault.for_s is not None else None
        left = None if until is not None else fault.times or 1
        self._armed.append(_Armed(Hit(fault.status, fault.error), left, until))

    def take(self) -> Hit | None:
        """The fault that hits a call made now, if any; of several the one armed first."""
        self._armed = [a for a in self._armed if a.until is None or self._seconds() < a.until]
        if not self._armed:
            return None
        first = self._armed[0]
        if first.left is not None:
            first.left -= 1
            if first.left == 0:
                self._armed.pop(0)
        return first.hit


@dataclass(slots=True)
class _Armed:
    hit: Hit
    left: int | None
    until: float | None


class FaultyModel:
    """A Model in front of another one that fails as the scenario says. `sleep` waits in virtual time."""

    def __init__(self, inner: Model, faults: Faults, sleep: Callable[[float], Awaitable[None]]) -> None:
        self._inner, self._faults, self._sleep = inner, faults, sleep

    @property
    def name(self) -> str:
        return self._inner.name

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        hit = self._faults.take()
        if hit is None:
            return await self._inner.generate(request)
        if hit.error == "timeout":
            await self._sleep(request.deadline.remaining())
            raise ProviderError("timeout", "injected")
        if hit.error == "lost":
            await self._inner.generate(request)
        if hit.status is None:
            raise ProviderError("unreachable", "injected")
        raise ProviderError(_kind_of(hit.status), f"injected {hit.status}")

    async def close(self) -> None:
        await self._inner.close()


def _kind_of(status: int) -> str:
    if status == 429:
        return "rate_limited"
    return "server" if status >= 500 else "refused"
