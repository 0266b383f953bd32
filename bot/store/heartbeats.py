"""Signs of life of background work, for `ketsugi doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """`failures` counts since the last success; `detail` is the name of the last error's class, or empty."""

    name: str
    at: datetime
    failures: int = 0
    detail: str = ""


async def beat(c: AsyncConnection, heartbeat: Heartbeat) -> None:
    """Record the newest sign of life of one worker."""
    values = {"at": heartbeat.at, "failures": heartbeat.failures, "detail": heartbeat.detail}
    statement = insert(schema.heartbeats).values(name=heartbeat.name, **values)
    await c.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))


async def everything(c: AsyncConnection) -> list[Heartbeat]:
    """All workers' newest signs of life, by name."""
    query = sa.select(schema.heartbeats).order_by(schema.heartbeats.c.name)
    return [Heartbeat(**row._mapping) for row in await c.execute(query)]
