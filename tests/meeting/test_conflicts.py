"""A decision against a constraint or another decision is told; another subject or a refinement is not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from bot.facilitation.clashes import ConflictMemo
from bot.meeting.conflicts import Conflict, conflicts, contradiction
from bot.meeting.model import Entry, EntryKind, Item, LedgerView, Origin
from bot.meeting.sameness import find_same, same_decision

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "conflicts.jsonl").read_text(encoding="utf-8").splitlines()
]
# Every third pair was not looked at while the thresholds and patterns were tuned.
TUNED = [r for i, r in enumerate(ROWS) if i % 3 != 2]
HELD_OUT = [r for i, r in enumerate(ROWS) if i % 3 == 2]


# Written without sight of the rules and measured before any of them was mended: docs/evaluation.md has both.
UNSEEN = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "conflicts_unseen.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def item(number: int, kind: EntryKind, text: str, status: str = "live") -> Item:
    entry = Entry(1, number, kind, text, Origin.MARK, datetime(2026, 12, 2, tzinfo=UTC))
    return Item(entry, number, entry, status)


@pytest.mark.parametrize(
    ("rows", "precision", "recall"), [(TUNED, 0.95, 0.95), (HELD_OUT, 0.8, 0.8)], ids=["tuned", "held out"]
)
def test_labelled_pairs(rows: list[dict[str, object]], precision: float, recall: float) -> None:
    told = [r for r in rows if contradiction(str(r["said"]), str(r["held"]))]
    right = sum(bool(r["conflict"]) for r in told)
    assert right / len(told) >= precision
    assert right / sum(bool(r["conflict"]) for r in rows) >= recall


@pytest.mark.parametrize("language", ["ja", "en"])
def test_pairs_written_without_the_rules(language: str) -> None:
    rows = [r for r in UNSEEN if r["language"] == language]
    told = [r for r in rows if contradiction(r["said"], r["held"])]
    right = sum(r["conflict"] for r in told)
    assert right / len(told) >= 0.9
    assert right / sum(r["conflict"] for r in rows) >= 0.9


# Constraints without a subject of their own: written after the rules, measured before they were mended.
SWEEPING = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "conflicts_sweeping.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_days_and_budgets_that_hold_for_everything(language: str) -> None:
    rows = [r for r in SWEEPING if r["language"] == language]
    told = [r for r in rows if contradiction(r["said"], r["held"], date(2026, 6, 1))]
    right = sum(r["conflict"] for r in told)
    assert right / len(told) >= 0.95
    assert right / sum(r["conflict"] for r in rows) >= 0.9


@pytest.mark.parametrize(
    ("said", "held"),
    [("the offsite is on 12 June", "Not on a Friday"), ("オフサイトは6月12日に行う", "金曜は避ける")],
)
def test_a_date_has_the_weekday_of_the_year_it_was_named_in(said: str, held: str) -> None:
    assert contradiction(said, held, date(2026, 6, 1)) == "polarity"  # a Friday
    assert contradiction(said, held, date(2026, 7, 1)) is None  # next year's is a Saturday
    assert contradiction(said, held) is None
    decided = item(4, EntryKind.DECISION, said)
    rule = item(1, EntryKind.CONSTRAINT, held)
    found = conflicts(said, [rule], date(2026, 6, 1))
    assert [c.number for c in found] == [1]
    assert ConflictMemo().between(decided, rule) is False  # said in December: next year's
    early = replace(decided, entry=replace(decided.entry, at=datetime(2026, 6, 1, tzinfo=UTC)))
    assert ConflictMemo().between(early, rule) is True


@pytest.mark.parametrize(
    ("said", "held", "reason"),
    [
        ("We ship on Friday", "No release on a Friday", "polarity"),
        ("金曜にデプロイする", "金曜日のリリースは禁止", "polarity"),
        ("We ship on Thursday", "No release on a Friday", None),
        ("木曜にデプロイする", "金曜日のリリースは禁止", None),
        ("受付は鈴木さんにお願いする", "受付は田中さんが担当する", "value"),
        ("Ben leads the migration", "The migration is led by Ana", "value"),
        ("受付は田中さんにお願いする", "受付は田中さんが担当する", None),
        ("The migration is led by Ana", "Ana leads the migration", None),
        ("朝会は水曜に行う", "朝会は月曜に行う", "value"),
        ("朝会は水曜にも行う", "朝会は月曜に行う", None),
        ("The retro is on Wednesday", "The standup is on Monday", None),
        ("会場は8人で使う", "会場は10人まで入れる", None),
        ("会場は12人で使う", "会場は10人まで入れる", "bound"),
        ("資料は田中さんが確認する", "資料は佐藤さんが作る", None),
        ("Ben reviews the draft", "Ana writes the draft", None),
        ("We use PostgreSQL", "We use React", None),
    ],
)
def test_holders_places_and_weekdays(said: str, held: str, reason: str | None) -> None:
    assert contradiction(said, held) == reason


@pytest.mark.parametrize(
    ("said", "held", "reason"),
    [
        ("CEO は人間", "CEO は必ず AI", "value"),
        ("上限を撤廃", "上限は3。4以上は禁止", "bound"),
        ("budget 700k", "budget max 500k", "bound"),
        ("release on December 12", "no release in December", "polarity"),
    ],
)
def test_the_incidents(said: str, held: str, reason: str) -> None:
    assert contradiction(said, held) == reason


def test_each_entry_contradicted_is_named_by_its_number() -> None:
    against = [
        item(1, EntryKind.CONSTRAINT, "予算の上限は50万円"),
        item(2, EntryKind.CONSTRAINT, "会場は大阪"),
        item(5, EntryKind.DECISION, "予算は40万円とする", "confirmed"),
    ]
    assert conflicts("予算は80万円とする", against) == [
        Conflict(1, "bound", "予算の上限は50万円"),
        Conflict(5, "value", "予算は40万円とする"),
    ]
    assert conflicts("公開は来週の金曜", against) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda r: str(r["held"])[:20])
def test_nothing_contradicts_itself(row: dict[str, str]) -> None:
    assert contradiction(row["held"], row["held"]) is None
    assert contradiction(row["said"], row["said"]) is None


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("リリースは12月12日にする", "12月12日にリリースする", True),
        ("参加者は10人以下とする", "参加者の上限は10人", True),
        ("We ship version 2 on December 12", "Version 2 ships on 12 December.", True),
        ("Decision: use PostgreSQL for storage", "use PostgreSQL for storage", True),
        ("リリースは12月12日にする", "リリースは12月19日にする", False),
        ("参加者は10人以下とする", "参加者は10人以上とする", False),
        ("金曜にデプロイする", "金曜にデプロイしない", False),
        ("A案で進める", "B案で進める", False),
        ("Use PostgreSQL for storage", "Use Redis for the cache", False),
        ("The remote will be yellow", "The remote will be easy to find", False),
    ],
)
def test_the_same_decision_in_other_words(a: str, b: str, same: bool) -> None:
    assert same_decision(a, b) is same
    assert same_decision(b, a) is same


def test_a_repeated_decision_is_found_among_the_live_ones_of_its_kind() -> None:
    view = LedgerView(
        (
            item(1, EntryKind.DECISION, "リリースは12月12日にする", "retracted"),
            item(2, EntryKind.PROPOSAL, "参加者は10人以下とする", "open"),
            item(3, EntryKind.DECISION, "参加者は10人以下とする", "confirmed"),
        )
    )
    found = find_same(view, EntryKind.DECISION, "参加者は最大10人とする")
    assert found is not None
    assert found.number == 3
    assert find_same(view, EntryKind.DECISION, "12月12日にリリースする") is None
