"""The one transition table of a meeting's state (SPEC 2)."""

from __future__ import annotations

from bot.errors import KetsugiError
from bot.meeting.model import MeetingState as S

TRANSITIONS: dict[S, frozenset[S]] = {
    # STARTING -> CLOSED: the kickoff could not be posted, so the meeting never came to be.
    S.STARTING: frozenset({S.OPEN, S.CLOSED}),
    # OPEN -> WRITING: the chair skips the read-back, or the channel is gone.
    S.OPEN: frozenset({S.CLOSING, S.WRITING}),
    S.CLOSING: frozenset({S.READ_BACK, S.OPEN, S.WRITING}),
    S.READ_BACK: frozenset({S.OPEN, S.CLOSING, S.WRITING}),
    S.WRITING: frozenset({S.CLOSED}),
    S.CLOSED: frozenset(),
}

OPEN_STATES: frozenset[S] = frozenset(S) - {S.CLOSED}
TALKING: frozenset[S] = frozenset({S.OPEN, S.CLOSING, S.READ_BACK})


class IllegalTransition(KetsugiError):
    pass


def allowed(before: S, after: S) -> bool:
    return after in TRANSITIONS[before]


def check(before: S, after: S) -> None:
    """Raises IllegalTransition where the table does not hold the step."""
    if not allowed(before, after):
        raise IllegalTransition(f"{before.value} -> {after.value}")
