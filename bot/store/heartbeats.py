"""Signs of life of background work, for `ketsugi doctor`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema

PROCESS = "bot"  # the row of the process itself: `at` is when the rows were written


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """One worker: `at` is its last success (its start, before the first), due every `every_s` seconds.

    `failures` counts since the last success, `error` is the class of the last one. `lag_s` is how late the event
    loop was at worst during the last minutes; the process's own row alone has it.
    """

    name: str
    at: datetime
    every_s: float = 0.0
    failures: int = 0
    error: str = ""
    lag_s: float = 0.0


async def replace(c: AsyncConnection, beats: Sequence[Heartbeat]) -> None:
    """Put these signs of life in the place of the last ones: work that is no longer done leaves no row behind."""
    await c.execute(sa.delete(schema.heartbeats))
    await c.execute(sa.insert(schema.heartbeats), [_row(beat) for beat in beats])


async def everything(c: AsyncConnection) -> list[Heartbeat]:
    """All workers' newest signs of life, by name."""
    query = sa.select(schema.heartbeats).order_by(schema.heartbeats.c.name)
    return [_beat(row) for row in await c.execute(query)]


def _row(beat: Heartbeat) -> dict[str, object]:
    facts = {"every_s": beat.every_s, "error": beat.error, "lag_s": beat.lag_s}
    return {"name": beat.name, "at": beat.at, "failures": beat.failures, "detail": json.dumps(facts)}


def _beat(row: sa.Row[tuple[object, ...]]) -> Heartbeat:
    # Rows of earlier versions hold a word or nothing here.
    facts = json.loads(row.detail) if row.detail.startswith("{") else {}
    return Heartbeat(row.name, row.at, failures=row.failures, **facts)
