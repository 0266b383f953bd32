"""`ketsugi eval`: every scenario so and so often through the real path, what the rules said before and
after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from bot.evaluation.asking import ask
from bot.evaluation.cases import Case, core_of, stand
from bot.evaluation.records import AttemptLine, Run
from bot.facilitation.thinking import Thought
from bot.guard.choose import NO_REPETITION
from bot.guard.model import Attempt, Candidate, Outcome, Source
from bot.guard.similarity import repeats
from bot.models.base import Model, Usage
from bot.models.prices import cost
from bot.prompts.outputs import MinutesOut


async def play(model: Model, cases: Sequence[Case], runs: int, patience: float = 1.0) -> AsyncIterator[Run]:
    """Each case once, then each once more, `runs` times: what is measured when it is interrupted is
    balanced."""
    for number in range(runs):
        for index, case in enumerate(cases, start=1):
            yield await play_one(model, case, number, index, patience)
            await asyncio.sleep(0)  # a scripted model never waits: without this Ctrl-C would not get through


async def play_one(
    model: Model, case: Case, number: int = 0, meeting_id: int = 1, patience: float = 1.0
) -> Run:
    """One run of one case. Raises nothing but cancellation: what fails is in the record."""
    core = core_of(model, case.now, patience)
    room, stuff = stand(case, core, meeting_id)
    thought = await ask(core, room, stuff, case)
    text, source = thought.final(core)
    attempts = thought.generated.attempts
    version = next((a.version for a in attempts if a.version), "")
    return Run(
        scenario=case.case,
        tempts=case.tempts,
        language=case.language,
        route=case.route.value,
        run=number,
        model=model.name,
        version=version,
        source=source,
        text=text,
        attempts=tuple(_attempt(a) for a in attempts),
        after=after(thought, text),
        cost_usd=_cost(attempts, (version, model.name)),
    )


def after(thought: Thought, text: str | None) -> dict[str, str]:
    """What every rule of the call says of the posted text, fixed ones included: nothing is taken on trust.

    Empty for silence, and for prose of minutes that was left out: its fixed text only stands in for it.
    """
    call, generated = thought.call, thought.generated
    omitted = call.output is MinutesOut and generated.source not in (Source.FIRST, Source.REPHRASED)
    if text is None or omitted:
        return {}
    candidate = Candidate(text, generated.phase, False, generated.closing_seen)
    said = {rule.name: _outcome(rule.check, candidate) for rule in call.rules}
    if call.judge_repetition:
        again = repeats(text, call.recent, call.language) is not None
        said[NO_REPETITION] = Outcome.FIRED if again else Outcome.PASS
    return {name: outcome.value for name, outcome in said.items()}


def _outcome(check: object, candidate: Candidate) -> Outcome:
    assert callable(check)
    try:
        return Outcome.PASS if check(candidate) is None else Outcome.FIRED
    except Exception:
        return Outcome.BROKEN


def _attempt(attempt: Attempt) -> AttemptLine:
    return AttemptLine(
        verdicts={v.rule: v.outcome.value for v in attempt.verdicts},
        text=attempt.text,
        failure=attempt.failure or ("silent" if attempt.silent else None),
        latency_ms=attempt.latency_ms,
        tokens_in=attempt.tokens_in,
        tokens_cached=attempt.tokens_cached,
        tokens_out=attempt.tokens_out,
        version=attempt.version,
    )


def _cost(attempts: Sequence[Attempt], names: Sequence[str]) -> float | None:
    """US dollars of one generation by the first of `names` that data/prices.toml knows; None: by none."""
    total = Usage()
    for attempt in attempts:
        total = replace(
            total,
            tokens_in=total.tokens_in + attempt.tokens_in,
            tokens_cached=total.tokens_cached + attempt.tokens_cached,
            tokens_out=total.tokens_out + attempt.tokens_out,
        )
    return next((price for name in names if (price := cost(total, name)) is not None), None)
