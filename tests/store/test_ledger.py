"""The append-only ledger and its chain."""

from __future__ import annotations

import itertools
import json
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import Entry, EntryKind, Meeting, NewEntry, Origin
from bot.store import ledger, schema
from bot.store._gate import erasing
from bot.store.engine import Database
from bot.store.ledger import Broken

from .conftest import GUILD, NOW, SATO, SUZUKI, make_meeting

DECISION = NewEntry(
    EntryKind.DECISION,
    "上限は3。4以上は禁止",
    "m:11:0",
    Origin.MARK,
    SATO,
    "佐藤",
    "決定：上限は3。4以上は禁止",
    11,
)
ACTION = NewEntry(
    EntryKind.ACTION, "資料を作る", "g:12:action:ab12", Origin.MODEL, SUZUKI, "鈴木", "資料は私が", 12, None,
    "鈴木", "2026-10-23",
)  # fmt: skip
VOTE = NewEntry(EntryKind.VOTE, "", "m:13:0", Origin.MARK, SUZUKI, "鈴木", "+1", 13, 1, None, None, 1)


async def append(database: Database, meeting_id: int, *entries: NewEntry) -> list[Entry]:
    return await database.unit(lambda c: ledger.append(c, GUILD, meeting_id, entries, NOW, database.salt))


async def verify(database: Database, meeting_id: int) -> Broken | None:
    return await database.unit(lambda c: ledger.verify(c, meeting_id))


async def test_entries_are_numbered_chained_and_read_back_as_returned(
    database: Database, meeting: Meeting
) -> None:
    stored = await append(database, meeting.id, DECISION, ACTION)
    stored += await append(database, meeting.id, VOTE)
    assert [e.number for e in stored] == [1, 2, 3]
    assert await database.unit(lambda c: ledger.everything(c, meeting.id)) == stored
    assert len({e.digest for e in stored}) == 3
    assert await database.unit(lambda c: ledger.head(c, meeting.id)) == stored[-1].digest
    assert await verify(database, meeting.id) is None


async def test_a_source_key_is_recorded_once(database: Database, meeting: Meeting) -> None:
    assert len(await append(database, meeting.id, DECISION, DECISION)) == 1
    assert [e.number for e in await append(database, meeting.id, DECISION, ACTION)] == [2]
    assert await append(database, meeting.id, DECISION, ACTION) == []
    assert await verify(database, meeting.id) is None


async def test_an_empty_ledger_has_a_head_and_verifies(database: Database, meeting: Meeting) -> None:
    assert len(await database.unit(lambda c: ledger.head(c, meeting.id))) == 64
    assert await verify(database, meeting.id) is None
    assert await verify(database, 99) == Broken(0, "there is no such meeting")


async def test_an_entry_goes_to_a_meeting_of_its_own_server_only(
    database: Database, meeting: Meeting
) -> None:
    with pytest.raises(StoreError, match="in this server"):
        await database.unit(lambda c: ledger.append(c, GUILD + 1, meeting.id, [VOTE], NOW, database.salt))


REPLACE = "INSERT OR REPLACE INTO entries SELECT {} FROM entries WHERE number = 1".format(
    ", ".join("'other'" if c.name == "text" else c.name for c in schema.entries.c)
)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE entries SET text = 'other'", "DELETE FROM entries", "DELETE FROM redactions", REPLACE],
)
async def test_the_database_refuses_to_change_or_drop_entries(
    database: Database, meeting: Meeting, statement: str
) -> None:
    await append(database, meeting.id, DECISION)
    await database.unit(lambda c: ledger.redact(c, meeting.id, 1))
    with pytest.raises(StoreError, match="append-only"):
        await database.unit(lambda c: c.exec_driver_sql(statement))
    other = await database.unit(lambda c: make_meeting(c, channel_id=5))

    async def through_another_meetings_gate(c: AsyncConnection) -> None:
        async with erasing(c, other.id):
            await c.exec_driver_sql(statement)

    with pytest.raises(StoreError, match="append-only"):
        await database.unit(through_another_meetings_gate)
    assert await verify(database, meeting.id) is None


async def test_redaction_takes_the_words_and_their_salt_and_keeps_the_chain(
    database: Database, meeting: Meeting
) -> None:
    before = await append(database, meeting.id, DECISION, ACTION, VOTE)

    async def redact(c: AsyncConnection) -> list[bool]:
        return [
            await ledger.redact(c, meeting.id, 1),
            await ledger.redact(c, meeting.id, 1),
            await ledger.redact(c, meeting.id, 2, text=True),
            await ledger.redact_fields(c, meeting.id, 3, ["author_id", "author_name"]),
            await ledger.redact(c, meeting.id, 9),
        ]

    assert await database.unit(redact) == [True, True, True, True, False]
    after = await database.unit(lambda c: ledger.everything(c, meeting.id))
    assert [e.redacted for e in after] == [True, True, True]
    assert [(e.quote, e.text) for e in after[:2]] == [("", DECISION.text), ("", "")]
    assert (after[2].author_id, after[2].author_name) == (None, "")
    assert [e.digest for e in after] == [e.digest for e in before]
    assert await verify(database, meeting.id) is None
    assert len(await append(database, meeting.id, NewEntry(EntryKind.NOTE, "x", "k", Origin.MARK))) == 1
    assert await verify(database, meeting.id) is None
    seals = await database.unit(lambda c: c.execute(sa.select(schema.entries.c.seals)))
    salts = [{field for field, (salt, _) in row.seals.items() if salt is None} for row in seals]
    assert salts == [
        {"quote", "source_key"},
        {"quote", "source_key", "text"},
        {"source_key", "author_id", "author_name"},
        set(),
    ]


async def test_equal_words_do_not_have_equal_digests(database: Database, meeting: Meeting) -> None:
    """Otherwise a redacted quote could be recognised by its digest."""
    for key in "ab":
        await append(database, meeting.id, NewEntry(EntryKind.NOTE, "はい", key, Origin.MARK, quote="はい"))
    rows = (await database.unit(lambda c: c.execute(sa.select(schema.entries.c.seals)))).all()
    for field in ledger.SEALED:
        assert rows[0].seals[field] != rows[1].seals[field]
    salts = [salt for row in rows for salt, _ in row.seals.values()]
    assert len(set(salts)) == len(salts)


async def test_seeded_salts_give_the_same_ledger() -> None:
    digests = []
    for _ in range(2):
        numbers = itertools.count()
        database = Database("sqlite://", salt=lambda n=numbers: next(n).to_bytes(16, "big"))
        await database.open()
        meeting = await database.unit(make_meeting)
        digests.append([e.digest for e in await append(database, meeting.id, DECISION, ACTION)])
        await database.close()
    assert digests[0] == digests[1]


@pytest.fixture
async def written(tmp_path: Path) -> Path:
    """A closed database file: a ledger of six entries (number 5 redacted) and another meeting beside it."""
    path = tmp_path / "written.db"
    database = Database(f"sqlite:///{path}")
    await database.open()
    meeting = await database.unit(make_meeting)
    await append(database, meeting.id, DECISION, ACTION, VOTE)
    more = [
        NewEntry(EntryKind.QUESTION, f"誰が {n}?", f"q{n}", Origin.COMMAND, SATO, "佐藤", f"誰が {n}", n)
        for n in range(3)
    ]
    await append(database, meeting.id, *more)
    await database.unit(lambda c: ledger.redact(c, meeting.id, 5, text=True))
    await database.unit(lambda c: make_meeting(c, channel_id=5))
    await database.close()
    return path


def _tamper(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> None:
    raw = sqlite3.connect(path)
    for name in schema.TRIGGERS:
        raw.execute(f"DROP TRIGGER {name}")
    for statement, values in statements:
        raw.execute(statement, values)
    for sql in schema.TRIGGERS.values():
        raw.execute(sql)
    raw.commit()
    raw.close()


async def _verified(path: Path) -> Broken | None:
    reader = Database(f"sqlite:///{path}", read_only=True)
    await reader.open()
    try:
        return await verify(reader, 1)
    finally:
        await reader.close()


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
NOT_NULL = {c.name for c in schema.entries.c if not c.nullable}


@settings(
    max_examples=150,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(number=st.integers(1, 6), data=st.data())
async def test_altering_any_column_of_any_row_is_found_and_named(
    written: Path, number: int, data: st.DataObject
) -> None:
    column = data.draw(st.sampled_from([c.name for c in schema.entries.c]))
    copy = written.with_name("copy.db")
    shutil.copy(written, copy)
    raw = sqlite3.connect(copy)
    (before,) = raw.execute(f"SELECT {column} FROM entries WHERE number = ?", (number,)).fetchone()
    raw.close()
    value: Any
    if column == "at":
        value = (NOW + timedelta(microseconds=data.draw(st.integers(1, 10**9)))).strftime(
            "%Y-%m-%d %H:%M:%S.%f"
        )
    elif column == "seals":
        seals = json.loads(before)
        field, part = data.draw(st.sampled_from(sorted(seals))), data.draw(st.integers(0, 1))
        seals[field][part] = data.draw(st.one_of(st.none(), st.just("00" * 16), st.just("x"), st.just(5)))
        value = json.dumps(seals, ensure_ascii=False, separators=(",", ":"))
    elif column == "meeting_id":
        value = 2
    elif column in ("number", "refers_to", "author_id", "message_id", "guild_id"):
        value = data.draw(st.integers(7, 2**62))
    else:
        value = data.draw(VALUES)
    if value == before or (value is None and column in NOT_NULL):
        return
    if column in ("text", "quote", "kind", "source_key", "owner", "due", "author_name", "origin", "digest"):
        value = None if value is None else str(value)
        if value == before:
            return
    if column == "value" and isinstance(value, str):
        return
    _tamper(copy, (f"UPDATE entries SET {column} = ? WHERE number = ?", (value, number)))
    broken = await _verified(copy)
    assert broken is not None
    assert broken.number == number
    if column not in ("seals", "digest", "number", "meeting_id"):
        assert column in broken.what
    assert before in (None, "", 0) or str(before) not in broken.what or len(str(before)) < 3


@pytest.mark.parametrize("number", range(1, 7))
async def test_a_dropped_entry_is_found_the_last_one_too(written: Path, number: int) -> None:
    _tamper(written, ("DELETE FROM entries WHERE number = ?", (number,)))
    assert await _verified(written) == Broken(number, "it is missing")


async def test_emptying_a_field_without_a_redaction_is_found(written: Path) -> None:
    """Also with its salt taken away, as a redaction would."""
    raw = sqlite3.connect(written)
    seals = json.loads(raw.execute("SELECT seals FROM entries WHERE number = 2").fetchone()[0])
    raw.close()
    seals["quote"][0] = None
    _tamper(written, ("UPDATE entries SET quote = '', seals = ? WHERE number = 2", (json.dumps(seals),)))
    assert await _verified(written) == Broken(2, "quote was emptied without a redaction")


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        (
            "UPDATE entries SET quote = 'x' WHERE number = 5",
            Broken(5, "quote was altered after it was redacted"),
        ),
        ("DELETE FROM redactions", Broken(5, "text was emptied without a redaction")),
        ("INSERT INTO redactions VALUES (1, 2, 'text')", Broken(2, "text was altered after it was redacted")),
        ("INSERT INTO redactions VALUES (1, 9, 'text')", Broken(9, "it is missing, though it was redacted")),
        (
            "UPDATE meetings SET ledger_head = 'x'",
            Broken(6, "the meeting's record of the last digest differs"),
        ),
        ("UPDATE meetings SET ledger_count = 5", Broken(6, "the meeting does not count it")),
        ("UPDATE meetings SET ledger_count = 7", Broken(7, "it is missing")),
        ("UPDATE meetings SET guild_id = 5", Broken(1, "its digest does not follow from the entry before")),
    ],
)
async def test_what_stands_around_the_entries_is_checked_too(
    written: Path, statement: str, broken: Broken
) -> None:
    assert await _verified(written) is None
    _tamper(written, (statement, ()))
    assert await _verified(written) == broken


async def test_a_whole_ledger_put_under_another_meeting_is_found(written: Path) -> None:
    count, head = "ledger_count = m.ledger_count", "ledger_head = m.ledger_head"
    _tamper(
        written,
        ("DELETE FROM entries WHERE number = 5", ()),  # the redacted one, so that no redaction tells
        ("DELETE FROM redactions", ()),
        ("UPDATE entries SET meeting_id = 2, number = min(number, 5)", ()),
        (f"UPDATE meetings SET {count}, {head} FROM meetings m WHERE m.id = 1 AND meetings.id = 2", ()),
    )
    reader = Database(f"sqlite:///{written}", read_only=True)
    await reader.open()
    assert await verify(reader, 2) == Broken(1, "meeting_id was altered")
    await reader.close()
