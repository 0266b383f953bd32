"""Minutes are drafted once; settings and heartbeats are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import Activity, Meeting
from bot.store import heartbeats, minutes, schema, servers
from bot.store.engine import Database
from bot.store.heartbeats import Heartbeat
from bot.store.minutes import Erratum, StoredMinutes
from bot.store.servers import ServerSettings

from .conftest import GUILD, NOW, SATO


async def test_the_first_draft_stands(database: Database, meeting: Meeting) -> None:
    async def save(c: AsyncConnection, text: str) -> bool:
        return await minutes.save_draft(c, GUILD, meeting.id, '{"版": 1}', text, "abc", NOW)

    assert await database.unit(lambda c: minutes.get(c, meeting.id)) is None
    assert await database.unit(lambda c: save(c, "# 議事録"))
    assert not await database.unit(lambda c: save(c, "# another"))
    stored = StoredMinutes(meeting.id, GUILD, '{"版": 1}', "# 議事録", "abc", NOW)
    assert await database.unit(lambda c: minutes.get(c, meeting.id)) == stored
    assert await database.unit(lambda c: minutes.get(c, meeting.id, guild_id=GUILD)) == stored
    assert await database.unit(lambda c: minutes.get(c, meeting.id, guild_id=GUILD + 1)) is None


async def test_errata_are_numbered_beside_the_original_and_recorded_once(
    database: Database, meeting: Meeting
) -> None:
    async def add(c: AsyncConnection, key: str) -> Erratum | None:
        return await minutes.add_erratum(
            c, guild_id=GUILD, meeting_id=meeting.id, text=f"訂正 {key}", author_id=SATO, author_name="佐藤",
            source_key=key, now=NOW,
        )  # fmt: skip

    first = await database.unit(lambda c: add(c, "i:1"))
    assert await database.unit(lambda c: add(c, "i:1")) is None
    second = await database.unit(lambda c: add(c, "i:2"))
    assert first == Erratum(meeting.id, 1, "訂正 i:1", SATO, "佐藤", NOW)
    assert await database.unit(lambda c: minutes.errata(c, meeting.id)) == [first, second]


async def test_replacing_erased_minutes_needs_minutes(database: Database, meeting: Meeting) -> None:
    with pytest.raises(StoreError, match="no minutes"):
        await database.unit(lambda c: minutes.replace_erased(c, meeting.id, "{}", "x", "d"))


async def test_a_server_has_the_defaults_until_it_sets_its_own(database: Database) -> None:
    assert await database.unit(lambda c: servers.get(c, GUILD)) == ServerSettings(GUILD)
    mine = ServerSettings(
        GUILD, "ja", "Asia/Tokyo", Activity.QUIET, 30, 365, 1000, 200, 1.5, {"ask": "gemini-3.5-flash-lite"},
        (5, 6), SATO, NOW,
    )  # fmt: skip
    for settings in (mine, ServerSettings(GUILD, "en"), mine):
        await database.unit(lambda c, s=settings: servers.save(c, s))
        assert await database.unit(lambda c: servers.get(c, GUILD)) == settings
    assert await database.unit(lambda c: servers.get(c, GUILD + 1)) == ServerSettings(GUILD + 1)


async def test_the_newest_heartbeats_count_and_work_that_is_no_more_leaves_none(database: Database) -> None:
    before = [Heartbeat("deliver", NOW, 60.0), Heartbeat("gone", NOW, 60.0)]
    after = [
        Heartbeat("bot", NOW + timedelta(seconds=5), 30.0, lag_s=0.25),
        Heartbeat("deliver", NOW + timedelta(seconds=5), 60.0, 2, "TimeoutError"),
    ]
    for beats in (before, after):
        await database.unit(lambda c, b=beats: heartbeats.replace(c, b))  # type: ignore[misc]
        assert await database.unit(heartbeats.everything) == beats


async def test_heartbeats_of_earlier_versions_are_read(database: Database) -> None:
    async def work(c: Any) -> list[Heartbeat]:
        row = {"name": "bot", "at": NOW, "failures": 2, "detail": "TimeoutError"}
        await c.execute(sa.insert(schema.heartbeats), row)
        return await heartbeats.everything(c)

    assert await database.unit(work) == [Heartbeat("bot", NOW, failures=2)]
