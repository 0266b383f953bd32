"""Engines behind and beside the provider: what they do with a streamed answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.clock import Deadline
from bot.meeting.model import Route
from bot.models.base import Draft, Out, Prompt, ProviderError, Request, Usage
from bot.models.breaker import BreakerModel
from bot.models.offline import OfflineModel
from bot.prompts.outputs import AnswerOut
from bot.rehearsal.faults import Faults, FaultyModel
from tests.models.scenes import scene

NOW = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)


@dataclass
class Stream:
    """Tells `text` in two parts, then fails with `kind` or answers."""

    name: str
    text: str = ""
    kind: str | None = None

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        if request.on_text is not None and self.text:
            request.on_text(self.text[:3])
            request.on_text(self.text)
        if self.kind is not None:
            raise ProviderError(self.kind)
        return Draft(request.output.model_validate({"response": self.text}), Usage(), self.name, 0)

    async def close(self) -> None:
        return None


@dataclass
class Setup:
    provider: Stream
    told: list[str] = field(default_factory=list)
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.model = BreakerModel(
            self.provider, Stream("standby", "from the standby"), lambda: self.now, failures=1
        )

    async def ask(self) -> str:
        self.told.clear()
        prompt = Prompt("", "", "", "", "", "")
        asked: Request[Any] = Request(
            scene(Route.CHAT), prompt, AnswerOut, Deadline(20), on_text=self.told.append
        )
        try:
            return (await self.model.generate(asked)).version
        except ProviderError as error:
            return error.kind


async def test_the_breaker_passes_text_on() -> None:
    setup = Setup(Stream("provider", "a whole text"))
    assert await setup.ask() == "provider"
    assert setup.told == ["a w", "a whole text"]


async def test_the_standby_does_not_go_on_where_an_answer_broke_off() -> None:
    setup = Setup(Stream("provider", "half a", "unreachable"))
    assert await setup.ask() == "unreachable"
    assert setup.told == ["hal", "half a"]
    assert setup.model.degraded
    assert await setup.ask() == "standby"
    setup.now += timedelta(minutes=5)
    assert await setup.ask() == "unreachable"  # the probe broke off as well
    assert await setup.ask() == "standby"


async def test_the_standby_streams_where_nothing_was_told() -> None:
    setup = Setup(Stream("provider", "", "server"))
    assert await setup.ask() == "standby"
    assert setup.told[-1] == "from the standby"


@pytest.mark.parametrize("language", ["ja", "en"])
async def test_the_offline_engine_tells_its_answer_at_once(language: Any) -> None:
    told: list[str] = []
    prompt = Prompt("", "", "", "", "", "")
    asked = Request(scene(Route.CHAT, language), prompt, AnswerOut, Deadline(20), on_text=told.append)
    draft = await OfflineModel().generate(asked)
    assert told == [draft.output.response]
    assert told[0]


async def test_a_rehearsals_faults_pass_text_on() -> None:
    told: list[str] = []

    async def sleep(seconds: float) -> None:
        raise AssertionError(seconds)

    prompt = Prompt("", "", "", "", "", "")
    asked = Request(scene(Route.CHAT), prompt, AnswerOut, Deadline(20), on_text=told.append)
    await FaultyModel(Stream("inner", "as it comes"), Faults(lambda: 0.0), sleep).generate(asked)
    assert told == ["as ", "as it comes"]
