"""The outbox: every post is a frozen row before it is a message (RELIABILITY, Sending).

Row and draft go into one transaction, an attempt row before the request, the message id by compare-and-set
after it. Where an attempt exists already, whoever delivers looks into the channel's history first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import OwnPost, Persona, Route
from bot.store import schema

PostKind = Literal["post", "reaction", "minutes", "dm"]
Where = Literal["channel", "thread"]
PostState = Literal["pending", "sent", "failed"]

DATABASE_ID = "database_id"  # its key in meta, and in a connection's info once read

_posts = schema.posts
_files = schema.post_files


@dataclass(frozen=True, slots=True)
class Post:
    """One row of the outbox; its contents never change, so that every attempt sends the same."""

    id: int
    guild_id: int
    meeting_id: int
    key: str
    route: Route | None
    persona: Persona
    kind: PostKind
    where: Where
    text: str
    payload: Mapping[str, Any]
    reply_to: int | None
    source: str | None
    generation_id: int | None
    nonce: str
    state: PostState
    created_at: datetime
    message_id: int | None = None
    sent_at: datetime | None = None
    failure: str | None = None
    files: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)


async def _with_files(c: AsyncConnection, rows: Sequence[sa.Row[Any]]) -> list[Post]:
    query = (
        sa.select(_files)
        .where(_files.c.post_id.in_([row.id for row in rows]))
        .order_by(_files.c.post_id, _files.c.position)
    )
    files: dict[int, list[tuple[str, bytes]]] = {}
    if rows:
        for row in await c.execute(query):
            files.setdefault(row.post_id, []).append((row.name, row.content))
    return [_post(row, tuple(files.get(row.id, ()))) for row in rows]


def _post(row: sa.Row[Any], files: tuple[tuple[str, bytes], ...]) -> Post:
    values = dict(row._mapping)
    values["where"] = values.pop("place")
    values["persona"] = Persona(values["persona"])
    values["route"] = None if values["route"] is None else Route(values["route"])
    return Post(**values, files=files)


async def _nonce(c: AsyncConnection, meeting_id: int, key: str) -> str:
    """At most 25 characters (Discord's limit), the same for every attempt, different for every database."""
    database_id = c.info.get(DATABASE_ID)
    if database_id is None:
        query = sa.select(schema.meta.c.value).where(schema.meta.c.key == DATABASE_ID)
        database_id = c.info[DATABASE_ID] = (await c.execute(query)).scalar_one()
    return hashlib.sha256(f"{database_id}:{meeting_id}:{key}".encode()).hexdigest()[:25]


async def put(
    c: AsyncConnection,
    *,
    guild_id: int,
    meeting_id: int,
    key: str,
    persona: str,
    now: datetime,
    route: str | None = None,
    kind: str = "post",
    where: str = "channel",
    text: str = "",
    payload: Mapping[str, Any] | None = None,
    files: Sequence[tuple[str, bytes]] = (),
    reply_to: int | None = None,
    source: str | None = None,
    generation_id: int | None = None,
) -> Post | None:
    """Owe one post. None if the meeting has one with this key already (then nothing changes).

    `persona`, `route`, `kind` and `where` take the words of `Persona`, `Route`, `PostKind` and `Where`.
    `payload` is JSON: buttons, embeds, target message, emoji; what the deliverer needs beyond the text.
    """
    if kind not in get_args(PostKind) or where not in get_args(Where):
        raise StoreError(f"no post is of kind {kind!r} at {where!r}")
    statement = insert(_posts).values(
        guild_id=guild_id,
        meeting_id=meeting_id,
        key=key,
        route=None if route is None else Route(route),
        persona=Persona(persona),
        kind=kind,
        place=where,
        text=text,
        payload=dict(payload or {}),
        reply_to=reply_to,
        source=source,
        generation_id=generation_id,
        nonce=await _nonce(c, meeting_id, key),
        state="pending",
        created_at=now,
    )
    conflict = statement.on_conflict_do_nothing(index_elements=["meeting_id", "key"])
    row = (await c.execute(conflict.returning(_posts))).first()
    if row is None:
        return None
    if files:
        await c.execute(
            sa.insert(_files),
            [
                {"post_id": row.id, "position": i, "name": name, "content": content}
                for i, (name, content) in enumerate(files)
            ],
        )
    return _post(row, tuple(files))


async def due(c: AsyncConnection, meeting_id: int) -> list[Post]:
    """What is still owed, in the order in which it was put."""
    query = (
        sa.select(_posts)
        .where(_posts.c.meeting_id == meeting_id, _posts.c.state == "pending")
        .order_by(_posts.c.id)
    )
    return await _with_files(c, (await c.execute(query)).all())


async def unsettled(c: AsyncConnection) -> list[int]:
    """Ids of the meetings, closed ones too, that still owe a post: what a restart has to send."""
    query = sa.select(_posts.c.meeting_id).where(_posts.c.state == "pending").distinct()
    return sorted((await c.execute(query)).scalars())


async def get(c: AsyncConnection, meeting_id: int, key: str) -> Post | None:
    query = sa.select(_posts).where(_posts.c.meeting_id == meeting_id, _posts.c.key == key)
    return next(iter(await _with_files(c, (await c.execute(query)).all())), None)


async def begin_attempt(c: AsyncConnection, post_id: int, owner: str, now: datetime) -> int:
    """Record that a request is about to be made; returns how many attempts there were before this one.

    Commit before the request. Above zero means: it may be there already, look into the history first.
    """
    before = await attempts(c, post_id)
    await c.execute(sa.insert(schema.attempts).values(post_id=post_id, owner=owner, at=now))
    return before


async def attempts(c: AsyncConnection, post_id: int) -> int:
    """How many requests were, or were about to be, made for a post."""
    query = sa.select(sa.func.count()).where(schema.attempts.c.post_id == post_id)
    return int((await c.execute(query)).scalar_one())


async def sent(c: AsyncConnection, post_id: int, message_id: int | None, now: datetime) -> bool:
    """Record the message (None for a reaction); False if another attempt was recorded first."""
    statement = (
        sa.update(_posts)
        .where(_posts.c.id == post_id, _posts.c.state == "pending")
        .values(state="sent", message_id=message_id, sent_at=now)
    )
    return (await c.execute(statement)).rowcount == 1


async def fail(c: AsyncConnection, post_id: int, reason: str, now: datetime) -> bool:
    """Give up a post that can certainly not be delivered; False if it is settled already."""
    statement = (
        sa.update(_posts)
        .where(_posts.c.id == post_id, _posts.c.state == "pending")
        .values(state="failed", failure=reason, sent_at=now)
    )
    return (await c.execute(statement)).rowcount == 1


async def sent_ids(c: AsyncConnection, meeting_id: int) -> set[int]:
    """Ids of all messages that posts of this meeting became (a reaction becomes none)."""
    query = sa.select(_posts.c.message_id).where(
        _posts.c.meeting_id == meeting_id, _posts.c.message_id.is_not(None), _posts.c.kind != "reaction"
    )
    return set((await c.execute(query)).scalars())


def _own(meeting_id: int) -> sa.Select[Any]:
    """Posts that are part of the conversation; board, reactions, minutes and direct messages are not."""
    return (
        sa.select(
            _posts.c.message_id,
            _posts.c.persona,
            _posts.c.route,
            _posts.c.text,
            _posts.c.sent_at,
            _posts.c.source,
        )
        .where(
            _posts.c.meeting_id == meeting_id,
            _posts.c.state == "sent",
            _posts.c.kind == "post",
            _posts.c.message_id.is_not(None),
            _posts.c.persona.in_([Persona.FACILITATOR, Persona.ASSISTANT]),
        )
        .order_by(_posts.c.message_id.desc())
    )


def _own_post(row: sa.Row[Any]) -> OwnPost:
    route = None if row.route is None else Route(row.route)
    return OwnPost(row.message_id, Persona(row.persona), route, row.text, row.sent_at, row.source)


async def recent_own(c: AsyncConnection, meeting_id: int, limit: int) -> list[OwnPost]:
    """The newest `limit` posts of facilitator and assistant that people saw, oldest first."""
    return [_own_post(row) for row in await c.execute(_own(meeting_id).limit(limit))][::-1]


async def everything_own(c: AsyncConnection, meeting_id: int) -> list[OwnPost]:
    """All posts of facilitator and assistant that people saw, oldest first."""
    return [_own_post(row) for row in await c.execute(_own(meeting_id))][::-1]
