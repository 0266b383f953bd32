"""What direct conversations leave in the database: a count under a digest, and nothing of other days."""

from __future__ import annotations

from datetime import date, timedelta

import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import chats, schema, transcript
from bot.store.engine import Database

from .conftest import NOW, make_meeting, said

DAY = date(2026, 9, 1)


async def keys(c: AsyncConnection) -> list[str]:
    found = await c.execute(sa.select(schema.meta.c.key).where(schema.meta.c.key.startswith("chats:")))
    return sorted(found.scalars())


async def test_a_count_names_nobody_and_is_gone_the_next_day(database: Database) -> None:
    async def work(c: AsyncConnection) -> None:
        assert await chats.take(c, 123456789, DAY, 5, database.salt)
        assert await chats.take(c, 987654321, DAY, 5, database.salt)
        stored = await keys(c)
        assert len(stored) == 2
        assert not any("123456789" in key or "987654321" in key for key in stored)
        assert all(len(key) <= 64 for key in stored)
        assert await chats.take(c, 123456789, DAY + timedelta(days=1), 5, database.salt)
        (left,) = await keys(c)
        assert left.startswith("chats:2026-09-02:")

    await database.unit(work)


@settings(max_examples=40, deadline=None)
@given(
    acts=st.lists(st.tuples(st.sampled_from([11, 12, 13]), st.booleans()), max_size=30),
    most=st.integers(1, 4),
)
async def test_nobody_gets_more_than_the_day_holds(acts: list[tuple[int, bool]], most: int) -> None:
    database = Database("sqlite://")
    await database.open()

    async def work(c: AsyncConnection) -> None:
        day, given_today = DAY, dict.fromkeys((11, 12, 13), 0)
        for user, next_day in acts:
            if next_day:
                day, given_today = day + timedelta(days=1), dict.fromkeys(given_today, 0)
            assert await chats.take(c, user, day, most, database.salt) == (given_today[user] < most)
            given_today[user] = min(most, given_today[user] + 1)

    await database.unit(work)
    await database.close()


async def test_an_opt_out_on_any_server_counts(database: Database) -> None:
    async def work(c: AsyncConnection) -> None:
        await transcript.opt_out(c, 202, 11, NOW)
        assert await chats.opted_out_anywhere(c, 11)
        assert not await chats.opted_out_anywhere(c, 12)
        await transcript.opt_in(c, 202, 11, NOW)
        assert not await chats.opted_out_anywhere(c, 11)

    await database.unit(work)


async def test_servers_where_someone_took_part_come_first(database: Database) -> None:
    async def work(c: AsyncConnection) -> None:
        older = await make_meeting(c, guild_id=301, channel_id=1)
        await make_meeting(c, guild_id=302, channel_id=2, started_at=NOW + timedelta(hours=1))
        await make_meeting(c, guild_id=303, channel_id=3, started_at=NOW + timedelta(hours=2))
        assert await chats.servers_of(c, 77, 10) == [303, 302, 301]
        await transcript.add(c, said(older.id, 5, "hello", author_id=77), 301)
        assert await chats.servers_of(c, 77, 10) == [301, 303, 302]
        assert await chats.servers_of(c, 77, 2) == [301, 303]

    await database.unit(work)
