"""What direct conversations need of the database. Nothing that is said in them is kept, nor who spoke.

How many answers somebody had today stands under a keyed digest of day and person, and is gone the next day; no
other row of a conversation names a person.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import meta, schema

_SECRET = "chat secret"
_PREFIX = "chats:"


async def take(c: AsyncConnection, user_id: int, day: date, most: int, salt: Callable[[], bytes]) -> bool:
    """One more answer of this person's day; False where `most` were given already. Forgets other days."""
    secret = await meta.get(c, _SECRET)
    if secret is None:
        secret = salt().hex()
        await meta.put(c, _SECRET, secret)
    today = f"{_PREFIX}{day.isoformat()}:"
    key = today + hashlib.sha256(f"{secret}:{day.isoformat()}:{user_id}".encode()).hexdigest()[:32]
    table = schema.meta
    await c.execute(
        sa.delete(table).where(table.c.key.startswith(_PREFIX), sa.not_(table.c.key.startswith(today)))
    )
    taken = int(await meta.get(c, key) or 0)
    if taken >= most:
        return False
    await meta.put(c, key, str(taken + 1))
    return True


async def opted_out_anywhere(c: AsyncConnection, user_id: int) -> bool:
    """Whether the person refused on any server that what they say is stored or sent."""
    query = sa.select(schema.opt_outs.c.user_id).where(schema.opt_outs.c.user_id == user_id).limit(1)
    return (await c.execute(query)).first() is not None


async def heard_from(c: AsyncConnection, user_id: int) -> datetime | None:
    """When the person last took an opt-out back, on any server, by Discord's time: nothing that was said in a
    conversation before it is sent. None where there never was one."""
    table = schema.opt_ins
    query = sa.select(table.c.at).where(table.c.user_id == user_id).order_by(table.c.at.desc()).limit(1)
    return (await c.execute(query)).scalar()


async def servers_of(c: AsyncConnection, user_id: int, limit: int) -> list[int]:
    """Servers that hold meetings: first those where this person took part, then the one that met last."""
    meetings, messages = schema.meetings, schema.messages
    spoke = sa.select(messages.c.guild_id).where(messages.c.author_id == user_id).distinct()
    chaired = sa.select(meetings.c.guild_id).where(meetings.c.chair_id == user_id).distinct()
    known = set((await c.execute(sa.union(spoke, chaired))).scalars())
    newest = sa.select(meetings.c.guild_id).group_by(meetings.c.guild_id)
    newest = newest.order_by(sa.func.max(meetings.c.started_at).desc())
    found = list((await c.execute(newest)).scalars())
    return sorted(found, key=lambda guild: guild not in known)[:limit]
