"""What an erasure still owes in Discord: posts to be shown anew or taken away, kept in their own rows.

The outbox row of a sent post says so in `failure`, in the transaction that erased; a crash in between
loses nothing, and whoever carries it out (`bot.privacy`) clears it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema
from bot.store._gate import ERASED

Owed = Literal["replace", "remove"]
_posts = schema.posts
_WHOLE = ("kickoff", "board:")  # rendered again from the ledger, like the minutes


@dataclass(frozen=True, slots=True)
class Posted:
    """A message of ours in Discord. `thread`: it stands in the meeting's thread."""

    post_id: int
    guild_id: int
    meeting_id: int
    key: str
    kind: str
    thread: bool
    message_id: int
    owed: str | None


def _posted(row: sa.Row[tuple[object, ...]]) -> Posted:
    return Posted(
        row.id,
        row.guild_id,
        row.meeting_id,
        row.key,
        row.kind,
        row.place == "thread",
        row.message_id,
        row.failure,
    )


def _sent() -> sa.Select[tuple[object, ...]]:
    return sa.select(_posts).where(
        _posts.c.state == "sent",
        _posts.c.message_id.is_not(None),
        _posts.c.kind.in_(("post", "minutes", "dm")),
    )


async def messages(c: AsyncConnection, meeting_id: int) -> list[Posted]:
    """Every message that posts of a meeting became, newest first, the chair's direct one too; reactions are not."""
    query = _sent().where(_posts.c.meeting_id == meeting_id).order_by(_posts.c.id.desc())
    return [_posted(row) for row in await c.execute(query)]


async def mark(c: AsyncConnection, meeting_id: int, says: Collection[str]) -> None:
    """Owe the room its board and minutes anew, and the removal of all other posts that hold one of `says`, of minutes
    that went to the chair directly in any case."""
    for row in (await c.execute(_sent().where(_posts.c.meeting_id == meeting_id))).all():
        words = row.text + json.dumps(row.payload, ensure_ascii=False)
        owed: Owed | None = "remove" if any(said in words for said in says) else None
        if row.kind == "minutes" or row.key.startswith(_WHOLE):
            owed = "replace"
        if row.kind == "dm":
            owed = "remove"  # a whole set of minutes, which a direct message cannot show anew; `/minutes show` has them
        if owed is not None:
            await c.execute(sa.update(_posts).where(_posts.c.id == row.id).values(failure=owed))


async def mark_resting(
    c: AsyncConnection, guild_id: int, meeting_id: int, says: Collection[str] | None = None
) -> None:
    """Answers that were posted in other meetings and rest on this one's record: those that hold one of `says`
    (None: all of them) are emptied, and the room is owed their removal."""
    answers = sa.or_(_posts.c.key.like("ask:%"), _posts.c.key.like("assist:%"))
    query = sa.select(_posts).where(_posts.c.guild_id == guild_id, _posts.c.meeting_id != meeting_id, answers)
    for row in (await c.execute(query)).all():
        if meeting_id not in (row.payload.get("rests_on") or ()):
            continue
        if says is not None and not any(said in row.text for said in says):
            continue
        sent = row.state == "sent"
        values = {"text": "", "payload": {}, "failure": "remove" if sent else "erased"}
        values |= {} if sent else {"state": "failed"}
        await c.execute(sa.update(_posts).where(_posts.c.id == row.id).values(**values))
        await _forget_generation(c, row.generation_id)
        c.info[ERASED] = True


async def _forget_generation(c: AsyncConnection, generation_id: int | None) -> None:
    for table, key in (
        (schema.generations, schema.generations.c.id),
        (schema.generation_attempts, schema.generation_attempts.c.generation_id),
    ):
        await c.execute(sa.update(table).where(key == generation_id).values(text=None, verdicts=[]))


async def owed(c: AsyncConnection, limit: int = 50) -> list[Posted]:
    """What waits to be carried out, oldest first."""
    query = _sent().where(_posts.c.failure.in_(("replace", "remove"))).order_by(_posts.c.id).limit(limit)
    return [_posted(row) for row in await c.execute(query)]


async def done(c: AsyncConnection, post_id: int) -> None:
    await c.execute(sa.update(_posts).where(_posts.c.id == post_id).values(failure=None))
