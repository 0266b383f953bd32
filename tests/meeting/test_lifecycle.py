"""The transition table: what a meeting may become, and that nothing leads back from its end."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bot.meeting.lifecycle import OPEN_STATES, TALKING, TRANSITIONS, IllegalTransition, allowed, check
from bot.meeting.model import MeetingState as S


def reachable(start: S) -> set[S]:
    found, todo = {start}, [start]
    while todo:
        for after in TRANSITIONS[todo.pop()] - found:
            found.add(after)
            todo.append(after)
    return found


def test_the_table_speaks_of_every_state_and_reaches_all_of_them() -> None:
    assert set(TRANSITIONS) == set(S)
    assert reachable(S.STARTING) == set(S)


@pytest.mark.parametrize("state", S)
def test_every_meeting_can_come_to_its_end(state: S) -> None:
    assert S.CLOSED in reachable(state)


@pytest.mark.parametrize("after", S)
def test_a_closed_meeting_stays_closed(after: S) -> None:
    assert not allowed(S.CLOSED, after)
    with pytest.raises(IllegalTransition, match="closed -> "):
        check(S.CLOSED, after)


def test_minutes_are_written_before_a_meeting_that_people_saw_is_closed() -> None:
    assert {before for before in S if allowed(before, S.CLOSED)} == {S.STARTING, S.WRITING}
    # Once the minutes are being written nobody can call the meeting back.
    assert reachable(S.WRITING) == {S.WRITING, S.CLOSED}


def test_a_meeting_starts_once() -> None:
    assert not any(allowed(before, S.STARTING) for before in S)


def test_people_talk_only_while_the_meeting_is_open() -> None:
    assert set(S) - {S.CLOSED} == OPEN_STATES
    assert {S.OPEN, S.CLOSING, S.READ_BACK} == TALKING


class Life(RuleBasedStateMachine):
    """Any life that the table allows: wishes, cancelled wishes, skipped read-backs, lost channels."""

    @initialize()
    def start(self) -> None:
        self.state, self.seen = S.STARTING, [S.STARTING]

    @rule(data=st.data())
    def go_on(self, data: st.DataObject) -> None:
        after = data.draw(st.sampled_from(sorted(TRANSITIONS[self.state]) or [self.state]))
        if self.state is S.CLOSED:
            return
        check(self.state, after)
        self.state = after
        self.seen.append(after)

    @rule(after=st.sampled_from(S))
    def try_anything(self, after: S) -> None:
        if after in TRANSITIONS[self.state]:
            check(self.state, after)
            return
        with pytest.raises(IllegalTransition):
            check(self.state, after)

    @invariant()
    def the_end_is_the_end(self) -> None:
        assert S.CLOSED not in self.seen[:-1]

    @invariant()
    def no_state_follows_itself(self) -> None:
        assert all(a is not b for a, b in zip(self.seen, self.seen[1:], strict=False))

    @invariant()
    def minutes_come_right_before_the_end(self) -> None:
        if self.seen[-1] is S.CLOSED and S.OPEN in self.seen:
            assert self.seen[-2] is S.WRITING
            assert self.seen.count(S.WRITING) == 1


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=150, stateful_step_count=25, deadline=None, database=None)
