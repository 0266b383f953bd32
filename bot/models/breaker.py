"""A circuit breaker: while a provider is down, another engine answers, and the board can say so (SPEC 6).

    closed     the provider is asked; `failures` failures in a row within `window` open the circuit open
    the standby answers at once, nobody waits for a provider that is down half open  after `probe_after` one
    call is tried at the provider: an answer closes, a failure opens for twice as
               long (at most `probe_at_most`); everyone else is answered by the standby meanwhile

Only failures of the provider or of the way to it count. An answer that is blocked, empty, truncated or
invalid is still an answer: the guard's ladder deals with it. Where a streamed answer broke off, the standby does not
go on: a person has begun to read other words.

A provider that hangs is seldom heard of as a timeout: whoever asks holds the same deadline, so that both limits fall at
once and the provider's call is cancelled. A cancellation at the deadline is therefore a timeout; any other (the process
ends) says nothing of the provider. Nor does a deadline that left less than `fair_s`: a room may be hurried while a call
is under way (`Room.hurry`), and a healthy provider would have been cut off too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.clock import Deadline, Now
from bot.models.base import Draft, Model, Out, ProviderError, Request

DOWN = frozenset({"timeout", "unreachable", "rate_limited", "server", "refused"})
_PROBE_S = 12.0  # a probe may not eat the whole deadline of whoever happens to wait for it
FAIR_S = 10.0  # seconds; the stronger model took 8.7 (median of 3, SPEC): cut off sooner, nobody is to blame
_TICK_S = 0.02  # timers may fire that much early (the coarsest clock, Windows', ticks every 16 ms)


class BreakerModel:
    """Implements `Model` in front of two others. One for each provider model; shared by all meetings."""

    def __init__(
        self,
        provider: Model,
        standby: Model,
        now: Now,
        *,
        failures: int = 3,
        window: timedelta = timedelta(minutes=10),
        probe_after: timedelta = timedelta(minutes=1),
        probe_at_most: timedelta = timedelta(minutes=15),
        fair_s: float = FAIR_S,
    ) -> None:
        self._provider, self._standby, self._now = provider, standby, now
        self._limit, self._window = failures, window
        self._probe_after, self._probe_at_most = probe_after, probe_at_most
        self._fair_s = fair_s
        self._failed_at: list[datetime] = []
        self._pause = probe_after
        self._probe_at: datetime | None = None  # set: open
        self._probing = False

    @property
    def name(self) -> str:
        """Of the engine that answers at present."""
        return self._standby.name if self.degraded else self._provider.name

    @property
    def degraded(self) -> bool:
        """Whether the standby answers instead of the provider."""
        return self._probe_at is not None

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        """Raises the provider's ProviderError while the circuit is closed; once it is open, the standby's."""
        if self._probe_at is None:
            return await self._ask(request)
        if self._probing or self._now() < self._probe_at:
            return await self._standby.generate(request)
        return await self._probe(request)

    async def close(self) -> None:
        await self._provider.close()
        await self._standby.close()

    async def _ask(self, request: Request[Out]) -> Draft[Out]:
        heard, began = _Heard(request.on_text), _time()
        try:
            draft = await self._provider.generate(heard.over(request))
        except asyncio.CancelledError:
            if _over(request.deadline) and self._had_fair_time(began):
                self._count()
            raise
        except ProviderError as error:
            if error.kind not in DOWN:
                self._failed_at.clear()
                raise
            if error.kind != "timeout" or not _over(request.deadline) or self._had_fair_time(began):
                self._count()
            if not self.degraded or request.deadline.remaining() <= 0 or heard.text:
                raise
            return await self._standby.generate(request)
        self._failed_at.clear()
        return draft

    def _had_fair_time(self, began: float) -> bool:
        return _time() - began >= self._fair_s - _TICK_S

    def _count(self) -> None:
        now = self._now()
        self._failed_at = [at for at in self._failed_at if now - at <= self._window] + [now]
        if len(self._failed_at) >= self._limit and self._probe_at is None:
            self._pause = self._probe_after
            self._probe_at = now + self._pause

    async def _probe(self, request: Request[Out]) -> Draft[Out]:
        self._probing = True
        limit = min(_PROBE_S, request.deadline.remaining() * 0.6)
        heard, began = _Heard(request.on_text), _time()
        try:
            probe = replace(heard.over(request), deadline=Deadline(limit))
            draft = await self._provider.generate(probe)
        except asyncio.CancelledError:
            if _over(request.deadline):
                self._put_off(longer=self._had_fair_time(began))
            raise
        except ProviderError as error:
            if error.kind not in DOWN:
                self._recover()
                raise
            self._put_off(longer=error.kind != "timeout" or self._had_fair_time(began))
            if heard.text:
                raise
            return await self._standby.generate(request)
        finally:
            self._probing = False
        self._recover()
        return draft

    def _put_off(self, *, longer: bool) -> None:
        """The next probe. Not at once after one that was cut short either: whoever asks next would wait for nothing
        too."""
        if longer:
            self._pause = min(self._pause * 2, self._probe_at_most)
        self._probe_at = self._now() + self._pause

    def _recover(self) -> None:
        self._probe_at = None
        self._failed_at.clear()


def _time() -> float:
    return asyncio.get_running_loop().time()


def _over(deadline: Deadline) -> bool:
    return deadline.remaining() <= _TICK_S


class _Heard:
    """Passes streamed text on and remembers that there was some."""

    def __init__(self, on_text: Callable[[str], None] | None) -> None:
        self._on_text = on_text
        self.text = ""

    def over(self, request: Request[Out]) -> Request[Out]:
        return request if self._on_text is None else replace(request, on_text=self._hear)

    def _hear(self, text: str) -> None:
        self.text = text
        if self._on_text is not None:
            self._on_text(text)
