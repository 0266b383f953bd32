"""A provider goes down and comes back; nobody waits for it meanwhile."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clock import Deadline
from bot.meeting.model import LedgerView, Route, Scene
from bot.models.base import Draft, Out, Prompt, ProviderError, Request, Usage
from bot.models.breaker import DOWN, BreakerModel
from bot.prompts.outputs import TurnOut
from tests.minutes.made import meeting
from tests.virtual_time import run_virtual

START = datetime(2026, 11, 30, 5, 0, tzinfo=UTC)


class Scripted:
    """Answers, or fails with the kind it is given next; "hang" waits for the deadline."""

    def __init__(self, name: str, *kinds: str | None) -> None:
        self.name, self.kinds, self.calls, self.closed = name, list(kinds), 0, False

    async def generate(self, request: Request[Out]) -> Draft[Out]:
        self.calls += 1
        kind = self.kinds.pop(0) if self.kinds else None
        if kind == "hang":
            await asyncio.sleep(request.deadline.remaining())
            kind = "timeout"
        if kind is not None:
            raise ProviderError(kind)
        return Draft(request.output.model_validate({"response": self.name}), Usage(), self.name, 0)

    async def close(self) -> None:
        self.closed = True


class Room:
    def __init__(self, *kinds: str | None, **settings: Any) -> None:
        self.now = START
        self.provider, self.standby = Scripted("provider", *kinds), Scripted("standby")
        self.model = BreakerModel(self.provider, self.standby, lambda: self.now, **settings)

    async def ask(self, seconds: float = 25.0) -> str:
        scene = Scene(Route.TURN, meeting(), self.now, LedgerView())
        request = Request(scene, Prompt("", "", "", "", "", ""), TurnOut, Deadline(seconds))
        try:
            return (await self.model.generate(request)).output.response
        except ProviderError as error:
            return error.kind

    async def asks(self, count: int) -> list[str]:
        return [await self.ask() for _ in range(count)]

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)


async def test_a_healthy_provider_answers() -> None:
    room = Room()
    assert await room.asks(3) == ["provider"] * 3
    assert (room.model.degraded, room.model.name, room.standby.calls) == (False, "provider", 0)


async def test_the_third_failure_in_a_row_opens_and_is_answered() -> None:
    room = Room("server", "timeout", "unreachable")
    assert await room.asks(4) == ["server", "timeout", "standby", "standby"]
    assert (room.model.degraded, room.model.name, room.provider.calls) == (True, "standby", 3)


async def test_an_answer_between_failures_starts_the_count_again() -> None:
    room = Room("server", "server", None, "server", "server")
    await room.asks(5)
    assert not room.model.degraded


@pytest.mark.parametrize("kind", ["blocked", "empty", "truncated", "invalid"])
async def test_bad_answers_are_answers(kind: str) -> None:
    room = Room(*[kind] * 10)
    assert await room.asks(10) == [kind] * 10
    assert not room.model.degraded


async def test_failures_far_apart_do_not_add_up() -> None:
    room = Room(*["server"] * 5)
    for _ in range(5):
        await room.ask()
        room.later(minutes=6)
    assert not room.model.degraded


async def test_it_hands_back_when_the_provider_answers_again() -> None:
    room = Room(*["server"] * 3)
    await room.asks(3)
    room.later(seconds=59)
    assert await room.ask() == "standby"
    room.later(seconds=1)
    assert await room.ask() == "provider"
    assert not room.model.degraded


async def test_a_failed_probe_is_answered_and_doubles_the_pause() -> None:
    room = Room(*["server"] * 4)
    await room.asks(3)
    room.later(minutes=1)
    assert await room.ask() == "standby"
    assert room.provider.calls == 4
    room.later(minutes=1, seconds=59)
    assert await room.ask() == "standby"
    assert room.provider.calls == 4
    room.later(seconds=1)
    assert await room.ask() == "provider"


async def test_the_pause_never_exceeds_its_limit() -> None:
    room = Room(*["server"] * 40)
    await room.asks(3)
    for _ in range(10):
        room.later(minutes=15)
        await room.ask()
    assert room.provider.calls == 13


async def test_a_probe_that_gets_a_bad_answer_hands_back() -> None:
    room = Room("server", "server", "server", "blocked")
    await room.asks(3)
    room.later(minutes=1)
    assert await room.ask() == "blocked"
    assert not room.model.degraded


def test_one_probe_at_a_time_and_the_others_do_not_wait() -> None:
    async def scene() -> None:
        room = Room("server", "server", "server", "hang")
        await room.asks(3)
        room.later(minutes=1)
        started = asyncio.get_running_loop().time()
        probe = asyncio.create_task(room.ask())
        await asyncio.sleep(0)
        assert await room.asks(3) == ["standby"] * 3
        assert asyncio.get_running_loop().time() == started
        assert await probe == "standby"
        assert asyncio.get_running_loop().time() - started <= 12.0
        assert room.provider.calls == 4

    run_virtual(scene())


def test_without_time_left_the_failure_is_told() -> None:
    async def scene() -> None:
        room = Room("server", "server", "hang")
        await room.asks(2)
        assert await room.ask(seconds=23.5) == "timeout"
        assert room.model.degraded

    run_virtual(scene())


def test_a_deadline_too_short_for_any_provider_says_nothing_of_this_one() -> None:
    async def scene() -> None:
        room = Room(*["hang"] * 5)
        assert [await room.ask(seconds=8.0) for _ in range(5)] == ["timeout"] * 5
        assert not room.model.degraded

    run_virtual(scene())


async def test_a_cancelled_probe_lets_the_next_one_through() -> None:
    room = Room("server", "server", "server", "hang")
    await room.asks(3)
    room.later(minutes=1)
    probe = asyncio.create_task(room.ask())
    await asyncio.sleep(0)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert await room.ask() == "provider"


async def test_both_are_closed() -> None:
    room = Room()
    await room.model.close()
    assert room.provider.closed
    assert room.standby.closed


@given(st.lists(st.tuples(st.sampled_from([*sorted(DOWN), None]), st.integers(0, 300)), max_size=40))
def test_while_degraded_everyone_is_answered(steps: list[tuple[str | None, int]]) -> None:
    async def scene() -> None:
        room = Room(*(kind for kind, _ in steps))
        for _, seconds in steps:
            degraded = room.model.degraded
            told = await room.ask()
            assert told in ("standby", "provider") or not degraded
            room.later(seconds=seconds)

    run_virtual(scene())
