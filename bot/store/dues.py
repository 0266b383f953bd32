"""Which closed meetings have actions that fall due."""

from __future__ import annotations

from datetime import date

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import EntryKind, MeetingState
from bot.store import schema

_entries, _meetings = schema.entries, schema.meetings


async def meetings_with_due(c: AsyncConnection, since: date) -> list[int]:
    """Closed meetings with an action whose due day is `since` or later, of all servers, by id."""
    query = (
        sa.select(_entries.c.meeting_id)
        .join(_meetings, _meetings.c.id == _entries.c.meeting_id)
        .where(
            _meetings.c.state == MeetingState.CLOSED,
            _meetings.c.kickoff_message_id.is_not(None),
            _entries.c.kind.in_([EntryKind.ACTION, EntryKind.REVISION]),
            _entries.c.due.like("____-__-__"),
            _entries.c.due >= since.isoformat(),
        )
        .distinct()
    )
    return sorted((await c.execute(query)).scalars())


async def carried_on(c: AsyncConnection, meeting_id: int) -> frozenset[int]:
    """Numbers of this meeting's entries that a later meeting took over."""
    prefix = f"carry:{meeting_id}:"
    query = sa.select(_entries.c.source_key).where(_entries.c.source_key.like(f"{prefix}%"))
    keys = (await c.execute(query)).scalars()
    return frozenset(int(key.removeprefix(prefix)) for key in keys if key.removeprefix(prefix).isdigit())
