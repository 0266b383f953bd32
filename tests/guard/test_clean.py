"""Texts that break nothing are left alone, on every route, in both languages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.guard.model import Source, Strength
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import LANGUAGES, Language, Phase, Route
from bot.phrases import book
from tests.guard.scripted import Say, play

CLEAN = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "clean.jsonl").read_text(encoding="utf-8").splitlines()
]

_RECORD: dict[Language, tuple[str, ...]] = {
    "ja": (
        "予算は50万円です。",
        "採用の上限は3人です。",
        "リリースは12月10日にします。",
        "A案を採用します。B案は見送ります。",
        "10月に展示会があります。",
    ),
    "en": (
        "The budget is 50,000 dollars.",
        "At most 3 people.",
        "The release is on December 10.",
        "Option A, not option B.",
        "There is a trade fair in October.",
    ),
}
_NAMES: dict[Language, tuple[str, ...]] = {
    "ja": ("佐藤", "田中", "高橋", "鈴木"),
    "en": ("Sato", "Ana", "Ben", "Carla"),
}


def facts_of(row: dict[str, Any]) -> RoomFacts:
    language: Language = row["language"]
    questions = ("担当者は誰か",) if language == "ja" else ("who owns the release",)
    asked = (
        "リリース作業の担当者はどなたにしますか？" if language == "ja" else "Who is the owner of the release?"
    )
    minutes = row.get("minutes")
    return RoomFacts(
        language,
        title="リリース計画" if language == "ja" else "Release planning",
        closing=lambda: bool(row.get("closing")),
        near_end=lambda: bool(row.get("near_end")),
        open_questions=lambda: questions,
        notice_minutes=minutes,
        question=asked if row.get("question") else None,
        human_since=lambda: 2,
        names=_NAMES[language],
        user_ids=frozenset({1, 2, 3, 4}),
        entry_numbers=frozenset({1, 2, 3}),
        record=lambda: _RECORD[language],
        allowed=tuple({45, len(_NAMES[language]), abs(minutes or 0) or 45}),
    )


def test_there_are_enough_of_them_on_every_route() -> None:
    assert len(CLEAN) >= 300
    assert len({row["text"] for row in CLEAN}) >= 300
    counts = Counter((row["language"], row["route"]) for row in CLEAN)
    assert all(counts[language, route.value] >= 5 for language in LANGUAGES for route in Route)


def test_98_percent_are_posted_as_first() -> None:
    """Run with -s to see the rate."""
    touched: list[tuple[str, str, list[str]]] = []
    for row in CLEAN:
        route = Route(row["route"])
        played = play(
            Say(row["text"], Phase.CLOSING if row.get("closing") else Phase.DISCUSSING),
            Say("…"),
            rules=rules_for(route, facts_of(row)),
            fallback="F",
            language=row["language"],
            route=route,
        )
        assert played.broken == []
        if (played.generated.source, played.generated.text) != (Source.FIRST, row["text"]):
            fired = [v.rule for v in played.generated.attempts[0].fired()]
            touched.append((row["language"], row["text"], fired))
    rate = 1 - len(touched) / len(CLEAN)
    print(f"clean texts posted as first: {len(CLEAN) - len(touched)} of {len(CLEAN)} = {rate:.1%}")
    for line in touched:
        print("  ", *line)
    assert rate >= 0.98


FIXED = [
    (language, key)
    for language in LANGUAGES
    for key in book(language)
    if key.startswith("fixed.") and key.split(".")[1] in {route.value for route in Route}
]
_VALUES = {"title": "Plan", "minutes": 5, "chair": "Ana", "count": 1}


@pytest.mark.parametrize(("language", "key"), FIXED)
@pytest.mark.parametrize("closing", [False, True])
def test_every_fixed_text_passes_every_must_of_its_route(language: Language, key: str, closing: bool) -> None:
    route = Route(key.split(".")[1])
    template = book(language)[key]
    row = {"language": language, "route": route.value, "closing": closing, "near_end": True}
    if route is Route.TIME_NOTICE:
        row["minutes"] = {"up": 0, "over": -5}.get(key.split(".")[2].split("_")[0], 5)
    text = _fill(template)
    played = play(
        Say(text),
        rules=rules_for(route, facts_of(row)),
        fallback="F",
        retries=0,
        language=language,
        route=route,
    )
    assert played.generated.attempts[0].text == text
    assert [v.rule for v in played.generated.attempts[0].fired(Strength.MUST)] == []


def _fill(template: str) -> str:
    class Known(dict[str, object]):
        def __missing__(self, key: str) -> object:
            return _VALUES.get(key, "A")

    return template.format_map(Known())
