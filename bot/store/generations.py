"""What every guarded generation came to: rates for `ketsugi stats`, counts for the daily caps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.guard.model import Attempt, Generated, Outcome, Remedy, Source, Strength, Verdict
from bot.meeting.model import Route
from bot.store import schema

_generations = schema.generations
_attempts = schema.generation_attempts


@dataclass(frozen=True, slots=True)
class Generation:
    """One recorded generation. Texts are None for silence, and once the transcript's retention is over."""

    id: int
    meeting_id: int | None
    route: Route
    model: str
    source: Source
    text: str | None
    final_verdicts: tuple[Verdict, ...]
    attempts: tuple[Attempt, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often one rule fired in one meeting with one model, on first answers and on what came of them.

    `judged`: first answers the rule looked at (broken runs are not among them); `before`: it fired on these;
    `after`: it fired on the text finally chosen too (never for fixed texts and silence). `broken`: runs in
    which the rule itself failed. The meeting is the cluster for intervals; None stands for ask and chat.
    """

    rule: str
    strength: Strength
    model: str
    meeting_id: int | None
    judged: int
    before: int
    after: int
    broken: int


@dataclass(frozen=True, slots=True)
class SourceCount:
    """How many generations of one route and model ended in which source."""

    route: Route
    model: str
    source: Source
    count: int


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """Calls and tokens of one model version (`tokens_in` counts cached ones too, `tokens_out` thoughts)."""

    version: str
    calls: int
    failures: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    latency_ms: int  # summed over the calls


def _written(verdicts: Iterable[Verdict]) -> list[list[str]]:
    return [[v.rule, v.outcome, v.reason, v.strength, v.remedy] for v in verdicts]


def _read(verdicts: Sequence[Sequence[str]]) -> tuple[Verdict, ...]:
    return tuple(
        Verdict(rule, Outcome(outcome), reason, Strength(strength), Remedy(remedy))
        for rule, outcome, reason, strength, remedy in verdicts
    )


async def record(
    c: AsyncConnection,
    guild_id: int,
    meeting_id: int | None,
    route: Route,
    generated: Generated,
    at: datetime,
) -> int:
    """Keep one generation with all its attempts; returns its id. `meeting_id` None: outside any meeting."""
    statement = sa.insert(_generations).values(
        guild_id=guild_id,
        meeting_id=meeting_id,
        route=route,
        model=generated.model,
        source=generated.source,
        text=generated.text,
        verdicts=_written(generated.final_verdicts),
        at=at,
    )
    generation_id = int((await c.execute(statement.returning(_generations.c.id))).scalar_one())
    names = ("text", "failure", "silent", "version", "latency_ms", "tokens_in", "tokens_cached", "tokens_out")
    rows = [
        {name: getattr(attempt, name) for name in names}
        | {"generation_id": generation_id, "number": number, "verdicts": _written(attempt.verdicts)}
        for number, attempt in enumerate(generated.attempts)
    ]
    if rows:
        await c.execute(sa.insert(_attempts), rows)
    return generation_id


def _attempt(row: sa.Row[Any]) -> Attempt:
    values = dict(row._mapping)
    del values["generation_id"], values["number"]
    values["verdicts"] = _read(values["verdicts"])
    return Attempt(**values)


async def _all(c: AsyncConnection, where: Sequence[sa.ColumnElement[bool]]) -> list[Generation]:
    joined = sa.select(_attempts).join(_generations, _generations.c.id == _attempts.c.generation_id)
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for row in await c.execute(joined.where(*where).order_by(_attempts.c.generation_id, _attempts.c.number)):
        attempts[row.generation_id].append(_attempt(row))
    query = sa.select(_generations).where(*where).order_by(_generations.c.id)
    return [
        Generation(
            row.id,
            row.meeting_id,
            Route(row.route),
            row.model,
            Source(row.source),
            row.text,
            _read(row.verdicts),
            tuple(attempts[row.id]),
            row.at,
        )
        for row in await c.execute(query)
    ]


async def everything(c: AsyncConnection, meeting_id: int) -> list[Generation]:
    """All generations of one meeting, oldest first."""
    return await _all(c, [_generations.c.meeting_id == meeting_id])


def _scope(guild_id: int | None, since: datetime | None) -> list[sa.ColumnElement[bool]]:
    where: list[sa.ColumnElement[bool]] = []
    if guild_id is not None:
        where.append(_generations.c.guild_id == guild_id)
    if since is not None:
        where.append(_generations.c.at >= since)
    return where


def _model(generation: Generation) -> str:
    """The version as the provider returned it; the configured name where no answer came."""
    return next((a.version for a in generation.attempts if a.version), generation.model)


async def totals(c: AsyncConnection, guild_id: int | None, since: datetime | None = None) -> list[RuleCount]:
    """Counts per rule, model and meeting, before and after the guard. `guild_id` None: the whole database,
    which only the operator's own command line may show."""
    counts: dict[tuple[str, Strength, str, int | None], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for generation in await _all(c, _scope(guild_id, since)):
        if not generation.attempts:
            continue
        fired_after = {v.rule for v in generation.final_verdicts if v.outcome is Outcome.FIRED}
        for verdict in generation.attempts[0].verdicts:
            key = (verdict.rule, verdict.strength, _model(generation), generation.meeting_id)
            count = counts[key]
            if verdict.outcome is Outcome.BROKEN:
                count[3] += 1
                continue
            count[0] += 1
            count[1] += verdict.outcome is Outcome.FIRED
            count[2] += verdict.rule in fired_after
    ordered = sorted(counts.items(), key=lambda item: (item[0][0], item[0][2], item[0][3] or 0))
    return [RuleCount(*key, *count) for key, count in ordered]


async def sources(
    c: AsyncConnection, guild_id: int | None, since: datetime | None = None
) -> list[SourceCount]:
    """How generations ended, per route and model."""
    columns = (_generations.c.route, _generations.c.model, _generations.c.source)
    query = sa.select(*columns, sa.func.count().label("n")).where(*_scope(guild_id, since))
    return [
        SourceCount(Route(row.route), row.model, Source(row.source), row.n)
        for row in await c.execute(query.group_by(*columns).order_by(*columns))
    ]


async def usage(c: AsyncConnection, guild_id: int | None, since: datetime | None = None) -> list[ModelUsage]:
    """Calls and tokens per model version: what cost and the daily caps are computed from."""
    total = [
        sa.func.sum(_attempts.c[name]).label(name)
        for name in ("tokens_in", "tokens_cached", "tokens_out", "latency_ms")
    ]
    query = (
        sa.select(
            _attempts.c.version,
            sa.func.count().label("calls"),
            sa.func.count(_attempts.c.failure).label("failures"),
            *total,
        )
        .join(_generations, _generations.c.id == _attempts.c.generation_id)
        .where(*_scope(guild_id, since))
        .group_by(_attempts.c.version)
        .order_by(_attempts.c.version)
    )
    return [ModelUsage(**row._mapping) for row in await c.execute(query)]


async def count_since(c: AsyncConnection, guild_id: int, since: datetime, *, free: str | None = None) -> int:
    """Generations of one server from `since` on: for its daily cap; the model `free` does not count."""
    where = [*_scope(guild_id, since), *([_generations.c.model != free] if free is not None else [])]
    query = sa.select(sa.func.count()).select_from(_generations).where(*where)
    return int((await c.execute(query)).scalar_one())
