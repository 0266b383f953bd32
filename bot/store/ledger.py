"""The append-only ledger, and the chain that shows it was left alone.

Every field of an entry has a salt and a digest of its own (`seals`): sha256(salt, name, value). The entry's
digest is sha256(digest of the entry before, digests of all fields). Redacting empties a field and destroys
its salt, while the digest stays: the chain still verifies, and because the salt was 128 random bits that
stand nowhere else, the words cannot be found by trying. The salts of one entry come from one random value
that is thrown away, so that the ones left do not lead to the one destroyed. Which fields were redacted
stands in `redactions`; a field emptied without that counts as altered. Number and digest of the last entry
stand with the meeting, so that dropping the last entries is noticed too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import Entry, EntryKind, NewEntry, Origin
from bot.store import schema
from bot.store._gate import erasing

_entries = schema.entries
_redactions = schema.redactions

SEALED = tuple(c.name for c in _entries.c if c.name not in ("seals", "digest"))
REDACTABLE = ("text", "quote", "author_name", "author_id", "message_id", "owner", "due")


@dataclass(frozen=True, slots=True)
class Broken:
    """The first place where the chain does not hold; `number` is 0 where there is no entry to name."""

    number: int
    what: str


def _blank(field: str, number: int) -> Any:
    """What a field holds once redacted."""
    if field == "source_key":
        return f"redacted:{number}"  # two entries of a meeting may not share one
    return "" if field in ("text", "quote", "author_name") else None


def _canonical(value: Any) -> bytes:
    if isinstance(value, datetime):
        value = value.astimezone(UTC).isoformat(timespec="microseconds")
    return json.dumps(value, ensure_ascii=False).encode()


def _digest(salt: str, field: str, value: Any) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + field.encode() + b"\0" + _canonical(value)).hexdigest()


def _seals(values: Mapping[str, Any], seed: bytes) -> dict[str, list[str]]:
    seals = {}
    for field in SEALED:
        salt = hashlib.sha256(seed + field.encode()).hexdigest()[:32]
        seals[field] = [salt, _digest(salt, field, values[field])]
    return seals


def _link(previous: str, seals: Mapping[str, Sequence[str | None]]) -> str:
    parts = [previous, *(f"{field}={seals[field][1]}" for field in SEALED)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _stored(value: Any) -> Any:
    """`value` as it will be read back, since that is what is sealed."""
    return schema.storable(value) if isinstance(value, str) else value


def _genesis(guild_id: int, meeting_id: int) -> str:
    return hashlib.sha256(f"ketsugi ledger {guild_id} {meeting_id}".encode()).hexdigest()


def _entry(row: Mapping[str, Any], redacted: bool) -> Entry:
    values = {f.name: row[f.name] for f in fields(Entry) if f.name != "redacted"}
    values["kind"], values["origin"] = EntryKind(values["kind"]), Origin(values["origin"])
    return Entry(**values, redacted=redacted)


async def append(
    c: AsyncConnection,
    guild_id: int,
    meeting_id: int,
    new: Sequence[NewEntry],
    now: datetime,
    salt: Callable[[], bytes],
) -> list[Entry]:
    """Number, seal and store what is new; entries whose source key is known are passed over.

    `salt` gives at least 16 random bytes a call (`Database.salt`). Returns the entries stored now, in order.
    """
    if not new:
        return []
    table = schema.meetings
    query = sa.select(table.c.ledger_count, table.c.ledger_head).where(
        table.c.id == meeting_id, table.c.guild_id == guild_id
    )
    meeting = (await c.execute(query.with_for_update())).first()
    if meeting is None:
        raise StoreError(f"there is no meeting {meeting_id} in this server")
    keys = sa.select(_entries.c.source_key).where(
        _entries.c.meeting_id == meeting_id, _entries.c.source_key.in_({e.source_key for e in new})
    )
    known = set((await c.execute(keys)).scalars())
    number, head = meeting.ledger_count, meeting.ledger_head or _genesis(guild_id, meeting_id)
    rows = []
    for entry in new:
        if entry.source_key in known:
            continue
        known.add(entry.source_key)
        number += 1
        values = {f.name: _stored(getattr(entry, f.name)) for f in fields(NewEntry)}
        values["value"] = None if entry.value is None else float(entry.value)
        values |= {"guild_id": guild_id, "meeting_id": meeting_id, "number": number, "at": now}
        seals = _seals(values, salt())
        head = _link(head, seals)
        rows.append(values | {"seals": seals, "digest": head})
    if rows:
        await c.execute(sa.insert(_entries), rows)
        await c.execute(
            sa.update(table).where(table.c.id == meeting_id).values(ledger_count=number, ledger_head=head)
        )
    return [_entry(row, False) for row in rows]


async def everything(c: AsyncConnection, meeting_id: int) -> list[Entry]:
    """The whole ledger in order of number."""
    redacted = set(
        (
            await c.execute(sa.select(_redactions.c.number).where(_redactions.c.meeting_id == meeting_id))
        ).scalars()
    )
    query = sa.select(_entries).where(_entries.c.meeting_id == meeting_id).order_by(_entries.c.number)
    return [_entry(dict(row._mapping), row.number in redacted) for row in await c.execute(query)]


async def head(c: AsyncConnection, meeting_id: int) -> str:
    """Hex digest of the last entry, or what an empty ledger starts from; "" if there is no meeting."""
    table = schema.meetings
    query = sa.select(table.c.guild_id, table.c.ledger_head).where(table.c.id == meeting_id)
    row = (await c.execute(query)).first()
    return "" if row is None else row.ledger_head or _genesis(row.guild_id, meeting_id)


async def redact(c: AsyncConnection, meeting_id: int, number: int, *, text: bool = False) -> bool:
    """Empty the quote of one entry, with `text` its text too. False if there is no such entry.

    The source key goes with them, since it may hold a hash of the words.
    """
    return await redact_fields(c, meeting_id, number, ("quote", "text") if text else ("quote",))


async def redact_fields(c: AsyncConnection, meeting_id: int, number: int, names: Collection[str]) -> bool:
    """Empty the named fields (of `REDACTABLE`) and the source key of one entry, through the erasure gate."""
    where = (_entries.c.meeting_id == meeting_id, _entries.c.number == number)
    row = (await c.execute(sa.select(_entries.c.seals).where(*where))).first()
    if row is None:
        return False
    seals = dict(row.seals)
    fresh = [
        f for f in (*REDACTABLE, "source_key") if f in {*names, "source_key"} and seals[f][0] is not None
    ]
    if not fresh:
        return True
    for field in fresh:
        seals[field] = [None, seals[field][1]]
    async with erasing(c, meeting_id):
        await c.execute(
            sa.update(_entries)
            .where(*where)
            .values(seals=seals, **{field: _blank(field, number) for field in fresh})
        )
        await c.execute(
            sa.insert(_redactions),
            [{"meeting_id": meeting_id, "number": number, "field": field} for field in fresh],
        )
    return True


def _fault(row: Mapping[str, Any], previous: str, redacted: set[str]) -> str | None:
    """What is wrong with one row, in words that hold none of its contents."""
    seals = row["seals"]
    if not isinstance(seals, dict) or set(seals) != set(SEALED):
        return "its seals were altered"
    for field in SEALED:
        seal = seals[field]
        if not isinstance(seal, list) or len(seal) != 2 or not isinstance(seal[1], str):
            return f"the seal of {field} was altered"
        salt, digest = seal
        if field in redacted:
            if salt is not None or row[field] != _blank(field, row["number"]):
                return f"{field} was altered after it was redacted"
        elif salt is None:
            return f"{field} was emptied without a redaction"
        elif not _matches(salt, field, row[field], digest):
            return f"{field} was altered"
    return (
        None
        if _link(previous, seals) == row["digest"]
        else "its digest does not follow from the entry before"
    )


def _matches(salt: Any, field: str, value: Any, digest: str) -> bool:
    try:
        return _digest(salt, field, value) == digest
    except (TypeError, ValueError):
        return False


async def verify(c: AsyncConnection, meeting_id: int) -> Broken | None:
    """None if every entry is as stored or properly redacted and none is missing; else the first fault."""
    table = schema.meetings
    meeting = (await c.execute(sa.select(table).where(table.c.id == meeting_id))).first()
    if meeting is None:
        return Broken(0, "there is no such meeting")
    redacted: dict[int, set[str]] = {}
    for row in await c.execute(sa.select(_redactions).where(_redactions.c.meeting_id == meeting_id)):
        redacted.setdefault(row.number, set()).add(row.field)
    previous, number = _genesis(meeting.guild_id, meeting_id), 0
    query = sa.select(_entries).where(_entries.c.meeting_id == meeting_id).order_by(_entries.c.number)
    for entry in (await c.execute(query)).mappings():
        number += 1
        if entry["number"] != number:
            return Broken(number, "it is missing")
        fault = _fault(dict(entry), previous, redacted.pop(number, set()))
        if fault is not None:
            return Broken(number, fault)
        previous = entry["digest"]
    if number < meeting.ledger_count:
        return Broken(number + 1, "it is missing")
    if number > meeting.ledger_count:
        return Broken(number, "the meeting does not count it")
    if redacted:
        return Broken(min(redacted), "it is missing, though it was redacted")
    if (meeting.ledger_head or _genesis(meeting.guild_id, meeting_id)) != previous:
        return Broken(number, "the meeting's record of the last digest differs")
    return None
