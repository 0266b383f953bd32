"""Result files: written as they happen, read again, shown with the model's version, compared."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from bot.errors import ConfigError
from bot.evaluation import cases, records, report, running, tally
from bot.evaluation.records import AttemptLine, Head, Run
from bot.evaluation.running import Wanted, measure
from bot.evaluation.scripted import ScriptedModel
from bot.guard.table import TABLE
from bot.models.base import Draft, Request
from tests.fakes import FakeGemini, Reply, answer


def paper() -> Console:
    return Console(file=io.StringIO(), width=170, highlight=False)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def a_run(**values: Any) -> Run:
    attempt = AttemptLine(
        verdicts={"holds_minutes": "fired"},
        text="x",
        latency_ms=1600,
        tokens_in=900,
        tokens_out=50,
        version="v-1",
    )
    base: dict[str, Any] = {
        "scenario": "ja/notice.ten", "tempts": ("holds_minutes",), "language": "ja",
        "route": "time_notice", "run": 0,
        "model": "m", "version": "v-1", "source": "fixed", "text": "残り10分です。", "attempts": (attempt,),
        "after": {"holds_minutes": "pass"}, "cost_usd": 0.001,
    }  # fmt: skip
    return Run(**(base | values))


async def test_a_whole_evaluation_with_file_table_and_truth(tmp_path: Path) -> None:
    out, console = tmp_path / "a.jsonl", paper()
    status = await measure(Wanted(2, "scripted:both", "ja", out, ("holds_minutes",)), console, paper())
    assert status == 0
    head, runs = records.read(out)
    assert (head.model, head.runs, head.scenarios, len(runs)) == ("scripted:both", 2, 3, 6)
    assert {r.version for r in runs} == {"scripted-both-1"}
    assert all(a.version == "scripted-both-1" for r in runs for a in r.attempts)
    text = written(console)
    tables = [line for line in text.split("\n") if line.startswith("scripted:both (scripted-both-1):")]
    assert len(tables) == 2
    assert "6/6 100%" in text
    assert "counts equal what scripted:both did: 6 broken rules, all counted" in text
    assert f"6 runs in {out}" in text


@dataclass
class Stopped(ScriptedModel):
    """Ctrl-C comes during its fourth answer; like every scripted model it never waits for anything."""

    async def generate(self, request: Request[Any]) -> Draft[Any]:
        if len(self.truth) == 3:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        return await super().generate(request)


async def test_what_was_measured_before_an_interruption_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def engine(name: str, chosen: Any, clock: Any) -> ScriptedModel:
        return Stopped("clean", chosen)

    monkeypatch.setattr(running, "engine", engine)
    out, console = tmp_path / "a.jsonl", paper()
    status = await measure(Wanted(5, "scripted:clean", "en", out), console, paper())
    assert status == 130
    assert len(records.read(out)[1]) == 4
    total = 5 * len(cases.load("en"))
    assert f"interrupted: 4 of {total} runs were measured and are kept" in written(console)
    assert "4 runs of 4 scenarios" in written(console)


def test_a_line_cut_off_by_a_crash_is_left_out_and_any_other_fault_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    whole = records.line_of(Head(model="m", runs=1, scenarios=1)) + records.line_of(a_run())
    path.write_text(whole + records.line_of(a_run(run=1))[:40], encoding="utf-8")
    assert len(records.read(path)[1]) == 1
    path.write_text("{\n" + whole, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"a\.jsonl:1: not JSON"):
        records.read(path)
    path.write_text(records.line_of(a_run()), encoding="utf-8")
    with pytest.raises(ConfigError, match="not a result file"):
        records.read(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        records.read(tmp_path / "missing.jsonl")


def test_every_version_that_answered_has_its_own_table() -> None:
    runs = [a_run(), a_run(run=1, version="v-2"), a_run(run=2, version="", attempts=())]
    grouped = tally.by_version(runs)
    assert {version: len(part) for version, part in grouped.items()} == {"v-1": 1, "v-2": 1, "": 1}
    alone = tally.by_version([runs[0], runs[2]])
    assert {version: len(part) for version, part in alone.items()} == {
        "v-1": 2
    }  # unanswered runs are its own
    console = paper()
    report.show(console, Head(model="m", runs=1, scenarios=1), runs)
    for name in ("m (v-1)", "m (v-2)", "m (no answer came, no version returned)"):
        assert written(console).count(f"{name}: ") == 2


def test_totals_count_waiting_tokens_cost_and_missing_answers() -> None:
    failed = AttemptLine(verdicts={}, failure="timeout", latency_ms=8400, tokens_in=10)
    total = tally.totals([a_run(), a_run(run=1, attempts=(a_run().attempts[0], failed))])
    assert (total.median_ms, total.p95_ms) == (5800, pytest.approx(9580))
    assert (total.tokens_in, total.tokens_out, total.failures) == (1810, 100, {"timeout": 1})
    assert total.cost_usd == pytest.approx(0.002)
    assert (
        tally.totals([a_run(), a_run(cost_usd=None)]).cost_usd is None
    )  # a price that is missing is not zero


def test_broken_rules_are_counted_apart() -> None:
    broken = AttemptLine(verdicts={"holds_minutes": "broken"}, text="x")
    (row,) = tally.rates([a_run(), a_run(run=1, attempts=(broken,))])
    assert (row.before.fired, row.before.n, row.broken) == (1, 1, 1)


def test_two_files_are_compared_over_what_both_played() -> None:
    bad = [a_run(run=n, scenario=f"ja/{n}") for n in range(20)]
    passed = AttemptLine(verdicts={"holds_minutes": "pass"}, text="x", version="v-2")
    good = [r.model_copy(update={"attempts": (passed,), "version": "v-2"}) for r in bad]
    only_here = a_run(scenario="ja/elsewhere")
    (row,) = tally.compare([*bad, only_here], good)
    assert (row.before[0].fired, row.before[0].n, row.before[1].fired) == (20, 20, 0)
    assert row.before_gap is not None
    assert row.before_gap.value == -1
    assert row.before_gap.clear
    assert row.after_gap is not None
    assert not row.after_gap.clear
    console = paper()
    head = Head(model="light", runs=1, scenarios=20)
    report.show_comparison(console, (head, bad), (head.model_copy(update={"model": "strong"}), good))
    assert "A = light (v-1), 20 runs" in written(console)
    assert "B = strong (v-2), 20 runs" in written(console)
    assert "-100 [-100, -77] *" in written(console)


async def test_a_gemini_model_by_name_over_the_wire(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Asked again where it broke a rule, the version as returned everywhere, failures counted and not
    covered."""
    bad, good = "Let us narrow down the place.", "Let's start the meeting. How far have we come?"
    script = [answer({"response": bad}), answer({"response": good}), Reply(status=400), Reply(status=400)]
    monkeypatch.chdir(tmp_path)
    async with FakeGemini(*script) as fake:
        monkeypatch.setenv("GEMINI_BASE_URL", fake.url)
        out, console = tmp_path / "a.jsonl", paper()
        wanted = Wanted(1, "gemini-3.5-flash-lite", "en", out, ("announces_start",))
        assert await measure(wanted, console, paper()) == 0
    mended, failed = records.read(out)[1]
    assert (mended.source, mended.version, mended.text) == ("rephrased", "fake-model-001", good)
    assert [a.version for a in mended.attempts] == ["fake-model-001"] * 2
    assert mended.attempts[0].tokens_in == 120
    assert (failed.source, [a.failure for a in failed.attempts]) == ("fixed", ["refused", "refused"])
    text = written(console)
    assert text.count("gemini-3.5-flash-lite (fake-model-001): ") == 2
    assert "1/1 100%" in text
    assert "refused 2" in text
    assert "The budget is at most 5,000 dollars" in fake.requests[0].prompt


async def test_a_rule_without_scenarios_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(ConfigError, match=r"no scenario is made for nonsense; rules: .*announces_start"):
        await measure(Wanted(1, "offline", only=("nonsense",)), paper(), paper())
    assert {row.name for row in TABLE} <= {rule for case in cases.load() for rule in case.tempts}


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("scripted:nonsense", "no script 'nonsense'; there are clean"),
        ("scripted:random:x", "the seed must be a whole number"),
        ("gemini-3.8-flash", "needs GEMINI_API_KEY"),
    ],
)
async def test_a_model_that_cannot_be_asked_is_refused_at_once(
    model: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("GEMINI_API_KEY", "GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)  # no .env file
    with pytest.raises(ConfigError, match=told):
        await measure(Wanted(1, model), paper(), paper())
