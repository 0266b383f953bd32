"""The choice among attempts: invariants over every record that a generation can leave behind."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from bot.guard.choose import Choice, Judged, choose, wants_second
from bot.guard.model import Attempt, Outcome, Remedy, Source, Strength, Verdict

verdicts = st.builds(
    Verdict,
    rule=st.sampled_from(["a", "b", "c"]),
    outcome=st.sampled_from(Outcome),
    reason=st.just("r"),
    strength=st.sampled_from(Strength),
    remedy=st.sampled_from(Remedy),
)
verdict_lists = st.lists(verdicts, max_size=4).map(tuple)


@st.composite
def judged(draw: st.DrawFn, number: int, may_be_silent: bool) -> Judged:
    kind = draw(st.sampled_from(["text", "text", "failed", "silent"]))
    if kind == "failed" or (kind == "silent" and not may_be_silent):
        return Judged(Attempt(None, failure=draw(st.sampled_from(["timeout", "silence", "invalid"]))))
    if kind == "silent":
        return Judged(Attempt(None, silent=True))
    completed = draw(st.none() | st.just(f"completed {number}"))
    return Judged(
        Attempt(f"text {number}", draw(verdict_lists)),
        completed,
        draw(verdict_lists) if completed is not None else (),
        draw(st.booleans()),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[Judged, ...], bool, str | None]:
    may_be_silent = draw(st.booleans())
    fallback = draw(st.none() | st.just("fallback")) if may_be_silent else "fallback"
    count = draw(st.integers(1, 2))
    return tuple(draw(judged(i, may_be_silent)) for i in range(count)), may_be_silent, fallback


def _of(case: tuple[tuple[Judged, ...], bool, str | None]) -> Choice:
    attempts, may_be_silent, fallback = case
    return choose(attempts, may_be_silent=may_be_silent, fallback=fallback)


def _musts(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    return [v for v in verdicts if v.outcome is Outcome.FIRED and v.strength is Strength.MUST]


def _shoulds(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    return [v for v in verdicts if v.outcome is Outcome.FIRED and v.strength is Strength.SHOULD]


@given(cases())
def test_no_text_that_breaks_a_must_is_chosen(case: tuple[tuple[Judged, ...], bool, str | None]) -> None:
    choice = _of(case)
    assert _musts(choice.verdicts) == []
    assert not any(v.remedy is Remedy.DROP and v.outcome is Outcome.FIRED for v in choice.verdicts)
    if choice.index is not None and choice.text is not None:
        chosen = case[0][choice.index]
        if choice.text == chosen.completed:
            assert choice.source in (Source.COMPLETED, Source.RESTORED)
            assert (choice.text, choice.verdicts) == (chosen.completed, chosen.completed_verdicts)
        else:
            assert (choice.text, choice.verdicts) == (chosen.attempt.text, chosen.attempt.verdicts)


@given(cases())
def test_never_silent_where_silence_is_not_allowed(case: tuple[tuple[Judged, ...], bool, str | None]) -> None:
    choice = _of(case)
    assert (choice.text is None) == (choice.source is Source.SILENT)
    if not case[1]:
        assert choice.text is not None


@given(cases())
def test_a_repetition_is_never_chosen(case: tuple[tuple[Judged, ...], bool, str | None]) -> None:
    choice = _of(case)
    if choice.index is not None and choice.text is not None:
        assert not case[0][choice.index].repeats


@given(cases())
def test_the_source_tells_where_the_text_came_from(case: tuple[tuple[Judged, ...], bool, str | None]) -> None:
    choice = _of(case)
    if choice.source is Source.FIRST:
        assert choice.index == 0
    if choice.source is Source.REPHRASED:
        assert choice.index == 1
    if choice.source is Source.RESTORED:
        assert choice.index == 0
        assert case[0][1].repeats
    if choice.source is Source.FIXED:
        assert choice.text == case[2]


@given(cases())
def test_no_usable_text_has_fewer_shoulds_than_the_chosen(
    case: tuple[tuple[Judged, ...], bool, str | None],
) -> None:
    choice = _of(case)
    if choice.source in (Source.FIRST, Source.REPHRASED, Source.COMPLETED):
        for j in case[0]:
            drops = any(v.remedy is Remedy.DROP for v in j.attempt.fired())
            if j.attempt.text is not None and not _musts(j.attempt.verdicts) and not drops:
                assert len(_shoulds(choice.verdicts)) <= len(_shoulds(j.attempt.verdicts))


@given(cases())
def test_a_clean_first_text_is_left_alone(case: tuple[tuple[Judged, ...], bool, str | None]) -> None:
    first = case[0][0]
    if (
        len(case[0]) == 1
        and first.attempt.text is not None
        and not first.attempt.fired()
        and not first.repeats
    ):
        assert _of(case).text == first.attempt.text
        assert _of(case).source is Source.FIRST


@given(judged(0, True), st.integers(-1, 3))
@example(Judged(Attempt(None, failure="timeout")), 0)
@example(Judged(Attempt("t", (Verdict("a", Outcome.FIRED),))), 1)
def test_a_second_is_asked_for_only_where_it_can_help(case: Judged, retries: int) -> None:
    attempt = case.attempt
    wanted = wants_second(attempt, retries)
    if retries < 1 or attempt.silent or any(v.remedy is Remedy.FIXED for v in attempt.fired()):
        assert not wanted
    elif attempt.text is None:
        assert wanted
    else:
        assert wanted == any(v.remedy is Remedy.REPHRASE for v in attempt.fired())


def test_a_broken_verdict_counts_as_neither() -> None:
    broken = Verdict("a", Outcome.BROKEN)
    attempt = Attempt("text", (broken,))
    assert not wants_second(attempt, 1)
    choice = choose((Judged(attempt),), may_be_silent=False, fallback="F")
    assert (choice.text, choice.source) == ("text", Source.FIRST)


def test_equal_texts_the_later_wins() -> None:
    choice = choose((Judged(Attempt("one")), Judged(Attempt("two"))), may_be_silent=False, fallback="F")
    assert (choice.text, choice.source) == ("two", Source.REPHRASED)
