"""Talk shares and the facilitator's restraint."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.model import Activity, Message
from bot.meeting.participation import may_speak, quiet_people, speakers, talk_share

START = datetime(2026, 10, 5, 9, tzinfo=UTC)


def message(author: int, text: str, minute: float, *, name: str = "", deleted: bool = False) -> Message:
    at = START + timedelta(minutes=minute)
    return Message(
        1, int(minute * 10), author, name or f"p{author}", text, at, deleted_at=at if deleted else None
    )


def test_most_talkative_first_by_visible_characters() -> None:
    found = speakers(
        [
            message(1, "あ い\u200b", 1),
            message(2, "hello there", 2),
            message(1, "う", 3),
            message(3, "x" * 50, 4, deleted=True),
        ]
    )
    assert [(s.user_id, s.messages, s.characters) for s in found] == [(2, 1, 10), (1, 2, 3)]
    assert found[1].last_at == START + timedelta(minutes=3)


def test_a_person_carries_the_latest_name() -> None:
    (speaker,) = speakers([message(1, "a", 1, name="Ken"), message(1, "b", 2, name="Ken (away)")])
    assert speaker.name == "Ken (away)"


@given(st.lists(st.tuples(st.integers(1, 5), st.text(max_size=40)), min_size=1, max_size=40))
def test_shares_sum_to_one(said: list[tuple[int, str]]) -> None:
    shares = talk_share(speakers(message(who, text, i) for i, (who, text) in enumerate(said)))
    assert sum(share for _, share in shares) == pytest.approx(1.0)
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)


def test_nobody_spoke_no_shares() -> None:
    assert talk_share(()) == ()


def test_the_unheard_come_first_then_the_longest_silent() -> None:
    people = speakers([message(1, "a", 0), message(2, "b", 3), message(3, "c", 19)])
    now = START + timedelta(minutes=20)
    assert quiet_people(people, ["p1", "P2", "ｐ3", "Ito"], now, since=START) == ("Ito", "p1", "p2")


def test_nobody_is_quiet_early_alone_or_while_the_room_rests() -> None:
    people = speakers([message(1, "a", 0), message(2, "b", 1)])
    assert quiet_people(people, ["Ito"], START + timedelta(minutes=5), since=START) == ()
    assert quiet_people(people, [], START + timedelta(minutes=40), since=START) == ()
    assert (
        quiet_people(speakers([message(1, "a", 0)]), ["p1"], START + timedelta(minutes=40), since=START) == ()
    )


@pytest.mark.parametrize(
    ("activity", "messages", "seconds"),
    [(Activity.QUIET, 20, 300.0), (Activity.NORMAL, 10, 120.0), (Activity.ACTIVE, 5, 60.0)],
)
def test_the_share_of_each_activity(activity: Activity, messages: int, seconds: float) -> None:
    assert may_speak(activity, messages + 1, seconds + 1, people=3)
    assert may_speak(activity, messages + 1, None, people=3)
    assert not may_speak(activity, messages, seconds + 1, people=3)
    assert not may_speak(activity, messages + 1, seconds, people=3)
    assert may_speak(activity, 1, 0.0, people=1)
