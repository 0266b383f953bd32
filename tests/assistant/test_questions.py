"""Questions to records that are known, in both languages, with engines that answer well, quote, and invent.

The meetings and questions are those of `ketsugi eval ask` (data/scenarios/ask).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

from bot.assistant.shelf import fallback
from bot.evaluation import ask_report, asks
from bot.evaluation.asks import ANSWERS, INVENTS, Outcome, Script, Sheet
from bot.guard.lexicons import lexicon_of
from bot.guard.model import Candidate
from bot.guard.rules_citing import citing_rules
from bot.meeting.model import LANGUAGES, Language
from bot.models.base import Model
from bot.models.offline import OfflineModel

WAYS = {"words", "other", "never", "server", "channel", "injected"}


def sheet_of(language: Language) -> Sheet:
    (sheet,) = asks.sheets(language)
    return sheet


def played(sheet: Sheet, model: Model) -> list[Outcome]:
    async def every() -> list[Outcome]:
        return [outcome async for outcome in asks.play(sheet, model)]

    return asyncio.run(every())


@pytest.mark.parametrize("language", LANGUAGES)
class TestEveryEngine:
    def test_there_are_twenty_questions_of_every_way(self, language: Language) -> None:
        sheet = sheet_of(language)
        assert len(sheet.questions) >= 20
        assert {q.way for q in sheet.questions} == WAYS
        assert any(m.scenario for m in sheet.meetings)
        assert all(q.good for q in sheet.questions if q.cites)

    def test_offline_quotes_the_right_passage_or_says_that_there_is_none(self, language: Language) -> None:
        for outcome in played(sheet_of(language), OfflineModel()):
            assert outcome.cited, outcome.answer.text
            assert outcome.found or not outcome.question.cites, outcome.question.ask
            _nothing_false(outcome)

    def test_a_model_that_answers_well_is_heard(self, language: Language) -> None:
        outcomes = played(sheet_of(language), Script(ANSWERS, sheet_of(language).questions))
        sources = Counter(o.answer.source for o in outcomes if o.question.cites)
        assert sources["first"] >= 0.9 * sources.total(), sources
        for outcome in outcomes:
            assert outcome.cited, outcome.answer.text
            _nothing_false(outcome)

    def test_what_a_model_invents_is_never_shown(self, language: Language) -> None:
        model = Script(INVENTS, sheet_of(language).questions)
        outcomes = played(sheet_of(language), model)
        assert len(model.invented) >= 20
        for outcome in outcomes:
            assert outcome.answer.source == "fixed", outcome.answer.text
            assert outcome.cited, outcome.answer.text
            _nothing_false(outcome)

    @pytest.mark.parametrize("turn", range(1, 5))
    def test_in_whatever_way_each_question_is_answered_falsely(self, language: Language, turn: int) -> None:
        """Said twice, one denial is one: "no limit: no limit" is not borne out by a limit."""
        sheet = sheet_of(language)
        for outcome in played(sheet, Script(INVENTS, sheet.questions, asked=turn)):
            _nothing_false(outcome)

    def test_where_nothing_is_relevant_no_model_is_asked(self, language: Language) -> None:
        sheet = sheet_of(language)
        model = Script(INVENTS, sheet.questions)
        for outcome in played(sheet, model):
            if not outcome.question.cites:
                assert outcome.answer.attempts == (), outcome.question.ask

    def test_every_fixed_answer_passes_every_rule_on_citing(self, language: Language) -> None:
        for outcome in played(sheet_of(language), OfflineModel()):
            shown = outcome.answer.passages
            text = fallback(shown, outcome.question.ask, language)
            for rule in citing_rules(shown, language, strict=True, question=outcome.question.ask):
                assert rule.check(Candidate(text)) is None, (rule.name, text)

    def test_the_command_says_whether_anything_false_was_shown(self, language: Language) -> None:
        console = Console(record=True, width=200, file=None, quiet=False)
        status = asyncio.run(ask_report.run(INVENTS, language, 1.0, console))
        assert status == ask_report.FINE
        assert "invented shown 0 · leaked 0" in console.export_text()


def _nothing_false(outcome: Outcome) -> None:
    assert outcome.invented == (), outcome.answer.text
    assert outcome.leaked == (), outcome.answer.text
    assert outcome.wrong == (), outcome.answer.text
    assert len(outcome.answer.text) <= 1900


def test_an_invention_that_is_shown_would_be_counted() -> None:
    sheet = sheet_of("ja")
    outcome = played(sheet, OfflineModel())[0]
    told = asks.judged(outcome.question, replace(outcome.answer, text=outcome.question.bad), sheet)
    assert told.invented
    secret = asks.judged(
        outcome.question, replace(outcome.answer, text="山本さんの昇給は月3万円とする"), sheet
    )
    assert secret.leaked
    assert lexicon_of("ja").pattern("not_recorded").search("記録には見つかりませんでした")
