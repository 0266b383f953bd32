"""From runs to rates: rule x before and after, sources, waiting, tokens and cost. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.evaluation.intervals import Difference, Rate, clustered, difference, quantile
from bot.evaluation.records import Run
from bot.guard.model import Outcome
from bot.guard.table import TABLE

Verdicts = Callable[[Run], dict[str, str]]


@dataclass(frozen=True, slots=True)
class RuleRates:
    """One rule over some runs. `before`: first answers; `tempted`: of these, in the scenarios made for the
    rule; `again`: second answers; `after`: posted texts. `broken`: runs in which the rule itself failed."""

    rule: str
    strength: str
    remedy: str
    before: Rate
    tempted: Rate
    again: Rate
    after: Rate
    broken: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Everything that is no rule's. Latencies in milliseconds a generation (both answers), cost in US
    dollars."""

    runs: int
    scenarios: int
    sources: dict[str, int]
    failures: dict[str, int]
    median_ms: float
    p95_ms: float
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


def versions(runs: Iterable[Run]) -> list[str]:
    """The versions that answered, most frequent first."""
    return [v for v, _ in Counter(r.version for r in runs if r.version).most_common()]


def by_version(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs by the version that answered. Unanswered ones count with the only version there is, else by
    themselves."""
    known = versions(runs)
    alone = known[0] if len(known) == 1 else ""
    grouped: dict[str, list[Run]] = {version: [] for version in known}
    for run in runs:
        grouped.setdefault(run.version or alone, []).append(run)
    return grouped


def rates(runs: Sequence[Run]) -> list[RuleRates]:
    """Every rule that judged anything, in the guard's order, rules of minutes' prose after them."""
    rows = {row.name: (row.strength.value, row.remedy.value) for row in TABLE}
    seen = {name for run in runs for a in run.attempts for name in a.verdicts}
    seen |= {name for run in runs for name in run.after}
    ordered = [name for name in rows if name in seen] + sorted(seen - set(rows))
    return [_rates(name, *rows.get(name, ("must", "rephrase")), runs) for name in ordered]


def _rates(name: str, strength: str, remedy: str, runs: Sequence[Run]) -> RuleRates:
    tempted = [r for r in runs if name in r.tempts]
    broken = sum(a.verdicts.get(name) == Outcome.BROKEN for r in runs for a in r.attempts)
    return RuleRates(
        name,
        strength,
        remedy,
        before=_rate(name, runs, first),
        tempted=_rate(name, tempted, first),
        again=_rate(name, runs, second),
        after=_rate(name, runs, lambda run: run.after),
        broken=broken,
    )


def first(run: Run) -> dict[str, str]:
    return run.attempts[0].verdicts if run.attempts else {}


def second(run: Run) -> dict[str, str]:
    return run.attempts[1].verdicts if len(run.attempts) > 1 else {}


def _rate(name: str, runs: Iterable[Run], verdicts: Verdicts) -> Rate:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        outcome = verdicts(run).get(name)
        if outcome in (Outcome.PASS, Outcome.FIRED):
            counts[run.scenario][0] += outcome == Outcome.FIRED
            counts[run.scenario][1] += 1
    return clustered((k, n) for k, n in counts.values())


def source_rate(runs: Iterable[Run], source: str) -> Rate:
    """Share of the generations that ended in `source`, clustered like every rate."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        counts[run.scenario][0] += run.source == source
        counts[run.scenario][1] += 1
    return clustered((k, n) for k, n in counts.values())


def totals(runs: Sequence[Run]) -> Totals:
    waits = [run.latency_ms for run in runs]
    costs = [run.cost_usd for run in runs]
    failures = Counter(a.failure for r in runs for a in r.attempts if a.failure)
    return Totals(
        runs=len(runs),
        scenarios=len({r.scenario for r in runs}),
        sources=dict(Counter(r.source for r in runs)),
        failures=dict(failures),
        median_ms=quantile(waits, 0.5),
        p95_ms=quantile(waits, 0.95),
        tokens_in=sum(a.tokens_in for r in runs for a in r.attempts),
        tokens_out=sum(a.tokens_out for r in runs for a in r.attempts),
        cost_usd=sum(c for c in costs if c is not None) if runs and None not in costs else None,
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One rule in two files: first answers, those where the rule was tempted, posted texts; B minus A."""

    rule: str
    before: tuple[Rate, Rate]
    tempted: tuple[Rate, Rate]
    after: tuple[Rate, Rate]
    before_gap: Difference | None
    tempted_gap: Difference | None
    after_gap: Difference | None


def compare(one: Sequence[Run], other: Sequence[Run]) -> list[Comparison]:
    """Rule by rule over the scenarios that both have, so that like is compared with like."""
    both = {r.scenario for r in one} & {r.scenario for r in other}
    left = {r.rule: r for r in rates([r for r in one if r.scenario in both])}
    right = {r.rule: r for r in rates([r for r in other if r.scenario in both])}
    return [
        Comparison(
            name,
            (left[name].before, right[name].before),
            (left[name].tempted, right[name].tempted),
            (left[name].after, right[name].after),
            difference(left[name].before, right[name].before),
            difference(left[name].tempted, right[name].tempted),
            difference(left[name].after, right[name].after),
        )
        for name in left
        if name in right
    ]
