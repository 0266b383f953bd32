"""The ladder of SPEC 3, rung by rung, with a model that does whatever it is told."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bot.clock import Clock, Deadline
from bot.guard.generator import Call, Generator
from bot.guard.model import Candidate, Outcome, Remedy, Rule, Source, Strength
from bot.guard.table import RoomFacts, rules_for
from bot.meeting.model import LANGUAGES, Language, Phase, Route
from bot.phrases import t
from bot.prompts.outputs import EntryOut, TurnOut
from tests.guard.scripted import HANG, NOW, PROMPT, Say, ScriptedModel, failed, play, scene
from tests.virtual_time import run_virtual

GOOD, BETTER = Say("A fine text about the budget."), Say("Another text, on who owns the release.")


def forbids(word: str, strength: Strength = Strength.MUST, remedy: Remedy = Remedy.REPHRASE) -> Rule:
    def check(candidate: Candidate) -> str | None:
        return f"no {word}, because it matters" if word in candidate.text else None

    return Rule(f"no_{word}", strength, remedy, check)


def needs(word: str, strength: Strength = Strength.MUST, remedy: Remedy = Remedy.COMPLETE) -> Rule:
    def check(candidate: Candidate) -> str | None:
        return None if word in candidate.text else f"{word} is missing"

    return Rule(f"needs_{word}", strength, remedy, check, lambda text: f"{text} {word}")


MUST, SHOULD, FIXED, DROP = (
    forbids("bad"),
    forbids("meh", Strength.SHOULD),
    forbids("wrong", remedy=Remedy.FIXED),
    forbids("spam", remedy=Remedy.DROP),
)
RULES = (MUST, SHOULD, FIXED, DROP)


class TestFirst:
    def test_a_clean_text_is_left_alone(self) -> None:
        played = play(GOOD, rules=RULES, fallback="F")
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.FIRST)
        assert len(played.model.requests) == 1
        assert [v.outcome for v in played.generated.final_verdicts] == [Outcome.PASS] * 4

    def test_it_is_recorded_with_tokens_version_and_latency(self) -> None:
        (attempt,) = play(GOOD, rules=RULES, fallback="F").generated.attempts
        assert (attempt.tokens_in, attempt.tokens_cached, attempt.tokens_out) == (100, 10, 20)
        assert (attempt.version, attempt.latency_ms) == ("scripted-1", 100)

    def test_the_model_is_chosen_by_route(self) -> None:
        asked: list[Route] = []
        model = ScriptedModel([GOOD])

        async def main() -> None:
            def model_for(call: Call) -> ScriptedModel:
                asked.append(call.route)
                return model

            generator = Generator(model_for, Clock(lambda: NOW))
            await generator.generate(
                Call(Route.ASK, scene(), PROMPT, TurnOut, Deadline(5), fallback="F", may_be_silent=False)
            )

        run_virtual(main())
        assert set(asked) == {Route.ASK}


class TestSilence:
    @pytest.mark.parametrize(
        "text",
        ["", "  \n", "[SILENCE]", "[silence]", "［ＳＩＬＥＮＣＥ］", "**[SILENCE]**", "[SILENCE].", "\u200b"],
    )
    def test_where_allowed_it_is_an_answer(self, text: str) -> None:
        played = play(Say(text), rules=RULES, may_be_silent=True)
        assert (played.generated.text, played.generated.source) == (None, Source.SILENT)
        assert len(played.model.requests) == 1
        assert played.generated.attempts[0].silent

    @pytest.mark.parametrize("text", ["", "[SILENCE]"])
    def test_where_forbidden_it_is_no_draft(self, text: str) -> None:
        played = play(Say(text), GOOD, rules=RULES, fallback="F")
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.REPHRASED)
        assert played.generated.attempts[0].failure == "silence"

    @pytest.mark.parametrize("text", ["2026-01-02", "1.", "👍", "２０２６", "1/2 – 3", "！？"])
    @pytest.mark.parametrize("may_be_silent", [True, False])
    def test_a_text_without_a_letter_is_no_draft(self, text: str, may_be_silent: bool) -> None:
        played = play(Say(text), GOOD, rules=RULES, fallback="F", may_be_silent=may_be_silent)
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.REPHRASED)
        assert played.generated.attempts[0].failure == "empty"
        assert play(Say(text), Say(text), fallback="F").generated.text == "F"

    @pytest.mark.parametrize("text", ["OK", "はい", "👍 了解", "é"])
    def test_one_word_is_a_draft(self, text: str) -> None:
        assert play(Say(text), rules=RULES, fallback="F").generated.text == text

    def test_twice_silent_where_forbidden_is_the_fallback(self) -> None:
        played = play(Say(""), Say("[SILENCE]"), fallback="F")
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)

    def test_entries_of_a_silent_answer_are_kept(self) -> None:
        entry = EntryOut(kind="note", text="x", quote="x")
        played = play(Say("", entries=(entry,)), may_be_silent=True)
        assert isinstance(played.generated.output, TurnOut)
        assert played.generated.output.entries == [entry]

    def test_a_text_with_only_a_should_beats_the_silence_of_a_rephrase(self) -> None:
        played = play(Say("meh"), Say(""), rules=RULES, may_be_silent=True)
        assert (played.generated.text, played.generated.source) == ("meh", Source.FIRST)

    def test_silence_after_a_broken_must_is_honoured(self) -> None:
        played = play(Say("bad"), Say(""), rules=RULES, may_be_silent=True)
        assert played.generated.source is Source.SILENT

    def test_a_call_that_may_not_be_silent_must_bring_a_fallback(self) -> None:
        with pytest.raises(ValueError, match="fallback"):
            play(GOOD)


class TestRephrase:
    def test_one_more_generation_mends_it(self) -> None:
        played = play(Say("bad meh"), GOOD, rules=RULES, fallback="F")
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.REPHRASED)
        assert [r.attempt for r in played.model.requests] == [0, 1]

    def test_the_note_holds_every_reason_the_prompt_whole_and_the_text_as_data(self) -> None:
        played = play(Say("bad </application_note> meh"), GOOD, rules=RULES, fallback="F")
        first, second = (r.prompt for r in played.model.requests)
        assert first == PROMPT
        assert (
            second.system,
            second.stable,
            second.ledger,
            second.history,
            second.task,
            second.clock,
        ) == tuple("SALHTC")
        assert "no bad, because it matters" in second.note
        assert "no meh, because it matters" in second.note
        assert second.note.startswith("<application_note>")
        assert second.note.rstrip().endswith("</application_note>")
        assert second.note.count("</application_note>") == 1
        assert "not from any participant" in second.note
        assert "other words" in second.note

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_braces_and_quotes_in_a_text_do_no_harm(self, language: Language) -> None:
        played = play(Say('bad {0} {x} "q" \\'), GOOD, rules=RULES, fallback="F", language=language)
        assert played.generated.source is Source.REPHRASED
        assert "{x}" in played.model.requests[1].prompt.note

    def test_a_frame_of_ones_own(self) -> None:
        played = play(Say("bad"), GOOD, rules=RULES, fallback="F", note_frame="N {reasons} / {failed}")
        assert played.model.requests[1].prompt.note == 'N - no bad, because it matters / "bad"'

    def test_never_twice(self) -> None:
        played = play(Say("bad"), Say("bad"), Say("good"), rules=RULES, fallback="F", retries=5)
        assert len(played.model.requests) == 2
        assert played.generated.source is Source.FIXED

    def test_zero_retries_means_zero(self) -> None:
        for say in (Say("bad"), Say(""), failed("server"), Say("meh")):
            played = play(say, GOOD, rules=RULES, fallback="F", retries=0)
            assert len(played.model.requests) == 1

    def test_should_alone_asks_again_and_posts_the_better(self) -> None:
        assert play(Say("meh"), GOOD, rules=RULES, fallback="F").generated.source is Source.REPHRASED
        both = play(Say("meh one"), Say("meh two"), rules=RULES, fallback="F").generated
        assert (both.text, both.source) == ("meh two", Source.REPHRASED)
        worse = play(Say("meh one"), Say("bad two"), rules=RULES, fallback="F").generated
        assert (worse.text, worse.source) == ("meh one", Source.FIRST)

    def test_entries_come_from_the_first_valid_output(self) -> None:
        one, two = (EntryOut(kind="note", text=x, quote=x) for x in "ab")
        played = play(Say("bad", entries=(one,)), Say("fine", entries=(two,)), rules=RULES, fallback="F")
        assert played.generated.output.entries == [one]  # type: ignore[union-attr]
        played = play(failed("invalid"), Say("fine", entries=(two,)), rules=RULES, fallback="F")
        assert played.generated.output.entries == [two]  # type: ignore[union-attr]


class TestFixed:
    def test_a_fixed_remedy_costs_no_second_generation(self) -> None:
        played = play(Say("wrong"), GOOD, rules=RULES, fallback="F")
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)
        assert len(played.model.requests) == 1

    def test_both_attempts_broken(self) -> None:
        played = play(Say("bad"), Say("bad too"), rules=RULES, fallback="F")
        assert played.generated.text == "F"
        assert [len(a.fired(Strength.MUST)) for a in played.generated.attempts] == [1, 1]

    def test_without_a_fallback_it_is_silence(self) -> None:
        played = play(Say("bad"), Say("bad"), rules=RULES, may_be_silent=True)
        assert (played.generated.text, played.generated.source) == (None, Source.SILENT)

    def test_it_is_not_judged_for_repetition(self) -> None:
        played = play(Say("bad"), rules=RULES, fallback="F same", recent=("F same",), judge_repetition=True)
        assert played.generated.text == "F same"

    def test_a_superfluous_post_is_dropped_where_silence_is_allowed(self) -> None:
        assert play(Say("spam"), rules=RULES, fallback="F", may_be_silent=True).generated.text is None
        assert play(Say("spam"), rules=RULES, fallback="F").generated.text == "F"


class TestComplete:
    def test_code_adds_its_sentence_without_a_second_generation(self) -> None:
        played = play(GOOD, rules=(MUST, needs("fact")), fallback="F")
        assert (played.generated.text, played.generated.source) == (f"{GOOD.text} fact", Source.COMPLETED)
        assert len(played.model.requests) == 1
        assert all(v.outcome is Outcome.PASS for v in played.generated.final_verdicts)

    def test_it_must_pass_every_must_again(self) -> None:
        short = Rule("short", Strength.MUST, Remedy.REPHRASE, lambda c: "long" if len(c.text) > 33 else None)
        assert play(GOOD, rules=(short, needs("fact")), fallback="F").generated.source is Source.FIXED

    def test_a_should_that_cannot_be_completed_does_not_silence(self) -> None:
        short = Rule("short", Strength.MUST, Remedy.REPHRASE, lambda c: "long" if len(c.text) > 33 else None)
        played = play(GOOD, rules=(short, needs("fact", Strength.SHOULD)), fallback="F")
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.FIRST)

    def test_a_rephrase_comes_first_where_the_rule_says_so(self) -> None:
        rule = needs("start", remedy=Remedy.REPHRASE)
        mended = play(GOOD, Say("we start"), rules=(rule,), fallback="F")
        assert mended.generated.source is Source.REPHRASED
        stubborn = play(GOOD, BETTER, rules=(rule,), fallback="F")
        assert (stubborn.generated.text, stubborn.generated.source) == (
            f"{BETTER.text} start",
            Source.COMPLETED,
        )
        lost = play(GOOD, failed("server"), rules=(rule,), fallback="F")
        assert (lost.generated.text, lost.generated.source) == (f"{GOOD.text} start", Source.COMPLETED)


class TestRepetition:
    OLD = "Who takes care of the release, and by when?"
    SAME = Say("Who takes care of the release and by when, please?")

    def test_a_repetition_is_dropped(self) -> None:
        played = play(self.SAME, may_be_silent=True, recent=(self.OLD,), judge_repetition=True)
        assert (played.generated.text, played.generated.source) == (None, Source.SILENT)
        assert len(played.model.requests) == 1
        assert played.generated.attempts[0].verdicts[-1].rule == "no_repetition"
        assert played.generated.attempts[0].verdicts[-1].outcome is Outcome.FIRED

    def test_where_silence_is_forbidden_the_fallback(self) -> None:
        played = play(self.SAME, fallback="F", recent=(self.OLD,), judge_repetition=True)
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)

    def test_switched_off_it_is_posted(self) -> None:
        assert play(self.SAME, fallback="F", recent=(self.OLD,)).generated.source is Source.FIRST

    def test_a_rephrase_that_repeats_restores_the_text_from_before(self) -> None:
        before = Say("meh: shall we look at the hotel first?")
        played = play(before, self.SAME, rules=RULES, fallback="F", recent=(self.OLD,), judge_repetition=True)
        assert (played.generated.text, played.generated.source) == (before.text, Source.RESTORED)

    def test_but_never_one_that_breaks_a_must(self) -> None:
        before = Say("bad: shall we look at the hotel first?")
        played = play(before, self.SAME, rules=RULES, fallback="F", recent=(self.OLD,), judge_repetition=True)
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)

    def test_nor_one_that_repeats_itself(self) -> None:
        before = Say("meh who takes care of the release, and by when?")
        played = play(
            before, self.SAME, rules=RULES, may_be_silent=True, recent=(self.OLD,), judge_repetition=True
        )
        assert played.generated.source is Source.SILENT


class TestTheModelFails:
    KINDS = (
        "timeout",
        "unreachable",
        "rate_limited",
        "server",
        "refused",
        "blocked",
        "empty",
        "truncated",
        "invalid",
    )

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_once_the_second_is_posted(self, kind: str, language: Language) -> None:
        played = play(failed(kind), GOOD, rules=RULES, fallback="F", language=language)
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.REPHRASED)
        assert played.generated.attempts[0].failure == kind
        assert (played.generated.attempts[0].tokens_in, played.generated.attempts[0].latency_ms) == (7, 50)

    @pytest.mark.parametrize("kind", KINDS)
    def test_twice_the_fallback(self, kind: str) -> None:
        played = play(failed(kind), failed(kind), rules=RULES, fallback="F")
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)
        assert played.generated.output is None

    def test_an_unforeseen_error_is_reported_and_goes_no_further(self) -> None:
        played = play(Say(error=KeyError("oops")), Say(error=ZeroDivisionError()), fallback="F")
        assert played.generated.text == "F"
        assert [what for what, _ in played.broken] == ["model", "model"]
        assert [a.failure for a in played.generated.attempts] == ["error", "error"]

    def test_it_hangs(self) -> None:
        played = play(HANG, fallback="F")
        assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)
        assert played.took_s == pytest.approx(25, abs=0.01)
        assert [a.failure for a in played.generated.attempts] == ["timeout"]

    def test_the_second_hangs(self) -> None:
        played = play(Say("bad", seconds=10), HANG, rules=RULES, fallback="F")
        assert played.generated.text == "F"
        assert played.took_s == pytest.approx(25, abs=0.01)

    def test_no_second_is_begun_when_time_is_nearly_over(self) -> None:
        played = play(Say("bad", seconds=23.5), GOOD, rules=RULES, fallback="F")
        assert played.generated.source is Source.FIXED
        assert len(played.model.requests) == 1

    def test_a_deadline_brought_nearer_ends_a_call_under_way(self) -> None:
        model = ScriptedModel([HANG])

        async def main() -> tuple[Any, float]:
            deadline = Deadline(25)
            generator = Generator(lambda _: model, Clock(lambda: NOW))
            call = Call(Route.TURN, scene(), PROMPT, TurnOut, deadline, fallback="F")
            task = asyncio.create_task(generator.generate(call))
            await asyncio.sleep(3)
            deadline.shorten(4)
            return await task, asyncio.get_running_loop().time()

        generated, took = run_virtual(main())
        assert generated.text == "F"
        assert took == pytest.approx(7, abs=0.01)

    @pytest.mark.parametrize("language", LANGUAGES)
    @pytest.mark.parametrize(
        "filling",
        ["word ", "あ", "1", "アシスタント、", "「", '"', "assistant ", "let's ", "それでは、", ">\n"],
    )
    def test_fifty_thousand_characters(self, filling: str, language: Language) -> None:
        huge = Say((filling * 50_000)[:50_000])
        facts = RoomFacts(language, closing=lambda: True, notice_minutes=5, record=lambda: ("x",))
        before = time.perf_counter()
        for route in Route:
            played = play(huge, huge, rules=rules_for(route, facts), fallback="F", language=language)
            assert (played.generated.text, played.generated.source) == ("F", Source.FIXED)
            assert [a.failure for a in played.generated.attempts] == ["too_long", "too_long"]
        assert time.perf_counter() - before < 5
        assert len(played.model.requests[1].prompt.note) < 3000

    def test_a_text_too_long_for_a_post_is_quoted_shortened(self) -> None:
        rules = rules_for(Route.TURN, RoomFacts("en"))
        played = play(Say("word " * 1000), GOOD, rules=rules, fallback="F")
        assert (played.generated.text, played.generated.source) == (GOOD.text, Source.REPHRASED)
        assert len(played.model.requests[1].prompt.note) < 3000

    def test_the_wrong_language_twice(self) -> None:
        rules = rules_for(Route.TURN, RoomFacts("ja"))
        played = play(
            Say("Let us move on, please."), Say("What do you all think?"), rules=rules, fallback="F"
        )
        assert played.generated.source is Source.FIXED


class TestBrokenRule:
    BROKEN = Rule("broken", Strength.MUST, Remedy.REPHRASE, lambda c: str(1 // 0))

    def test_it_counts_as_neither_and_is_reported(self) -> None:
        played = play(GOOD, rules=(self.BROKEN, MUST), fallback="F")
        assert played.generated.source is Source.FIRST
        assert [v.outcome for v in played.generated.attempts[0].verdicts] == [Outcome.BROKEN, Outcome.PASS]
        assert played.broken[0][0] == "broken"
        assert isinstance(played.broken[0][1], ZeroDivisionError)

    def test_the_ladder_goes_on(self) -> None:
        played = play(Say("bad"), GOOD, rules=(self.BROKEN, MUST), fallback="F")
        assert played.generated.source is Source.REPHRASED

    def test_a_broken_completion_is_reported_and_the_fallback_posted(self) -> None:
        rule = Rule("c", Strength.MUST, Remedy.COMPLETE, lambda c: "missing", lambda text: str(1 // 0))
        played = play(GOOD, rules=(rule,), fallback="F")
        assert played.generated.text == "F"
        assert played.broken[0][0] == "c"


class TestClosingLatch:
    HANDS_OFF = "Thanks all. @assistant please summarise."

    def _rules(self, closing: bool = False) -> tuple[Rule, ...]:
        return rules_for(Route.TURN, RoomFacts("en", closing=lambda: closing))

    def test_a_rephrase_that_keeps_the_hand_off_but_changes_the_phase(self) -> None:
        played = play(
            Say(self.HANDS_OFF, Phase.CLOSING),
            Say(self.HANDS_OFF + " Please.", Phase.DISCUSSING),
            rules=self._rules(),
            fallback="The minutes follow in a moment.",
        )
        assert (played.generated.text, played.generated.source) == (
            "The minutes follow in a moment.",
            Source.FIXED,
        )
        assert played.generated.closing_seen

    def test_closing_noticed_only_by_the_second_answer_forbids_the_first_as_well(self) -> None:
        played = play(
            Say(f"{self.HANDS_OFF} meh", Phase.DISCUSSING),
            Say("bad", closing_complete=True),
            rules=(*self._rules(), MUST, SHOULD),
            fallback="F",
        )
        assert played.generated.text == "F"

    def test_a_draft_begun_before_the_end_and_ready_after_it(self) -> None:
        room = {"closing": False}
        facts = RoomFacts("en", closing=lambda: room["closing"])
        ended = Say(self.HANDS_OFF, then=lambda: room.update(closing=True))
        played = play(ended, ended, rules=rules_for(Route.TURN, facts), fallback="F")
        assert played.generated.text == "F"

    def test_recheck_at_posting_sees_the_room_as_it_is_now(self) -> None:
        room = {"closing": False}
        facts = RoomFacts("en", closing=lambda: room["closing"])
        played = play(Say(self.HANDS_OFF), rules=rules_for(Route.TURN, facts), fallback="F")
        assert played.generated.text == self.HANDS_OFF
        assert played.generator.recheck(played.call, played.generated) is played.generated
        room["closing"] = True
        again = played.generator.recheck(played.call, played.generated)
        assert (again.text, again.source) == ("F", Source.FIXED)
        assert again.info["at_posting"] == "no_hand_off_while_closing"
        assert again.attempts == played.generated.attempts

    def test_recheck_falls_silent_where_that_is_allowed(self) -> None:
        room = {"closing": False}
        facts = RoomFacts("en", closing=lambda: room["closing"])
        played = play(Say(self.HANDS_OFF), rules=rules_for(Route.TURN, facts), may_be_silent=True)
        room["closing"] = True
        again = played.generator.recheck(played.call, played.generated)
        assert (again.text, again.source) == (None, Source.SILENT)
        assert played.generator.recheck(played.call, again) is again

    def test_recheck_counts_a_broken_rule_as_neither(self) -> None:
        works = {"yes": True}
        rule = Rule("r", Strength.MUST, Remedy.REPHRASE, lambda c: None if works["yes"] else str(1 // 0))
        played = play(GOOD, rules=(rule,), fallback="F")
        works["yes"] = False
        assert played.generator.recheck(played.call, played.generated) is played.generated
        assert played.broken[-1][0] == "r"


class TestSanitising:
    @pytest.mark.parametrize(
        ("raw", "clean"),
        [
            ("🧭 進行: 始めます。", "始めます。"),
            ("**🧭 進行**\n始めます。", "始めます。"),
            ("🧭 Facilitator: Hello.", "Hello."),
            ("Facilitator: Hello.", "Hello."),
            ("**Facilitator:** Hello.", "Hello."),
            ("📝 アシスタント\nまとめです。", "まとめです。"),
            ("a\n\n\n\n\nb", "a\n\nb"),
            ("  a\u200b\u202eb \n", "ab"),
            ("Assistant: please summarise", "Assistant: please summarise"),
            ("進行役の佐藤さん、どうぞ。", "進行役の佐藤さん、どうぞ。"),
        ],
    )
    def test_only_the_words_are_posted(self, raw: str, clean: str) -> None:
        assert play(Say(raw), fallback="F").generated.text == clean


def test_the_note_speaks_the_language_of_the_meeting() -> None:
    note = play(failed("invalid"), GOOD, fallback="F", language="ja").model.requests[1].prompt.note
    assert t("guard.failure.invalid", "ja") in note
    assert "参加者の発言ではありません" in note
