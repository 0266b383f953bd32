"""The only door through which ledger rows may be changed: it opens and shuts within one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema

# In a connection's info: this unit erased something, so the engine empties the write-ahead log after it.
ERASED = "ketsugi erased"


@asynccontextmanager
async def erasing(c: AsyncConnection, meeting_id: int) -> AsyncIterator[None]:
    """Let the triggers of one meeting's ledger pass while the block runs."""
    gate = schema.erasure_gate
    await c.execute(sa.insert(gate).values(meeting_id=meeting_id))
    c.info[ERASED] = True
    try:
        yield
    finally:
        await c.execute(sa.delete(gate).where(gate.c.meeting_id == meeting_id))
