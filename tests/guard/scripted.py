"""A model that answers by script: the tests' own author of good and bad texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.clock import Clock, Deadline
from bot.guard.generator import Call, Generator
from bot.guard.model import Generated
from bot.meeting.model import ChannelKind, Language, LedgerView, Meeting, MeetingState, Phase, Route, Scene
from bot.models.base import Draft, Prompt, ProviderError, Request, Usage
from bot.prompts.outputs import EntryOut, TurnOut
from tests.virtual_time import run_virtual

NOW = datetime(2026, 9, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Say:
    """One scripted answer: after `seconds` a text, or the error instead. `then` runs before it is given."""

    text: str = ""
    phase: Phase = Phase.DISCUSSING
    closing_complete: bool = False
    seconds: float = 0.1
    error: BaseException | None = None
    entries: tuple[EntryOut, ...] = ()
    then: Callable[[], None] | None = None


HANG = Say(seconds=1e9)


@dataclass
class ScriptedModel:
    script: Sequence[Say]
    name: str = "scripted"
    requests: list[Request[Any]] = field(default_factory=list)

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        say = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        await asyncio.sleep(say.seconds)
        if say.then is not None:
            say.then()
        if say.error is not None:
            raise say.error
        output = TurnOut(
            response=say.text,
            phase=say.phase,
            closing_complete=say.closing_complete,
            entries=list(say.entries),
        )
        return Draft(output, Usage(100, 10, 20), "scripted-1", round(say.seconds * 1000))

    async def close(self) -> None:
        return None


def failed(kind: str) -> Say:
    return Say(error=ProviderError(kind, usage=Usage(7, 0, 3), version="scripted-1", latency_ms=50))


def scene(language: Language = "en", route: Route = Route.TURN) -> Scene:
    meeting = Meeting(
        id=1,
        guild_id=1,
        channel_id=2,
        channel_kind=ChannelKind.TEXT,
        title="会議" if language == "ja" else "Meeting",
        language=language,
        timezone="UTC",
        chair_id=3,
        chair_name="Sato",
        agenda=(),
        started_at=NOW,
        planned_end=NOW + timedelta(hours=1),
        state=MeetingState.OPEN,
    )
    return Scene(route, meeting, NOW, LedgerView())


PROMPT = Prompt(system="S", stable="A", ledger="L", history="H", task="T", clock="C")


@dataclass
class Played:
    generated: Generated
    model: ScriptedModel
    broken: list[tuple[str, BaseException]]
    took_s: float
    call: Call
    generator: Generator


def play(
    *script: Say,
    seconds: float = 25.0,
    language: Language = "en",
    route: Route = Route.TURN,
    model: ScriptedModel | None = None,
    **call: Any,
) -> Played:
    """One guarded generation in virtual time, with what it took and what was reported."""
    model = model or ScriptedModel(script)
    broken: list[tuple[str, BaseException]] = []

    async def main() -> Played:
        loop = asyncio.get_running_loop()
        started = loop.time()
        chosen = model
        generator = Generator(
            lambda _: chosen,
            Clock(lambda: NOW + timedelta(seconds=loop.time())),
            lambda what, error: broken.append((what, error)),
        )
        made = Call(
            route=route,
            scene=scene(language, route),
            prompt=PROMPT,
            output=TurnOut,
            deadline=Deadline(seconds),
            language=language,
            **call,
        )
        generated = await generator.generate(made)
        return Played(generated, chosen, broken, loop.time() - started, made, generator)

    return run_virtual(main())
