"""Meetings: the row from which every timer, notice and countdown is recomputed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import AlreadyOpen, StoreError
from bot.meeting.model import Activity, ChannelKind, Language, Meeting, MeetingState, Phase
from bot.store import schema

_meetings = schema.meetings
# The chain's end belongs to bot.store.ledger, id and server never change.
# How far a channel was heard is for `hear` alone: no cache of a meeting holds it.
_APART = ("ledger_count", "ledger_head", "heard_to")
_CHANGEABLE = {c.name for c in _meetings.c} - {"id", "guild_id", *_APART}


def _meeting(row: sa.Row[Any]) -> Meeting:
    values = {name: value for name, value in row._mapping.items() if name not in _APART}
    values["channel_kind"] = ChannelKind(values["channel_kind"])
    values["state"] = MeetingState(values["state"])
    values["activity"] = Activity(values["activity"])
    values["model_phase"] = Phase(values["model_phase"])
    values["agenda"] = tuple(values["agenda"])
    values["agenda_minutes"] = tuple(values["agenda_minutes"])
    return Meeting(**values)


async def _one(c: AsyncConnection, query: sa.Select[Any]) -> Meeting | None:
    row = (await c.execute(query)).first()
    return None if row is None else _meeting(row)


async def create(
    c: AsyncConnection,
    *,
    guild_id: int,
    channel_id: int,
    channel_kind: ChannelKind,
    title: str,
    language: Language,
    timezone: str,
    chair_id: int,
    chair_name: str,
    agenda: Sequence[str],
    started_at: datetime,
    planned_end: datetime,
    activity: Activity = Activity.NORMAL,
    agenda_minutes: Sequence[int | None] = (),
    parent_id: int | None = None,
) -> Meeting:
    """A new meeting in state STARTING. Raises AlreadyOpen if the channel has one that is not closed."""
    statement = (
        insert(_meetings)
        .values(
            guild_id=guild_id,
            channel_id=channel_id,
            channel_kind=channel_kind,
            title=title,
            language=language,
            timezone=timezone,
            chair_id=chair_id,
            chair_name=chair_name,
            agenda=list(agenda),
            started_at=started_at,
            planned_end=planned_end,
            state=MeetingState.STARTING,
            activity=activity,
            agenda_minutes=list(agenda_minutes),
            parent_id=parent_id,
            model_phase=Phase.OPENING,
        )
        .on_conflict_do_nothing()
        .returning(_meetings)
    )
    row = (await c.execute(statement)).first()
    if row is None:
        raise AlreadyOpen()
    return _meeting(row)


async def get(c: AsyncConnection, meeting_id: int, *, guild_id: int | None = None) -> Meeting | None:
    """The meeting, or None. Hand in `guild_id` wherever the id came from outside (button, option, link)."""
    query = sa.select(_meetings).where(_meetings.c.id == meeting_id)
    if guild_id is not None:
        query = query.where(_meetings.c.guild_id == guild_id)
    return await _one(c, query)


async def open_in(c: AsyncConnection, guild_id: int, channel_id: int) -> Meeting | None:
    """The one meeting of this channel that is not closed."""
    return await _one(
        c,
        sa.select(_meetings).where(
            _meetings.c.guild_id == guild_id,
            _meetings.c.channel_id == channel_id,
            _meetings.c.state != MeetingState.CLOSED,
        ),
    )


async def open_all(c: AsyncConnection) -> list[Meeting]:
    """Every meeting that is not closed, of all servers, oldest first: what a restart resumes."""
    query = sa.select(_meetings).where(_meetings.c.state != MeetingState.CLOSED).order_by(_meetings.c.id)
    return [_meeting(row) for row in await c.execute(query)]


async def latest_in(c: AsyncConnection, guild_id: int, channel_id: int) -> Meeting | None:
    """The newest meeting of this channel, open or closed."""
    return await _one(
        c,
        sa.select(_meetings)
        .where(_meetings.c.guild_id == guild_id, _meetings.c.channel_id == channel_id)
        .order_by(_meetings.c.started_at.desc(), _meetings.c.id.desc())
        .limit(1),
    )


async def listing(c: AsyncConnection, guild_id: int, limit: int, offset: int = 0) -> list[Meeting]:
    """Meetings of one server, newest first."""
    query = (
        sa.select(_meetings)
        .where(_meetings.c.guild_id == guild_id)
        .order_by(_meetings.c.started_at.desc(), _meetings.c.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return [_meeting(row) for row in await c.execute(query)]


async def page(c: AsyncConnection, where: sa.ColumnElement[bool], limit: int, offset: int) -> list[Meeting]:
    """Meetings that fulfil `where` (which names the server), newest first."""
    query = sa.select(_meetings).where(where).order_by(_meetings.c.started_at.desc(), _meetings.c.id.desc())
    return [_meeting(row) for row in await c.execute(query.limit(limit).offset(offset))]


async def last_held(c: AsyncConnection, guild_id: int, channel_id: int) -> Meeting | None:
    """The newest closed meeting of this channel whose kickoff was posted."""
    where = sa.and_(
        _meetings.c.guild_id == guild_id,
        _meetings.c.channel_id == channel_id,
        _meetings.c.state == MeetingState.CLOSED,
        _meetings.c.kickoff_message_id.is_not(None),
    )
    return next(iter(await page(c, where, 1, 0)), None)


async def of_thread(c: AsyncConnection, guild_id: int, thread_id: int) -> Meeting | None:
    """The closed meeting whose minutes stand in this thread."""
    where = sa.and_(
        _meetings.c.guild_id == guild_id,
        _meetings.c.thread_id == thread_id,
        _meetings.c.state == MeetingState.CLOSED,
    )
    return next(iter(await page(c, where, 1, 0)), None)


async def unposted(c: AsyncConnection, guild_id: int) -> list[Meeting]:
    """All meetings of one server whose minutes could not be posted, newest first."""
    posts = schema.posts
    failed = sa.select(posts.c.meeting_id).where(
        posts.c.guild_id == guild_id, posts.c.kind == "minutes", posts.c.state == "failed"
    )
    query = sa.select(_meetings).where(_meetings.c.guild_id == guild_id, _meetings.c.id.in_(failed))
    query = query.order_by(_meetings.c.started_at.desc(), _meetings.c.id.desc())
    return [_meeting(row) for row in await c.execute(query)]


def _checked(changes: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(changes) - _CHANGEABLE)
    if unknown:
        raise StoreError(f"a meeting has no changeable {', '.join(unknown)}")
    for name in ("agenda", "agenda_minutes"):
        if name in changes:
            changes[name] = list(changes[name])
    return changes


async def update(c: AsyncConnection, meeting_id: int, **changes: Any) -> Meeting:
    """Change fields (named as in `Meeting`) and return the row as it is then. StoreError if there is none."""
    statement = sa.update(_meetings).where(_meetings.c.id == meeting_id)
    row = (await c.execute(statement.values(**_checked(changes)).returning(_meetings))).first()
    if row is None:
        raise StoreError(f"there is no meeting {meeting_id}")
    return _meeting(row)


async def move(
    c: AsyncConnection, meeting_id: int, expect: Collection[MeetingState], to: MeetingState, **changes: Any
) -> Meeting | None:
    """Compare-and-set: go to state `to` with `changes` if the state is one of `expect`, else None.

    Of two clicks on "Close now" one gets the meeting and the other None.
    """
    statement = (
        sa.update(_meetings)
        .where(_meetings.c.id == meeting_id, _meetings.c.state.in_(list(expect)))
        .values(state=to, **_checked(changes))
        .returning(_meetings)
    )
    row = (await c.execute(statement)).first()
    return None if row is None else _meeting(row)


async def heard_to(c: AsyncConnection, meeting_id: int) -> int:
    """The message up to which nothing was missed in the meeting's channel; 0: that is not known."""
    query = sa.select(_meetings.c.heard_to).where(_meetings.c.id == meeting_id)
    return (await c.execute(query)).scalar() or 0


async def hear(c: AsyncConnection, meeting_id: int, message_id: int) -> None:
    """Up to `message_id` nothing was missed; never goes back."""
    statement = sa.update(_meetings).where(_meetings.c.id == meeting_id, _meetings.c.heard_to < message_id)
    await c.execute(statement.values(heard_to=message_id))


async def mark_notice(
    c: AsyncConnection, meeting_id: int, planned_end: datetime, minutes: int, at: datetime
) -> bool:
    """Claim one notice of one planned end; False when it was claimed before (also before a restart)."""
    statement = insert(schema.notices).values(
        meeting_id=meeting_id, planned_end=planned_end, minutes=minutes, at=at
    )
    return (await c.execute(statement.on_conflict_do_nothing())).rowcount == 1


async def notices(c: AsyncConnection, meeting_id: int) -> set[tuple[datetime, int]]:
    """(planned end, minutes) of every notice claimed."""
    table = schema.notices
    query = sa.select(table.c.planned_end, table.c.minutes).where(table.c.meeting_id == meeting_id)
    return {(row.planned_end, row.minutes) for row in await c.execute(query)}


async def once(c: AsyncConnection, interaction_id: int, meeting_id: int | None, at: datetime) -> bool:
    """True for the first call with this id: a command whose answer was lost is not carried out twice."""
    statement = insert(schema.interactions).values(
        interaction_id=interaction_id, meeting_id=meeting_id, at=at
    )
    return (await c.execute(statement.on_conflict_do_nothing())).rowcount == 1
