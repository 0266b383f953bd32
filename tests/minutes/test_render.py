"""minutes.md holds everything the ledger holds, literally, and reads like minutes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.meeting.display import visible
from bot.meeting.model import LANGUAGES, EntryKind, Language, LedgerView
from bot.minutes.coverage import covers
from bot.minutes.document import How, MinutesProse, document
from bot.minutes.render import render
from tests.minutes.made import NASTY, PEOPLE, START, Ledger, full, link, meeting, say, view

KINDS = ("constraint", "proposal", "decision", "question", "action", "note")
TEXTS = st.sampled_from(NASTY) | st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=200
)


def written(
    ledger: LedgerView, language: Language = "ja", prose: MinutesProse | None = None, **how: Any
) -> tuple[dict[str, Any], str]:
    end = START + timedelta(minutes=62)
    made = How(**how)
    doc = document(meeting(language=language), ledger, PEOPLE, prose, made, link, ended_at=end)
    return doc, render(doc, language, say(language))


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), TEXTS), max_size=12),
    st.sampled_from(LANGUAGES),
    st.text(max_size=200),
)
def test_every_live_entry_stands_in_the_file_with_its_full_text(
    entries: list[tuple[str, str]], language: Language, summary: str
) -> None:
    ledger = view(*((EntryKind(kind), text) for kind, text in entries))
    doc, text = written(ledger, language, MinutesProse(summary, (("価格", summary),)))
    for item in ledger.items:
        if item.live:
            assert visible(item.text) in text
            assert f"**#{item.number}**" in text
    assert covers(doc, text) == []
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(text)
    text.encode("utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_fact_of_the_document_is_missed_when_it_is_gone(language: Language) -> None:
    doc, text = written(full().view, language, MinutesProse("価格を決めた。", (("日程", "話し合った。"),)))
    assert covers(doc, text) == []
    for lost, label in {
        "価格は600円とする": "decisions #12",
        "価格は500円とする": "replaced #3",
        "誰が測定するか": "answered_questions #4",
        "#5 佐藤が測定する": "answered_questions #4: #5",
        "上限は3。4以上は禁止": "constraints #1",
        "2026-08-10": "actions #7: due",
        "田中 -1 忙しい": "proposals #9: vote",
        "参考資料あり": "notes #17",
        "会場は仮押さえ": "withdrawn #16",
        "https://discord.com/channels/2/3/1006": "questions #6: link",
        "価格を決めた。": "summary",
        "話し合った。": "agenda: 日程: text",
        "- 鈴木": "attendance: 鈴木",
        "価格会議": "title",
    }.items():
        assert lost in text
        assert label in covers(doc, text.replace(lost, "…")), lost


def test_an_entry_repeated_in_the_prose_does_not_stand_for_the_entry() -> None:
    doc, text = written(full().view, "ja", MinutesProse("x\n- **#7** 見積を出す"))
    assert covers(doc, text) == []
    section = text.index("## 宿題")
    broken = text[:section] + text[section:].replace("- **#7** 見積を出す", "- **#7** 消えた")
    assert "actions #7: owner" in covers(doc, broken)


def shown(text: str) -> str:
    """The file as a reader of Markdown sees it, by an implementation of CommonMark (rich brings it along)."""
    parser = MarkdownIt("commonmark").enable("strikethrough").enable("table")
    pieces = []
    for token in parser.parse(text):
        if token.type == "fence":
            pieces.append(token.content)
        for child in token.children or ():
            pieces.append("\n" if child.type in ("softbreak", "hardbreak") else child.content)
            assert child.type != "html_inline"
        assert token.type != "html_block"
    return "\n".join(pieces)


@settings(max_examples=120, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.text(max_size=100))
def test_a_markdown_reader_shows_every_text_as_it_was_written(texts: list[str], summary: str) -> None:
    ledger = view(*((EntryKind.DECISION, text) for text in texts))
    _, text = written(ledger, "en", MinutesProse(summary))
    for item in ledger.decisions:
        # White space aside: a reader trims the ends of a line.
        assert "".join(visible(item.text).split()) in "".join(shown(text).split())


def test_japanese_minutes_read_like_japanese_minutes() -> None:
    _, text = written(
        full().view, "ja", prose_omitted_reason="guard", ledger_digest="abc123", models=("m-1",)
    )
    heads = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert heads == [
        "概要",
        "前提・制約",
        "決定事項",
        "変更された決定（もとの文）",
        "未決事項",
        "宿題",
        "決定に至らなかった提案",
        "回答のあった未決事項",
        "議題ごとの経過",
        "メモ",
        "撤回された記録",
        "出席者と発言の割合",
        "この議事録について",
    ]
    assert "日時: 2026年8月3日（月） 14:00 〜 15:02（Asia/Tokyo）" in text
    assert "照合に通らなかった" in text
    assert "- **#8** 会場を探す" in text
    assert "担当者なし" in text
    assert "期限: 2026-08-10（月）" in text
    assert "未確認" in text
    assert "元の言葉: じゃあ年内に始めよう" in text
    assert "否決" in text
    assert "→ #12 に変更" in text
    assert "賛成 1・保留 0・反対 1" in text
    assert "文字数の75%" in text
    assert "abc123" in text


def test_english_minutes_show_times_of_the_meetings_zone_and_the_date_where_it_changes() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "ship in May")
    late = document(
        meeting(language="en", timezone="America/New_York", started_at=START.replace(hour=3, minute=30)),
        ledger.view,
        PEOPLE,
        None,
        How(prose_omitted_reason="offline"),
        link,
        ended_at=START.replace(hour=4, minute=30),
    )
    text = render(late, "en", say("en"))
    assert "Time: Sun 2026-08-02, 23:30 to Mon 2026-08-03 00:30 (America/New_York)" in text
    assert "(鈴木, Mon 2026-08-03 01:01, [source](https://discord.com/channels/2/3/1001), confirmed)" in text
    assert "no model" in text


def test_conflicts_are_shown_with_the_decision_and_with_the_constraint() -> None:
    folded = full().view
    items = tuple(
        replace(item, conflicts_with=(1,)) if item.text == "年内に始める" else item for item in folded.items
    )
    doc, text = written(replace(folded, items=items), "en")
    assert "⚠️ Decisions in conflict with this: #13" in text
    assert "⚠️ In conflict with #1" in text
    assert "decisions #13: conflict with #1" in covers(doc, text.replace("In conflict with #1", ""))


def test_a_decision_typed_twice_stands_once_and_is_not_called_replaced() -> None:
    doc, text = written(view((EntryKind.DECISION, "五月に出す"), (EntryKind.DECISION, "五月に出す")))
    assert text.count("五月に出す") == 1
    assert doc["replaced"] == []
    assert "#2 でも同じ決定" in text


def test_an_empty_meeting_says_so_and_an_unknown_zone_or_reason_does_no_harm() -> None:
    doc = document(
        meeting(timezone="Mars/Olympus", agenda=()),
        LedgerView(),
        (),
        None,
        How(prose_omitted_reason="?"),
        link,
    )
    text = render(doc, "en", say("en"))
    assert "No decision was recorded." in text
    assert "Nobody spoke." in text
    assert "There is no written summary." in text
    assert covers(doc, text) == []


@pytest.mark.parametrize(
    "summary",
    [
        "# big",
        "~~~\nall gone",
        "<!-- hidden",
        "[x](http://evil)",
        "```\ncode",
        "@everyone 注意",
        "題\n===",
        "題\n---",
    ],
)
def test_prose_cannot_swallow_or_fake_what_follows(summary: str) -> None:
    _, text = written(full().view, "ja", MinutesProse(summary))
    body = text[text.index("## 概要") + 6 : text.index("## 前提")]
    assert "@everyone" not in body
    for line in body.splitlines():
        assert not line.startswith(("# ", "~~~", "<", "[", "```", "===", "---"))


def test_names_that_mention_everyone_do_not() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.ACTION, "掃除", author_name="@everyone", owner="@here")
    doc, text = written(ledger.view)
    assert "＠everyone" in text
    assert "@everyone" not in text
    assert "担当: ＠here" in text
    assert covers(doc, text) == []


def test_an_action_that_was_given_to_somebody_shows_its_old_wording() -> None:
    ledger = Ledger()
    first = ledger.add(EntryKind.ACTION, "見積を出す")
    ledger.add(EntryKind.REVISION, "見積を出す", refers_to=first, owner="田中")
    _, text = written(ledger.view, "ja")
    assert "担当: 田中" in text
    assert "書き改められた記録" in text


def test_an_item_that_has_a_text_is_not_called_empty_twice() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "価格は980円とする")
    _, text = written(ledger.view, "ja", MinutesProse("まとめ", (("価格", "話しませんでした。"),)))
    assert "話しませんでした。" in text
    assert "話しませんでした。\n\nこの議題のもとに記録されたものはありません。" not in text
