"""Which of the attempts is posted: steps 2 to 5 of the guarded generation, over attempts and verdicts alone.

Nothing here runs a rule, a model or a clock. The generator asks `wants_second` after the first attempt and
`choose` at the end; both see only what was recorded, so that every decision can be made again from the
record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.guard.model import Attempt, Outcome, Remedy, Source, Strength, Verdict

NO_REPETITION = "no_repetition"


@dataclass(frozen=True, slots=True)
class Judged:
    """One attempt with everything step 3 to 5 needs to know of it.

    `completed` is its text with the sentences that code knows added, where that makes it pass every `must`;
    `completed_verdicts` is what the rules say of that. `repeats` tells that the attempt's own words (before
    any completion) repeat an earlier post.
    """

    attempt: Attempt
    completed: str | None = None
    completed_verdicts: tuple[Verdict, ...] = ()
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """`index` is the attempt the text came from, None for the fallback and for silence nobody wrote."""

    text: str | None
    source: Source
    index: int | None = None
    verdicts: tuple[Verdict, ...] = ()


def wants_second(attempt: Attempt, retries: int) -> bool:
    """Step 2: is one more generation due? Never for a fixed remedy, whose fallback is posted at once."""
    if retries < 1:
        return False
    if attempt.text is None:
        return not attempt.silent
    if needs_fallback(attempt):
        return False
    return any(v.remedy is Remedy.REPHRASE for v in attempt.fired())


def needs_fallback(attempt: Attempt) -> bool:
    """A fact is missing and wording is nothing: no second generation would be worth its seconds."""
    return any(v.remedy is Remedy.FIXED for v in attempt.fired())


def choose(judged: tuple[Judged, ...], *, may_be_silent: bool, fallback: str | None) -> Choice:
    """Steps 3 to 5: the best attempt, else its completion, else silence or the fallback; then repetition.

    Never returns a text that broke a `must` in its verdicts; never silence unless `may_be_silent`, except
    that a caller who forbids silence without a fallback is refused by `Call` before it comes to this.
    """
    instead = _without_a_text(may_be_silent, fallback)
    best = _best(judged)
    if best is None:
        wants_none = any(j.attempt.silent or _drops(j.attempt.verdicts) for j in judged)
        return instead if wants_none or fallback is None else _fixed(fallback)
    if judged[best.index or 0].repeats:
        before = _restorable(judged, best.index or 0)
        return before or instead
    return best


def _best(judged: tuple[Judged, ...]) -> Choice | None:
    """No `must` fired, then fewest `should`, then the later; a completed text stands where its own is
    worse.
    """
    ranked = [
        (len(_fired(choice.verdicts, Strength.SHOULD)), -(choice.index or 0), choice)
        for i, j in enumerate(judged)
        if (choice := _of_attempt(i, j)) is not None
    ]
    return min(ranked, key=lambda r: r[:2])[2] if ranked else None


def _of_attempt(index: int, judged: Judged) -> Choice | None:
    attempt = judged.attempt
    usable = attempt.text is not None and _may_stand(attempt.verdicts)
    if judged.completed is not None and _may_stand(judged.completed_verdicts):
        better = len(_fired(judged.completed_verdicts)) < len(_fired(attempt.verdicts))
        if not usable or better:
            return Choice(judged.completed, Source.COMPLETED, index, judged.completed_verdicts)
    if not usable:
        return None
    return Choice(attempt.text, Source.FIRST if index == 0 else Source.REPHRASED, index, attempt.verdicts)


def _restorable(judged: tuple[Judged, ...], index: int) -> Choice | None:
    """The text from before the rephrase, where it may be posted and says nothing again."""
    for i in range(index - 1, -1, -1):
        choice = _of_attempt(i, judged[i])
        if choice is not None and not judged[i].repeats:
            return replace(choice, source=Source.RESTORED)
    return None


def _fired(verdicts: tuple[Verdict, ...], strength: Strength | None = None) -> list[Verdict]:
    return [v for v in verdicts if v.outcome is Outcome.FIRED and strength in (None, v.strength)]


def _may_stand(verdicts: tuple[Verdict, ...]) -> bool:
    return not _fired(verdicts, Strength.MUST) and not _drops(verdicts)


def _drops(verdicts: tuple[Verdict, ...]) -> bool:
    return any(v.remedy is Remedy.DROP for v in _fired(verdicts))


def _without_a_text(may_be_silent: bool, fallback: str | None) -> Choice:
    """Where the post itself is superfluous: silence where it is allowed, else the fallback."""
    if may_be_silent or fallback is None:
        return Choice(None, Source.SILENT)
    return _fixed(fallback)


def _fixed(fallback: str | None) -> Choice:
    return Choice(fallback, Source.FIXED)
