"""The agenda as a queue: what lines mean, how time is shared, which item is on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting import agenda
from bot.meeting.agenda import AgendaItem
from bot.meeting.ledger import fold
from bot.meeting.model import Activity, ChannelKind, Entry, EntryKind, Meeting, MeetingState, Origin

START = datetime(2026, 12, 1, 1, 0, tzinfo=UTC)


def meeting(*titles: str, minutes: tuple[int | None, ...] = (), total: int = 60) -> Meeting:
    return Meeting(
        1, 2, 3, ChannelKind.TEXT, "t", "ja", "Asia/Tokyo", 4, "佐藤", titles, START,
        START + timedelta(minutes=total), MeetingState.OPEN, agenda_minutes=minutes,
    )  # fmt: skip


def topic(number: int, text: str, minute: float) -> Entry:
    return Entry(1, number, EntryKind.TOPIC, text, Origin.MARK, START + timedelta(minutes=minute))


@pytest.mark.parametrize(
    ("line", "title", "minutes"),
    [
        ("公開日 10分", "公開日", 10),
        ("公開日（10分）", "公開日", 10),
        ("公開日　１５分", "公開日", 15),
        ("公開日：20分", "公開日", 20),
        ("価格10分", "価格", 10),
        ("Release date (10m)", "Release date", 10),
        ("Release date (10 min)", "Release date", 10),
        ("Release date - 10 minutes", "Release date", 10),
        ("Release date 10min", "Release date", 10),
        ("振り返り（1時間）", "振り返り", 60),
        ("Retrospective [1h 30m]", "Retrospective", 90),
        ("10分：公開日", "公開日", 10),
        ("5 min: Welcome", "Welcome", 5),
        ("公開日", "公開日", None),
        ("Sprint 12", "Sprint 12", None),
        ("Q3の目標", "Q3の目標", None),
        ("iPhone 16m", "iPhone 16m", None),
        ("会議を30分", "会議を30分", None),
        ("Limit of 5 minutes", "Limit of 5 minutes", None),
        ("通知は5分", "通知は5分", None),
        ("0分 公開日", "0分 公開日", None),
        ("10分", "10分", None),
        ("2026", "2026", None),
    ],
)
def test_lines(line: str, title: str, minutes: int | None) -> None:
    assert agenda.parse(line) == AgendaItem(title, minutes)


@given(st.text(max_size=60))
def test_no_line_raises_and_no_title_is_lost(line: str) -> None:
    item = agenda.parse(line)
    assert bool(item.title) == bool(line.strip())
    assert item.minutes is None or 1 <= item.minutes <= agenda.LONGEST_ITEM


@given(st.lists(st.one_of(st.none(), st.integers(1, 120)), max_size=20), st.floats(1, 600))
def test_shares_leave_nothing_over_and_nobody_out(minutes: list[int | None], total: float) -> None:
    items = [AgendaItem(str(n), m) for n, m in enumerate(minutes)]
    found = agenda.shares(items, total)
    assert len(found) == len(items)
    assert all(share >= 1 for share in found)
    free = [share for item, share in zip(items, found, strict=True) if item.minutes is None]
    assert len(set(free)) <= 1
    taken = sum(m for m in minutes if m is not None)
    if free and total - taken >= len(free):
        assert sum(found) == pytest.approx(total)


def test_the_first_item_is_on_until_a_topic_is_named() -> None:
    held = meeting("価格", "公開日", "その他", minutes=(None, 10, None))
    now = agenda.current(held, fold([]))
    assert now is not None
    assert (now.title, now.index, now.minutes, now.topic) == ("価格", 0, 25.0, 0)
    view = fold([topic(1, "公開日", 12)])
    now = agenda.current(held, view)
    assert now is not None
    assert (now.index, now.minutes, now.over_at()) == (1, 10.0, START + timedelta(minutes=22))
    assert agenda.following(held, view) == AgendaItem("その他", None)


def test_a_topic_off_the_agenda_has_no_time_and_leads_back_to_it() -> None:
    held = meeting("価格", "公開日")
    view = fold([topic(1, "昼食", 5)])
    now = agenda.current(held, view)
    assert now is not None
    assert (now.title, now.index, now.minutes) == ("昼食", None, None)
    assert agenda.move_on_at(held, view) is None
    following = agenda.following(held, view)
    assert following is not None
    assert following.title == "公開日"


@pytest.mark.parametrize(
    ("words", "index"), [("公開日", 1), ("2", 1), ("公開", 1), ("日", None), ("x", None)]
)
def test_what_topic_words_mean(words: str, index: int | None) -> None:
    assert agenda.position([AgendaItem("価格"), AgendaItem("公開日")], words) == index


def test_moving_on_is_proposed_when_time_is_up_later_where_it_is_to_be_quiet_and_never_at_the_last() -> None:
    held = meeting("価格", "公開日", minutes=(10, None))
    assert agenda.move_on_at(held, fold([])) == START + timedelta(minutes=10)
    assert agenda.move_on_at(replace(held, activity=Activity.QUIET), fold([])) == START + timedelta(
        minutes=15
    )
    assert agenda.move_on_at(held, fold([topic(1, "公開日", 3)])) is None
    assert agenda.move_on_at(meeting(), fold([])) is None


@given(st.integers(1, 8), st.data())
def test_moving_keeps_every_item(count: int, data: st.DataObject) -> None:
    items = [AgendaItem(str(n)) for n in range(count)]
    index, to = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, count - 1))
    after = agenda.moved(items, index, to)
    assert sorted(i.title for i in after) == sorted(i.title for i in items)
    assert after[to] == items[index]


def test_moving_on_waits_for_a_pause_but_not_for_ever() -> None:
    def wait(last_s: float | None) -> float:
        last = None if last_s is None else START + timedelta(seconds=last_s)
        return (agenda.in_a_lull(START, last) - START).total_seconds()

    assert wait(None) == 0
    assert wait(-60) == 0
    assert wait(-20) == 25
    assert wait(30) == 75
    assert wait(600) == 180
