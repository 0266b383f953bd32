"""Counts equal the truth of scripted doubles, before and after, for every rule and both languages."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from bot.evaluation import cases, tally, truth
from bot.evaluation.cases import Case
from bot.evaluation.records import Run
from bot.evaluation.scripted import SCRIPTS, ScriptedModel
from bot.evaluation.violations import play
from bot.guard.model import Remedy, Strength
from bot.guard.table import TABLE
from bot.models.offline import OfflineModel

ALL = cases.load()
MUST = {row.name for row in TABLE if row.strength is Strength.MUST}


async def played(script: str, runs: int, chosen: list[Case] = ALL) -> tuple[ScriptedModel, list[Run]]:
    model = ScriptedModel(script, chosen)
    return model, [run async for run in play(model, chosen, runs)]


@pytest.mark.parametrize("script", sorted(SCRIPTS))
async def test_what_is_counted_is_what_was_done(script: str) -> None:
    model, runs = await played(script, 2)
    assert len(runs) == 2 * len(ALL)
    assert truth.differences(model.truth, runs) == []
    assert truth.verdict(model, runs).startswith("counts equal")
    told = truth.told([d for d in model.truth if d.attempt == 0])
    if script != "random":  # there the latch may have moved, which `differences` takes into account
        before = {r.rule: r.before.fired for r in tally.rates(runs)}
        assert {rule: n for rule, n in before.items() if n} == {rule: n for (rule, _), n in told.items()}


async def test_a_wrong_count_is_told() -> None:
    model, runs = await played("both", 1)
    spoiled = runs[0].model_copy(update={"attempts": ()})
    assert truth.differences(model.truth, [spoiled, *runs[1:]]) == [
        "no_hand_off_while_closing, answer 1: broken 8, counted 7",
        "no_hand_off_while_closing, answer 2: broken 8, counted 7",
    ]
    assert truth.verdict(model, [spoiled, *runs[1:]]).startswith("counts differ")


async def test_broken_once_is_mended_by_asking_again() -> None:
    _, runs = await played("first", 1)
    for row in tally.rates(runs):
        assert row.after.fired == 0 or row.rule in ("decided_undecided_apart", "no_unknown_record"), row
    # A fixed remedy asks nobody twice, a dropped post and a completed one neither.
    remedies = {row.name: row.remedy for row in TABLE}
    for run, case in zip(runs, ALL, strict=True):
        broken = {remedies.get(rule, Remedy.REPHRASE) for rule in case.bad[0].breaks}
        asked_twice = Remedy.REPHRASE in broken and Remedy.FIXED not in broken
        assert len(run.attempts) == (2 if asked_twice else 1), run.scenario
        if broken == {Remedy.REPHRASE}:
            assert run.source == "rephrased", run.scenario


async def test_broken_twice_never_reaches_the_room_where_it_must_not() -> None:
    model, runs = await played("both", 1)
    expected: dict[str, set[str]] = defaultdict(set)
    for deed in model.truth:
        expected[deed.case] |= deed.breaks
    for run in runs:
        if expected[run.scenario] & MUST:
            assert run.text not in {a.text for a in run.attempts}, run.scenario
            assert run.source in ("fixed", "completed", "silent"), run.scenario
    sources = Counter(run.source for run in runs)
    assert sources.keys() == {"fixed", "completed", "rephrased", "silent"}


async def test_alternately_breaks_every_other_run() -> None:
    chosen = [c for c in ALL if c.case in ("ja/opening.already_talking", "en/mass.turn")]
    _, runs = await played("alternately", 4, chosen)
    rows = {r.rule: r for r in tally.rates(runs)}
    assert (rows["announces_start"].before.fired, rows["announces_start"].before.n) == (2, 4)
    assert (rows["no_mass_mention"].tempted.fired, rows["no_mass_mention"].tempted.n) == (2, 4)
    assert rows["no_mass_mention"].before.clusters == 2


async def test_the_offline_engine_breaks_nothing_it_must_keep() -> None:
    runs = [run async for run in play(OfflineModel(), ALL, 1)]
    fired = [
        (run.scenario, rule)
        for run in runs
        for rule, outcome in (run.attempts[0].verdicts if run.attempts else {}).items()
        if outcome != "pass" and rule in MUST
    ]
    assert fired == []


async def test_rounds_are_balanced_so_that_a_stopped_evaluation_is_too() -> None:
    _, runs = await played("clean", 2, ALL[:3])
    assert [run.scenario for run in runs] == [c.case for c in ALL[:3]] * 2
    assert [run.run for run in runs] == [0, 0, 0, 1, 1, 1]
