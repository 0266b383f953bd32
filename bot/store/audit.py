"""What `ketsugi verify` reads beside the chain: rows as they lie there, whoever put them there."""

from __future__ import annotations

from dataclasses import fields

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Message
from bot.store import archive, ledger, schema
from bot.store.ledger import Broken
from bot.store.person import NOBODY


async def meeting_ids(c: AsyncConnection) -> list[int]:
    """Every meeting that has a row, and every one that other rows speak of though its own is gone."""
    tables = (schema.entries, schema.minutes, schema.errata, schema.posts, schema.messages)
    everywhere = sa.union(
        sa.select(schema.meetings.c.id), *(sa.select(table.c.meeting_id).distinct() for table in tables)
    )
    return sorted((await c.execute(everywhere)).scalars())


async def chain(c: AsyncConnection, meeting_id: int) -> Broken | None:
    """`ledger.verify`, which also names the entry whose row cannot even be read."""
    try:
        return await ledger.verify(c, meeting_id)
    except (ValueError, TypeError, KeyError):
        return Broken(await _unreadable(c, meeting_id), "it cannot be read")


async def _unreadable(c: AsyncConnection, meeting_id: int) -> int:
    """The first entry whose row cannot be read, 0 where no entry is to blame."""
    table = schema.entries
    where = (table.c.meeting_id == meeting_id,)
    numbers = (await c.execute(sa.select(table.c.number).where(*where).order_by(table.c.number))).scalars()
    for number in numbers.all():
        try:
            (await c.execute(sa.select(table).where(*where, table.c.number == number))).all()
        except (ValueError, TypeError, KeyError):
            return int(number)
    return 0


def genesis(guild_id: int, meeting_id: int) -> str:
    """The digest that an empty ledger has."""
    return ledger._genesis(guild_id, meeting_id)


async def messages(c: AsyncConnection, meeting_id: int) -> dict[int, Message]:
    """The whole transcript by message id, deleted messages included."""
    table = schema.messages
    columns = [table.c[f.name] for f in fields(Message)]
    rows = await c.execute(sa.select(*columns).where(table.c.meeting_id == meeting_id))
    return {row.message_id: Message(**row._mapping) for row in rows}


async def keys(c: AsyncConnection, meeting_id: int, kind: str) -> list[str]:
    """Outbox keys of one kind of post."""
    table = schema.posts
    query = sa.select(table.c.key).where(table.c.meeting_id == meeting_id, table.c.kind == kind)
    return list((await c.execute(query.order_by(table.c.id))).scalars())


async def swept(c: AsyncConnection, meeting_id: int) -> bool:
    """Whether a retention sweep was here, by whatever days held then: no transcript, and no word of ours either."""
    meetings, posts = schema.meetings, schema.posts
    said = sa.exists().where(
        posts.c.meeting_id == meetings.c.id,
        posts.c.kind.in_(("post", "dm")),
        posts.c.state != "pending",
        posts.c.text != "",
    )
    left = sa.select(sa.or_(archive._holds_transcript(meetings), said)).where(meetings.c.id == meeting_id)
    return not (await c.execute(left)).scalar()


async def somebody_erased(c: AsyncConnection, meeting_id: int) -> bool:
    """Whether a person was erased from this meeting: then its posts were emptied, as they should be."""
    redactions, messages, meetings = schema.redactions, schema.messages, schema.meetings
    found = sa.or_(
        sa.exists().where(
            redactions.c.meeting_id == meeting_id,
            redactions.c.field.in_(("author_id", "author_name", "owner")),
        ),
        sa.exists().where(messages.c.meeting_id == meeting_id, messages.c.author_id == NOBODY),
        sa.exists().where(meetings.c.id == meeting_id, meetings.c.chair_id == NOBODY),
    )
    return bool((await c.execute(sa.select(found))).scalar())
