"""Results as tables for a terminal. The model's version as returned stands in every one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bot.evaluation import tally
from bot.evaluation.intervals import Difference, Rate
from bot.evaluation.records import Head, Run
from bot.guard.model import Source

NONE = "–"


def show(console: Console, head: Head, runs: Sequence[Run]) -> None:
    """Rule table and totals, one pair a version that answered."""
    for version, part in tally.by_version(runs).items():
        name = label(head.model, version)
        console.print(_rules(name, part))
        console.print(_totals(name, part))


def label(model: str, version: str) -> str:
    """The model as asked for and as it called itself."""
    if not version:
        return f"{model} (no answer came, no version returned)"
    return model if version == model else f"{model} ({version})"


def _rules(name: str, runs: Sequence[Run]) -> Table:
    scenarios = len({r.scenario for r in runs})
    table = Table(title=f"{name}: rules, {len(runs)} runs of {scenarios} scenarios", title_justify="left")
    for heading in ("rule", "strength", "remedy"):
        table.add_column(heading, no_wrap=True)
    for heading in ("before", "95%", "where tempted", "2nd answer", "after", "95%", "broken"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in tally.rates(runs):
        table.add_row(
            row.rule,
            row.strength,
            row.remedy,
            share(row.before),
            interval(row.before),
            share(row.tempted),
            share(row.again),
            share(row.after),
            interval(row.after),
            str(row.broken or NONE),
        )
    return table


def _totals(name: str, runs: Sequence[Run]) -> Table:
    total = tally.totals(runs)
    table = Table(title=f"{name}: what was posted, and what it took", title_justify="left")
    for heading in (*(s.value for s in Source), "median", "p95", "tokens in", "tokens out", "cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    sources = [tally.source_rate(runs, s.value) for s in Source]
    table.add_row(
        *(f"{share(rate)}" for rate in sources),
        seconds(total.median_ms),
        seconds(total.p95_ms),
        f"{total.tokens_in:,}",
        f"{total.tokens_out:,}",
        NONE if total.cost_usd is None else f"${total.cost_usd:.4f}",
    )
    failed = ", ".join(f"{kind} {count}" for kind, count in sorted(total.failures.items()))
    fixed, rephrased = (
        sources[list(Source).index(Source.FIXED)],
        sources[list(Source).index(Source.REPHRASED)],
    )
    table.caption = (
        f"95%: rephrased {interval(rephrased)}, fixed {interval(fixed)}."
        f" Answers without a text: {failed or 'none'}."
    )
    table.caption_justify = "left"
    return table


def show_comparison(
    console: Console, one: tuple[Head, Sequence[Run]], other: tuple[Head, Sequence[Run]]
) -> None:
    """Two result files rule by rule; * where the interval of the difference leaves out zero."""
    names = [_named(*one), _named(*other)]
    both = {r.scenario for r in one[1]} & {r.scenario for r in other[1]}
    table = Table(
        title=f"A = {names[0]}\nB = {names[1]}\n{len(both)} scenarios in both", title_justify="left"
    )
    table.add_column("rule", no_wrap=True)
    for what in ("before", "tempted", "after"):
        for heading in (f"A {what}", f"B {what}", "B - A"):
            table.add_column(heading, justify="right", no_wrap=True)
    for row in tally.compare(one[1], other[1]):
        parts = (
            (row.before, row.before_gap),
            (row.tempted, row.tempted_gap),
            (row.after, row.after_gap),
        )
        table.add_row(
            row.rule, *(cell for (a, b), found in parts for cell in (share(a), share(b), gap(found)))
        )
    console.print(table)


def _named(head: Head, runs: Sequence[Run]) -> str:
    return f"{label(head.model, ', '.join(tally.versions(runs)))}, {len(runs)} runs"


def share(rate: Rate) -> str:
    """For example "15/20 75%"."""
    return f"{rate.fired}/{rate.n} {100 * rate.value:.0f}%" if rate.n else NONE


def interval(rate: Rate) -> str:
    return f"{100 * rate.low:.0f}-{100 * rate.high:.0f}%" if rate.n else NONE


def gap(found: Difference | None) -> str:
    if found is None:
        return NONE
    star = " *" if found.clear else ""
    return f"{100 * found.value:+.0f} [{100 * found.low:+.0f}, {100 * found.high:+.0f}]{star}"


def seconds(milliseconds: float) -> str:
    return NONE if math.isnan(milliseconds) else f"{milliseconds / 1000:.1f} s"
