"""A provider that hangs is a provider that is down, though nobody hears it say so.

Whoever asks holds the same deadline as the provider's own client: both limits fall at once, and what reaches the
breaker is a cancellation.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.clock import Clock, Deadline
from bot.guard.generator import Call, Generator
from bot.guard.model import Generated, Source
from bot.meeting.model import Route
from bot.models.base import Draft, ProviderError, Request
from bot.models.breaker import BreakerModel
from bot.models.gemini import GeminiModel
from bot.prompts.outputs import TurnOut
from tests.fakes import FakeGemini, Reply
from tests.guard.scripted import PROMPT, Say, ScriptedModel
from tests.guard.scripted import scene as scene_of
from tests.virtual_time import run_virtual

START = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
WHOLE_S = 23.5  # what an answer's generation is given


def call(deadline: Deadline) -> Call:
    return Call(Route.TURN, scene_of(), PROMPT, TurnOut, deadline, fallback="Fixed.")


class Hanging:
    """Hangs while `down`, bounded by the deadline as the real client is; `careless`: by nothing."""

    name = "provider"

    def __init__(self, *, careless: bool = False) -> None:
        self.down, self.careless, self.calls = True, careless, 0

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        self.calls += 1
        if not self.down:
            return await ScriptedModel([Say("The provider speaks.")]).generate(request)
        if self.careless:
            await asyncio.sleep(1e9)
        try:
            async with request.deadline.timeout():
                await asyncio.sleep(1e9)
        except TimeoutError:
            raise ProviderError("timeout") from None
        raise AssertionError

    async def close(self) -> None:
        return None


class Desk:
    """A generator over a breaker over a provider that hangs, with the standby behind it."""

    def __init__(self, *, careless: bool = False) -> None:
        self.provider = Hanging(careless=careless)
        self.breaker = BreakerModel(self.provider, ScriptedModel([Say("The standby speaks.")]), self.now)
        self._generator = Generator(lambda call: self.breaker, Clock(self.now))

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    @property
    def seconds(self) -> float:
        return asyncio.get_running_loop().time()

    async def ask(self, deadline: Deadline | None = None) -> Generated:
        return await self._generator.generate(call(deadline or Deadline(WHOLE_S)))

    async def hurried(self, after_s: float, to_s: float) -> Generated:
        """An answer whose deadline is brought nearer `after_s` seconds into it, to `to_s` seconds from then."""
        deadline = Deadline(WHOLE_S)
        asked = asyncio.create_task(self.ask(deadline))
        await asyncio.sleep(after_s)
        deadline.shorten(to_s)
        return await asked

    async def opened(self) -> Desk:
        for _ in range(3):
            await self.ask()
        assert self.breaker.degraded
        return self


@pytest.mark.parametrize("careless", [False, True])
def test_the_third_hang_in_a_row_opens_and_the_fourth_answer_comes_at_once(careless: bool) -> None:
    async def scene() -> None:
        desk = Desk(careless=careless)
        for _ in range(3):
            assert not desk.breaker.degraded
            assert (await desk.ask()).source is Source.FIXED
        assert desk.breaker.degraded
        before = desk.seconds
        assert (await desk.ask()).text == "The standby speaks."
        assert desk.seconds - before < 1.0

    run_virtual(scene())


def test_it_is_handed_back_when_the_provider_answers_again() -> None:
    async def scene() -> None:
        desk = await Desk().opened()
        desk.provider.down = False
        await asyncio.sleep(60)
        assert (await desk.ask()).text == "The provider speaks."
        assert not desk.breaker.degraded

    run_virtual(scene())


def test_a_room_that_is_hurried_blames_no_provider() -> None:
    async def scene() -> None:
        desk = Desk()
        for _ in range(6):
            await desk.hurried(1.0, 8.0)
        assert not desk.breaker.degraded

    run_virtual(scene())


def test_a_hurry_that_comes_after_a_fair_time_changes_nothing() -> None:
    async def scene() -> None:
        desk = Desk()
        for _ in range(3):
            await desk.hurried(9.0, 5.0)
        assert desk.breaker.degraded

    run_virtual(scene())


def test_a_process_that_ends_blames_no_provider() -> None:
    async def scene() -> None:
        desk = Desk()
        for _ in range(6):
            asked = asyncio.create_task(desk.ask())
            await asyncio.sleep(20)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        assert desk.provider.calls == 6
        assert not desk.breaker.degraded

    run_virtual(scene())


def test_a_probe_that_is_cut_off_lengthens_the_pause() -> None:
    async def scene() -> None:
        desk = await Desk(careless=True).opened()
        await asyncio.sleep(60)
        assert (await desk.ask()).source is Source.FIXED
        assert desk.provider.calls == 4
        await asyncio.sleep(119)
        assert (await desk.ask()).text == "The standby speaks."
        await asyncio.sleep(2)
        desk.provider.down = False
        assert (await desk.ask()).text == "The provider speaks."

    run_virtual(scene())


def test_a_probe_cut_short_by_a_hurry_waits_for_its_time_again_but_no_longer() -> None:
    async def scene() -> None:
        desk = await Desk().opened()
        await asyncio.sleep(60)
        await desk.hurried(1.0, 2.0)
        assert (await desk.ask()).text == "The standby speaks."
        assert desk.provider.calls == 4
        desk.provider.down = False
        await asyncio.sleep(60)
        assert (await desk.ask()).text == "The provider speaks."

    run_virtual(scene())


async def test_the_real_client_hangs_and_is_noticed() -> None:
    async with FakeGemini(*[Reply(hang=True)] * 3) as fake:
        provider = GeminiModel("gemini-3.8-flash", "k", Clock(lambda: START), base_url=fake.url)
        await provider.prepare()
        breaker = BreakerModel(
            provider, ScriptedModel([Say("The standby speaks.", seconds=0)]), lambda: START, fair_s=0.04
        )
        generator = Generator(lambda call: breaker, Clock(lambda: START))
        for _ in range(3):
            assert not breaker.degraded
            await generator.generate(call(Deadline(0.05)))
        assert breaker.degraded
        assert (await generator.generate(call(Deadline(5.0)))).text == "The standby speaks."
        await provider.close()
