"""The minutes as data."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.meeting.model import EntryKind, Origin
from bot.minutes.document import How, MinutesProse, actions_csv, as_json, document, ledger_rows
from bot.minutes.render import render
from bot.minutes.schema import MinutesDocument
from tests.minutes.made import NASTY, PEOPLE, START, Ledger, full, link, meeting, say

SCHEMA = Path(__file__).parents[2] / "data" / "minutes.schema.json"


def test_the_schema_in_the_repository_is_the_one_the_code_writes() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == MinutesDocument.model_json_schema()


def test_the_export_reads_back_as_it_was() -> None:
    prose, how = MinutesProse("要約"), How(ledger_digest="ab")
    doc = document(meeting(), full().view, PEOPLE, prose, how, link, ended_at=START)
    text = as_json(doc)
    assert json.loads(text) == doc
    assert MinutesDocument.model_validate_json(text).model_dump(mode="json") == doc
    assert "価格は600円とする" in text


def test_sections_hold_what_the_ledger_says_and_nothing_else() -> None:
    doc = document(meeting(), full().view, PEOPLE, None, How(), link)
    assert [(d["number"], d["confirmed"], d["against"]) for d in doc["decisions"]] == [
        (12, True, False),
        (13, False, False),
        (15, True, True),
    ]
    assert [(old["number"], old["replaced_by"]) for old in doc["replaced"]] == [(3, 12)]
    assert [q["number"] for q in doc["questions"]] == [6]
    assert [q["answers"][0]["text"] for q in doc["answered_questions"]] == ["佐藤が測定する"]
    assert [(a["owner"], a["due"]) for a in doc["actions"]] == [("佐藤", "2026-08-10"), (None, None)]
    assert [(v["who"], v["value"]) for v in doc["proposals"][0]["votes"]] == [("鈴木", 1.0), ("田中", -1.0)]
    assert [w["number"] for w in doc["withdrawn"]] == [16]
    assert doc["agenda"][0] == {
        "title": "価格",
        "entries": [4, 6, 7, 8, 9, 12, 13, 15, 17],
        "replaced": [],
        "text": None,
    }
    assert [p["share"] for p in doc["attendance"]] == [0.75, 0.25]
    assert doc["decisions"][0]["link"] == link(1012)
    assert doc["meeting"]["guild_id"] == "2"


def test_a_changed_owner_is_a_change_and_an_unchanged_wording_is_none() -> None:
    ledger = Ledger()
    action = ledger.add(EntryKind.ACTION, "見積を出す", owner="佐藤")
    ledger.add(EntryKind.REVISION, "見積を出す", refers_to=action, owner="田中")
    decision = ledger.add(EntryKind.DECISION, "五月に出す")
    ledger.add(EntryKind.REVISION, "五月に出す", Origin.EDIT, refers_to=decision)
    doc = document(meeting(), ledger.view, PEOPLE, None, How(), link)
    assert [(old["number"], old["kind"], old["owner"]) for old in doc["replaced"]] == [(1, "action", "佐藤")]
    assert doc["actions"][0]["owner"] == "田中"


def test_a_decision_replaced_by_another_names_it() -> None:
    ledger = Ledger()
    first = ledger.add(EntryKind.DECISION, "五月に出す")
    ledger.add(EntryKind.DECISION, "七月に延期する", refers_to=first)
    doc = document(meeting(), ledger.view, PEOPLE, None, How(), link)
    assert [d["text"] for d in doc["decisions"]] == ["七月に延期する"]
    assert [(old["text"], old["replaced_by"]) for old in doc["replaced"]] == [("五月に出す", 2)]


def test_a_redacted_quote_is_not_exported() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "五月に出す", quote="決定：五月に出す")
    ledger.entries[0] = replace(ledger.entries[0], redacted=True)
    assert document(meeting(), ledger.view, PEOPLE, None, How(), link)["decisions"][0]["quote"] == ""


def test_every_ledger_row_has_its_fate() -> None:
    ledger = full()
    ledger.add(EntryKind.DECISION, "広告は出さない", value=-1.0)
    fates = {row["number"]: row["status"] for row in ledger_rows(ledger.view)}
    assert fates[3] == "replaced"
    assert fates[12] == "confirmed"
    assert fates[13] == "unconfirmed"
    assert fates[16] == "retracted"
    assert fates[10] == "recorded"
    assert fates[19] == "repeated"
    assert len(fates) == 19


def test_prose_for_an_item_not_on_the_agenda_is_kept_and_width_does_not_split_one() -> None:
    prose = MinutesProse("要約", (("価 格", "別"), ("日程", "A"), ("日程 ", "B"), ("その他", "雑談")))
    doc = document(meeting(), Ledger().view, PEOPLE, prose, How(), link)
    assert [(a["title"], a["text"]) for a in doc["agenda"]] == [
        ("価格", None),
        ("日程", "A\n\nB"),
        ("価 格", "別"),
        ("その他", "雑談"),
    ]


@pytest.mark.parametrize("text", [*NASTY, "+1", "-5", "@SUM(A1)", " =1+1", "\t=1", "＝1", '"quoted", comma'])
def test_the_table_of_actions_opens_in_excel_and_runs_nothing(text: str) -> None:
    ledger = Ledger()
    ledger.add(EntryKind.ACTION, text, owner="=HYPERLINK(1)")
    table = actions_csv(document(meeting(), ledger.view, PEOPLE, None, How(), link), say("ja"))
    assert table.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline="")))
    assert rows[0][:4] == ["番号", "宿題", "担当", "期限"]
    assert len(rows) == 2
    assert rows[1][2] == "'=HYPERLINK(1)"
    for cell in rows[1]:
        assert not cell.strip().startswith(("=", "+", "-", "@", "＝"))
    assert rows[1][1].lstrip("'").strip() == text.strip()


def test_what_is_recorded_before_the_first_topic_belongs_to_the_first_item() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.CONSTRAINT, "上限は3", Origin.START)
    ledger.add(EntryKind.DECISION, "価格は500円とする")
    ledger.add(EntryKind.TOPIC, "2")
    ledger.add(EntryKind.DECISION, "十月に始める")
    doc = document(meeting(), ledger.view, PEOPLE, None, How(), link)
    assert [(part["title"], part["entries"]) for part in doc["agenda"]] == [("価格", [2]), ("日程", [4])]


def test_without_an_agenda_nothing_stands_under_an_item_before_a_topic() -> None:
    ledger = Ledger()
    ledger.add(EntryKind.DECISION, "価格は500円とする")
    ledger.add(EntryKind.TOPIC, "納期")
    ledger.add(EntryKind.DECISION, "十月に始める")
    doc = document(meeting(agenda=()), ledger.view, PEOPLE, None, How(), link)
    assert [(part["title"], part["entries"]) for part in doc["agenda"]] == [("納期", [3])]


@pytest.mark.parametrize(
    ("language", "line"),
    [("ja", "記録: #1（#4 に差し替え）、#2"), ("en", "Recorded: #1 (replaced by #4), #2")],
)
def test_a_decision_replaced_under_another_item_is_named_where_it_was_made(language: Any, line: str) -> None:
    ledger = Ledger()
    first = ledger.add(EntryKind.DECISION, "価格は500円とする")
    ledger.add(EntryKind.QUESTION, "誰が測定するか")
    ledger.add(EntryKind.TOPIC, "日程")
    ledger.add(EntryKind.DECISION, "価格は600円とする", refers_to=first)
    doc = document(meeting(), ledger.view, PEOPLE, None, How(), link)
    assert [(part["entries"], part["replaced"]) for part in doc["agenda"]] == [
        ([2], [{"number": 1, "replaced_by": 4}]),
        ([4], []),
    ]
    assert line in render(doc, language, say(language)).splitlines()
    for part in doc["agenda"]:
        del part["replaced"]  # minutes kept from before there was such a field
    assert render(doc, language, say(language))
