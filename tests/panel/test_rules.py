"""The measured rules of a panelist's turn; the worded ones stand in tests/guard/data/rules.toml."""

from __future__ import annotations

import pytest

from bot.guard.lexicons import lexicon_of
from bot.guard.model import Candidate
from bot.guard.rules_panel import CHARACTERS, PanelFacts, brings_something_new
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import LANGUAGES, Language, Route
from bot.panel.turn import without_name

SAID: dict[Language, tuple[str, ...]] = {
    "ja": (
        "社長の机を最初の場面に置くと、三分で会社の雰囲気が伝わります。",
        "机の絵は一枚なら描けます。動かすのは後回しにしましょう。",
        "短い",
    ),
    "en": (
        "Putting the boss's desk into the first scene shows what the company is like within three minutes.",
        "One drawing of the desk is feasible; animating it should wait.",
        "Short",
    ),
}
AGAIN: dict[Language, tuple[str, ...]] = {
    "ja": (
        "社長の机を最初の場面に置けば、会社の雰囲気が三分で伝わると思います。",
        "机の絵なら一枚描けます。動かすのは後回しです。",
        "短い",
        "短い。",
    ),
    "en": (
        "If the boss's desk is put into the first scene, it shows within three minutes what the company is like.",
        "One drawing of the desk is feasible, animating it should wait.",
        "Short",
        "short!",
    ),
}
NEW: dict[Language, tuple[str, ...]] = {
    "ja": (
        "電車で片手でも読める文字の大きさにしてほしいです。",
        "机よりも、朝礼の声から始めるほうが驚きがあります。理由は音の演出が安いからです。",
        "十秒だけの予告があると、待つ時間も楽しめます。",
    ),
    "en": (
        "Please make the letters large enough to read with one hand on a train.",
        "Rather than a picture, begin with the voice at the morning meeting: sound is cheap.",
        "A teaser of ten seconds would make waiting fun.",
    ),
}


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang in LANGUAGES for text in AGAIN[lang]])
def test_what_the_panel_has_said_is_not_said_again(language: Language, text: str) -> None:
    rule = brings_something_new(SAID[language], lexicon_of(language))
    assert rule.check(Candidate(text)) is not None


@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang in LANGUAGES for text in NEW[lang]])
def test_what_is_new_passes(language: Language, text: str) -> None:
    assert brings_something_new(SAID[language], lexicon_of(language)).check(Candidate(text)) is None
    assert brings_something_new((), lexicon_of(language)).check(Candidate(text)) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_turn_has_at_most_900_characters(language: Language) -> None:
    rule = next(r for r in rules_for(Route.PANEL, RoomFacts(language)) if r.name == "at_most_panel")
    assert rule.check(Candidate("あ" * CHARACTERS)) is None
    assert rule.check(Candidate("あ" * (CHARACTERS + 1))) is not None


def test_a_panelist_may_argue_with_new_figures() -> None:
    facts = RoomFacts(
        "ja", record=lambda: ("予算は50万円",), panel=PanelFacts(held=lambda: ("予算は50万円",))
    )
    text = "試作に80万円、音に12万円かかると見積もります。"
    assert all(rule.check(Candidate(text)) is None for rule in rules_for(Route.PANEL, facts))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("企画：机から始めます。", "机から始めます。"),
        ("**企画**: 机から始めます。", "机から始めます。"),
        ("🤖 企画\n机から始めます。", "机から始めます。"),
        ("**🤖 企画**\n机から始めます。", "机から始めます。"),
        ("企画の意図：机から始めます。", "企画の意図：机から始めます。"),
        ("提案：机から始める", "提案：机から始める"),
    ],
)
def test_ones_own_name_in_front_is_taken_off(text: str, left: str) -> None:
    assert without_name(text, "企画") == left
