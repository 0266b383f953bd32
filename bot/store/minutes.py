"""Minutes: drafted once and kept; corrections after that are numbered errata beside the original."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.store import schema
from bot.store._gate import ERASED

_minutes = schema.minutes
_errata = schema.errata


@dataclass(frozen=True, slots=True)
class StoredMinutes:
    """`document` is the JSON export, `text` the minutes.md, `digest` the ledger's head they came from."""

    meeting_id: int
    guild_id: int
    document: str
    text: str
    digest: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Erratum:
    """One correction after the close; numbers count from 1 within the meeting."""

    meeting_id: int
    number: int
    text: str
    author_id: int | None
    author_name: str
    at: datetime


async def save_draft(
    c: AsyncConnection,
    guild_id: int,
    meeting_id: int,
    document_json: str,
    text: str,
    digest: str,
    now: datetime,
) -> bool:
    """Keep the draft; False if there is one already (the first wins, and only that one is ever published)."""
    statement = insert(_minutes).values(
        guild_id=guild_id,
        meeting_id=meeting_id,
        document=document_json,
        text=text,
        digest=digest,
        created_at=now,
    )
    return (await c.execute(statement.on_conflict_do_nothing())).rowcount == 1


async def get(c: AsyncConnection, meeting_id: int, *, guild_id: int | None = None) -> StoredMinutes | None:
    """The minutes, or None. Hand in `guild_id` wherever the id came from outside."""
    query = sa.select(_minutes).where(_minutes.c.meeting_id == meeting_id)
    if guild_id is not None:
        query = query.where(_minutes.c.guild_id == guild_id)
    row = (await c.execute(query)).first()
    return None if row is None else StoredMinutes(**row._mapping)


async def posted(c: AsyncConnection, meeting_id: int) -> int | None:
    """The Discord message that holds the published minutes, None before it is out."""
    posts = schema.posts
    query = sa.select(posts.c.message_id).where(
        posts.c.meeting_id == meeting_id, posts.c.kind == "minutes", posts.c.state == "sent"
    )
    return (await c.execute(query.order_by(posts.c.id.desc()).limit(1))).scalar()


async def replace_erased(
    c: AsyncConnection, meeting_id: int, document_json: str, text: str, digest: str
) -> None:
    """Put minutes rendered from the redacted ledger in the place of what a person had erased.

    For erasure only: every other correction is an erratum. StoreError if there are no minutes.
    """
    statement = sa.update(_minutes).where(_minutes.c.meeting_id == meeting_id)
    values = {"document": document_json, "text": text, "digest": digest}
    if (await c.execute(statement.values(**values))).rowcount != 1:
        raise StoreError(f"there are no minutes of meeting {meeting_id}")
    c.info[ERASED] = True


async def add_erratum(
    c: AsyncConnection,
    *,
    guild_id: int,
    meeting_id: int,
    text: str,
    author_id: int | None,
    author_name: str,
    source_key: str,
    now: datetime,
) -> Erratum | None:
    """Append a correction; None if one with this source key ("i:<interaction id>") is there already."""
    known = sa.select(sa.func.count()).where(
        _errata.c.meeting_id == meeting_id, _errata.c.source_key == source_key
    )
    if (await c.execute(known)).scalar_one():
        return None
    highest = sa.select(sa.func.max(_errata.c.number)).where(_errata.c.meeting_id == meeting_id)
    number = ((await c.execute(highest)).scalar() or 0) + 1
    values = {"text": schema.storable(text), "author_id": author_id, "author_name": author_name, "at": now}
    statement = sa.insert(_errata).values(
        guild_id=guild_id, meeting_id=meeting_id, number=number, source_key=source_key, **values
    )
    await c.execute(statement)
    return Erratum(meeting_id, number, schema.storable(text), author_id, author_name, now)


async def errata(c: AsyncConnection, meeting_id: int) -> list[Erratum]:
    """All corrections, in order of number."""
    columns = [x for x in _errata.c if x.name not in ("guild_id", "source_key")]
    query = sa.select(*columns).where(_errata.c.meeting_id == meeting_id).order_by(_errata.c.number)
    return [Erratum(**row._mapping) for row in await c.execute(query)]
