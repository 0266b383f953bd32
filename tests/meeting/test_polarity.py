"""Turned bounds, dropped negations, changed figures and owners are told; honest paraphrases pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.meeting.polarity import agree, clauses, limits, negations, sentences

DATA = Path(__file__).parent / "data"
NAMES = ("佐藤", "田中", "鈴木", "高橋", "Sato", "Tanaka", "Suzuki", "Ana", "Ben", "Carla")


def pairs(language: str) -> list[dict[str, str | None]]:
    lines = (DATA / f"flips_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("language", "flips", "honest"), [("ja", 86, 80), ("en", 72, 68)])
def test_flips_are_caught_and_paraphrases_pass(language: str, flips: int, honest: int) -> None:
    rows = pairs(language)
    broken = [r for r in rows if r["broken"]]
    kept = [r for r in rows if not r["broken"]]
    assert (len(broken), len(kept)) == (flips, honest)
    missed = [r for r in broken if agree(str(r["text"]), str(r["source"]), NAMES) is None]
    alarms = [r for r in kept if agree(str(r["text"]), str(r["source"]), NAMES) is not None]
    assert len(missed) <= 0.05 * flips, missed
    assert len(alarms) <= 0.05 * honest, alarms


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_reason_names_what_is_broken(language: str) -> None:
    rows = [r for r in pairs(language) if r["broken"]]
    right = sum(agree(str(r["text"]), str(r["source"]), NAMES) == r["broken"] for r in rows)
    assert right >= 0.85 * len(rows)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_text_agrees_with_itself(language: str) -> None:
    for row in pairs(language):
        for text in (str(row["source"]), str(row["text"])):
            assert agree(text, text, NAMES) is None, text


@given(st.text(max_size=60))
def test_any_text_agrees_with_itself(text: str) -> None:
    assert agree(text, text) is None


@pytest.mark.parametrize(
    ("text", "direction", "inclusive"),
    [
        ("3人以下", "max", True),
        ("3人未満", "max", False),
        ("3人以上", "min", True),
        ("3人を超える", "min", False),
        ("上限は3", "max", True),
        ("最大で3人", "max", True),
        ("少なくとも3人", "min", True),
        ("3人まで", "max", True),
        ("4以上は禁止", "max", False),
        ("3を超えてはならない", "max", True),
        ("5月まで公開しない", "min", False),
        ("18時以降は禁止", "max", False),
        ("at most 3", "max", True),
        ("no more than 3", "max", True),
        ("up to 3 people", "max", True),
        ("must not exceed 3", "max", True),
        ("cannot exceed 3", "max", True),
        ("less than 3", "max", False),
        ("at least 3", "min", True),
        ("more than 3", "min", False),
        ("3 or more", "min", True),
        ("3 or fewer", "max", True),
        ("more than 3 is forbidden", "max", True),
        ("not before May", "min", True),
        ("do not ship before Monday", "min", True),
        ("within 3 days", "max", True),
    ],
)
def test_a_bound_is_read_with_its_negation(text: str, direction: str, inclusive: bool) -> None:
    found = [(limit.direction, limit.inclusive) for limit in limits(text)]
    assert found == [(direction, inclusive)]


@pytest.mark.parametrize(
    "text", ["CEO は人間", "The remote is yellow", "3人で行く", "budget 700k", "以上です"]
)
def test_no_bound_where_none_is_said(text: str) -> None:
    assert limits(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("公開しない", 1),
        ("公開しません", 1),
        ("禁止", 1),
        ("レビューなしは不可", 2),
        ("公開するかもしれない", 0),
        ("公開しなければならない", 0),
        ("行ってみませんか", 0),
        ("反対なしで決定", 0),
        ("問題ない", 0),
        ("we will not", 1),
        ("don't do it", 1),
        ("going to sing", 0),
        ("not only here", 0),
        ("no objections", 0),
        ("without a review", 1),
        ("wireless", 0),
    ],
)
def test_negations(text: str, count: int) -> None:
    assert len(negations(text)) == count


@pytest.mark.parametrize(
    ("text", "source", "reason"),
    [
        ("契約の確認は任意", "契約の確認は必須", "negation"),
        ("the check is optional", "the check is mandatory", "negation"),
        ("the check is not optional", "the check is mandatory", None),
        ("契約の確認は任意ではない", "契約の確認は必須", None),
        ("配信は終了する", "配信をやめる", None),
        ("配信は終了しない", "配信をやめる", "negation"),
        ("support ends", "we stop support", None),
        ("support does not end", "we stop support", "negation"),
        ("配信をやめ、5月に終了する", "配信をやめ、5月に終了する", None),
        ("the lamp is turned off", "we turn the lamp on", "negation"),
        ("A案の採用は見送られた", "A案は採用しない", None),
        ("見学は20分以内", "見学は長くても20分", None),
        ("見学は短くても20分", "見学は20分以内", "bound"),
        ("the visit takes no longer than 20 minutes", "the visit takes 20 minutes at the longest", None),
        ("the visit takes 20 minutes at the shortest", "at most 20 minutes for the visit", "bound"),
        ("入れるのは6歳以上に限る", "6歳未満は入れない", None),
        ("入れるのは6歳以下に限る", "6歳未満は入れない", "bound"),
        ("only children of 6 or over may enter", "nobody under 6 may enter", None),
        ("only children may enter", "nobody under 6 may enter", "bound"),
    ],
)
def test_the_same_in_words_of_the_other_side(text: str, source: str, reason: str | None) -> None:
    assert agree(text, source) == reason


def test_sentences_and_clauses_keep_decimals_whole() -> None:
    assert sentences("It costs 12.50 Euro. Fine! 決定です。次へ") == [
        "It costs 12.50 Euro.",
        "Fine!",
        "決定です。",
        "次へ",
    ]
    assert clauses("A案は却下、B案で進める。") == ["A案は却下", "B案で進める"]


def test_the_incidents() -> None:
    assert agree("上限を撤廃", "上限は3。4以上は禁止") is not None
    assert agree("Release in May", "not before May") == "bound"
    assert agree("the budget is 700k", "the budget is 500k") == "figure"
    assert agree("佐藤が担当", "田中が担当", ["佐藤", "田中"]) == "owner"
