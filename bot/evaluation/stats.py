"""`ketsugi stats`: the rates of `ketsugi eval`, from real meetings. The database is opened read-only."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.evaluation.intervals import Rate, clustered
from bot.evaluation.report import NONE, interval, seconds, share
from bot.guard.model import Source
from bot.models.base import Usage
from bot.models.prices import cost
from bot.store import generations
from bot.store.engine import Connection, Database
from bot.store.generations import ModelUsage, RuleCount, SourceCount


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule and model over real meetings; meetings are the clusters (ask and chat count as one)."""

    rule: str
    strength: str
    model: str
    before: Rate
    after: Rate
    broken: int


@dataclass(frozen=True, slots=True)
class Stats:
    rules: tuple[RuleRow, ...]
    sources: tuple[SourceCount, ...]
    usage: tuple[ModelUsage, ...]


async def collect(database_url: str, since: datetime | None = None) -> Stats:
    """Everything recorded from `since` on, over all servers: for whoever runs the bot. Raises StoreError."""
    db = Database(database_url, read_only=True)
    await db.open()
    try:

        async def work(c: Connection) -> Stats:
            return Stats(
                rule_rows(await generations.totals(c, None, since)),
                tuple(await generations.sources(c, None, since)),
                tuple(await generations.usage(c, None, since)),
            )

        return await db.unit(work)
    finally:
        await db.close()


def rule_rows(counts: Sequence[RuleCount]) -> tuple[RuleRow, ...]:
    grouped: dict[tuple[str, str, str], list[RuleCount]] = defaultdict(list)
    for count in counts:
        grouped[count.rule, count.strength.value, count.model].append(count)
    return tuple(
        RuleRow(
            *key,
            before=clustered((c.before, c.judged) for c in part),
            after=clustered((c.after, c.judged) for c in part),
            broken=sum(c.broken for c in part),
        )
        for key, part in sorted(grouped.items())
    )


def show(console: Console, stats: Stats) -> None:
    console.print(_rules(stats))
    console.print(_sources(stats))
    console.print(_usage(stats))


def write(path: Path, stats: Stats) -> None:
    """JSON Lines: one object a rule and model, source, and model version."""
    with path.open("w", encoding="utf-8") as out:
        for kind, rows in (("rule", stats.rules), ("source", stats.sources), ("usage", stats.usage)):
            for row in rows:
                out.write(json.dumps({"kind": kind, **asdict(row)}, ensure_ascii=False) + "\n")


def _rules(stats: Stats) -> Table:
    table = Table(title="Rules, by model version as returned", title_justify="left")
    for heading in ("rule", "strength", "model"):
        table.add_column(heading, no_wrap=True)
    for heading in ("before", "95%", "after", "95%", "meetings", "broken"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in stats.rules:
        table.add_row(
            row.rule,
            row.strength,
            row.model,
            share(row.before),
            interval(row.before),
            share(row.after),
            interval(row.after),
            str(row.before.clusters),
            str(row.broken or NONE),
        )
    return table


def _sources(stats: Stats) -> Table:
    table = Table(title="Where posted texts came from", title_justify="left")
    for heading in ("route", "model"):
        table.add_column(heading, no_wrap=True)
    for source in Source:
        table.add_column(source.value, justify="right")
    grouped: dict[tuple[str, str], dict[Source, int]] = defaultdict(dict)
    for count in stats.sources:
        grouped[count.route.value, count.model][count.source] = count.count
    for (route, model), found in sorted(grouped.items()):
        table.add_row(route, model, *(str(found.get(source) or NONE) for source in Source))
    return table


def _usage(stats: Stats) -> Table:
    table = Table(title="Calls by model version", title_justify="left")
    table.add_column("version", no_wrap=True)
    for heading in (
        "calls",
        "without an answer",
        "tokens in",
        "of these cached",
        "tokens out",
        "mean wait",
        "cost",
    ):
        table.add_column(heading, justify="right")
    for row in stats.usage:
        price = cost(Usage(row.tokens_in, row.tokens_cached, row.tokens_out), row.version)
        table.add_row(
            row.version or "(no answer came)",
            str(row.calls),
            str(row.failures),
            f"{row.tokens_in:,}",
            f"{row.tokens_cached:,}",
            f"{row.tokens_out:,}",
            seconds(row.latency_ms / row.calls),
            NONE if price is None else f"${price:.4f}",
        )
    return table
