"""Every test here runs on a real SQLite; most on a file, as in the product."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.meeting.model import Activity, ChannelKind, Meeting, Message
from bot.store import meetings
from bot.store.engine import Database

NOW = datetime(2026, 10, 20, 9, 30, 15, 123456, tzinfo=UTC)
GUILD, CHANNEL, SATO, SUZUKI = 10**18 + 1, 10**18 + 2, 10**18 + 3, 10**18 + 4


async def make_meeting(c: AsyncConnection, **changes: Any) -> Meeting:
    values: dict[str, Any] = {
        "guild_id": GUILD,
        "channel_id": CHANNEL,
        "channel_kind": ChannelKind.TEXT,
        "title": "価格会議",
        "language": "ja",
        "timezone": "Asia/Tokyo",
        "chair_id": SATO,
        "chair_name": "佐藤",
        "agenda": ("価格", "発売日"),
        "started_at": NOW,
        "planned_end": NOW + timedelta(minutes=60),
        "activity": Activity.NORMAL,
    }
    return await meetings.create(c, **(values | changes))


def said(meeting_id: int, message_id: int, text: str, **changes: Any) -> Message:
    values: dict[str, Any] = {"author_id": SATO, "author_name": "佐藤", "at": NOW}
    return Message(meeting_id=meeting_id, message_id=message_id, text=text, **(values | changes))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/data/ketsugi.db"


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def meeting(database: Database) -> Meeting:
    return await database.unit(make_meeting)
