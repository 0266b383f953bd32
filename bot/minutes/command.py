"""`ketsugi verify` and `ketsugi export`: read a database that may be in use, and change nothing in it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from bot.errors import KetsugiError
from bot.meeting.model import Meeting
from bot.minutes.archive import file_of
from bot.minutes.verify import Fault, faults
from bot.settings import Settings
from bot.store import audit, meetings, minutes
from bot.store.engine import Connection, Database
from bot.store.minutes import StoredMinutes

T = TypeVar("T")

SHOWN = 20  # faults of one meeting; the first is the one to look at


def verify(database: str | None, meeting: int | None, now: datetime | None = None) -> int:
    """Exit status 0 where everything holds, else 1; the first line names the first broken link."""
    at = now or datetime.now(UTC)
    try:
        days = Settings().retention_days
        checked, found = asyncio.run(_read(database, lambda c: _verify(c, meeting, at, days)))
    except KetsugiError as error:
        return _fail(str(error))
    for fault in found[:SHOWN]:
        print(fault)  # noqa: T201
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN} more")  # noqa: T201
    if found:
        return 1
    if meeting is not None and not checked:
        return _fail(f"there is no meeting {meeting}")
    noun = "meeting" if checked == 1 else "meetings"
    print(f"{checked} {noun}: ledger, minutes and posts are as they were stored")  # noqa: T201
    return 0


async def _verify(c: Connection, meeting: int | None, now: datetime, days: int) -> tuple[int, list[Fault]]:
    wanted = [n for n in await audit.meeting_ids(c) if meeting in (None, n)]
    found: list[Fault] = []
    for number in wanted:
        found += await faults(c, number, now, days)
    return len(wanted), found


def export(meeting: int, form: str, out: Path | None, database: str | None) -> int:
    """Exit status 1 where there is no such meeting or it has no minutes yet."""
    try:
        known, stored = asyncio.run(_read(database, lambda c: _stored(c, meeting)))
    except KetsugiError as error:
        return _fail(str(error))
    if known is None:
        return _fail(f"there is no meeting {meeting}")
    if stored is None or not stored.text:
        return _fail(f"meeting {meeting} has no minutes yet")
    _, content = file_of(known, stored, form)
    if out is None:
        sys.stdout.buffer.write(content)
        return 0
    try:
        out.write_bytes(content)
    except OSError as error:
        return _fail(f"{out}: {error.strerror or error}")
    return 0


async def _stored(c: Connection, meeting: int) -> tuple[Meeting | None, StoredMinutes | None]:
    return await meetings.get(c, meeting), await minutes.get(c, meeting)


async def _read(url: str | None, work: Callable[[Connection], Awaitable[T]]) -> T:
    if url is not None and "://" not in url:
        url = f"sqlite+aiosqlite:///{url}"
    database = Database(url or Settings().database_url, read_only=True)
    try:
        await database.open()
        return await database.unit(work)
    finally:
        await database.close()


def _fail(message: str) -> int:
    print(f"ketsugi: {message}", file=sys.stderr)  # noqa: T201
    return 1
