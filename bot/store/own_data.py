"""Everything a server's rows hold of one person, for that person's own eyes (`/privacy show`)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema, transcript

_COLUMNS: dict[str, tuple[sa.Table, str, tuple[str, ...]]] = {
    "messages": (
        schema.messages,
        "author_id",
        ("meeting_id", "message_id", "at", "text", "edited_at", "deleted_at"),
    ),
    "reactions": (schema.reactions, "user_id", ("meeting_id", "message_id", "at", "emoji")),
    "entries": (
        schema.entries,
        "author_id",
        ("meeting_id", "number", "kind", "text", "quote", "at", "owner", "due", "message_id"),
    ),
    "corrections": (schema.errata, "author_id", ("meeting_id", "number", "text", "at")),
    "chaired": (schema.meetings, "chair_id", ("id", "title", "started_at", "closed_at")),
}


async def everything(c: AsyncConnection, guild_id: int, user_id: int) -> dict[str, Any]:
    """JSON data: "opted_out", "opted_in_at" (or None), and a list of rows under each name of `_COLUMNS`."""
    found: dict[str, Any] = {
        "opted_out": await transcript.opted_out(c, guild_id, user_id),
        "opted_in_at": _plain(await transcript.opted_in_at(c, guild_id, user_id)),
    }
    for name, (table, who, columns) in _COLUMNS.items():
        query = sa.select(*(table.c[column] for column in columns)).where(
            table.c.guild_id == guild_id, table.c[who] == user_id
        )
        rows = await c.execute(query.order_by(*table.primary_key.columns))
        found[name] = [{key: _plain(value) for key, value in row._mapping.items()} for row in rows]
    return found


def _plain(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
