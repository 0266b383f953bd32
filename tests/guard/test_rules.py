"""Every rule against texts that must fire it and texts that must not, in both languages."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.guard.model import Candidate, Remedy, Rule, Strength
from bot.guard.rules_panel import PanelFacts
from bot.guard.table import TABLE, RoomFacts, hand_off, rules_for
from bot.meeting.citing import Passage
from bot.meeting.model import LANGUAGES, EntryKind, Language, Phase, Route

ROWS = tomllib.loads((Path(__file__).parent / "data" / "rules.toml").read_text(encoding="utf-8"))

CITING = ("cites_exist", "cites_each", "cited_agrees", "cited_holds", "cited_stands")
_RECORD = {
    "ja": (
        "予算は50万円にします。",
        "上限は3人まで。案は二つあります。",
        "リリースは12月10日です。",
        "佐藤",
        "田中",
    ),
    "en": ("The budget is 50,000 dollars.", "At most three people.", "Release: December 10.", "Sato", "Ana"),
}
_VOICES = ("佐藤", "田中", "Sato", "Ana", "🧭 進行", "📝 アシスタント", "🧭 Facilitator", "📝 Assistant")
_QUESTION = {"ja": "リリース作業の担当者はどなたにしますか？", "en": "Who is the owner of the release?"}
_OPEN = {"ja": ("担当者は誰か",), "en": ("who owns the release",)}


# Of these the measure is what is tested: below, in test_similarity.py and in tests/panel/test_rules.py.
MEASURED = {"no_repetition", "at_most", "at_most_panel", "brings_something_new"}


_AT = datetime(2026, 1, 20, tzinfo=UTC)
_HELD = {
    "ja": (
        ("decision", "confirmed", "公開日は1月27日（火）とする"),
        ("constraint", "live", "予算は50万円以内"),
        ("question", "open", "価格は980円か1,200円か"),
        ("action", "live", "価格の比較表を作る"),
        ("decision", "retracted", "公開日は1月20日とする"),
        ("decision", "confirmed", "夜間はサーバーを止めない"),
        ("decision", "unconfirmed", "広告を出す"),
        (None, "", "家賃は月8万円くらいです"),
    ),
    "en": (
        ("decision", "confirmed", "we ship on 12 October"),
        ("constraint", "live", "The budget is at most 5,000 dollars"),
        ("question", "open", "is the price 9 or 12 dollars?"),
        ("action", "live", "draw up a comparison of prices"),
        ("decision", "retracted", "we ship on 5 October"),
        ("decision", "confirmed", "never stop the server at night"),
        ("decision", "unconfirmed", "we buy advertising"),
        (None, "", "The rent is about 800 dollars"),
    ),
}


def passages_of(language: Language) -> tuple[Passage, ...]:
    """The passages that the rows on citing are held against, by number from 1."""
    who, owner = ("佐藤", "田中") if language == "ja" else ("Ana", "Ben")
    return tuple(
        Passage(
            str(n), "message" if kind is None else "entry", 1, 1, "", _AT, who, text, f"https://discord.com/{n}",
            status, 1.0, None if kind is None else n, None if kind is None else EntryKind(kind),
            owner=owner if kind == "action" else "",
        )
        for n, (kind, status, text) in enumerate(_HELD[language], start=1)
    )  # fmt: skip


def facts_for(rule: str, language: Language) -> RoomFacts:
    """The room in which the rows of rules.toml are judged."""
    base = RoomFacts(language, title="会議" if language == "ja" else "Meeting")
    return {
        "no_hand_off_while_closing": replace(base, closing=lambda: True),
        "holds_minutes": replace(base, notice_minutes=5),
        "own_question_kept": replace(base, question=_QUESTION[language], human_since=lambda: 2),
        "no_question_again": replace(base, question=_QUESTION[language], answered=lambda: True),
        "decided_undecided_apart": replace(
            base, near_end=lambda: True, open_questions=lambda: _OPEN[language]
        ),
        "in_language": replace(base, names=("佐藤", "Ben")),
        "own_voice": replace(base, panel=PanelFacts(voices=_VOICES)),
        "decides_nothing_unheld": replace(
            base,
            panel=PanelFacts(held=lambda: _RECORD[language][:2]),
            entry_numbers=frozenset({1, 2}),
        ),
        "no_foreign_mention": replace(base, user_ids=frozenset({123})),
        "no_unknown_record": replace(
            base,
            record=lambda: _RECORD[language],
            allowed=(10,),
            names=("佐藤", "田中", "Sato", "Ana"),
            entry_numbers=frozenset({1, 2}),
        ),
        **dict.fromkeys(CITING, replace(base, passages=passages_of(language))),
    }.get(rule, base)


def rule_named(name: str, facts: RoomFacts) -> Rule:
    route = min(next(row.routes for row in TABLE if row.name == name))
    return next(r for r in rules_for(route, facts) if r.name == name)


def _rows(kind: str) -> list[tuple[str, Language, str]]:
    return [(name, lang, text) for name in ROWS for lang in LANGUAGES for text in ROWS[name][lang][kind]]


@pytest.mark.parametrize(("name", "language", "text"), _rows("fires"))
def test_it_fires_and_says_why(name: str, language: Language, text: str) -> None:
    reason = rule_named(name, facts_for(name, language)).check(Candidate(text))
    assert reason is not None
    assert len(reason) > 20


@pytest.mark.parametrize(("name", "language", "text"), _rows("passes"))
def test_it_leaves_alone(name: str, language: Language, text: str) -> None:
    assert rule_named(name, facts_for(name, language)).check(Candidate(text)) is None


def test_every_wording_rule_has_eight_rows_of_each_kind_in_each_language() -> None:
    for name in {row.name for row in TABLE} - MEASURED:
        for language in LANGUAGES:
            assert len(ROWS[name][language]["fires"]) >= 8, (name, language)
            assert len(ROWS[name][language]["passes"]) >= 8, (name, language)


class TestLength:
    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        "text", ["あ", "a", "あ" * 1800, "a" * 1800, "👍" * 1800, "a\n" * 900, "x " * 900, ""]
    )
    def test_up_to_1800_characters_pass(self, language: Language, text: str) -> None:
        assert rule_named("at_most", RoomFacts(language)).check(Candidate(text)) is None

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        "text",
        [
            "あ" * 1801,
            "a" * 1801,
            "👍" * 1801,
            "a\n" * 901,
            "x " * 901,
            "あ" * 50_000,
            "word " * 400,
            "\n" * 1801,
        ],
    )
    def test_more_fires(self, language: Language, text: str) -> None:
        assert rule_named("at_most", RoomFacts(language)).check(Candidate(text)) is not None


class TestHandOffLatch:
    TEXT = "@assistant please summarise"

    def _fires(self, candidate: Candidate, closing: bool = False) -> bool:
        facts = RoomFacts("en", closing=lambda: closing)
        return rule_named("no_hand_off_while_closing", facts).check(candidate) is not None

    def test_in_mid_meeting_it_is_fine(self) -> None:
        assert not self._fires(Candidate(self.TEXT, Phase.DISCUSSING))
        assert hand_off(self.TEXT)

    def test_whoever_noticed_the_closing_forbids_it(self) -> None:
        assert self._fires(Candidate(self.TEXT), closing=True)
        assert self._fires(Candidate(self.TEXT, Phase.CLOSING))
        assert self._fires(Candidate(self.TEXT, Phase.DISCUSSING, closing_complete=True))
        assert self._fires(Candidate(self.TEXT, Phase.DISCUSSING, closing_seen=True))

    def test_either_language_is_seen_in_either_meeting(self) -> None:
        for language in LANGUAGES:
            rule = rule_named("no_hand_off_while_closing", RoomFacts(language, closing=lambda: True))
            assert rule.check(Candidate("@アシスタント まとめて")) is not None
            assert rule.check(Candidate("@assistant please")) is not None


class TestExitsOfTheOwnQuestion:
    FACTS = RoomFacts("en", question="Who owns the release?", human_since=lambda: 2)
    CHANGE = Candidate("Let's talk about the logo instead.")

    def test_it_fires_while_nobody_has_answered(self) -> None:
        reason = rule_named("own_question_kept", self.FACTS).check(self.CHANGE)
        assert reason is not None
        assert "Who owns the release?" in reason
        assert reason.startswith("If nobody has answered")

    @pytest.mark.parametrize(
        "exit_",
        [
            {"question": None},
            {"answered": lambda: True},
            {"alike": True},
            {"human_since": lambda: 7},
        ],
    )
    def test_each_exit_lets_go(self, exit_: dict[str, object]) -> None:
        facts = replace(self.FACTS, **exit_)  # type: ignore[arg-type]
        assert rule_named("own_question_kept", facts).check(self.CHANGE) is None

    def test_six_messages_are_not_yet_too_many(self) -> None:
        facts = replace(self.FACTS, human_since=lambda: 6)
        assert rule_named("own_question_kept", facts).check(self.CHANGE) is not None


class TestNearTheEnd:
    def _rule(self, near: bool, questions: tuple[str, ...]) -> Rule:
        facts = RoomFacts("en", near_end=lambda: near, open_questions=lambda: questions)
        return rule_named("decided_undecided_apart", facts)

    SUM = "We agreed on everything."

    def test_only_near_the_end_and_only_with_open_questions(self) -> None:
        assert self._rule(False, ("who pays",)).check(Candidate(self.SUM, Phase.DISCUSSING)) is None
        assert self._rule(True, ()).check(Candidate(self.SUM)) is None
        assert self._rule(False, ("who pays",)).check(Candidate(self.SUM, Phase.CONVERGING)) is not None
        assert self._rule(True, ("who pays",)).check(Candidate(self.SUM, Phase.DISCUSSING)) is not None

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("en", "Thanks, all. Option A it is."),
            ("en", "Thanks, we release on December 10."),
            ("en", "Sato does the release. See you!"),
            ("en", "All is well. Good night."),
            ("en", "If nobody objects, we are agreed. Thank you."),
            ("ja", "ありがとうございました。A案で進みます。"),
            ("ja", "リリースは12月10日です、お疲れさまでした。"),
            ("ja", "佐藤さんがリリースします。それではまた。"),
            ("ja", "すべて順調ですね。"),
            ("ja", "決定ということで、ありがとうございました。"),
        ],
    )
    def test_a_closing_text_that_says_anything_needs_them(self, language: Language, text: str) -> None:
        facts = RoomFacts(language, open_questions=lambda: ("who pays",))
        rule = rule_named("decided_undecided_apart", facts)
        assert rule.check(Candidate(text, Phase.CLOSING)) is not None

    @pytest.mark.parametrize(
        ("language", "text"),
        [
            ("en", "Thanks, all."),
            ("en", "The minutes follow in a moment. See you next week!"),
            ("en", "The meeting is now closed. Thank you, Ana."),
            ("en", "We'll finish here. Is anything missing?"),
            ("ja", "皆さん、お疲れさまでした。"),
            ("ja", "議事録はまもなく届きます。少々お待ちください。"),
            ("ja", "これで会議を終了します。佐藤さん、ありがとうございました。"),
            ("ja", "このまま閉じてよろしいですか？"),
        ],
    )
    def test_thanks_and_what_happens_next_sum_nothing_up(self, language: Language, text: str) -> None:
        facts = RoomFacts(language, open_questions=lambda: ("who pays",))
        rule = rule_named("decided_undecided_apart", facts)
        assert rule.check(Candidate(text, Phase.CLOSING)) is None

    def test_code_adds_them_short_and_counted(self) -> None:
        rule = self._rule(True, tuple(f"question number {'x' * 300} {i}" for i in range(9)))
        assert rule.complete is not None
        text = rule.complete(self.SUM)
        assert text.startswith(self.SUM)
        assert "5 more" in text
        assert len(text) < len(self.SUM) + 400
        assert rule.check(Candidate(text)) is None


class TestMinutes:
    @pytest.mark.parametrize(
        ("minutes", "language", "text"),
        [
            (10, "ja", "残り十分です。"),
            (10, "en", "Ten minutes left."),
            (90, "ja", "残り1時間30分です。"),
            (60, "en", "One hour left."),
            (30, "en", "Half an hour left."),
            (1, "ja", "残り1分です。"),
            (1, "en", "One minute left."),
            (25, "en", "Twenty-five minutes left."),
            (25, "ja", "残り二十五分です。"),
            (0, "ja", "予定の時刻になりました。"),
            (0, "ja", "お時間です。"),
            (0, "en", "Time is up."),
            (0, "en", "We've reached the planned end."),
            (-10, "ja", "予定の時刻を10分過ぎています。"),
            (-20, "en", "We are 20 minutes over."),
            (20, "en", "Of the 60 minutes 20 are left."),
            (20, "ja", "60分のうち、残りは20です。"),
        ],
    )
    def test_the_right_number_passes(self, minutes: int, language: Language, text: str) -> None:
        rule = rule_named("holds_minutes", RoomFacts(language, notice_minutes=minutes))
        assert rule.check(Candidate(text)) is None

    @pytest.mark.parametrize(
        ("minutes", "language", "text"),
        [
            (10, "ja", "十分に話せました。まもなく終わりです。"),
            (0, "ja", "残り10分です。"),
            (0, "ja", "あと1時間です。"),
            (0, "en", "Not much time left."),
            (-10, "ja", "残り10分です。"),
            (-10, "en", "10 minutes left."),
            (1, "en", "11 minutes left."),
        ],
    )
    def test_the_wrong_one_fires(self, minutes: int, language: Language, text: str) -> None:
        rule = rule_named("holds_minutes", RoomFacts(language, notice_minutes=minutes))
        assert rule.check(Candidate(text)) is not None


def test_the_announcement_can_be_completed_by_code() -> None:
    for language, title in (("ja", "秋の合宿"), ("en", "Autumn retreat")):
        rule = rule_named("announces_start", RoomFacts(language, title=title))
        assert rule.complete is not None
        assert (
            rule.check(Candidate(rule.complete("予算は？" if language == "ja" else "Which budget?"))) is None
        )


def test_rules_carry_the_strength_and_remedy_of_their_row() -> None:
    for route in Route:
        facts = RoomFacts("en", notice_minutes=5, record=lambda: ())
        for rule in rules_for(route, facts):
            row = next(r for r in TABLE if r.name == rule.name)
            assert (rule.strength, rule.remedy) == (row.strength, row.remedy)
            assert route in row.routes
            assert rule.remedy is not Remedy.COMPLETE or rule.complete is not None


def test_names_in_the_table_are_unique_and_musts_stand_where_they_must() -> None:
    assert len({row.name for row in TABLE}) == len(TABLE)
    musts = {row.name for row in TABLE if row.strength is Strength.MUST}
    assert {"no_hand_off_while_closing", "announces_start", "holds_minutes", "no_mass_mention"} <= musts
