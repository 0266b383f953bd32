"""Headers of a meeting's outbox: what a room needs to know of its posts when it is read anew, without their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema


@dataclass(frozen=True, slots=True)
class Header:
    key: str
    kind: str
    state: str
    created_at: datetime
    message_id: int | None
    payload: Mapping[str, Any]


async def posts(c: AsyncConnection, meeting_id: int) -> list[Header]:
    """All posts of a meeting, in the order they were put."""
    table = schema.posts
    query = (
        sa.select(
            table.c.key, table.c.kind, table.c.state, table.c.created_at, table.c.message_id, table.c.payload
        )
        .where(table.c.meeting_id == meeting_id)
        .order_by(table.c.id)
    )
    return [Header(**row._mapping) for row in await c.execute(query)]
