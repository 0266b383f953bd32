"""Searching what a server's closed meetings decided, in the channels that the reader can see.

Portable statements over one small table that `index` fills from the ledger when a meeting closes and whenever
its ledger changed after that. Time at 1,000 meetings: tests/store/test_search.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting import ledger as folding
from bot.meeting import seeking
from bot.meeting.model import EntryKind, Meeting, MeetingState
from bot.store import ledger, meetings, schema
from bot.store._gate import ERASED

_decided, _meetings, _entries = schema.decided, schema.meetings, schema.entries
MOST = 3000  # rows that are ranked, the newest of those that hold any piece of the query
MOST_PIECES = 24
REPLACED = (
    "replace"  # source key of the entry that replaces a decision elsewhere: "replace:<meeting>:<number>"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A decision of a closed meeting. `replaced_by`: (meeting, number there) where people said so."""

    meeting_id: int
    number: int
    text: str
    confirmed: bool
    against: bool
    at: datetime
    message_id: int | None
    title: str
    channel_id: int
    kickoff_message_id: int | None
    replaced_by: tuple[int, int] | None = None
    score: float = 0.0


async def index(c: AsyncConnection, meeting_id: int) -> int:
    """Bring the search table up to a meeting's ledger; returns how many decisions it has."""
    meeting = await meetings.get(c, meeting_id)
    await c.execute(sa.delete(_decided).where(_decided.c.meeting_id == meeting_id))
    if meeting is None:
        return 0
    view = folding.fold(await ledger.everything(c, meeting_id))
    rows = [
        {
            "meeting_id": meeting_id,
            "number": item.number,
            "guild_id": meeting.guild_id,
            "text": item.text,
            "folded": seeking.normal(item.text),
            "confirmed": item.status == "confirmed",
            "against": (item.entry.value or 0) < 0,
            "at": item.entry.at,
            "message_id": item.entry.message_id or item.original.message_id,
        }
        for item in view.decisions
        if item.text.strip()
    ]
    if rows:
        await c.execute(sa.insert(_decided), rows)
    return len(rows)


async def catch_up(c: AsyncConnection) -> int:
    """Index closed meetings with decisions that have no row yet (closed by an earlier version); how many."""
    known = sa.exists().where(_decided.c.meeting_id == _meetings.c.id)
    decided = sa.exists().where(
        _entries.c.meeting_id == _meetings.c.id, _entries.c.kind == EntryKind.DECISION
    )
    query = sa.select(_meetings.c.id).where(_meetings.c.state == MeetingState.CLOSED, decided, ~known)
    ids = (await c.execute(query)).scalars().all()
    for meeting_id in ids:
        await index(c, meeting_id)
    return len(ids)


async def reindex_erased(c: AsyncConnection, meeting_ids: Collection[int]) -> None:
    """After words were erased from ledgers: nothing of them stays findable."""
    for meeting_id in meeting_ids:
        indexed = sa.select(_decided.c.meeting_id).where(_decided.c.meeting_id == meeting_id).limit(1)
        if (await c.execute(indexed)).first() is not None:
            await index(c, meeting_id)
            c.info[ERASED] = True


def readable(channel_ids: Collection[int]) -> sa.ColumnElement[bool]:
    """Meetings held in these channels, or in public threads and posts of them."""
    ids = list(channel_ids)
    return sa.or_(_meetings.c.channel_id.in_(ids), _meetings.c.parent_id.in_(ids))


async def decisions(
    c: AsyncConnection,
    guild_id: int,
    query: str,
    channel_ids: Collection[int] | None,
    *,
    without: int | None = None,
    least: float = seeking.SURE,
) -> list[Found]:
    """Decisions of this server that fit `query`, best first.

    `channel_ids`: the channels whose messages the reader can see, as of this very act; None = every channel
    (for the bot's own comparing, never for an answer). `without`: a meeting to leave out.
    `least`: the share of the query's weight that a decision must hold.
    """
    wanted = sorted(seeking.pieces(query).items(), key=lambda pair: -pair[1])[:MOST_PIECES]
    if not wanted or (channel_ids is not None and not channel_ids):
        return []
    statement = (
        _closed(guild_id)
        .where(
            sa.or_(*(_decided.c.folded.contains(piece, autoescape=True) for piece, _ in wanted)),
        )
        .order_by(_decided.c.at.desc(), _decided.c.number.desc())
        .limit(MOST)
    )
    if channel_ids is not None:
        statement = statement.where(readable(channel_ids))
    if without is not None:
        statement = statement.where(_decided.c.meeting_id != without)
    rows = (await c.execute(statement)).all()
    ranked = seeking.rank(query, [row.folded for row in rows], least)
    found = [_found(rows[place], score) for place, score in ranked]
    return await _with_replacements(c, guild_id, found)


async def one(c: AsyncConnection, guild_id: int, meeting_id: int, number: int) -> Found | None:
    """One decision of a closed meeting of this server, or None."""
    where = (_decided.c.meeting_id == meeting_id, _decided.c.number == number)
    row = (await c.execute(_closed(guild_id).where(*where))).first()
    return None if row is None else (await _with_replacements(c, guild_id, [_found(row, 0.0)]))[0]


def _closed(guild_id: int) -> sa.Select[Any]:
    return (
        sa.select(_decided, _meetings.c.title, _meetings.c.channel_id, _meetings.c.kickoff_message_id)
        .join(_meetings, _meetings.c.id == _decided.c.meeting_id)
        .where(
            _decided.c.guild_id == guild_id,
            _meetings.c.guild_id == guild_id,
            _meetings.c.state == MeetingState.CLOSED,
        )
    )


def _found(row: sa.Row[Any], score: float) -> Found:
    names = (
        "meeting_id", "number", "text", "confirmed", "against", "at", "message_id", "title", "channel_id",
        "kickoff_message_id",
    )  # fmt: skip
    return Found(**{name: getattr(row, name) for name in names}, score=score)


def replaces(meeting_id: int, number: int) -> str:
    return f"{REPLACED}:{meeting_id}:{number}"


async def _with_replacements(c: AsyncConnection, guild_id: int, found: Sequence[Found]) -> list[Found]:
    """The same with what people said replaces a decision, unless that was taken back."""
    known = await replacements(c, guild_id, [(f.meeting_id, f.number) for f in found[:200]])
    return [replace(f, replaced_by=known.get((f.meeting_id, f.number))) for f in found]


async def replacements(
    c: AsyncConnection, guild_id: int, decided: Collection[tuple[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Of decisions (meeting, number) those that people said a later meeting's decision replaces: by which."""
    keys = {replaces(*one): one for one in decided}
    if not keys:
        return {}
    taken_back = sa.alias(_entries)
    statement = sa.select(_entries.c.source_key, _entries.c.meeting_id, _entries.c.refers_to).where(
        _entries.c.guild_id == guild_id,
        _entries.c.source_key.in_(list(keys)),
        _entries.c.refers_to.is_not(None),
        ~sa.exists().where(
            taken_back.c.meeting_id == _entries.c.meeting_id,
            taken_back.c.refers_to == _entries.c.number,
            taken_back.c.kind == EntryKind.RETRACTION,
        ),
    )
    rows = await c.execute(statement)
    return {keys[row.source_key]: (row.meeting_id, row.refers_to) for row in rows}


async def held(
    c: AsyncConnection, guild_id: int, channel_ids: Collection[int], limit: int, offset: int = 0
) -> tuple[list[Meeting], int]:
    """One page of the meetings the reader may know of, newest first, and how many there are altogether.

    Only meetings whose kickoff was posted: others never came to be.
    """
    if not channel_ids:
        return [], 0
    where = sa.and_(
        _meetings.c.guild_id == guild_id, _meetings.c.kickoff_message_id.is_not(None), readable(channel_ids)
    )
    count = int(
        (await c.execute(sa.select(sa.func.count()).select_from(_meetings).where(where))).scalar_one()
    )
    return await meetings.page(c, where, limit, offset), count
