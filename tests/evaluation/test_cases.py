"""The shipped scenarios: every rule tempted in both languages, every text breaking exactly what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.evaluation import cases
from bot.evaluation.cases import Case
from bot.evaluation.scripted import ScriptedModel
from bot.evaluation.violations import play_one
from bot.guard.table import TABLE
from bot.meeting.model import LANGUAGES, EntryKind, Language, Route
from bot.models.offline import OfflineModel

ALL = cases.load()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_is_tempted_by_two_scenarios_of_each_language(language: Language) -> None:
    for row in TABLE:
        made = [c for c in cases.load(language) if row.name in c.tempts]
        broken = [c for c in made if any(row.name in told.breaks for told in c.bad)]
        assert len(broken) >= 2, row.name


def test_both_languages_have_the_same_scenarios() -> None:
    ja, en = ({c.case.split("/")[1]: (c.route, c.tempts) for c in cases.load(lang)} for lang in ("ja", "en"))
    assert ja == en


def test_the_moments_that_experience_named_are_among_them() -> None:
    names = {c.case.split("/")[1] for c in ALL}
    for name in (
        "hand_off.read_back",  # asked for a summary while closing
        "opening.plain",  # opened without announcing
        "opening.already_talking",
        "loop.alone",
        "question.left_behind",
        "apart.turn",
        "again.turn",
    ):
        assert name in names
    assert {c.route for c in ALL} >= {
        Route.OPENING,
        Route.TURN,
        Route.TIME_NOTICE,
        Route.CLOSING,
        Route.MINUTES,
    }
    assert any(c.addressed for c in ALL)
    assert any(len({line.who for line in c.lines if line.who}) == 1 and c.route is Route.TURN for c in ALL)


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.case)
async def test_each_text_breaks_what_the_scenario_says_and_nothing_else(case: Case) -> None:
    good = await play_one(ScriptedModel("clean", [case]), case)
    assert (good.source, good.text) == ("first", good.attempts[0].text)
    assert set(good.after.values()) == {"pass"}
    both = ScriptedModel("both", [case])
    for number, told in enumerate(case.bad):
        run = await play_one(both, case, number)
        fired = {rule for rule, outcome in run.attempts[0].verdicts.items() if outcome == "fired"}
        assert fired == set(told.breaks), told.say


async def test_the_ledger_of_a_room_is_made_as_the_product_makes_it() -> None:
    case = next(c for c in ALL if c.case == "ja/record.figure")
    room, stuff = cases.stand(case, cases.core_of(OfflineModel(), case.now))
    assert [e.kind for e in room.entries] == [
        EntryKind.CONSTRAINT, EntryKind.DECISION, EntryKind.QUESTION, EntryKind.ACTION,
    ]  # fmt: skip
    assert room.entries[1].text == "リリース日は10月12日とします。"
    assert [m.text for m in stuff.unread] == ["@Ketsugi 予算の条件を確認させてください。"]
    assert room.meeting.cursor == stuff.history[-2].message_id
    assert not room.one_person


def test_rules_choose_scenarios() -> None:
    chosen = cases.load("en", ["holds_minutes"])
    assert {c.case for c in chosen} == {"en/notice.ten", "en/notice.up", "en/notice.over"}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('{"room": "r", "title": "T", "chair": "A"}\n{"case": "x", "in": "r"}', "ja.jsonl:2"),
        ('{"case": "x", "in": "nowhere"}', "ja.jsonl:1: 'nowhere'"),
        ("{", "ja.jsonl:1"),
    ],
)
def test_a_faulty_file_is_named_with_its_line(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "ja.jsonl").write_text(lines, encoding="utf-8")
    with pytest.raises(ConfigError, match="ja") as caught:
        cases.load("ja", folder=tmp_path)
    assert told in str(caught.value)
