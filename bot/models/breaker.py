"""A circuit breaker: while a provider is down, another engine answers, and the board can say so (SPEC 6).

    closed     the provider is asked; `failures` failures in a row within `window` open the circuit open
    the standby answers at once, nobody waits for a provider that is down half open  after `probe_after` one
    call is tried at the provider: an answer closes, a failure opens for twice as
               long (at most `probe_at_most`); everyone else is answered by the standby meanwhile

Only failures of the provider or of the way to it count. An answer that is blocked, empty, truncated or
invalid is still an answer: the guard's ladder deals with it. Where a streamed answer broke off, the standby does not
go on: a person has begun to read other words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from bot.clock import Deadline, Now
from bot.models.base import Draft, Model, Out, ProviderError, Request

DOWN = frozenset({"timeout", "unreachable", "rate_limited", "server", "refused"})
_PROBE_S = 12.0  # a probe may not eat the whole deadline of whoever happens to wait for it


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
    ) -> None:
        self._provider, self._standby, self._now = provider, standby, now
        self._limit, self._window = failures, window
        self._probe_after, self._probe_at_most = probe_after, probe_at_most
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
        heard = _Heard(request.on_text)
        try:
            draft = await self._provider.generate(heard.over(request))
        except ProviderError as error:
            if error.kind not in DOWN:
                self._failed_at.clear()
                raise
            self._count()
            if not self.degraded or request.deadline.remaining() <= 0 or heard.text:
                raise
            return await self._standby.generate(request)
        self._failed_at.clear()
        return draft

    def _count(self) -> None:
        now = self._now()
        self._failed_at = [at for at in self._failed_at if now - at <= self._window] + [now]
        if len(self._failed_at) >= self._limit and self._probe_at is None:
            self._pause = self._probe_after
            self._probe_at = now + self._pause

    async def _probe(self, request: Request[Out]) -> Draft[Out]:
        self._probing = True
        limit = min(_PROBE_S, request.deadline.remaining() * 0.6)
        heard = _Heard(request.on_text)
        try:
            probe = replace(heard.over(request), deadline=Deadline(limit))
            draft = await self._provider.generate(probe)
        except ProviderError as error:
            if error.kind not in DOWN:
                self._recover()
                raise
            self._pause = min(self._pause * 2, self._probe_at_most)
            self._probe_at = self._now() + self._pause
            if heard.text:
                raise
            return await self._standby.generate(request)
        finally:
            self._probing = False
        self._recover()
        return draft

    def _recover(self) -> None:
        self._probe_at = None
        self._failed_at.clear()


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
