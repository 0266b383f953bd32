"""Panels of AI participants: one row a meeting that has one, one row a turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.panel.order import Turn
from bot.panel.roles import Panel, Plan, Role
from bot.store import schema
from bot.store.generations import ModelUsage

_panels = schema.panels
_turns = schema.panel_turns
_CHANGEABLE = frozenset({"webhook_id", "webhook_unusable", "stop_reason", "stopped_at"})


def _panel(row: sa.Row[Any]) -> Panel:
    values = dict(row._mapping)
    values["roles"] = tuple(Role(name, standpoint) for name, standpoint in values["roles"])
    return Panel(**values)


async def create(c: AsyncConnection, guild_id: int, meeting_id: int, plan: Plan, now: datetime) -> None:
    """The panel of a meeting that has just been made, in the same transaction."""
    values = {
        "meeting_id": meeting_id,
        "guild_id": guild_id,
        "roles": [[role.name, role.standpoint] for role in plan.roles],
        "turns": plan.turns,
        "cost_cap": plan.cost_cap,
        "created_at": now,
    }
    await c.execute(sa.insert(_panels).values(**values))


async def get(c: AsyncConnection, meeting_id: int) -> Panel | None:
    row = (await c.execute(sa.select(_panels).where(_panels.c.meeting_id == meeting_id))).first()
    return None if row is None else _panel(row)


async def update(c: AsyncConnection, meeting_id: int, **changes: Any) -> Panel:
    """Change webhook or end (named as in `Panel`); StoreError for anything else, or where there is no panel."""
    if not changes.keys() <= _CHANGEABLE:
        raise StoreError(f"a panel has no changeable {', '.join(sorted(changes.keys() - _CHANGEABLE))}")
    statement = sa.update(_panels).where(_panels.c.meeting_id == meeting_id).values(**changes)
    row = (await c.execute(statement.returning(_panels))).first()
    if row is None:
        raise StoreError(f"meeting {meeting_id} has no panel")
    return _panel(row)


async def stop(c: AsyncConnection, meeting_id: int, reason: str, now: datetime) -> Panel | None:
    """End it once: None where it has ended already, with whatever reason came first."""
    statement = (
        sa.update(_panels)
        .where(_panels.c.meeting_id == meeting_id, _panels.c.stop_reason.is_(None))
        .values(stop_reason=reason, stopped_at=now)
    )
    row = (await c.execute(statement.returning(_panels))).first()
    return None if row is None else _panel(row)


async def add_turn(c: AsyncConnection, panel: Panel, turn: Turn) -> bool:
    """Record one turn; False where its number was taken before (then nothing changes)."""
    values = {
        "meeting_id": panel.meeting_id,
        "guild_id": panel.guild_id,
        "number": turn.number,
        "role": turn.role,
        "outcome": turn.outcome,
        "at": turn.at,
        "agrees": turn.agrees,
        "seen_to": turn.seen_to,
    }
    return (await c.execute(insert(_turns).values(**values).on_conflict_do_nothing())).rowcount == 1


async def turns(c: AsyncConnection, meeting_id: int) -> list[Turn]:
    """Every turn so far, in order."""
    columns = (
        _turns.c.number,
        _turns.c.role,
        _turns.c.outcome,
        _turns.c.at,
        _turns.c.agrees,
        _turns.c.seen_to,
    )
    query = sa.select(*columns).where(_turns.c.meeting_id == meeting_id).order_by(_turns.c.number)
    return [Turn(**row._mapping) for row in await c.execute(query)]


async def people_at(c: AsyncConnection, meeting_id: int) -> datetime | None:
    """When a person last wrote in the meeting: panelists' ids are below 0."""
    messages = schema.messages
    query = (
        sa.select(messages.c.at)
        .where(
            messages.c.meeting_id == meeting_id, messages.c.deleted_at.is_(None), messages.c.author_id >= 0
        )
        .order_by(messages.c.message_id.desc())
        .limit(1)
    )
    return (await c.execute(query)).scalar()


async def usage(c: AsyncConnection, meeting_id: int) -> Sequence[tuple[str, ModelUsage]]:
    """(model asked for, tokens by returned version) of everything generated in one meeting so far."""
    generations, attempts = schema.generations, schema.generation_attempts
    total = [
        sa.func.sum(attempts.c[name]).label(name)
        for name in ("tokens_in", "tokens_cached", "tokens_out", "latency_ms")
    ]
    columns = (
        generations.c.model,
        attempts.c.version,
        sa.func.count().label("calls"),
        sa.func.count(attempts.c.failure).label("failures"),
    )
    query = (
        sa.select(*columns, *total)
        .join(generations, generations.c.id == attempts.c.generation_id)
        .where(generations.c.meeting_id == meeting_id)
        .group_by(generations.c.model, attempts.c.version)
        .order_by(generations.c.model, attempts.c.version)
    )
    found = []
    for row in await c.execute(query):
        values = dict(row._mapping)
        found.append((values.pop("model"), ModelUsage(**values)))
    return found
