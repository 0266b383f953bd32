"""Background work goes on after failures, and no log holds what an error quotes."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

import pytest

from bot.clock import Clock
from bot.supervision import Supervisor, log_failure
from tests.virtual_time import run_virtual

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
    assert supervisor.failures == {"sweep": 0}
    assert supervisor.beats["sweep"].replace(microsecond=0) == START + timedelta(seconds=90)


def test_failing_work_is_tried_again_with_growing_pauses_then_as_before() -> None:
    work = Work(ValueError(WRITTEN), OSError(WRITTEN), KeyError(WRITTEN))
    supervisor = supervised(work, 30, 30 + 60 + 120 + 240 + 30 + 15)
    assert work.calls == [30, 90, 210, 450, 480]
    assert supervisor.failures == {"sweep": 0}


def test_failures_are_counted_and_are_no_sign_of_life() -> None:
    supervisor = supervised(Work(*[ValueError("again") for _ in range(50)]), 30, 220)
    assert supervisor.failures == {"sweep": 3}
    assert supervisor.beats == {}


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
