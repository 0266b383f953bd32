"""What a meeting does next: notices, silence, bursts, the countdown, and that it always gets on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.meeting.model import ChannelKind, Meeting, MeetingState
from bot.meeting.schedule import (
    Notice,
    RoomState,
    Step,
    StepKind,
    close_moment,
    due_notices,
    next_step,
    notices,
)

START = datetime(2026, 10, 5, 9, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def at(minute: float, second: float = 0) -> datetime:
    return START + timedelta(minutes=minute, seconds=second)


def meeting(planned: float = 60, state: MeetingState = MeetingState.OPEN, **more: Any) -> Meeting:
    return Meeting(
        id=1,
        guild_id=2,
        channel_id=3,
        channel_kind=ChannelKind.TEXT,
        title="Release",
        language="en",
        timezone="UTC",
        chair_id=4,
        chair_name="Sato",
        agenda=(),
        started_at=START,
        planned_end=at(planned),
        state=state,
        **more,
    )


def room(now: datetime = START, planned: float = 60, **more: Any) -> RoomState:
    """A room where somebody spoke just now, unless told otherwise."""
    held = more.pop("meeting", None) or meeting(planned)
    return RoomState(**({"meeting": held, "last_human_at": now} | more))


def fire(state: RoomState, now: datetime) -> RoomState:
    """What taking a notice leaves behind: all that are due are marked, the newest was posted."""
    end = state.meeting.planned_end
    return replace(state, fired=state.fired | {(end, n.minutes) for n in due_notices(state, now)})


def heard(state: RoomState, until: datetime) -> list[tuple[datetime, int]]:
    """The notices of a meeting where people talk all the time, as (moment, minutes left)."""
    now, out = START, []
    while True:
        step = next_step(replace(state, last_human_at=now), now)
        assert step is not None
        if step.kind is not StepKind.NOTICE:  # nobody spoke up to there: somebody does now
            now = max(now, step.at - SECOND)
            state = replace(state, last_human_at=now)
            continue
        now = max(now, step.at)
        if now > until:
            return out
        assert step.minutes is not None
        out.append((now, step.minutes))
        state = fire(state, now)


# ---------------------------------------------------------------------------------------------- notices


@pytest.mark.parametrize(
    ("planned", "numbers"),
    [
        (60, [30, 10, 5, 1, 0, -10, -20]),
        (31, [16, 10, 5, 1, 0, -10, -20]),
        (30, [10, 5, 1, 0, -10, -20]),
        (10, [5, 1, 0, -10, -20]),
        (5, [1, 0, -10, -20]),
        (1, [0, -10, -20]),
    ],
)
def test_a_meeting_hears_how_much_time_is_left(planned: int, numbers: list[int]) -> None:
    times = heard(room(planned=planned), at(planned + 25))
    assert [minutes for _, minutes in times] == numbers
    for when, minutes in times:
        assert abs((at(planned) - when) - timedelta(minutes=minutes)) <= timedelta(seconds=30)


def test_a_notice_fires_once_for_a_planned_end_and_again_after_extending() -> None:
    now = at(50)
    state = fire(room(now), now)
    assert due_notices(state, now) == []
    step = next_step(state, now)
    assert step is not None
    assert (step.at, step.minutes) == (at(55), 5)
    longer = replace(state, meeting=replace(state.meeting, planned_end=at(75)))
    assert (at(65), 10) in [(n.at, n.minutes) for n in notices(longer.meeting, now)]
    assert next_step(replace(longer, fired=longer.fired | {(at(75), 38)}), now) == Step(
        StepKind.NOTICE, at(65), 10
    )


def test_after_an_outage_only_the_newest_due_notice_is_posted() -> None:
    now = at(82)
    state = room(now)
    due = due_notices(state, now)
    assert [n.minutes for n in due] == [30, 10, 5, 1, 0, -10, -20]
    assert next_step(state, now) == Step(StepKind.NOTICE, at(80), -20)
    state = fire(state, now)
    assert due_notices(state, at(89, 59)) == []
    assert due_notices(state, at(90)) == [Notice(at(90), -30)]


@pytest.mark.parametrize("kind", [MeetingState.CLOSING, MeetingState.READ_BACK, MeetingState.WRITING])
def test_no_notice_while_the_meeting_is_closing(kind: MeetingState) -> None:
    held = meeting(state=kind, closing_since=at(54), close_at=at(90))
    step = next_step(room(at(61), meeting=held), at(61))
    assert step is not None
    assert step.kind is not StepKind.NOTICE


@given(planned=st.integers(1, 720), now=st.integers(-5, 1500))
def test_notices_come_in_order_each_number_once_and_one_is_always_to_come(planned: int, now: int) -> None:
    found = list(notices(meeting(planned), at(now)))
    assert [n.at for n in found] == sorted(n.at for n in found)
    assert len({n.minutes for n in found}) == len(found)
    assert found[-1].at > at(now)
    assert all(n.at >= START for n in found)


# ---------------------------------------------------------------------------------------------- turns


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(0, 0, 3), (0, 5, 8), (0, 12, 15), (0, 14, 15), (0, 40, 15)],
)
def test_a_burst_ends_after_three_seconds_of_quiet_or_fifteen_in_all(
    first: int, last: int, expected: int
) -> None:
    state = room(pending_first_at=at(1, first), pending_last_at=at(1, last))
    assert next_step(state, at(1)) == Step(StepKind.TURN, at(1, expected))


def test_who_addresses_the_bot_is_answered_at_once() -> None:
    state = room(pending_first_at=at(1), pending_last_at=at(1, 2), pending_urgent=True, alone=True)
    assert next_step(state, at(1, 2)) == Step(StepKind.TURN, at(1))


def test_somebody_alone_is_answered_after_twenty_quiet_seconds() -> None:
    state = room(pending_first_at=at(1), pending_last_at=at(1, 30), alone=True)
    assert next_step(state, at(1, 30)) == Step(StepKind.TURN, at(1, 50))


def test_before_the_opening_is_said_nothing_else_is() -> None:
    state = room(opening_done=False, pending_first_at=START, pending_last_at=START, pending_urgent=True)
    assert next_step(state, at(61)) == Step(StepKind.OPENING, START)


def test_a_notice_goes_before_talk_and_somebody_who_waits_before_a_notice() -> None:
    now = at(55)
    talk = room(now, pending_first_at=at(54, 40), pending_last_at=at(54, 50))
    first = next_step(talk, now)
    assert first is not None
    assert first.kind is StepKind.NOTICE
    asked = next_step(replace(talk, pending_urgent=True), now)
    assert asked is not None
    assert asked.kind is StepKind.TURN


def test_what_was_promised_goes_out_before_anything_new() -> None:
    now = at(55)
    state = room(
        now,
        pending_first_at=at(54),
        pending_last_at=at(54),
        pending_urgent=True,
        assist_due=True,
        past_due=True,
        deliver_at=at(54, 59),
        move_on_at=at(54),
        bring_in_at=at(54),
        board_at=at(1),
    )
    taken = []
    while (step := next_step(state, now)) is not None and step.at <= now:
        taken.append(step.kind)
        state = carried_out(state, step, now)
    assert taken == [
        StepKind.DELIVER,
        StepKind.ASSIST,
        StepKind.TURN,
        StepKind.PAST,
        StepKind.NOTICE,
        StepKind.MOVE_ON,
        StepKind.BRING_IN,
        StepKind.BOARD,
    ]


# ---------------------------------------------------------------------------------------------- closing


@pytest.mark.parametrize(
    ("typing", "expected"),
    [(None, 60), (-5, 60), (60, 60), (70, 70), (120, 120), (121, 120), (3600, 120)],
)
def test_somebody_typing_holds_the_countdown_for_a_minute_at_most(typing: int | None, expected: int) -> None:
    held = meeting(state=MeetingState.READ_BACK, closing_since=at(50), close_at=at(50, 60))
    until = None if typing is None else at(50, typing)
    state = room(at(50), meeting=held, typing_until=until)
    assert close_moment(state) == at(50, expected)
    assert next_step(state, at(50)) == Step(StepKind.EXPIRE, at(50, expected))


def test_no_countdown_where_nothing_was_read_back() -> None:
    assert close_moment(room(typing_until=at(5))) is None


def test_a_wish_to_end_is_read_back_at_once() -> None:
    held = meeting(state=MeetingState.CLOSING, closing_since=at(20))
    assert next_step(room(at(20), meeting=held), at(20)) == Step(StepKind.READ_BACK, at(20))


def test_a_closing_meeting_says_goodbye_then_writes_then_waits_for_the_minutes_then_ends() -> None:
    state = room(meeting=meeting(state=MeetingState.WRITING, closing_since=at(20)))
    kinds = []
    for done in ("goodbye_done", "draft_done", "minutes_sent"):
        step = next_step(state, at(21))
        kinds.append(step.kind if step else None)
        state = replace(state, **{done: True})
    last = next_step(state, at(21))
    assert last is not None
    assert [*kinds, last.kind] == [StepKind.GOODBYE, StepKind.DRAFT, None, StepKind.FINISH]


def test_thirty_quiet_minutes_before_the_end_are_asked_about_once() -> None:
    state = room(at(5), planned=120, fired=everything_fired(120, at(200)))
    assert next_step(state, at(5)) == Step(StepKind.QUIET_ASK, at(35))
    asked = replace(state, meeting=replace(state.meeting, quiet_asked_at=at(35)))
    step = next_step(asked, at(36))
    assert step == Step(StepKind.QUIET_CLOSE, at(130))


def test_ten_quiet_minutes_after_the_end_close_the_meeting() -> None:
    fired = everything_fired(60, at(200))
    assert next_step(room(at(40), fired=fired), at(40)) == Step(StepKind.QUIET_CLOSE, at(70))
    assert next_step(room(at(64), fired=fired), at(64)) == Step(StepKind.QUIET_CLOSE, at(74))


def test_nobody_is_asked_whether_to_go_on_once_the_planned_end_has_passed() -> None:
    # The process was away from the 10th minute to the 75th: asking and closing in one breath helps nobody.
    state = room(at(10), fired=everything_fired(60, at(200)))
    assert next_step(state, at(75)) == Step(StepKind.QUIET_CLOSE, at(70))


def everything_fired(planned: float, until: datetime) -> frozenset[tuple[datetime, int]]:
    return frozenset((at(planned), n.minutes) for n in notices(meeting(planned), until))


# ---------------------------------------------------------------------------------------------- it always gets on


def carried_out(state: RoomState, step: Step, now: datetime) -> RoomState:
    """The state after a step, as the rows that it leaves behind make it."""
    held = state.meeting
    move = {
        StepKind.READ_BACK: lambda: replace(
            held, state=MeetingState.READ_BACK, close_at=now + timedelta(seconds=60)
        ),
        StepKind.EXPIRE: lambda: replace(held, state=MeetingState.WRITING),
        StepKind.FINISH: lambda: replace(held, state=MeetingState.CLOSED),
        StepKind.QUIET_ASK: lambda: replace(held, quiet_asked_at=now),
        StepKind.QUIET_CLOSE: lambda: replace(held, state=MeetingState.CLOSING, closing_since=now),
    }.get(step.kind, lambda: held)
    state = replace(state, meeting=move())
    match step.kind:
        case StepKind.DELIVER:
            return replace(state, deliver_at=None, minutes_sent=state.draft_done)
        case StepKind.GOODBYE:
            return replace(state, goodbye_done=True, deliver_at=now)
        case StepKind.DRAFT:
            return replace(state, draft_done=True, deliver_at=now)
        case StepKind.OPENING:
            return replace(state, opening_done=True)
        case StepKind.ASSIST:
            return replace(state, assist_due=False)
        case StepKind.PAST:
            return replace(state, past_due=False)
        case StepKind.NOTICE:
            return fire(state, now)
        case StepKind.TURN:
            return replace(state, pending_first_at=None, pending_last_at=None, pending_urgent=False)
        case StepKind.MOVE_ON:
            return replace(state, move_on_at=None)
        case StepKind.BRING_IN:
            return replace(state, bring_in_at=None)
        case StepKind.BOARD:
            return replace(state, board_at=None)
    return state


moments = st.integers(-600, 20_000).map(lambda s: START + timedelta(seconds=s))
perhaps = st.none() | moments


@st.composite
def rooms(draw: st.DrawFn) -> RoomState:
    state = draw(st.sampled_from(MeetingState))
    closing = state in (MeetingState.CLOSING, MeetingState.READ_BACK, MeetingState.WRITING)
    held = meeting(
        draw(st.integers(1, 240)),
        state,
        closing_since=draw(perhaps) if closing else None,
        close_at=draw(moments) if state is MeetingState.READ_BACK else None,
        quiet_asked_at=draw(perhaps),
    )
    first = draw(perhaps)
    planned = list(notices(held, at(300)))
    fired = draw(st.sets(st.sampled_from(planned)))
    return RoomState(
        meeting=held,
        last_human_at=draw(moments),
        fired=frozenset((held.planned_end, n.minutes) for n in fired),
        opening_done=draw(st.booleans()),
        pending_first_at=first,
        pending_last_at=None if first is None else first + timedelta(seconds=draw(st.integers(0, 900))),
        pending_urgent=draw(st.booleans()),
        alone=draw(st.booleans()),
        assist_due=draw(st.booleans()),
        deliver_at=draw(perhaps),
        typing_until=draw(perhaps),
        goodbye_done=draw(st.booleans()),
        past_due=draw(st.booleans()),
        move_on_at=draw(perhaps),
        bring_in_at=draw(perhaps),
        board_at=draw(perhaps),
    )


@given(state=rooms(), now=moments)
def test_a_step_is_found_whatever_the_rows_say_and_it_is_the_earliest_unless_due(
    state: RoomState, now: datetime
) -> None:
    step = next_step(state, now)
    if step is None:
        assert state.meeting.state in (MeetingState.STARTING, MeetingState.CLOSED)
        return
    assert (step.kind is StepKind.NOTICE) == (step.minutes is not None)
    if step.at > now:  # nothing is due: looking a little later, but before it, finds the same
        between = now + (step.at - now) / 2
        assert next_step(state, between) == step
        assert next_step(state, step.at) is not None


@settings(max_examples=200, deadline=None)
@given(state=rooms(), now=moments)
def test_a_meeting_left_alone_comes_to_its_end_and_never_turns_in_place(
    state: RoomState, now: datetime
) -> None:
    if state.meeting.state is MeetingState.STARTING:
        return
    still = 0
    for _ in range(400):
        step = next_step(state, now)
        if step is None:
            break
        # A moment in the past is taken now; no more steps than kinds may be taken without time moving on.
        still = 0 if step.at > now else still + 1
        assert still <= 2 * len(StepKind)
        now = max(now, step.at)
        state = carried_out(state, step, now)
    assert state.meeting.state is MeetingState.CLOSED
