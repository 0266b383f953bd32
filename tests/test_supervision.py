"""Background work goes on after failures, and no log holds what an error quotes."""

from __future__ import annotations

import asyncio
import logging
import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.clock import Clock
from bot.supervision import LoopLag, Supervisor, log_failure
from tests.virtual_time import VirtualLoop, run_virtual

START = datetime(2026, 10, 5, 9, tzinfo=UTC)
WRITTEN = "秘密の予算は三百万円です"


def now() -> datetime:
    return START + timedelta(seconds=asyncio.get_running_loop().time())


class Work:
    """Fails as often as told, then works; remembers when it was called."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls: list[int] = []

    async def __call__(self) -> None:
        self.calls.append(round(asyncio.get_running_loop().time()))
        if self.failures:
            raise self.failures.pop(0)


def supervised(work: Work, every: float, until: float) -> Supervisor:
    async def main() -> Supervisor:
        supervisor = Supervisor(Clock(now))
        supervisor.every(every, "sweep", work)
        await asyncio.sleep(until)
        await supervisor.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return supervisor

    return run_virtual(main())


def test_work_is_done_every_so_often_and_leaves_a_sign_of_life() -> None:
    work = Work()
    supervisor = supervised(work, 30, 100)
    assert work.calls == [30, 60, 90]
    worker = supervisor.workers["sweep"]
    assert (worker.every_s, worker.failures, worker.error) == (30, 0, "")
    assert worker.at.replace(microsecond=0) == START + timedelta(seconds=90)


def test_failing_work_is_tried_again_with_growing_pauses_then_as_before() -> None:
    work = Work(ValueError(WRITTEN), OSError(WRITTEN), KeyError(WRITTEN))
    supervisor = supervised(work, 30, 30 + 60 + 120 + 240 + 30 + 15)
    assert work.calls == [30, 90, 210, 450, 480]
    assert (supervisor.workers["sweep"].failures, supervisor.workers["sweep"].error) == (0, "")


def test_failures_are_counted_and_are_no_sign_of_life() -> None:
    supervisor = supervised(Work(*[ValueError("again") for _ in range(50)]), 30, 220)
    worker = supervisor.workers["sweep"]
    assert (worker.at, worker.failures, worker.error) == (START, 3, "ValueError")


@pytest.mark.parametrize(("every", "longest"), [(30, 600), (1800, 1800)])
def test_no_pause_grows_beyond_ten_minutes_or_its_own_length(every: int, longest: int) -> None:
    work = Work(*[ValueError("again") for _ in range(2000)])
    supervised(work, every, longest * 30)
    pauses = [b - a for a, b in zip(work.calls, work.calls[1:], strict=False)]
    assert max(pauses) == pauses[-1] == longest


def test_work_that_fails_takes_no_other_down() -> None:
    async def main() -> None:
        supervisor = Supervisor(Clock(now))
        bad, good = Work(*[RuntimeError("x") for _ in range(99)]), Work()
        supervisor.every(10, "bad", bad)
        supervisor.every(10, "good", good)
        await asyncio.sleep(55)
        assert len(good.calls) == 5
        await supervisor.close()
        await asyncio.sleep(1000)
        assert len(good.calls) == 5

    run_virtual(main())


def test_a_failure_is_logged_with_its_place_but_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        supervised(Work(ValueError(WRITTEN)), 30, 40)
    (record,) = [r for r in caplog.records if r.name == "ketsugi"]
    assert record.levelno == logging.ERROR
    assert "background work sweep failed" in caplog.text
    assert "ValueError" in caplog.text
    assert "test_supervision.py" in caplog.text
    assert WRITTEN not in caplog.text


def test_no_cause_context_note_or_argument_gets_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Wordy(Exception):
        def __str__(self) -> str:
            return WRITTEN

        __repr__ = __str__

    def deeper(text: str) -> None:
        try:
            raise KeyError(text)
        except KeyError as cause:
            error = Wordy(text)
            error.add_note(text)
            raise error from cause

    with caplog.at_level(logging.DEBUG):
        try:
            deeper(WRITTEN)
        except Wordy as error:
            log_failure("a turn", error, level=logging.WARNING)
        log_failure("a turn", ExceptionGroup(WRITTEN, [Wordy(WRITTEN)]))
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("a turn: Wordy (from KeyError)\n")
    assert "in deeper" in first
    assert second.startswith("a turn: ExceptionGroup")
    assert all(record.exc_info is None for record in caplog.records)
    assert WRITTEN not in caplog.text


def test_an_error_that_was_never_raised_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    log_failure("a turn", ValueError(WRITTEN))
    assert caplog.records[0].getMessage() == "a turn: ValueError\n"


# ---------------------------------------------------------------------------------------------- the loop's lag


def lagging(until: float, *blocks: tuple[float, float]) -> float:
    """The worst lag known at `until`, where a callback blocks the loop at each (moment, for seconds)."""

    async def main() -> float:
        loop, supervisor, lag = asyncio.get_running_loop(), Supervisor(Clock(now)), LoopLag(1.0)
        assert isinstance(loop, VirtualLoop)
        supervisor.every(1.0, "loop lag", lag.measure)
        for at, seconds in blocks:
            loop.call_at(at, loop.advance, seconds)
        await asyncio.sleep(until)
        await supervisor.close()
        return lag.worst

    return run_virtual(main())


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


def test_a_loop_that_is_on_time_has_no_lag_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert lagging(3600) == pytest.approx(0, abs=0.001)
    assert warned(caplog) == []


def test_a_blocked_loop_is_late_by_what_was_left_of_the_block(caplog: pytest.LogCaptureFixture) -> None:
    assert lagging(30, (10.2, 3.0)) == pytest.approx(2.2, abs=0.01)  # it was to wake at 11, and did at 13.2
    (line,) = warned(caplog)
    assert "held up 1 time(s), for 2.2 s at worst" in line


def test_a_small_lag_is_known_but_not_worth_a_line(caplog: pytest.LogCaptureFixture) -> None:
    assert lagging(30, (10.9, 0.5)) == pytest.approx(0.4, abs=0.01)
    assert warned(caplog) == []


def test_a_loop_that_is_late_all_the_time_gets_a_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    blocks = [(float(second), 3.9 if second == 30 else 1.9) for second in range(2, 300, 4)]
    lagging(300, *blocks)
    lines = warned(caplog)
    assert 4 <= len(lines) <= 5
    figures = [re.findall(r"[\d.]+(?= time| s at)", line) for line in lines]
    assert [int(count) for count, _ in figures] == [1, 15, 15, 15, 15][: len(lines)]
    assert float(figures[1][1]) > 2  # told with the next line, though it was not the last
    assert all(float(worst) < 2 for _, worst in figures[2:])


def test_what_came_within_the_minute_is_told_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    lagging(60, (10.2, 2.0), (20.7, 8.0))
    assert len(warned(caplog)) == 1
    caplog.clear()
    lagging(200, (10.2, 2.0), (20.7, 8.0))
    first, second = warned(caplog)
    assert "1.2 s at worst" in first
    assert "7.5 s at worst" in second


def test_the_worst_lag_is_forgotten_after_ten_minutes() -> None:
    assert lagging(590, (10.2, 3.0)) == pytest.approx(2.2, abs=0.01)
    assert lagging(640, (10.2, 3.0)) == pytest.approx(0, abs=0.001)
