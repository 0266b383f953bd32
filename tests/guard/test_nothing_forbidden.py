"""A thousand meetings' turns with a model that does whatever it likes: nothing forbidden comes out."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from bot.guard.model import Candidate, Outcome, Source, Strength
from bot.guard.table import RoomFacts, hand_off, judges_repetition, rules_for
from bot.meeting.model import LANGUAGES, Language, Phase, Route
from tests.guard.scripted import HANG, Say, ScriptedModel, failed, play

MEETINGS, TURNS, SECONDS = 1000, 3, 25.0

_GOOD = {
    "ja": (
        "佐藤さんは、この件をどうお考えですか？",
        "それでは会議を始めます。残り5分です。",
        "担当者はまだ決まっていません。",
    ),
    "en": (
        "Sato, what do you make of it?",
        "Let's start the meeting. 5 minutes left.",
        "The owner is still open.",
    ),
}
_BAD = {
    "ja": (
        "@アシスタント まとめてください。",
        "アシスタントさん、議事録をお願いします。",
        "@everyone 終わりです。",
        "Let us talk about something else in English now.",
        "予算は999万円で決まりました。",
        "鈴木さんが担当します。",
        "残り15分です。",
        "あ" * 2000,
        "<@99> さん、どうぞ。",
        "これで全部決まりました。",
    ),
    "en": (
        "@assistant please summarise.",
        "Assistant, over to you.",
        "@here we are done.",
        "それでは次の議題に移ります。",
        "The budget is 999 dollars then.",
        "Suzuki-san will do it.",
        "15 minutes left.",
        "a " * 1000,
        "<@99>, please.",
        "So everything is decided.",
    ),
}
_FALLBACK = {
    "ja": {Route.OPENING: "それでは会議を始めます。", Route.TIME_NOTICE: "残り5分です。"},
    "en": {Route.OPENING: "Let's start the meeting.", Route.TIME_NOTICE: "5 minutes left."},
}
_PLAIN = {"ja": "はい、記録しています。", "en": "Yes, I am keeping a record."}
_ERRORS = ("timeout", "rate_limited", "server", "blocked", "empty", "truncated", "invalid", "refused")


def _say(rng: random.Random, language: Language) -> Say:
    kind = rng.random()
    if kind < 0.08:
        return failed(rng.choice(_ERRORS))
    if kind < 0.11:
        return HANG
    if kind < 0.13:
        return Say(error=RuntimeError("model bug"))
    if kind < 0.2:
        return Say(rng.choice(["", "[SILENCE]", " "]))
    text = rng.choice(_GOOD[language] if kind < 0.5 else _BAD[language])
    if rng.random() < 0.2:
        text = f"{text} {rng.choice(_BAD[language])}"
    return Say(text, rng.choice(list(Phase)), rng.random() < 0.2, seconds=rng.choice([0.1, 3.0, 12.0, 24.0]))


@pytest.mark.parametrize("seed", [20260901, 7])
def test_nothing_forbidden_is_ever_posted(seed: int) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    sources: Counter[Source] = Counter()
    for _ in range(MEETINGS // 2):
        language: Language = rng.choice(LANGUAGES)
        recent: list[str] = []
        for _ in range(TURNS):
            sources[_one_turn(rng, language, recent)] += 1
    print(dict(sources))
    assert set(sources) >= {Source.FIRST, Source.REPHRASED, Source.FIXED, Source.SILENT, Source.COMPLETED}


def _one_turn(rng: random.Random, language: Language, recent: list[str]) -> Source:
    route = rng.choice(list(Route))
    closing_now = rng.random() < 0.3
    may_be_silent = route is Route.TURN and rng.random() < 0.5
    questions = ("担当者は誰か",) if language == "ja" else ("who owns it",)
    facts = RoomFacts(
        language,
        title="会議" if language == "ja" else "Meeting",
        closing=lambda: closing_now,
        near_end=lambda: True,
        open_questions=lambda: questions,
        notice_minutes=5,
        names=("佐藤", "Sato"),
        record=lambda: ("予算は50万円です。",),
        allowed=(5,),
    )
    rules = rules_for(route, facts)
    played = play(
        model=ScriptedModel([_say(rng, language), _say(rng, language)]),
        seconds=SECONDS,
        language=language,
        route=route,
        rules=rules,
        fallback=None if may_be_silent else _FALLBACK[language].get(route, _PLAIN[language]),
        may_be_silent=may_be_silent,
        recent=tuple(recent[-3:]),
        judge_repetition=judges_repetition(route),
        retries=rng.choice([0, 1, 1, 1]),
    )
    generated = played.generator.recheck(played.call, played.generated)
    assert len(played.model.requests) <= 1 + played.call.retries
    assert played.took_s <= SECONDS + 0.01
    assert generated.text is not None or may_be_silent
    if generated.text is not None:
        candidate = Candidate(generated.text, generated.phase, False, generated.closing_seen)
        for rule in rules:
            assert rule.strength is not Strength.MUST or rule.check(candidate) is None, (rule.name, generated)
        facilitator = route in (Route.OPENING, Route.TURN, Route.TIME_NOTICE, Route.CLOSING)
        assert not (facilitator and (closing_now or generated.closing_seen) and hand_off(generated.text))
        recent.append(generated.text)
    for attempt in generated.attempts:
        assert all(v.outcome is not Outcome.BROKEN for v in attempt.verdicts)
    return generated.source
