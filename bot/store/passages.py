"""The full-text index over what was said and recorded: the only file that knows SQLite's FTS5.

A row of `passages` holds the tokens of one message, one ledger item or one section of minutes; the FTS5 table
reads them from there (external content), kept by triggers. Storing a message costs nothing here: whoever
looks for something first lets `fill` add what is new. What is edited, deleted or erased leaves by triggers of
its own table, whatever code did it, and after an erasure `scrub` makes the index forget its tokens too:
before 3.42 FTS5 keeps deleted ones in its segments until they are merged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting import ledger as folding
from bot.meeting.model import Item
from bot.meeting.retrieving import tokens
from bot.store import ledger, schema, search

FTS = "passages_fts"
TABLE = (
    f"CREATE VIRTUAL TABLE {FTS} USING fts5(terms, content='passages', content_rowid='id',"
    " tokenize='unicode61 remove_diacritics 0', detail='none')"
)
MISSING = (
    "this Python's SQLite was built without full-text search (FTS5), which /ask needs;"
    " install Python from python.org, your distribution or conda"
)
AT_ONCE = 400  # rows indexed in one unit: about 40 ms
ERRATA = 100_000  # refs of minutes: 0 the summary, 1 ... the agenda items, from here on the errata

_passages, _indexed = schema.passages, schema.indexed
_messages, _entries, _minutes = schema.messages, schema.entries, schema.minutes
_meetings, _errata = schema.meetings, schema.errata
_DIRTY = "passages to scrub"
_GONE = f"INSERT OR REPLACE INTO meta (key, value) VALUES ('{_DIRTY}', '1')"


def _trigger(name: str, event: str, *actions: str) -> str:
    return f"CREATE TRIGGER {name} {event} BEGIN {'; '.join(actions)}; END"


def _drops(table: str, kind: str, ref: str, again: str) -> dict[str, str]:
    """What an update or deletion of a source row does to its passage. `again`: what is to be read anew."""
    where = f"meeting_id = OLD.meeting_id AND kind = '{kind}'{ref}"
    deed = (
        f"DELETE FROM passages WHERE {where}",
        f"UPDATE indexed SET {again} WHERE meeting_id = OLD.meeting_id",
    )
    return {
        f"{table}_leave_passages_{word}": _trigger(
            f"{table}_leave_passages_{word}", f"AFTER {verb} ON {table}", *deed
        )
        for verb, word in (("UPDATE", "update"), ("DELETE", "delete"))
    }


TRIGGERS: dict[str, str] = {
    "passages_added": _trigger(
        "passages_added",
        "AFTER INSERT ON passages",
        f"INSERT INTO {FTS} (rowid, terms) VALUES (NEW.id, NEW.terms)",
    ),
    "passages_gone": _trigger(
        "passages_gone",
        "AFTER DELETE ON passages",
        f"INSERT INTO {FTS} ({FTS}, rowid, terms) VALUES ('delete', OLD.id, OLD.terms)",
        _GONE,
    ),
    "passages_changed": _trigger(
        "passages_changed",
        "AFTER UPDATE ON passages",
        f"INSERT INTO {FTS} ({FTS}, rowid, terms) VALUES ('delete', OLD.id, OLD.terms)",
        f"INSERT INTO {FTS} (rowid, terms) VALUES (NEW.id, NEW.terms)",
        _GONE,
    ),
    **_drops(
        "messages",
        "message",
        " AND ref = OLD.message_id",
        "message_id = min(message_id, OLD.message_id - 1)",
    ),
    **_drops("entries", "entry", "", "entries = -1"),
    **_drops("minutes", "minutes", "", "minutes = ''"),
    **_drops("errata", "minutes", "", "minutes = ''"),
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that the index found; `ref` is a message id, an item's first number or a section."""

    meeting_id: int
    kind: str
    ref: int


def assert_available(connection: sa.Connection) -> None:
    """StoreError where SQLite knows no FTS5."""
    query = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
    if connection.exec_driver_sql(query).first() is None:
        raise StoreError(MISSING)


def assert_there(connection: sa.Connection, name: str) -> None:
    query = f"SELECT sql FROM sqlite_master WHERE name = '{FTS}'"
    if connection.exec_driver_sql(query).scalar() != TABLE:
        raise StoreError(f"{name}: the full-text index {FTS} is missing or altered")


# ------------------------------------------------------------------ filling


async def fill(c: AsyncConnection, guild_id: int, limit: int = AT_ONCE) -> bool:
    """Index up to about `limit` things of a server that are not indexed yet, the newest meetings first.

    True where more is left: run it again, in a unit of its own.
    """
    left = limit
    for row in (await c.execute(_stale(guild_id))).all():
        left -= await _fill_meeting(c, row, max(1, left))
        if left <= 0:
            return True
    return False


def _stale(guild_id: int) -> sa.Select[Any]:
    """Meetings with something that is not indexed yet."""
    newest = (
        sa.select(sa.func.max(_messages.c.message_id))
        .where(_messages.c.meeting_id == _meetings.c.id, _messages.c.deleted_at.is_(None))
        .scalar_subquery()
    )
    version = _version()
    seen = sa.func.coalesce(_indexed.c.message_id, -1)
    known = sa.func.coalesce(_indexed.c.entries, -1)
    return (
        sa.select(
            _meetings.c.id,
            _meetings.c.guild_id,
            _meetings.c.ledger_count,
            seen.label("seen"),
            known.label("entries"),
            sa.func.coalesce(_indexed.c.minutes, "").label("minutes"),
            version.label("version"),
        )
        .select_from(_meetings.outerjoin(_indexed, _indexed.c.meeting_id == _meetings.c.id))
        .where(
            _meetings.c.guild_id == guild_id,
            sa.or_(
                known != _meetings.c.ledger_count,
                sa.func.coalesce(newest, -1) > seen,
                version != sa.func.coalesce(_indexed.c.minutes, ""),
            ),
        )
        .order_by(_meetings.c.started_at.desc(), _meetings.c.id.desc())
    )


def _version() -> sa.ColumnElement[str]:
    """Of a meeting's minutes: when they were made and how many errata they have; "" where there are none."""
    count = sa.select(sa.func.count()).where(_errata.c.meeting_id == _meetings.c.id).scalar_subquery()
    made = sa.select(_minutes.c.digest).where(_minutes.c.meeting_id == _meetings.c.id).scalar_subquery()
    return sa.func.coalesce(made + sa.literal(":") + sa.cast(count, sa.String), "")


async def _fill_meeting(c: AsyncConnection, row: sa.Row[Any], limit: int) -> int:
    done, seen = 0, row.seen
    if row.entries != row.ledger_count:
        done += await _fill_entries(c, row.guild_id, row.id)
    if row.minutes != row.version:
        done += await _fill_minutes(c, row.guild_id, row.id)
    query = (
        sa.select(_messages)
        .where(
            _messages.c.meeting_id == row.id, _messages.c.message_id > seen, _messages.c.deleted_at.is_(None)
        )
        .order_by(_messages.c.message_id)
        .limit(limit)
    )
    found = (await c.execute(query)).all()
    await _put(
        c,
        row.guild_id,
        row.id,
        [("message", m.message_id, m.author_id, f"{m.author_name}\n{m.text}") for m in found],
    )
    values = {
        "guild_id": row.guild_id,
        "message_id": found[-1].message_id if found else seen,
        "entries": row.ledger_count,
        "minutes": row.version,
    }
    statement = insert(_indexed).values(meeting_id=row.id, **values)
    await c.execute(statement.on_conflict_do_update(index_elements=["meeting_id"], set_=values))
    return done + len(found) + 1


async def _put(
    c: AsyncConnection, guild_id: int, meeting_id: int, texts: Iterable[tuple[str, int, int | None, str]]
) -> None:
    """(kind, ref, author, text) each as a row; one that is there stays (it is what an edit left to renew)."""
    rows = [
        {
            "guild_id": guild_id,
            "meeting_id": meeting_id,
            "kind": kind,
            "ref": ref,
            "author_id": who,
            "terms": terms,
        }
        for kind, ref, who, text in texts
        if (terms := tokens(text))
    ]
    if rows:
        await c.execute(insert(_passages).on_conflict_do_nothing(), rows)


async def _clear(c: AsyncConnection, meeting_id: int, kind: str) -> None:
    await c.execute(
        sa.delete(_passages).where(_passages.c.meeting_id == meeting_id, _passages.c.kind == kind)
    )


async def _fill_entries(c: AsyncConnection, guild_id: int, meeting_id: int) -> int:
    view = folding.fold(await ledger.everything(c, meeting_id))
    await _clear(c, meeting_id, "entry")
    texts = [("entry", i.original.number, i.original.author_id, _words_of(i)) for i in view.items]
    await _put(c, guild_id, meeting_id, texts)
    return len(texts)


def _words_of(item: Item) -> str:
    """Everything an item is found by."""
    told = (*item.positions, *(a.text for a in item.answers), *(h.text for h in item.history))
    return "\n".join(
        part for part in (item.text, item.owner, item.due, item.entry.author_name, *told) if part
    )


async def _fill_minutes(c: AsyncConnection, guild_id: int, meeting_id: int) -> int:
    await _clear(c, meeting_id, "minutes")
    found = await sections(c, meeting_id)
    texts = [("minutes", ref, None, f"{head}\n{text}") for ref, (head, text) in found.items()]
    await _put(c, guild_id, meeting_id, texts)
    return len(texts)


async def sections(c: AsyncConnection, meeting_id: int) -> dict[int, tuple[str, str]]:
    """The prose of a meeting's minutes by section: (heading, text). 0 is the summary, without heading."""
    stored = (
        await c.execute(sa.select(_minutes.c.document).where(_minutes.c.meeting_id == meeting_id))
    ).scalar()
    document = json.loads(stored) if stored else {}
    found = {0: ("", str(document.get("summary") or ""))}
    for n, part in enumerate(document.get("agenda") or (), start=1):
        found[n] = (str(part.get("title") or ""), str(part.get("text") or ""))
    query = sa.select(_errata.c.number, _errata.c.text).where(_errata.c.meeting_id == meeting_id)
    found |= {ERRATA + row.number: (f"#{row.number}", row.text) for row in await c.execute(query)}
    return {ref: parts for ref, parts in found.items() if parts[1].strip()}


# ------------------------------------------------------------------ finding


async def find(
    c: AsyncConnection,
    guild_id: int,
    wanted: Sequence[str],
    channel_ids: Collection[int],
    limit: int = 150,
    *,
    meeting_id: int | None = None,
) -> list[Hit]:
    """What the index holds of `wanted` (tokens as `meeting.retrieving` makes them) in this server's meetings
    held in these channels, best first, the newest first among equals. Messages of people who opted out, and
    deleted ones, are left out.
    """
    if not wanted or not channel_ids:
        return []
    match = " OR ".join(f'"{t[:-1]}"*' if t.endswith("*") else f'"{t}"' for t in wanted)
    out = schema.opt_outs
    fts = sa.table(FTS, sa.column("rowid"), sa.column(FTS))
    query = (
        sa.select(_passages.c.meeting_id, _passages.c.kind, _passages.c.ref)
        .select_from(
            fts.join(_passages, _passages.c.id == fts.c.rowid).join(
                _meetings, _meetings.c.id == _passages.c.meeting_id
            )
        )
        .where(
            sa.text(f"{FTS} MATCH :match"),
            _passages.c.guild_id == guild_id,
            _meetings.c.guild_id == guild_id,
            search.readable(channel_ids),
            ~sa.exists().where(
                _passages.c.kind == "message",
                out.c.guild_id == guild_id,
                out.c.user_id == _passages.c.author_id,
            ),
        )
        .order_by(sa.text(f"bm25({FTS})"), _meetings.c.started_at.desc(), _passages.c.ref.desc())
        .limit(limit)
    )
    if meeting_id is not None:
        query = query.where(_meetings.c.id == meeting_id)
    return [Hit(row.meeting_id, row.kind, row.ref) for row in await c.execute(query, {"match": match})]


async def channels(c: AsyncConnection, guild_id: int) -> frozenset[int]:
    """Every channel of a server in which a meeting was held."""
    query = sa.select(_meetings.c.channel_id, _meetings.c.parent_id).where(_meetings.c.guild_id == guild_id)
    return frozenset(x for row in await c.execute(query.distinct()) for x in row if x is not None)


# ------------------------------------------------------------------ forgetting


async def scrub(c: AsyncConnection) -> bool:
    """Merge the index into one segment without deleted tokens, where anything left it since; in the unit that
    erased. True where there was something to do."""
    meta = schema.meta
    gone = await c.execute(sa.delete(meta).where(meta.c.key == _DIRTY))
    if not gone.rowcount:
        return False
    await c.execute(sa.text(f"INSERT INTO {FTS} ({FTS}) VALUES ('optimize')"))
    return True
