"""The Model protocol: one request in, one validated answer or one typed failure out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from bot.clock import Deadline
from bot.errors import ModelError
from bot.meeting.model import Scene

Out = TypeVar("Out", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a provider is sent: stable text first, so that its caching works (SPEC 4).

    `system` and `stable` do not change between the turns of a meeting; `ledger` grows; `history` moves; `clock` comes
    last.
    `note` is the fenced application note of a rephrase, empty on the first attempt.
    """

    system: str
    stable: str
    ledger: str
    history: str
    task: str
    clock: str
    note: str = ""

    def user_text(self) -> str:
        return "\n\n".join(
            p for p in (self.stable, self.ledger, self.history, self.task, self.clock, self.note) if p
        )


@dataclass(frozen=True, slots=True)
class Request(Generic[Out]):
    """One generation. `attempt` is 0 for the first, 1 for the rephrase (higher temperature where honoured).

    `on_text`, where given, is called with the answer's `response` as far as it has come, each time more of it is
    there; the draft at the end is the same with and without it. It must not raise, and it may never be called:
    an engine that cannot stream simply answers. What it was given stands for nothing until `generate` returns.
    """

    scene: Scene
    prompt: Prompt
    output: type[Out]
    deadline: Deadline
    attempt: int = 0
    max_output_tokens: int = 2048
    on_text: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    tokens_in: int = 0  # prompt, cached included
    tokens_cached: int = 0
    tokens_out: int = 0  # candidates + thoughts


@dataclass(frozen=True, slots=True)
class Draft(Generic[Out]):
    """A valid answer. `version` is the model version as the provider returned it."""

    output: Out
    usage: Usage
    version: str
    latency_ms: int


class Model(Protocol):
    @property
    def name(self) -> str: ...

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        """Raises ProviderError subclasses only; never outlives `request.deadline`."""

    async def close(self) -> None: ...


class ProviderError(ModelError):
    """No usable answer. `kind` is one word for records and statistics; messages never hold prompt or answer text.

    kinds: "timeout", "unreachable", "rate_limited", "server", "refused" (bad key, bad request), "blocked", "empty",
    "truncated", "invalid" (no JSON of the asked type).
    """

    def __init__(
        self, kind: str, detail: str = "", usage: Usage | None = None, version: str = "", latency_ms: int = 0
    ) -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind, self.usage, self.version, self.latency_ms = kind, usage or Usage(), version, latency_ms
