"""The read-back: everything the room closes with, and one question."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.facilitation.readback import read_back
from bot.meeting.display import units
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView
from tests.minutes.made import NASTY, START, Ledger, decisions, full, meeting

CLOSE = START + timedelta(minutes=40)


def test_it_names_what_is_decided_open_and_without_owner() -> None:
    folded = full().view
    items = tuple(
        replace(item, conflicts_with=(1,)) if item.text == "年内に始める" else item for item in folded.items
    )
    post = read_back(meeting(), replace(folded, items=items), "ja", CLOSE, "ここまでを確認します。")
    assert post.text.startswith("ここまでを確認します。")
    assert "**決定事項** (3)" in post.text
    assert "**#12** 価格は600円とする ✅" in post.text
    assert "**#13** 年内に始める （未確認） ❌ 異議1件 ⚠️ #1 と食い違い" in post.text
    assert "**#6** 発売日はいつか" in post.text
    assert "**#8** 会場を探す" in post.text
    assert "見積を出す" not in post.text
    assert post.text.count("このまま閉じてよろしいですか？") == 1
    assert f"<t:{int(CLOSE.timestamp())}:R>" in post.text
    assert [button.action for button in post.buttons] == ["close_now", "keep_going", "confirm_all"]


def test_an_empty_ledger_is_said_and_nothing_is_offered_to_confirm() -> None:
    post = read_back(meeting(), LedgerView(), "en", CLOSE, None)
    assert "No decision was recorded." in post.text
    assert "**Shall I close the meeting now?**" in post.text
    assert [button.action for button in post.buttons] == ["close_now", "keep_going"]


@pytest.mark.parametrize(
    ("lead", "kept"),
    [
        ("まとめます。続けますか？", "まとめます。"),
        ("Here we are. Anything else? Thanks.", "Here we are. Thanks."),
        ("Shall we go on?", ""),
        ("Version 1.5 is decided.", "Version 1.5 is decided."),
    ],
)
def test_the_lead_asks_no_second_question(lead: str, kept: str) -> None:
    text = read_back(meeting(), LedgerView(), "en", CLOSE, lead).text
    assert text.startswith(kept or "**Decisions**")
    assert text.count("?") == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_does_not_fit_is_counted(language: Language) -> None:
    ledger = Ledger()
    for n in range(120):
        ledger.add(EntryKind.DECISION, f"第{n}号: 予算は{n}万円まで")
        ledger.add(EntryKind.ACTION, f"確認{n}")
    post = read_back(meeting(), ledger.view, language, CLOSE, None)
    assert units(post.text) <= 1800
    shown = post.text.count("**#")
    counts = [
        int("".join(c for c in line if c.isdigit())) for line in post.text.splitlines() if line[0:1] == "…"
    ]
    assert len(counts) == 2
    assert shown + sum(counts) == 240


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(NASTY) | st.text("😀漢a*`_ \n", min_size=1, max_size=1900), max_size=40),
    st.none() | st.text("😀漢a。.？?\n", max_size=3000),
    st.sampled_from(LANGUAGES),
)
def test_any_ledger_and_lead_make_a_post_within_the_limit(
    texts: list[str], lead: str | None, language: Language
) -> None:
    post = read_back(meeting(), decisions(texts), language, CLOSE, lead)
    assert units(post.text) <= 1800
    assert post.text.rstrip().endswith(("閉じます。", ":R>."))
    assert post.buttons[0].action == "close_now"
