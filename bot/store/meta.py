"""Small facts about the installation itself, by name: which commands Discord was last told of."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import schema


async def get(c: AsyncConnection, key: str) -> str | None:
    return (
        await c.execute(sa.select(schema.meta.c.value).where(schema.meta.c.key == key))
    ).scalar_one_or_none()


async def put(c: AsyncConnection, key: str, value: str) -> None:
    statement = insert(schema.meta).values(key=key, value=value)
    await c.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))
