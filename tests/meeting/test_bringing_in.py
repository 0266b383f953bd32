"""When the facilitator may speak again, whom it brings in, and that an action can be done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.ledger import fold
from bot.meeting.model import Activity, Entry, EntryKind, Origin
from bot.meeting.participation import bring_in, may_speak, speak_from

START = datetime(2026, 10, 5, 9, tzinfo=UTC)


def at(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


@given(
    activity=st.sampled_from(Activity),
    said=st.integers(0, 40),
    ago=st.one_of(st.none(), st.integers(0, 900)),
    people=st.integers(0, 5),
)
def test_the_moment_to_speak_is_the_first_one_that_the_budget_allows(
    activity: Activity, said: int, ago: int | None, people: int
) -> None:
    now = at(60)
    last = None if ago is None else now - timedelta(seconds=ago)
    moment = speak_from(activity, said, last, people, START)
    for later in (0, 1, 59, 60, 119, 120, 121, 299, 300, 302, 900):
        when = now + timedelta(seconds=later)
        since = None if last is None else (when - last).total_seconds()
        allowed = may_speak(activity, said, since, people)
        if moment is None or when < moment:
            assert not allowed or (moment is not None and moment - when <= timedelta(seconds=1))
        else:
            assert allowed


def test_the_longest_quiet_person_comes_first_and_not_before_ten_minutes() -> None:
    quiet = {1: at(0), 2: at(3), 3: at(9)}
    assert bring_in(Activity.NORMAL, quiet, {}, at(9)) == (1, at(10))
    assert bring_in(Activity.ACTIVE, quiet, {1: [at(10)]}, at(11)) == (2, at(13))
    assert bring_in(Activity.QUIET, quiet, {}, at(9)) is None


def test_one_person_is_asked_once_in_ten_minutes_twice_in_vain_and_again_after_speaking() -> None:
    quiet = {1: at(0), 2: at(30)}
    assert bring_in(Activity.ACTIVE, quiet, {1: [at(12)]}, at(30)) == (1, at(22))
    assert bring_in(Activity.ACTIVE, quiet, {1: [at(12), at(22)]}, at(31)) == (2, at(40))
    assert bring_in(Activity.ACTIVE, {1: at(30), 2: at(40)}, {1: [at(12), at(22)]}, at(40)) == (1, at(40))


def test_by_default_nobody_is_asked_twice_in_vain_and_askings_are_a_quarter_of_an_hour_apart() -> None:
    assert bring_in(Activity.NORMAL, {1: at(0), 2: at(3)}, {1: [at(10)]}, at(20)) == (2, at(25))
    assert bring_in(Activity.NORMAL, {1: at(0), 2: at(40)}, {1: [at(10)]}, at(49)) == (2, at(50))
    assert bring_in(Activity.NORMAL, {1: at(12), 2: at(60)}, {1: [at(10)]}, at(60)) == (1, at(55))


def test_where_all_are_silent_or_alone_nobody_is_left_out() -> None:
    assert bring_in(Activity.ACTIVE, {1: at(0), 2: at(1)}, {}, at(0)) is None
    assert bring_in(Activity.ACTIVE, {1: at(0)}, {}, at(20)) is None
    assert bring_in(Activity.ACTIVE, {}, {}, at(20)) is None


def entries(*rows: tuple[EntryKind, str, int | None, Origin]) -> list[Entry]:
    return [
        Entry(1, number, kind, text, origin, START, 11, "佐藤", refers_to=refers_to)
        for number, (kind, text, refers_to, origin) in enumerate(rows, 1)
    ]


ACTION = (EntryKind.ACTION, "見積もりを取る", None, Origin.MARK)
DONE = (EntryKind.ANSWER, "", 1, Origin.COMMAND)


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([ACTION], "live"),
        ([ACTION, DONE], "done"),
        ([ACTION, DONE, (EntryKind.RETRACTION, "", 2, Origin.COMMAND)], "live"),
        ([ACTION, (EntryKind.ANSWER, "もう終わった", 1, Origin.MODEL)], "live"),
        ([ACTION, DONE, (EntryKind.RETRACTION, "", 1, Origin.COMMAND)], "retracted"),
    ],
)
def test_an_action_is_done_when_a_person_says_so(rows: Sequence[tuple], status: str) -> None:  # type: ignore[type-arg]
    view = fold(entries(*rows))
    item = view.item(1)
    assert item is not None
    assert item.status == status
    assert len(view.of(EntryKind.ACTION, live=False)) == 1
