"""A whole meeting with one fault in it, and with two: a slice of what `python -m tests.crash` enumerates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.facilitation import timekeeper
from tests.crash.harness import Run
from tests.crash.instant import run_instant
from tests.crash.judging import minutes_messages, problems
from tests.crash.outcome import Outcome
from tests.crash.script import MEETING
from tests.crash.search import LONG_S, SHORT_S, Case, Judge, pairs, singles

SINGLES, PAIRS = 14, 6  # about 1 s each on one core; the command runs them all


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    judge = Judge()
    yield judge
    judge.folder.close()


def _spread(cases: list[Case], count: int) -> list[Case]:
    """`count` cases evenly over the whole meeting, kinds of faults mixed."""
    step = len(cases) / count
    return [cases[int(step * i)] for i in range(count)]


@pytest.mark.parametrize("model", ["scripted", "offline"])
@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_undisturbed_meeting_keeps_every_promise(judge: Judge, language: str, model: str) -> None:
    out = judge.calm(language, model)
    assert sum(act.do == "say" for act in MEETING) >= 40
    kinds = {point.kind for point in out.points}
    assert kinds == {"commit", "stage", "model"}
    assert len(out.points) > 200
    assert {e.kind.value for e in out.entries} >= {
        "constraint", "topic", "proposal", "vote", "decision", "question", "action", "note",
        "revision", "retraction", "confirmation",
    }  # fmt: skip
    assert {e.origin.value for e in out.entries} >= {"start", "mark", "model", "edit", "delete", "reaction"}


def test_the_same_meeting_has_the_same_points_again(judge: Judge) -> None:
    first = judge.calm("ja", "scripted")
    again = run_instant(Run(judge.folder.fresh()).play())
    assert again.points == first.points


def test_one_fault_anywhere(judge: Judge) -> None:
    cases = list(singles(judge.calm("ja", "scripted").points))
    failed = {str(case): wrong for case in _spread(cases, SINGLES) if (wrong := judge(case))}
    print(f"{SINGLES} of {len(cases)} single faults")
    assert not failed


def test_a_second_fault_right_after_the_first(judge: Judge) -> None:
    cases = list(pairs(judge.calm("ja", "scripted").points))
    failed = {str(case): wrong for case in _spread(cases, PAIRS) if (wrong := judge(case))}
    print(f"{PAIRS} of {len(cases)} pairs of faults")
    assert not failed


@pytest.mark.parametrize(("how", "down_s"), [("crash before", LONG_S), ("crash after", LONG_S)])
def test_every_commit_and_call_around_the_minutes(judge: Judge, how: str, down_s: float) -> None:
    """Where a second set of minutes would come from, nothing is left to a sample."""
    points = judge.calm("ja", "scripted").points
    last = next(n for n, p in enumerate(points) if p.name == "open_thread")
    for number in range(last - 3, min(last + 7, len(points))):
        wrong = judge(Case(((number, how),), down_s))
        assert not wrong, (number, points[number], wrong)


def _without(judge: Judge, plan: dict[int, str], down_s: float, **locks: bool) -> tuple[Outcome, list[str]]:
    out = run_instant(Run(judge.folder.fresh(), plan, down_s, **locks).play())
    return out, problems(out, judge.calm("ja", "scripted"))


def test_the_harness_is_sharp(judge: Judge) -> None:
    """Take the outbox's locks away, and it says so: two sets of minutes, posts seen twice."""
    points = judge.calm("ja", "scripted").points
    minutes = max(n for n, p in enumerate(points) if p.name == "say")
    posts = [n for n, p in enumerate(points) if p.name == "say"]

    out, wrong = _without(judge, {minutes: "crash after"}, LONG_S, fresh_nonces=True, blind=True)
    assert len(minutes_messages(out.world)) == 2
    assert "2 minutes messages" in wrong

    # A stable nonce alone is not enough once it has expired; with a short absence it still is.
    assert _without(judge, {minutes: "crash after"}, LONG_S, blind=True)[1]
    assert not _without(judge, {minutes: "crash after"}, SHORT_S, blind=True)[1]
    assert _without(judge, {minutes: "expired"}, SHORT_S, blind=True)[1]

    # Neither lock: every lost answer makes a second post.
    found = [
        bool(_without(judge, {n: "lost"}, SHORT_S, fresh_nonces=True, blind=True)[1]) for n in posts[::2]
    ]
    assert all(found), found


def test_the_harness_misses_a_notice_that_never_came(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    put = timekeeper.put_post
    judge.calm("ja", "scripted")  # made while they still come

    async def nothing_said_of_time(c: Any, room: Any, key: str, *rest: Any, **facts: Any) -> bool:
        return False if key.startswith("notice:") else await put(c, room, key, *rest, **facts)

    monkeypatch.setattr(timekeeper, "put_post", nothing_said_of_time)
    _, wrong = _without(judge, {}, SHORT_S)
    assert [line.split(" minutes")[0] for line in wrong] == [
        "missing: the notice of 30",
        "missing: the notice of 10",
    ]
