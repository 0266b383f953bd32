"""Relative due dates in both languages, seen from Wednesday, 2 December 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.dates import resolve

WEDNESDAY = date(2026, 12, 2)


@pytest.mark.parametrize(
    ("said", "iso"),
    [
        ("今日中", "2026-12-02"),
        ("本日", "2026-12-02"),
        ("明日", "2026-12-03"),
        ("あす までに", "2026-12-03"),
        ("明後日", "2026-12-04"),
        ("しあさって", "2026-12-05"),
        ("3日後", "2026-12-05"),
        ("３日以内", "2026-12-05"),
        ("二週間後", "2026-12-16"),
        ("1ヶ月後", "2027-01-02"),
        ("5営業日以内", "2026-12-09"),
        ("金曜まで", "2026-12-04"),
        ("水曜", "2026-12-09"),
        ("今週の金曜", "2026-12-04"),
        ("今週の月曜", "2026-11-30"),
        ("来週の金曜", "2026-12-11"),
        ("来週金曜日まで", "2026-12-11"),
        ("再来週の月曜", "2026-12-14"),
        ("今週中", "2026-12-04"),
        ("来週中", "2026-12-11"),
        ("来週頭", "2026-12-07"),
        ("週明け", "2026-12-07"),
        ("月末", "2026-12-31"),
        ("今月末", "2026-12-31"),
        ("来月5日", "2027-01-05"),
        ("来月末", "2027-01-31"),
        ("来月", "2027-01-31"),
        ("1月中旬", "2027-01-20"),
        ("１２月１０日まで", "2026-12-10"),
        ("十二月十日", "2026-12-10"),
        ("12月1日", "2027-12-01"),
        ("12/10(木)", "2026-12-10"),
        ("15日まで", "2026-12-15"),
        ("1日までに", "2027-01-01"),
        ("年内", "2026-12-31"),
        ("年度末", "2027-03-31"),
        ("2026年12月24日", "2026-12-24"),
        ("2026-12-10", "2026-12-10"),
        ("today", "2026-12-02"),
        ("EOD", "2026-12-02"),
        ("tomorrow", "2026-12-03"),
        ("the day after tomorrow", "2026-12-04"),
        ("in two weeks", "2026-12-16"),
        ("in 3 days", "2026-12-05"),
        ("within 3 business days", "2026-12-07"),
        ("a week from now", "2026-12-09"),
        ("by Friday", "2026-12-04"),
        ("Fri", "2026-12-04"),
        ("on Wednesday", "2026-12-09"),
        ("this Friday", "2026-12-04"),
        ("next Friday", "2026-12-11"),
        ("Friday next week", "2026-12-11"),
        ("this week", "2026-12-04"),
        ("next week", "2026-12-11"),
        ("end of next week", "2026-12-11"),
        ("by end of month", "2026-12-31"),
        ("by the end of the month", "2026-12-31"),
        ("end of next month", "2027-01-31"),
        ("Dec 10", "2026-12-10"),
        ("by December 10th", "2026-12-10"),
        ("10 December 2027", "2027-12-10"),
        ("March 3", "2027-03-03"),
        ("early January", "2027-01-10"),
        ("by the end of January", "2027-01-31"),
        ("before January", "2026-12-31"),
        ("the 15th", "2026-12-15"),
        ("end of the quarter", "2026-12-31"),
    ],
)
def test_due_dates(said: str, iso: str) -> None:
    assert resolve(said, WEDNESDAY) == date.fromisoformat(iso)


@pytest.mark.parametrize(
    "said",
    ["", "なるべく早く", "あとで", "soon", "ASAP", "先週の金曜", "last Friday", "2/31", "2月30日", "土日",
     "the cat sat down", "毎月", "we may march", "3人で", "he is the second"],
)  # fmt: skip
def test_no_day_is_named(said: str) -> None:
    assert resolve(said, WEDNESDAY) is None


def test_a_day_written_first_is_read_in_an_english_meeting_only() -> None:
    assert resolve("by 13/5", WEDNESDAY, "en") == date(2027, 5, 13)
    assert resolve("13/5まで", WEDNESDAY, "ja") is None
    assert resolve("3/5", WEDNESDAY, "en") == resolve("3/5", WEDNESDAY, "ja") == date(2027, 3, 5)


@given(st.dates(date(2001, 1, 1), date(2090, 1, 1)), st.integers(0, 6))
def test_a_bare_weekday_is_the_next_such_day(today: date, weekday: int) -> None:
    found = resolve("月火水木金土日"[weekday] + "曜日まで", today)
    assert found is not None
    assert found.weekday() == weekday
    assert timedelta(0) < found - today <= timedelta(days=7)


@given(st.dates(date(2001, 1, 1), date(2090, 1, 1)), st.dates(date(2001, 1, 1), date(2090, 1, 1)))
def test_an_iso_date_is_itself(today: date, day: date) -> None:
    assert resolve(f"by {day.isoformat()}", today) == day


@given(st.text(max_size=40), st.dates(date(2001, 1, 1), date(2090, 1, 1)))
def test_no_text_breaks_it(said: str, today: date) -> None:
    found = resolve(said, today)
    assert found is None or isinstance(found, date)
