"""The board: what a room sees of its meeting from the kickoff until after the minutes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.facilitation.board import board, kickoff
from bot.meeting.display import units
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView, MeetingState, Origin, Speaker
from bot.stage import Outgoing
from tests.minutes.made import NASTY, PEOPLE, START, Ledger, decisions, full, meeting


def seen(post: Outgoing) -> str:
    return "\n".join((post.text, *(f"{e.title}\n{e.description}" for e in post.embeds)))


def assert_valid(post: Outgoing) -> None:
    assert units(post.text) <= 1900
    assert len(post.embeds) == 1
    assert 0 < units(post.embeds[0].description) <= 4096


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_kickoff_says_what_a_person_must_know_before_writing(language: Language) -> None:
    ledger = Ledger()
    ledger.add(EntryKind.CONSTRAINT, "上限は3", Origin.START)
    post = kickoff(meeting(), ledger.view, language, START, 90, "gemini-3.8-flash")
    text = seen(post)
    end = int((START + timedelta(minutes=60)).timestamp())
    for said in (
        "佐藤",
        "価格",
        "日程",
        "上限は3",
        f"<t:{end}:t>",
        "gemini-3.8-flash",
        "90",
        "/privacy opt-out",
    ):
        assert said in text
    assert [button.action for button in post.buttons] == ["join", "extend", "end", "correct"]
    assert post.pin
    assert post.meeting_id == 42
    assert_valid(post)


def test_offline_nothing_is_sent_and_kept_until_erased_is_said() -> None:
    text = seen(kickoff(meeting(), LedgerView(), "en", START, None, "offline"))
    assert "nothing is sent anywhere" in text
    assert "until they are erased" in text
    assert "モデルは使わず、外部には送りません" in seen(
        kickoff(meeting(), LedgerView(), "ja", START, 90, "offline")
    )


def test_the_board_shows_where_the_meeting_stands() -> None:
    now = START + timedelta(minutes=24, seconds=59)
    text = seen(board(meeting(), full().view, PEOPLE, now, language="ja"))
    assert "▰▰▰▰▱▱▱▱▱▱▱▱ 24 / 60分" in text
    assert "▶️ 価格" in text
    assert "▫️ 日程" in text
    assert "**決定事項** (3)" in text
    assert "**#12** 価格は600円とする ✅" in text
    assert "**#13** 年内に始める （未確認） ❌ 異議1件" in text
    assert "**#15** 【否決】 広告は出さない ✅" in text
    assert "**#9** 毎週集まる （賛成1・保留0・反対1）" in text
    assert "**#6** 発売日はいつか" in text
    assert "**#7** 見積を出す — 佐藤・期限 8月10日（月）" in text
    assert "**#8** 会場を探す — 担当者なし" in text
    assert "鈴木 75% · 佐藤 25%" in text
    assert "500円" not in text


def test_the_topic_moves_the_mark_and_an_unplanned_one_is_added() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.TOPIC, "日程")
    assert "▶️ 日程" in seen(board(meeting(), ledger.view, (), START, language="ja"))
    ledger.add(EntryKind.TOPIC, "会場")
    text = seen(board(meeting(), ledger.view, (), START, language="ja"))
    assert "▶️ 会場" in text
    assert "▫️ 日程" in text


def test_it_changes_once_a_minute_at_most_and_is_the_same_bytes_otherwise() -> None:
    def at(second: int) -> Outgoing:
        return board(meeting(), full().view, PEOPLE, START + timedelta(seconds=second), language="en")

    assert at(60) == at(119)
    assert at(119) != at(120)
    assert at(59 * 60) == at(59 * 60 + 59)


def test_over_time_and_provider_down_are_said() -> None:
    text = seen(
        board(meeting(), LedgerView(), (), START + timedelta(minutes=66), language="ja", degraded=True)
    )
    assert "（6分超過）" in text
    assert "▰" * 12 in text
    assert "モデルから応答がない" in text
    assert "モデルから応答がない" not in seen(board(meeting(), LedgerView(), (), START, language="ja"))


def test_closing_is_visible_step_by_step_and_ends_with_the_link() -> None:
    close_at = START + timedelta(minutes=50)
    room = meeting(state=MeetingState.READ_BACK, close_at=close_at)
    post = board(room, LedgerView(), (), START, language="en")
    assert f"<t:{int(close_at.timestamp())}:R>" in seen(post)
    assert all(button.disabled for button in post.buttons if button.action != "correct")
    writing = board(
        replace(room, state=MeetingState.WRITING),
        LedgerView(),
        (),
        START,
        language="en",
        state_note="2 of 5 read",
    )
    assert "Writing the minutes" in seen(writing)
    assert "2 of 5 read" in seen(writing)
    closed = board(
        replace(room, state=MeetingState.CLOSED),
        full().view,
        PEOPLE,
        START,
        language="en",
        minutes_link="<#99>",
    )
    assert "This meeting is closed. Minutes: <#99>" in seen(closed)
    assert [button.action for button in closed.buttons] == ["correct"]
    assert "▰" not in seen(closed)
    assert "価格は600円とする" in seen(closed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_long_lists_keep_the_newest_and_count_the_rest(language: Language) -> None:
    ledger = decisions([f"第{n}号の決定: 予算は{n}万円までとする" for n in range(200)])
    post = board(meeting(), ledger, PEOPLE, START, language=language)
    assert_valid(post)
    text = seen(post)
    assert "**#200**" in text
    assert "**#1** " not in text
    shown = text.count("**#")
    assert f"{200 - shown}" in text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["decision", "question", "action", "proposal", "constraint", "topic"]),
            st.sampled_from(NASTY) | st.text("😀漢a*`_ \n", min_size=1, max_size=1900),
        ),
        max_size=60,
    ),
    st.lists(st.text(max_size=300), max_size=30),
    st.text(max_size=300),
    st.sampled_from(LANGUAGES),
)
def test_any_meeting_makes_a_valid_board(
    entries: list[tuple[str, str]], agenda: list[str], name: str, language: Language
) -> None:
    ledger = Ledger()
    for kind, text in entries:
        ledger.add(EntryKind(kind), text, owner=text if kind == "action" else None)
    people = [Speaker(n, f"{name}{n}", 1, 10, START) for n in range(40)]
    room = meeting(agenda=tuple(agenda), title=name, chair_name=name)
    post = board(room, ledger.view, people, START, language=language, degraded=True, state_note=name)
    assert_valid(post)
    assert "@everyone" not in post.text
    assert ("ほか32人" if language == "ja" else "32 more people") in seen(post)
