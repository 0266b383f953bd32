"""The database as the application meets it: opening, units, crashes, a second process."""

from __future__ import annotations

import asyncio
import contextvars
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import EntryKind, Meeting, NewEntry, Origin
from bot.store import engine, ledger, meetings, schema, transcript
from bot.store.engine import Database

from .conftest import GUILD, NOW, SATO, make_meeting, said


async def _count(c: AsyncConnection) -> int:
    return (await c.execute(sa.select(sa.func.count()).select_from(schema.meetings))).scalar_one()


async def test_open_makes_the_folder_and_a_second_open_keeps_what_is_there(url: str, tmp_path: Path) -> None:
    for _ in range(2):
        database = Database(url)
        await database.open()
        assert await database.unit(_count) == (1 if _ else 0)
        if not _:
            await database.unit(make_meeting)
        await database.close()
    assert (tmp_path / "data" / "ketsugi.db").exists()
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "data").iterdir()} == {0}


async def test_memory_database_is_one_database_for_all_units() -> None:
    database = Database("sqlite+aiosqlite:///:memory:")
    await database.open()
    await database.unit(make_meeting)
    assert await database.unit(_count) == 1
    await database.close()


async def test_a_failing_unit_stores_nothing_and_raises_what_failed(database: Database) -> None:
    async def work(c: AsyncConnection) -> None:
        await make_meeting(c)
        raise LookupError("half way")

    with pytest.raises(LookupError, match="half way"):
        await database.unit(work)
    assert await database.unit(_count) == 0


@pytest.mark.parametrize("on_file", [True, False])
async def test_cancelling_whoever_waits_never_leaves_half_a_unit(url: str, on_file: bool) -> None:
    """300 random cancellations: message, reaction and entry of a unit are all there, or none is."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    database = Database(url if on_file else "sqlite://")
    await database.open()
    meeting = await database.unit(make_meeting)
    outcome: dict[int, str] = {}

    def unit(number: int, fails: bool) -> engine.Work[None]:
        async def work(c: AsyncConnection) -> None:
            await transcript.add(c, said(meeting.id, number, f"発言{number}"), GUILD)
            await transcript.react(c, GUILD, meeting.id, number, SATO, "佐藤", "👍", True, NOW)
            if fails:
                raise LookupError
            entry = NewEntry(EntryKind.NOTE, "x", f"m:{number}", Origin.MARK, message_id=number)
            await ledger.append(c, GUILD, meeting.id, [entry], NOW, database.salt)

        return work

    async def caller(number: int, fails: bool) -> None:
        outcome[number] = "cancelled"
        try:
            await database.unit(unit(number, fails))
            outcome[number] = "done"
        except LookupError:
            outcome[number] = "failed"

    cancelled = 0
    for number in range(1, 301):
        task = asyncio.create_task(caller(number, fails=chance.random() < 0.2))
        for _ in range(chance.choice((0, 1, 2, 3, 5, 8, 13, 21, 40, 80))):
            await asyncio.sleep(0)
        cancelled += task.cancel()
        await asyncio.wait([task])
    assert cancelled > 250
    await asyncio.gather(*database._units, return_exceptions=True)

    async def rows(c: AsyncConnection) -> tuple[set[int], set[int], set[int]]:
        entries = await ledger.everything(c, meeting.id)
        assert await ledger.verify(c, meeting.id) is None
        reacted = set((await c.execute(sa.select(schema.reactions.c.message_id))).scalars())
        messages = await transcript.everything(c, meeting.id)
        return {m.message_id for m in messages}, reacted, {e.message_id or 0 for e in entries}

    messages, reacted, entries = await database.unit(rows)
    assert messages == reacted == entries
    assert 100 < len(messages) < 300  # some failed, and cancelling stopped none that had begun
    assert all(number in messages for number, how in outcome.items() if how == "done")
    assert not any(number in messages for number, how in outcome.items() if how == "failed")
    await database.close()


async def test_a_loop_that_cancels_every_task_leaves_no_half_unit_either(
    database: Database, meeting: Meeting
) -> None:
    """asyncio.run cancels the units themselves when it ends."""
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)

    async def work(c: AsyncConnection, number: int) -> None:
        await transcript.add(c, said(meeting.id, number, "x"), GUILD)
        await transcript.react(c, GUILD, meeting.id, number, SATO, "佐藤", "👍", True, NOW)

    cancelled = 0
    for number in range(1, 101):
        task = asyncio.create_task(database.unit(lambda c, n=number: work(c, n)))
        for _ in range(chance.randrange(150)):
            await asyncio.sleep(0)
        for unit in list(database._units):
            cancelled += unit.cancel()
        await asyncio.wait([task])

    async def rows(c: AsyncConnection) -> tuple[set[int], set[int]]:
        reacted = set((await c.execute(sa.select(schema.reactions.c.message_id))).scalars())
        return {m.message_id for m in await transcript.everything(c, meeting.id)}, reacted

    messages, reacted = await database.unit(rows)
    assert cancelled > 10
    assert messages == reacted
    await database.check()


async def test_units_do_not_need_time_to_pass(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated Discord stops time.monotonic for the whole process."""
    stopped = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: stopped)
    await database.unit(make_meeting)
    assert await database.unit(_count) == 1


async def test_a_unit_runs_in_an_empty_context(database: Database) -> None:
    mine: contextvars.ContextVar[int] = contextvars.ContextVar("mine")
    mine.set(1)

    async def work(c: AsyncConnection) -> bool:
        return mine in contextvars.copy_context()

    assert not await database.unit(work)


async def test_close_waits_for_units_whose_caller_is_gone(url: str) -> None:
    database = Database(url)
    await database.open()
    task = asyncio.create_task(database.unit(make_meeting))
    await asyncio.sleep(0)
    task.cancel()
    await database.close()
    await database.close()
    assert task.cancelled()
    await database.open()
    assert await database.unit(_count) == 1
    await database.close()
    with pytest.raises(StoreError, match="not open"):
        await database.unit(_count)


async def test_a_unit_inside_a_unit_is_refused_instead_of_waiting_for_itself(database: Database) -> None:
    async def work(c: AsyncConnection) -> int:
        return await database.unit(_count)

    with pytest.raises(StoreError, match="inside a unit"):
        await database.unit(work)


async def test_units_do_not_overlap(database: Database) -> None:
    running, most = 0, 0

    async def work(c: AsyncConnection) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await c.execute(sa.select(1))
        running -= 1

    await asyncio.gather(*(database.unit(work) for _ in range(20)))
    assert most == 1


class Crash(BaseException):
    pass


@pytest.mark.parametrize(("moment", "stored"), [("before", 0), ("after", 1)])
async def test_a_crash_around_a_commit(database: Database, moment: str, stored: int) -> None:
    def hook(at: str) -> None:
        if at == moment:
            raise Crash

    database.hooks.append(hook)
    with pytest.raises(Crash):
        await database.unit(make_meeting)
    database.hooks.clear()
    assert await database.unit(_count) == stored


async def test_hooks_see_commits_that_changed_something_only(database: Database) -> None:
    seen: list[str] = []
    database.hooks.append(seen.append)
    await database.unit(_count)
    assert seen == []
    await database.unit(make_meeting)
    assert seen == ["before", "after"]


async def test_no_error_or_log_line_holds_what_people_wrote(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    database = Database(url)
    await database.open()
    meeting = await database.unit(make_meeting)

    async def talk(c: AsyncConnection) -> None:
        await transcript.add(c, said(meeting.id, 1, "秘密の話"), GUILD)
        assert len(await transcript.everything(c, meeting.id)) == 1

    async def work(c: AsyncConnection) -> None:
        message = said(meeting.id + 1, 1, "秘密の話")  # of a meeting that is not there
        await transcript.add(c, message, GUILD)

    await database.unit(talk)
    with pytest.raises(StoreError) as caught:
        await database.unit(work)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "秘密" not in str(chain)
        chain = chain.__cause__
    task = asyncio.create_task(database.unit(work))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await asyncio.gather(*database._units, return_exceptions=True)
    assert any("after its caller was cancelled" in line for line in caplog.messages)
    assert "秘密" not in caplog.text
    await database.close()


async def test_text_that_no_database_takes_is_stored_without_it(database: Database, meeting: Meeting) -> None:
    async def work(c: AsyncConnection) -> str:
        await transcript.add(c, said(meeting.id, 1, "決定\ud800：\0A案"), GUILD)
        return (await transcript.everything(c, meeting.id))[0].text

    assert await database.unit(work) == "決定?：\ufffdA案"


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "DELETE"),
        ("synchronous", "NORMAL"),
        ("foreign_keys", "OFF"),
        ("recursive_triggers", "OFF"),
        ("secure_delete", "OFF"),
    ],
)
async def test_start_is_refused_when_a_pragma_does_not_hold(
    url: str, monkeypatch: pytest.MonkeyPatch, pragma: str, value: str
) -> None:
    monkeypatch.setitem(engine._PRAGMAS, pragma, value)
    database = Database(url)
    with pytest.raises(StoreError, match=f"PRAGMA {pragma}"):
        await database.open()
    monkeypatch.undo()
    await database.open()  # and the lock was let go
    await database.close()


@pytest.mark.parametrize("trigger", sorted(schema.TRIGGERS))
@pytest.mark.parametrize("instead", [None, "SELECT 1"])
async def test_start_is_refused_when_a_trigger_is_gone_or_altered(
    url: str, trigger: str, instead: str | None
) -> None:
    database = Database(url)
    await database.open()
    await database.close()
    with sqlite3.connect(database.path or "") as raw:
        raw.execute(f"DROP TRIGGER {trigger}")
        if instead is not None:
            raw.execute(f"CREATE TRIGGER {trigger} BEFORE UPDATE ON entries BEGIN {instead}; END")
    raw.close()
    with pytest.raises(StoreError, match=f"{trigger} is {'altered' if instead else 'missing'}"):
        await database.open()


async def test_start_is_refused_when_the_erasure_gate_stands_open(
    database: Database, meeting: Meeting
) -> None:
    async def open_gate(c: AsyncConnection) -> None:
        await c.execute(sa.insert(schema.erasure_gate).values(meeting_id=meeting.id))

    await database.check()
    await database.unit(open_gate)
    with pytest.raises(StoreError, match="erasure gate"):
        await database.check()


async def test_a_database_of_a_later_version_is_refused(url: str) -> None:
    database = Database(url)
    await database.open()
    await database.close()
    with sqlite3.connect(database.path or "") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(StoreError, match="another version"):
        await database.open()
    with pytest.raises(StoreError, match="9999"):
        await Database(url, read_only=True).open()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "looks like"),
        ("postgresql://x/y", "postgresql"),
        ("sqlite:////proc/nowhere/k.db", "folder"),
    ],
)
async def test_a_url_that_cannot_work_says_why(url: str, says: str) -> None:
    with pytest.raises(StoreError, match=says):
        await Database(url).open()


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("these are notes, not tables " * 100)
    with pytest.raises(StoreError, match=r"notes\.db.*not a database"):
        await Database(f"sqlite:///{path}").open()


HOLDER = """
import asyncio, sys
from bot.store.engine import Database
async def main():
    database = Database(sys.argv[1])
    await database.open()
    print("open", flush=True)
    sys.stdin.read()
asyncio.run(main())
"""


@pytest.fixture
def holder(url: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


async def test_a_second_process_is_refused_by_name_until_the_first_dies(
    url: str, holder: subprocess.Popen[str]
) -> None:
    try:
        with pytest.raises(StoreError, match=f"process {holder.pid} on {os.uname().nodename}"):
            await Database(url).open()
        reader = Database(url, read_only=True)
        await reader.open()
        assert await reader.unit(_count) == 0
        await reader.close()
    finally:
        holder.kill()  # no goodbye: the system drops the lock
        holder.communicate()
    database = Database(url)
    await database.open()
    await database.close()


async def test_reading_only_never_writes(database: Database, url: str) -> None:
    await database.unit(make_meeting)
    reader = Database(url, read_only=True)
    await reader.open()
    with pytest.raises(StoreError, match="readonly"):
        await reader.unit(make_meeting)
    assert len(await reader.unit(meetings.open_all)) == 1
    await reader.close()
    await reader.open()  # nothing it did needs the first to go
    await reader.close()


async def test_reading_only_makes_no_database(url: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no database"):
        await Database(url, read_only=True).open()
    assert os.listdir(tmp_path) == []
