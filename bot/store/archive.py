"""Past meetings: reading them, and forgetting them (SPEC 6, retention and erasure).

Erased rows are overwritten (secure_delete) and the write-ahead log is emptied right after the unit that
erased, so that no byte stays in either file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Entry, Meeting, MeetingState
from bot.store import cleanup, ledger, meetings, schema, servers
from bot.store._gate import ERASED, erasing

# How long an interaction id is remembered: Discord's tokens live 15 minutes, a restart may come in between.
INTERACTIONS_KEPT = timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Swept:
    """What one retention sweep forgot."""

    transcripts: int = 0
    meetings: int = 0


async def ledgers(
    c: AsyncConnection, guild_id: int, channel_ids: Collection[int] | None, limit: int = 200
) -> list[tuple[Meeting, list[Entry]]]:
    """Ledgers of the newest `limit` closed meetings of one server, newest first, for searching decisions.

    `channel_ids`: the channels the reader can see; None only where the reader may see every channel.
    """
    table = schema.meetings
    query = sa.select(table.c.id).where(table.c.guild_id == guild_id, table.c.state == MeetingState.CLOSED)
    if channel_ids is not None:
        query = query.where(table.c.channel_id.in_(list(channel_ids)))
    ids = (
        await c.execute(query.order_by(table.c.started_at.desc(), table.c.id.desc()).limit(limit))
    ).scalars()
    found = []
    for meeting_id in ids.all():
        meeting = await meetings.get(c, meeting_id, guild_id=guild_id)
        if meeting is not None:
            found.append((meeting, await ledger.everything(c, meeting_id)))
    return found


async def _drop(c: AsyncConnection, tables: Iterable[sa.Table], meeting_id: int) -> None:
    for table in tables:
        await c.execute(sa.delete(table).where(table.c.meeting_id == meeting_id))
    c.info[ERASED] = True


def _posts_of(meeting_id: int) -> sa.Select[Any]:
    return sa.select(schema.posts.c.id).where(schema.posts.c.meeting_id == meeting_id)


def _generations_of(meeting_id: int) -> sa.Select[Any]:
    return sa.select(schema.generations.c.id).where(schema.generations.c.meeting_id == meeting_id)


async def erase_meeting(c: AsyncConnection, guild_id: int, meeting_id: int) -> bool:
    """Forget a meeting altogether, its row included; False if this server has none with this id.

    Posted messages are Discord's: read their ids from the outbox before, and take them away there first.
    """
    if await meetings.get(c, meeting_id, guild_id=guild_id) is None:
        return False
    await cleanup.mark_resting(c, guild_id, meeting_id)
    for table in (schema.post_files, schema.attempts):
        await c.execute(sa.delete(table).where(table.c.post_id.in_(_posts_of(meeting_id))))
    attempts = schema.generation_attempts
    await c.execute(sa.delete(attempts).where(attempts.c.generation_id.in_(_generations_of(meeting_id))))
    async with erasing(c, meeting_id):
        await _drop(c, (schema.entries, schema.redactions), meeting_id)
    rest = (
        "passages",
        "indexed",
        "decided",
        "panels",
        "panel_turns",
        "messages",
        "reactions",
        "notices",
        "posts",
        "minutes",
        "errata",
        "generations",
        "interactions",
    )
    await _drop(c, (schema.metadata.tables[name] for name in rest), meeting_id)
    await c.execute(sa.delete(schema.meetings).where(schema.meetings.c.id == meeting_id))
    return True


async def forget_own_words(c: AsyncConnection, meeting_id: int) -> None:
    """Empty what the bot itself wrote about a meeting: sent posts (minutes aside) and generated texts.

    Counts, verdicts and message ids stay, reasons of verdicts go: they may quote.
    """
    posts, files = schema.posts, schema.post_files
    settled = sa.and_(posts.c.meeting_id == meeting_id, posts.c.state != "pending", posts.c.kind != "minutes")
    await c.execute(sa.delete(files).where(files.c.post_id.in_(sa.select(posts.c.id).where(settled))))
    for row in (await c.execute(sa.select(posts.c.id, posts.c.payload).where(settled))).all():
        emptied = {"text": "", "payload": _facts(row.payload)}
        await c.execute(sa.update(posts).where(posts.c.id == row.id).values(**emptied))
    generations, attempts = schema.generations, schema.generation_attempts
    for row in (await c.execute(sa.select(generations).where(generations.c.meeting_id == meeting_id))).all():
        values = {"text": None, "verdicts": _without_reasons(row.verdicts)}
        await c.execute(sa.update(generations).where(generations.c.id == row.id).values(**values))
    query = sa.select(attempts).where(attempts.c.generation_id.in_(_generations_of(meeting_id)))
    for row in (await c.execute(query)).all():
        same = sa.and_(attempts.c.generation_id == row.generation_id, attempts.c.number == row.number)
        values = {"text": None, "verdicts": _without_reasons(row.verdicts)}
        await c.execute(sa.update(attempts).where(same).values(**values))
    c.info[ERASED] = True


def _facts(payload: dict[str, Any]) -> dict[str, Any]:
    """What an open room counts by (flags and small numbers); texts, names and ids go."""
    return {name: x for name, x in payload.items() if isinstance(x, int | float) and abs(x) < 2**32}


def _without_reasons(verdicts: list[list[str]]) -> list[list[str]]:
    return [[rule, outcome, "", *rest] for rule, outcome, _, *rest in verdicts]


def _holds_transcript(table: sa.Table) -> sa.ColumnElement[bool]:
    """The meeting still has something that a sweep would take away."""
    texts = sa.select(schema.generations.c.id).where(
        schema.generations.c.meeting_id == table.c.id, schema.generations.c.text.is_not(None)
    )
    return sa.or_(
        sa.exists().where(schema.messages.c.meeting_id == table.c.id),
        sa.exists().where(schema.reactions.c.meeting_id == table.c.id),
        sa.exists(texts),
    )


async def sweep(c: AsyncConnection, now: datetime, transcript_days: int = 90) -> Swept:
    """Forget what is older than its server's retention: transcripts, then (where set) whole meetings.

    `transcript_days` holds for servers that set none. Only closed meetings, counted from their close. Cheap
    when there is nothing to do; run it daily.
    """
    table = schema.meetings
    query = sa.select(
        table.c.id, table.c.guild_id, table.c.closed_at, _holds_transcript(table).label("transcript")
    ).where(table.c.state == MeetingState.CLOSED, table.c.closed_at.is_not(None))
    settings: dict[int, servers.ServerSettings] = {}
    transcripts = erased = 0
    for row in (await c.execute(query)).all():
        if row.guild_id not in settings:
            settings[row.guild_id] = await servers.get(c, row.guild_id)
        days = settings[row.guild_id]
        if days.ledger_days is not None and row.closed_at <= now - timedelta(days=days.ledger_days):
            erased += await erase_meeting(c, row.guild_id, row.id)
        elif row.transcript and row.closed_at <= now - timedelta(
            days=days.transcript_days or transcript_days
        ):
            await _drop(c, (schema.messages, schema.reactions), row.id)
            await forget_own_words(c, row.id)
            transcripts += 1
    interactions = schema.interactions
    await c.execute(sa.delete(interactions).where(interactions.c.at < now - INTERACTIONS_KEPT))
    return Swept(transcripts, erased)
