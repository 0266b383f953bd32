"""What a meeting has to do next, and when: one pure function for the running clock and for restarts alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.meeting.lifecycle import TALKING
from bot.meeting.model import Meeting, MeetingState

QUIET = timedelta(seconds=3)  # SPEC 2.3: a burst ends after 3 s of quiet ...
BURST = timedelta(seconds=15)  # ... or 15 s after it began
# Somebody who has spoken alone so far gets an answer to every message (SPEC 2.3), but only once nobody else has
# joined in: the first words of an ordinary meeting come from one person too.
ALONE_QUIET = timedelta(seconds=20)
ALONE_FROM = timedelta(minutes=3)  # until then a reaction answers, after it words
READ_BACK_WINDOW = timedelta(seconds=60)  # SPEC 2.9
UNHEARD_HOLD = timedelta(minutes=3)  # however often the connection comes and goes
TYPING_HOLD = timedelta(seconds=60)
QUIET_BEFORE_END = timedelta(minutes=30)
QUIET_AFTER_END = timedelta(minutes=10)
HALF_TIME_FROM = timedelta(minutes=30)
LEFT = (10, 5, 1)
OVER_EVERY = 10
BOARD_EVERY = timedelta(seconds=5)  # SPEC 2.2


class StepKind(StrEnum):
    DELIVER = "deliver"
    EXPIRE = "expire"
    READ_BACK = "read_back"
    GOODBYE = "goodbye"
    DRAFT = "draft"
    FINISH = "finish"
    OPENING = "opening"
    ASSIST = "assist"
    PAST = "past"
    NOTICE = "notice"
    TURN = "turn"
    MOVE_ON = "move_on"
    BRING_IN = "bring_in"
    PANEL = "panel"
    QUIET_ASK = "quiet_ask"
    QUIET_CLOSE = "quiet_close"
    BOARD = "board"


# What goes first where several are due: what was promised goes out before anything new is thought up.
PRIORITY: dict[StepKind, int] = {kind: rank for rank, kind in enumerate(StepKind)}


@dataclass(frozen=True, slots=True)
class Notice:
    """`minutes` left at `at` by plan; 0 = time up, negative = over. With the planned end it is the notice's key."""

    at: datetime
    minutes: int


@dataclass(frozen=True, slots=True)
class RoomState:
    """Everything `next_step` looks at; all of it is recomputed from rows when a process starts."""

    meeting: Meeting
    last_human_at: datetime  # the start, where nobody has spoken
    fired: frozenset[tuple[datetime, int]] = frozenset()
    opening_done: bool = True
    pending_first_at: datetime | None = None  # oldest message not yet handled in a turn
    pending_last_at: datetime | None = None
    pending_urgent: bool = False  # one of them addresses the bot
    alone: bool = False  # one person has spoken
    assist_due: bool = False
    deliver_at: datetime | None = None  # when the outbox wants its next try; None = empty
    typing_until: datetime | None = None
    goodbye_done: bool = False
    draft_done: bool = False
    minutes_sent: bool = False
    past_due: bool = False  # a decision was not yet held against those of past meetings
    move_on_at: datetime | None = None  # when moving on from the agenda item is to be proposed
    bring_in_at: datetime | None = None  # when somebody quiet is to be asked
    panel_at: datetime | None = None  # when the next turn of the panel is due, or its end
    board_at: datetime | None = None  # when the board wants its next edit; None = nothing changed
    unheard_until: datetime | None = None  # no read-back expires before it: a gap has yet to be read


@dataclass(frozen=True, slots=True)
class Step:
    kind: StepKind
    at: datetime
    minutes: int | None = None  # NOTICE: minutes left by plan


def notices(meeting: Meeting, until: datetime) -> Iterator[Notice]:
    """All notices of the present planned end that fall due up to `until`, and the next one after it."""
    total = meeting.planned_end - meeting.started_at
    planned: list[Notice] = []
    if total > HALF_TIME_FROM:
        half = total / 2
        planned.append(Notice(meeting.planned_end - half, round(half.total_seconds() / 60)))
    for minutes in LEFT:
        if total > timedelta(minutes=minutes):
            planned.append(Notice(meeting.planned_end - timedelta(minutes=minutes), minutes))
    planned.append(Notice(meeting.planned_end, 0))
    yield from sorted(planned, key=lambda n: n.at)
    over = OVER_EVERY
    while True:
        late = Notice(meeting.planned_end + timedelta(minutes=over), -over)
        yield late
        if late.at > until:
            return
        over += OVER_EVERY


def due_notices(state: RoomState, now: datetime) -> list[Notice]:
    """Due and not yet fired, oldest first; only the last of them is to be posted (SPEC 2.8)."""
    end = state.meeting.planned_end
    return [n for n in notices(state.meeting, now) if n.at <= now and (end, n.minutes) not in state.fired]


def _upcoming_notice(state: RoomState, now: datetime) -> Step | None:
    due = due_notices(state, now)
    if due:
        return Step(StepKind.NOTICE, due[-1].at, due[-1].minutes)
    end = state.meeting.planned_end
    for notice in notices(state.meeting, now):
        if (end, notice.minutes) not in state.fired:
            return Step(StepKind.NOTICE, notice.at, notice.minutes)
    return None


def close_moment(state: RoomState) -> datetime | None:
    """When the read-back expires: somebody typing holds it, for 60 s at most, and so does what was missed."""
    close_at = state.meeting.close_at
    if close_at is None:
        return None
    unheard, typing = state.unheard_until or close_at, state.typing_until or close_at
    return max(close_at, min(unheard, close_at + UNHEARD_HOLD), min(typing, close_at + TYPING_HOLD))


def _turn(state: RoomState) -> Step | None:
    first, last = state.pending_first_at, state.pending_last_at
    if first is None or last is None:
        return None
    if state.pending_urgent:
        return Step(StepKind.TURN, first)
    if state.alone:
        return Step(StepKind.TURN, last + ALONE_QUIET)
    return Step(StepKind.TURN, min(last + QUIET, first + BURST))


def _quiet(state: RoomState, now: datetime) -> Step:
    meeting = state.meeting
    after_end = max(state.last_human_at, meeting.planned_end) + QUIET_AFTER_END
    before_end = state.last_human_at + QUIET_BEFORE_END
    # Asked once already, or the planned end passed in an outage: nothing but the closing is waited for.
    if before_end < meeting.planned_end and now < meeting.planned_end and meeting.quiet_asked_at is None:
        return Step(StepKind.QUIET_ASK, before_end)
    return Step(StepKind.QUIET_CLOSE, after_end)


def _by_state(state: RoomState, now: datetime) -> Iterator[Step | None]:
    meeting = state.meeting
    at_once = min(now, meeting.started_at)
    match meeting.state:
        case MeetingState.OPEN:
            if not state.opening_done:
                yield Step(StepKind.OPENING, meeting.started_at)
                return
            yield _turn(state)
            yield _upcoming_notice(state, now)
            if state.move_on_at is not None:
                yield Step(StepKind.MOVE_ON, state.move_on_at)
            if state.bring_in_at is not None:
                yield Step(StepKind.BRING_IN, state.bring_in_at)
            if state.panel_at is not None:
                yield Step(StepKind.PANEL, state.panel_at)
            yield _quiet(state, now)
        case MeetingState.CLOSING:
            yield Step(StepKind.READ_BACK, meeting.closing_since or at_once)
        case MeetingState.READ_BACK:
            yield _turn(state)
            moment = close_moment(state)
            if moment is not None:
                yield Step(StepKind.EXPIRE, moment)
        case MeetingState.WRITING:
            if not state.goodbye_done:
                yield Step(StepKind.GOODBYE, at_once)
            elif not state.draft_done:
                yield Step(StepKind.DRAFT, at_once)
            elif state.minutes_sent:
                yield Step(StepKind.FINISH, at_once)
        case MeetingState.STARTING | MeetingState.CLOSED:
            return


def next_step(state: RoomState, now: datetime) -> Step | None:
    """The step to take next: of those due the one that ranks first, else the earliest to come; None = nothing ever."""
    steps: list[Step] = []
    if state.deliver_at is not None:
        steps.append(Step(StepKind.DELIVER, state.deliver_at))
    if state.assist_due and state.meeting.state is not MeetingState.CLOSED:
        steps.append(Step(StepKind.ASSIST, min(now, state.meeting.started_at)))
    if state.past_due and state.meeting.state in TALKING:
        steps.append(Step(StepKind.PAST, min(now, state.meeting.started_at)))
    if state.board_at is not None:
        steps.append(Step(StepKind.BOARD, state.board_at))
    steps.extend(step for step in _by_state(state, now) if step is not None)

    def rank(step: Step) -> int:
        # A notice comes before the next burst of talk, but not before somebody who waits for an answer.
        urgent = step.kind is StepKind.TURN and state.pending_urgent
        return PRIORITY[StepKind.ASSIST if urgent else step.kind]

    due = [step for step in steps if step.at <= now]
    if due:
        return min(due, key=rank)
    return min(steps, key=lambda step: (step.at, rank(step)), default=None)
