"""The guarded generator (SPEC 3): the one function that makes every generated text.

It knows no routes: what must hold comes in as rules, and `Call.route` serves only to pick the model and to be
recorded. Whatever the model does, a call ends within its deadline, after at most two generations, in a text
that breaks no `must`, in the caller's fallback, or in silence where silence is allowed.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from bot.clock import Clock, Deadline
from bot.guard.choose import NO_REPETITION, Choice, Judged, choose, wants_second
from bot.guard.model import (
    Attempt,
    Candidate,
    Generated,
    Outcome,
    Remedy,
    Rule,
    Source,
    Strength,
    Verdict,
)
from bot.guard.sanitise import is_silence, is_wordless, sanitise
from bot.guard.similarity import repeats
from bot.guard.streaming import Gate
from bot.meeting.model import Language, Phase, Route, Scene
from bot.models.base import Draft, Model, Prompt, ProviderError, Request
from bot.phrases import t

# A rephrase takes 1.6 s on the light model (median of 3, SPEC); with less left a second call only delays
# the fallback.
SECOND_NEEDS_S = 2.0
_QUOTED_CHARACTERS = 1200
# Nothing this long is ever posted, and rules never see it: some patterns take seconds on 50,000 characters.
MAX_CHARACTERS = 8000


def response_of(output: BaseModel) -> str:
    return str(getattr(output, "response", "") or "")


@dataclass(frozen=True, slots=True)
class Call:
    """Everything one generation is given. Raises ValueError where silence is forbidden and no fallback is
    given.

    `recent`: the bot's own earlier posts, newest last, notices left out. `judge_repetition` is off in a
    one-person meeting and where a person waits. `note_frame`: template of the application note with
    {reasons} and {failed}; None takes the phrase book's. `on_visible` streams the first attempt: it is called with
    what of the text may be seen so far, whole sentences that break no `must`, each time that is more. What
    `generate` returns may be another text (rephrased, fixed, none) and takes its place.
    """

    route: Route
    scene: Scene
    prompt: Prompt
    output: type[BaseModel]
    deadline: Deadline
    rules: tuple[Rule, ...] = ()
    fallback: str | None = None
    may_be_silent: bool = False
    recent: tuple[str, ...] = ()
    judge_repetition: bool = False
    retries: int = 1
    language: Language = "en"
    text_of: Callable[[BaseModel], str] = field(default=response_of)
    note_frame: str | None = None
    max_output_tokens: int = 2048
    on_visible: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.fallback is None and not self.may_be_silent:
            raise ValueError("a call that may not be silent needs a fallback")


@dataclass(frozen=True, slots=True)
class _Try:
    """One generation as it came back, before the rules."""

    attempt: Attempt
    output: BaseModel | None = None
    phase: Phase | None = None
    closing_complete: bool = False

    @property
    def closing(self) -> bool:
        return self.closing_complete or self.phase is Phase.CLOSING


class Generator:
    """`model_for` picks the model of a call, by its route and its meeting's server.

    `on_broken(rule or "model", error)` hears of every unforeseen error.
    """

    def __init__(
        self,
        model_for: Callable[[Call], Model],
        clock: Clock,
        on_broken: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self._model_for = model_for
        self._clock = clock
        self._on_broken = on_broken

    async def generate(self, call: Call) -> Generated:
        """Steps 1 to 5 and the record (7). Raises nothing but cancellation."""
        tries = [await self._try(call, call.prompt, 0)]
        judged = self._judge(call, tries)
        enough_time = call.deadline.remaining() >= SECOND_NEEDS_S
        if wants_second(judged[0].attempt, call.retries) and enough_time:
            note = application_note(call, judged[0].attempt)
            tries.append(await self._try(call, replace(call.prompt, note=note), 1))
            # The latch and the room may have moved meanwhile, for the first text too: all of them once more.
            judged = self._judge(call, tries)
        choice = choose(judged, may_be_silent=call.may_be_silent, fallback=call.fallback)
        return self._record(call, tries, judged, choice)

    def recheck(self, call: Call, generated: Generated) -> Generated:
        """Step 6, at posting: the `must` rules against the room as it is now; a text that breaks one is
        replaced.
        """
        if generated.text is None or generated.source is Source.FIXED:
            return generated
        candidate = Candidate(generated.text, generated.phase, False, generated.closing_seen)
        musts = tuple(r for r in call.rules if r.strength is Strength.MUST)
        verdicts = self._verdicts(musts, candidate)
        if not any(v.outcome is Outcome.FIRED for v in verdicts):
            return generated
        info = {
            **generated.info,
            "at_posting": ",".join(v.rule for v in verdicts if v.outcome is Outcome.FIRED),
        }
        source = Source.SILENT if call.fallback is None else Source.FIXED
        return replace(generated, text=call.fallback, source=source, final_verdicts=(), info=info)

    async def _try(self, call: Call, prompt: Prompt, number: int) -> _Try:
        started = asyncio.get_running_loop().time()
        try:
            draft = await self._clock.wait(self._ask(call, prompt, number), "model")
            return self._read(call, draft)
        except ProviderError as error:
            usage = error.usage
            failed = Attempt(
                None,
                failure=error.kind,
                latency_ms=error.latency_ms or _since(started),
                tokens_in=usage.tokens_in,
                tokens_cached=usage.tokens_cached,
                tokens_out=usage.tokens_out,
                version=error.version,
            )
        except TimeoutError:
            failed = Attempt(None, failure="timeout", latency_ms=_since(started))
        except Exception as error:
            self._report("model", error)
            failed = Attempt(None, failure="error", latency_ms=_since(started))
        return _Try(failed)

    async def _ask(self, call: Call, prompt: Prompt, number: int) -> Draft[Any]:
        on_text = self._gated(call) if number == 0 and call.on_visible is not None else None
        request = Request(
            call.scene, prompt, call.output, call.deadline, number, call.max_output_tokens, on_text
        )
        async with call.deadline.timeout():
            return await self._model_for(call).generate(request)

    def _gated(self, call: Call) -> Callable[[str], None]:
        """What a model may tell while it writes: nothing of it goes on but through the gate."""
        gate = Gate(call.rules, sanitise)

        def hear(text: str) -> None:
            try:
                visible = gate.feed(text)
                if visible is not None and call.on_visible is not None:
                    call.on_visible(visible)
            except Exception as error:
                gate.shut = True
                self._report("stream", error)

        return hear

    def _read(self, call: Call, draft: Draft[Any]) -> _Try:
        output, usage = draft.output, draft.usage
        text = sanitise(call.text_of(output))
        silent, too_long = is_silence(text), len(text) > MAX_CHARACTERS
        failure: str | None = None
        if too_long:
            failure = "too_long"
        elif silent:
            failure = None if call.may_be_silent else "silence"
        elif is_wordless(text):
            failure = "empty"
        attempt = Attempt(
            None if silent or failure else text,
            failure=failure,
            latency_ms=draft.latency_ms,
            tokens_in=usage.tokens_in,
            tokens_cached=usage.tokens_cached,
            tokens_out=usage.tokens_out,
            version=draft.version,
            silent=silent and call.may_be_silent,
        )
        return _Try(
            attempt, output, getattr(output, "phase", None), bool(getattr(output, "closing_complete", False))
        )

    def _judge(self, call: Call, tries: list[_Try]) -> tuple[Judged, ...]:
        seen = any(a.closing for a in tries)
        return tuple(self._judge_one(call, a, seen) for a in tries)

    def _judge_one(self, call: Call, tried: _Try, closing_seen: bool) -> Judged:
        text = tried.attempt.text
        if text is None:
            return Judged(tried.attempt)
        candidate = Candidate(text, tried.phase, tried.closing_complete, closing_seen)
        verdicts = self._verdicts(call.rules, candidate)
        completed = self._complete(call, candidate, verdicts)
        repeated = call.judge_repetition and repeats(text, call.recent, call.language) is not None
        return Judged(
            replace(tried.attempt, verdicts=verdicts),
            completed,
            self._verdicts(call.rules, replace(candidate, text=completed)) if completed is not None else (),
            repeated,
        )

    def _verdicts(self, rules: tuple[Rule, ...], candidate: Candidate) -> tuple[Verdict, ...]:
        return tuple(self._verdict(rule, candidate) for rule in rules)

    def _verdict(self, rule: Rule, candidate: Candidate) -> Verdict:
        try:
            reason = rule.check(candidate)
        except Exception as error:
            self._report(rule.name, error)
            return Verdict(rule.name, Outcome.BROKEN, type(error).__name__, rule.strength, rule.remedy)
        outcome = Outcome.PASS if reason is None else Outcome.FIRED
        return Verdict(rule.name, outcome, reason or "", rule.strength, rule.remedy)

    def _complete(self, call: Call, candidate: Candidate, verdicts: tuple[Verdict, ...]) -> str | None:
        """The text with every sentence that code can add; None where nothing was to be added."""
        fired = {v.rule for v in verdicts if v.outcome is Outcome.FIRED}
        text = candidate.text
        for rule in call.rules:
            if rule.name not in fired or rule.complete is None:
                continue
            try:
                text = rule.complete(text)
            except Exception as error:
                self._report(rule.name, error)
        return text if text != candidate.text else None

    def _record(self, call: Call, tries: list[_Try], judged: tuple[Judged, ...], choice: Choice) -> Generated:
        chosen = tries[choice.index] if choice.index is not None else None
        phases = [a.phase for a in tries if a.phase is not None]
        return Generated(
            text=choice.text,
            source=choice.source,
            attempts=tuple(_with_repetition(call, j) for j in judged),
            output=next((a.output for a in tries if a.output is not None), None),
            chosen_output=chosen.output if chosen is not None else None,
            final_verdicts=choice.verdicts,
            phase=chosen.phase if chosen is not None else phases[-1] if phases else None,
            closing_seen=any(a.closing for a in tries),
            model=self._model_name(call),
        )

    def _model_name(self, call: Call) -> str:
        try:
            return self._model_for(call).name
        except Exception as error:
            self._report("model", error)
            return ""

    def _report(self, what: str, error: BaseException) -> None:
        if self._on_broken is not None:
            self._on_broken(what, error)


def application_note(call: Call, attempt: Attempt) -> str:
    """What the second generation is told: every reason and why it matters, and the failed text as data.

    The failed text goes in as one JSON string without angle brackets, so that nothing in it can close the
    fence.
    """
    if attempt.text is None:
        reasons = [_failure_reason(attempt.failure or "empty", call.language)]
        failed = t("guard.note.nothing", call.language)
    else:
        reasons = [v.reason for v in attempt.fired() if v.remedy is not Remedy.DROP]
        quoted = json.dumps(attempt.text[:_QUOTED_CHARACTERS], ensure_ascii=False)
        failed = re.sub("[<>]", lambda m: "‹" if m[0] == "<" else "›", quoted)
    listed = "\n".join(f"- {reason}" for reason in reasons)
    if call.note_frame is not None:
        return call.note_frame.format(reasons=listed, failed=failed)
    return t("guard.note.frame", call.language, reasons=listed, failed=failed)


def _failure_reason(kind: str, language: Language) -> str:
    known = ("silence", "invalid", "truncated", "blocked", "empty", "too_long")
    return t(f"guard.failure.{kind if kind in known else 'other'}", language)


def _with_repetition(call: Call, judged: Judged) -> Attempt:
    """The repetition's verdict beside the others, added once the choice is made: statistics count it as a
    rule.
    """
    attempt = judged.attempt
    if attempt.text is None or not call.judge_repetition:
        return attempt
    outcome = Outcome.FIRED if judged.repeats else Outcome.PASS
    verdict = Verdict(NO_REPETITION, outcome, "", Strength.SHOULD, Remedy.DROP)
    return replace(attempt, verdicts=(*attempt.verdicts, verdict))


def _since(started: float) -> int:
    return round((asyncio.get_running_loop().time() - started) * 1000)
