"""The Scheduler wakes rooms at their moment, one step at a time; a Deadline ends calls and is only ever shortened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.clock import Clock, Deadline, Scheduler
from tests.virtual_time import run_virtual

START = datetime(2026, 10, 5, 9, tzinfo=UTC)


def now() -> datetime:
    return START + timedelta(seconds=asyncio.get_running_loop().time())


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def seconds() -> float:
    return round(asyncio.get_running_loop().time(), 3)


class Rooms:
    """Rooms whose steps take `takes` seconds; remembers what was started when, and how many ran at once."""

    def __init__(self, takes: float = 0.0) -> None:
        self.takes = takes
        self.started: list[tuple[int, float]] = []
        self.finished: list[tuple[int, float]] = []
        self.cancelled: list[int] = []
        self.doubled: list[int] = []  # stepped while a step of theirs was under way
        self.again: dict[int, list[datetime]] = {}
        self.sleeps = 0
        self._inside: set[int] = set()
        self.scheduler = Scheduler(Clock(now, self._wait), self.run)

    async def _wait(self, awaitable: Awaitable[Any], reason: str) -> Any:
        self.sleeps += 1
        return await awaitable

    async def run(self, key: int) -> datetime | None:
        if key in self._inside:
            self.doubled.append(key)
        self._inside.add(key)
        self.started.append((key, seconds()))
        try:
            await asyncio.sleep(self.takes)
            self.finished.append((key, seconds()))
        except asyncio.CancelledError:
            self.cancelled.append(key)
            raise
        finally:
            self._inside.discard(key)
        later = self.again.get(key)
        return later.pop(0) if later else None


def virtual(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_virtual(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


# ---------------------------------------------------------------------------------------------- waking


@virtual
async def test_the_earliest_due_room_goes_first() -> None:
    rooms = Rooms()
    for key, moment in ((1, 30), (2, 10), (3, 20)):
        rooms.scheduler.arm(key, at(moment))
    await asyncio.sleep(60)
    assert rooms.started == [(2, 10), (3, 20), (1, 30)]
    await rooms.scheduler.close()


@virtual
async def test_a_room_armed_for_the_past_is_looked_at_now() -> None:
    rooms = Rooms()
    rooms.scheduler.arm(1, at(-3600))
    await asyncio.sleep(1)
    assert rooms.started == [(1, 0)]
    await rooms.scheduler.close()


@virtual
async def test_arming_earlier_wakes_and_arming_later_changes_nothing() -> None:
    rooms = Rooms()
    rooms.scheduler.arm(1, at(3600))
    await asyncio.sleep(5)
    rooms.scheduler.arm(1, at(10))
    rooms.scheduler.arm(1, at(50))
    await asyncio.sleep(7200)
    assert rooms.started == [(1, 10)]
    await rooms.scheduler.close()


@virtual
async def test_a_disarmed_room_is_left_alone_and_the_others_are_not() -> None:
    rooms = Rooms()
    rooms.scheduler.arm(1, at(10))
    rooms.scheduler.arm(2, at(20))
    rooms.scheduler.disarm(1)
    rooms.scheduler.disarm(99)
    await asyncio.sleep(60)
    assert rooms.started == [(2, 20)]
    await rooms.scheduler.close()


@virtual
async def test_a_room_names_its_own_next_moment() -> None:
    rooms = Rooms(takes=1)
    rooms.again[1] = [at(10), at(40)]
    rooms.scheduler.arm(1, at(0))
    await asyncio.sleep(100)
    assert rooms.started == [(1, 0), (1, 10), (1, 40)]
    await rooms.scheduler.close()


@virtual
async def test_one_sleeper_serves_all_rooms() -> None:
    rooms = Rooms()
    for key in range(100):
        rooms.scheduler.arm(key, at(600))
    await asyncio.sleep(1)
    assert len([t for t in asyncio.all_tasks() if t.get_name() == "ketsugi-scheduler"]) == 1
    await asyncio.sleep(600)
    assert {key for key, _ in rooms.started} == set(range(100))
    assert rooms.sleeps == 1
    assert not [t for t in asyncio.all_tasks() if t.get_name() == "ketsugi-scheduler"]
    await rooms.scheduler.close()


# ---------------------------------------------------------------------------------------------- steps


@virtual
async def test_a_room_armed_while_it_is_stepped_is_stepped_again_afterwards() -> None:
    rooms = Rooms(takes=10)
    rooms.scheduler.arm(1, at(0))
    await asyncio.sleep(3)
    assert rooms.scheduler.busy
    rooms.scheduler.arm(1, at(4))
    await asyncio.sleep(60)
    assert rooms.started == [(1, 0), (1, 10)]
    assert not rooms.scheduler.busy
    await rooms.scheduler.close()


@virtual
async def test_a_room_under_way_is_not_stepped_again_when_another_wakes_the_sleeper() -> None:
    rooms = Rooms(takes=10)
    rooms.scheduler.arm(1, at(0))
    await asyncio.sleep(1)
    rooms.scheduler.arm(1, at(2))
    rooms.scheduler.arm(2, at(5))
    await asyncio.sleep(60)
    assert rooms.started == [(1, 0), (2, 5), (1, 10)]
    assert rooms.doubled == []
    await rooms.scheduler.close()


@virtual
async def test_the_earlier_of_what_was_armed_and_what_the_step_wants_counts() -> None:
    rooms = Rooms(takes=10)
    rooms.again[1] = [at(500)]
    rooms.scheduler.arm(1, at(0))
    await asyncio.sleep(3)
    rooms.scheduler.arm(1, at(30))
    await asyncio.sleep(100)
    assert rooms.started == [(1, 0), (1, 30)]
    await rooms.scheduler.close()


@virtual
async def test_a_slow_room_holds_up_no_other() -> None:
    rooms = Rooms(takes=100)
    rooms.scheduler.arm(1, at(0))
    rooms.scheduler.arm(2, at(5))
    await asyncio.sleep(6)
    assert rooms.started == [(1, 0), (2, 5)]
    await rooms.scheduler.close(grace=0)


@settings(max_examples=80, deadline=None)
@given(
    acts=st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 3), st.integers(-10, 60), st.booleans()), max_size=25
    ),
    takes=st.sampled_from([0.0, 0.5, 7.0]),
)
def test_whatever_is_armed_is_stepped_in_time_and_never_twice_at_once(
    acts: list[tuple[int, int, int, bool]], takes: float
) -> None:
    async def main() -> None:
        rooms = Rooms(takes)
        owed: list[tuple[int, float]] = []
        for pause, key, ahead, disarm in acts:
            await asyncio.sleep(pause)
            if disarm:
                rooms.scheduler.disarm(key)
                owed = [(k, moment) for k, moment in owed if k != key]
            else:
                rooms.scheduler.arm(key, now() + timedelta(seconds=ahead))
                owed.append((key, seconds() + max(0, ahead)))
            # What has been due for as long as two steps take was begun by now, or shortly.
            owed = [(k, m) for k, m in owed if m + 2 * takes + 1 > seconds()]
        armed = {key for key, _ in owed}
        last = {key: max((m for k, m in owed if k == key), default=0.0) for key in armed}
        await asyncio.sleep(200)
        for key in armed:
            begun = [moment for k, moment in rooms.started if k == key]
            assert begun, f"room {key} was never stepped"
            assert max(begun) <= last[key] + takes + 1
        assert len(rooms.finished) == len(rooms.started)
        assert rooms.doubled == []
        assert not rooms.scheduler.busy
        await rooms.scheduler.close()

    run_virtual(main())


# ---------------------------------------------------------------------------------------------- closing


@virtual
async def test_closing_waits_for_the_steps_under_way() -> None:
    rooms = Rooms(takes=4)
    rooms.again[1] = [at(5)]
    rooms.scheduler.arm(1, at(0))
    rooms.scheduler.arm(2, at(60))
    await asyncio.sleep(1)
    rooms.scheduler.arm(1, at(2))  # kept while running, and dropped with the close
    await rooms.scheduler.close(grace=10)
    assert seconds() == 4
    assert rooms.finished == [(1, 4)]
    rooms.scheduler.arm(3, at(5))
    await asyncio.sleep(600)
    assert rooms.started == [(1, 0)]
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual
async def test_closing_cancels_what_takes_too_long() -> None:
    rooms = Rooms(takes=3600)
    rooms.scheduler.arm(1, at(0))
    await asyncio.sleep(1)
    await rooms.scheduler.close(grace=10)
    assert seconds() == 11
    assert rooms.cancelled == [1]
    assert not rooms.scheduler.busy
    assert asyncio.all_tasks() == {asyncio.current_task()}


@virtual
async def test_closing_twice_or_before_anything_was_armed_is_fine() -> None:
    rooms = Rooms()
    await rooms.scheduler.close()
    await rooms.scheduler.close()
    assert rooms.started == []


@virtual
async def test_a_cancelled_sleeper_does_not_come_back_by_itself() -> None:
    rooms = Rooms()
    rooms.scheduler.arm(1, at(100))
    await asyncio.sleep(1)
    (sleeper,) = [t for t in asyncio.all_tasks() if t.get_name() == "ketsugi-scheduler"]
    sleeper.cancel()
    await asyncio.sleep(1)
    assert sleeper.cancelled()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    rooms.scheduler.arm(2, at(50))  # the next one who arms wakes it for everybody
    await asyncio.sleep(200)
    assert rooms.started == [(2, 50), (1, 100)]
    await rooms.scheduler.close()


# ---------------------------------------------------------------------------------------------- deadlines


async def cut_off(deadline: Deadline, cap: float | None = None) -> float:
    """When a call without end is ended."""
    with pytest.raises(TimeoutError):
        async with deadline.timeout(cap):
            await asyncio.sleep(10_000)
    return seconds()


@virtual
async def test_a_deadline_is_shared_by_all_calls_under_it() -> None:
    deadline = Deadline(25)
    async with deadline.timeout():
        await asyncio.sleep(20)
    assert deadline.remaining() == pytest.approx(5)
    assert await cut_off(deadline) == 25
    assert deadline.remaining() == 0
    assert await cut_off(deadline) == 25


@virtual
async def test_a_call_may_get_less_than_is_left_and_never_more() -> None:
    deadline = Deadline(25)
    assert await cut_off(deadline, cap=10) == 10
    assert await cut_off(deadline, cap=100) == 25


@virtual
async def test_shortening_ends_a_call_that_is_under_way() -> None:
    deadline = Deadline(120)
    calls = [asyncio.create_task(cut_off(deadline)), asyncio.create_task(cut_off(deadline, cap=8))]
    await asyncio.sleep(5)
    deadline.shorten(6)
    assert deadline.remaining() == pytest.approx(6)
    assert await asyncio.gather(*calls) == [11, 8]


@virtual
async def test_shortening_to_nothing_ends_it_at_once() -> None:
    deadline = Deadline(120)
    call = asyncio.create_task(cut_off(deadline))
    await asyncio.sleep(5)
    deadline.shorten(0)
    assert await call == 5


@virtual
async def test_nothing_lengthens_a_deadline() -> None:
    deadline = Deadline(10)
    call = asyncio.create_task(cut_off(deadline))
    await asyncio.sleep(4)
    deadline.shorten(600)
    assert deadline.remaining() == pytest.approx(6)
    assert await call == 10


@virtual
async def test_shortening_touches_no_call_that_is_over() -> None:
    deadline = Deadline(100)
    async with deadline.timeout():
        await asyncio.sleep(1)
    with pytest.raises(ValueError, match="its own"):
        async with deadline.timeout():
            raise ValueError("its own")
    deadline.shorten(2)
    await asyncio.sleep(50)  # nothing cancels who has left the call
    assert seconds() == 51


@settings(max_examples=60, deadline=None)
@given(
    whole=st.integers(1, 120),
    cuts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 200)), max_size=6),
)
def test_a_call_ends_at_the_earliest_end_anybody_set(whole: int, cuts: list[tuple[int, int]]) -> None:
    async def main() -> None:
        deadline, end = Deadline(whole), float(whole)
        call = asyncio.create_task(cut_off(deadline))
        await asyncio.sleep(0)
        for pause, left in cuts:
            await asyncio.sleep(pause)
            if not call.done():
                end = min(end, seconds() + left)
            deadline.shorten(left)
        assert await call == pytest.approx(end, abs=0.01)

    run_virtual(main())
