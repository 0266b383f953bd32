"""Tables, migrations, and statements that PostgreSQL takes too."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.meeting.model import (
    Entry,
    EntryKind,
    Late,
    Meeting,
    MeetingState,
    Message,
    NewEntry,
    Origin,
    Persona,
)
from bot.panel.order import Turn
from bot.panel.roles import Panel, Plan
from bot.store import (
    archive,
    cleanup,
    dues,
    generations,
    heartbeats,
    ledger,
    meetings,
    meta,
    minutes,
    outbox,
    overview,
    own_data,
    panels,
    passages,
    person,
    schema,
    search,
    servers,
    transcript,
)
from bot.store.engine import Database

from .conftest import CHANNEL, GUILD, NOW, SATO, make_meeting, said
from .test_generations import generated


def _shape(connection: sqlite3.Connection) -> dict[str, Any]:
    """Everything SQLite knows of the tables, apart from how the statements were spelled."""
    shape: dict[str, Any] = {}
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        if table.startswith("sqlite_") or table == "alembic_version":
            continue
        shape[table] = {
            what: sorted(map(repr, connection.execute(f"PRAGMA {what}({table})").fetchall()))
            for what in ("table_info", "foreign_key_list")
        }
        indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
        shape[table]["indexes"] = sorted(
            (unique, partial, connection.execute(f"PRAGMA index_info({name})").fetchall())
            for _, name, unique, _, partial in indexes
        )
    named = "SELECT name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
    shape["named"] = {name: " ".join(sql.split()) for name, sql in connection.execute(named)}
    counted = "SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'"
    shape["counted"] = sorted(connection.execute(counted).fetchall())
    return shape


async def test_migrations_make_exactly_the_tables_of_the_metadata(database: Database) -> None:
    def differences(connection: sa.Connection) -> list[Any]:
        def ours(name: str | None, kind: str, _: Any) -> bool:
            return kind != "table" or not str(name).startswith(passages.FTS)

        context = MigrationContext.configure(connection, opts={"include_name": ours})
        return compare_metadata(context, schema.metadata)

    async def work(c: AsyncConnection) -> list[Any]:
        return await c.run_sync(differences)

    assert await database.unit(work) == []
    plain = sa.create_engine("sqlite://")
    with plain.connect() as connection:
        schema.metadata.create_all(connection)
        connection.exec_driver_sql(passages.TABLE)
        for trigger in (schema.TRIGGERS | passages.TRIGGERS).values():
            connection.exec_driver_sql(trigger)
        from_metadata = _shape(connection.connection.driver_connection)
    plain.dispose()
    migrated = sqlite3.connect(database.path or "")
    from_migrations = _shape(migrated)
    migrated.close()
    assert from_migrations == from_metadata
    without_index = [name for name in from_metadata if not name.startswith(passages.FTS)]
    assert len(without_index) == len(schema.metadata.tables) + 2


@pytest.mark.parametrize(
    ("kind", "table", "elsewhere"),
    [
        (Meeting, schema.meetings, {"ledger_count", "ledger_head", "heard_to"}),
        (Message, schema.messages, {"guild_id"}),
        (Entry, schema.entries, {"guild_id", "seals"}),
        (servers.ServerSettings, schema.servers, set()),
    ],
)
def test_every_field_of_a_noun_has_its_column(kind: Any, table: sa.Table, elsewhere: set[str]) -> None:
    assert {f.name for f in fields(kind)} - {"redacted"} == {c.name for c in table.c} - elsewhere


def test_every_table_with_what_people_did_carries_the_server() -> None:
    without = {
        "meta",
        "heartbeats",
        "erasure_gate",
        "interactions",
        "notices",
        "redactions",  # numbers and field names
        "post_files",  # stand with a post
        "attempts",
        "generation_attempts",  # stand with a generation
    }
    for name, table in schema.metadata.tables.items():
        assert name in without or "guild_id" in table.c, name


async def test_moments_come_back_aware_in_utc_with_their_microseconds(database: Database) -> None:
    tokyo = datetime(2026, 10, 20, 18, 30, 15, 123456, tzinfo=timezone(timedelta(hours=9)))

    async def work(c: AsyncConnection) -> tuple[Meeting, Meeting | None]:
        made = await make_meeting(c, started_at=tokyo)
        return made, await meetings.get(c, made.id)

    made, read = await database.unit(work)
    assert read is not None
    assert made.started_at == read.started_at == tokyo
    assert read.started_at.isoformat() == "2026-10-20T09:30:15.123456+00:00"


async def test_a_moment_without_a_zone_is_refused(database: Database) -> None:
    async def work(c: AsyncConnection) -> None:
        await make_meeting(c, started_at=NOW.replace(tzinfo=None))

    with pytest.raises(StoreError):
        await database.unit(work)


def _entry(**values: Any) -> NewEntry:
    return NewEntry(EntryKind.NOTE, "x", "k", Origin.MARK, **values)


# Every function of the store, called so that all its statements run.
_PLAN = Plan(())
CALLS: dict[str, Callable[[AsyncConnection, int], Awaitable[Any]]] = {
    "meetings.get": lambda c, m: meetings.get(c, m, guild_id=GUILD),
    "meetings.open_in": lambda c, m: meetings.open_in(c, GUILD, CHANNEL),
    "meetings.open_all": lambda c, m: meetings.open_all(c),
    "meetings.latest_in": lambda c, m: meetings.latest_in(c, GUILD, CHANNEL),
    "meetings.listing": lambda c, m: meetings.listing(c, GUILD, 5, 0),
    "meetings.of_thread": lambda c, m: meetings.of_thread(c, GUILD, 5),
    "meetings.last_held": lambda c, m: meetings.last_held(c, GUILD, CHANNEL),
    "meetings.update": lambda c, m: meetings.update(c, m, agenda=("a",), cursor=5),
    "meetings.move": lambda c, m: meetings.move(c, m, [MeetingState.STARTING], MeetingState.OPEN),
    "meetings.mark_notice": lambda c, m: meetings.mark_notice(c, m, NOW, 5, NOW),
    "meetings.notices": lambda c, m: meetings.notices(c, m),
    "meetings.once": lambda c, m: meetings.once(c, 7, m, NOW),
    "meetings.heard_to": lambda c, m: meetings.heard_to(c, m),
    "meetings.hear": lambda c, m: meetings.hear(c, m, 5),
    "transcript.add": lambda c, m: transcript.add(c, said(m, 5, "x"), GUILD),
    "transcript.get": lambda c, m: transcript.get(c, m, 5),
    "transcript.edit": lambda c, m: transcript.edit(c, m, 5, "y", NOW),
    "transcript.after": lambda c, m: transcript.after(c, m, 1, 5),
    "transcript.unread": lambda c, m: transcript.unread(c, m, 1, 5, newest=True),
    "transcript.overtaken": lambda c, m: transcript.overtaken(c, m, 1, 5, [3]),
    "transcript.dealt_with": lambda c, m: transcript.dealt_with(c, m, [5], Late.NO),
    "transcript.read_again": lambda c, m: transcript.read_again(c, m, [5]),
    "transcript.recent": lambda c, m: transcript.recent(c, m, 5),
    "transcript.everything": lambda c, m: transcript.everything(c, m),
    "transcript.count": lambda c, m: transcript.count(c, m),
    "transcript.count_since": lambda c, m: transcript.count_since(c, GUILD, NOW),
    "transcript.last_id": lambda c, m: transcript.last_id(c, m),
    "transcript.last_at": lambda c, m: transcript.last_at(c, m),
    "transcript.speakers": lambda c, m: transcript.speakers(c, m),
    "transcript.react": lambda c, m: transcript.react(c, GUILD, m, 5, SATO, "佐藤", "👍", True, NOW),
    "transcript.react off": lambda c, m: transcript.react(c, GUILD, m, 5, SATO, "佐藤", "👍", False, NOW),
    "transcript.reactions": lambda c, m: transcript.reactions(c, m, 5),
    "transcript.reactions_on": lambda c, m: transcript.reactions_on(c, m, [5]),
    "transcript.joined": lambda c, m: transcript.joined(c, m, [5]),
    "transcript.delete": lambda c, m: transcript.delete(c, m, 5, NOW),
    "transcript.opt_out": lambda c, m: transcript.opt_out(c, GUILD, 9, NOW),
    "transcript.opted_out": lambda c, m: transcript.opted_out(c, GUILD, 9),
    "transcript.opt_in": lambda c, m: transcript.opt_in(c, GUILD, 9, NOW),
    "transcript.opted_in_at": lambda c, m: transcript.opted_in_at(c, GUILD, 9),
    "transcript.unheard": lambda c, m: transcript.unheard(c, GUILD, 9, NOW),
    "ledger.append": lambda c, m: ledger.append(
        c, GUILD, m, [_entry(author_id=SATO)], NOW, lambda: b"s" * 16
    ),
    "ledger.everything": lambda c, m: ledger.everything(c, m),
    "ledger.head": lambda c, m: ledger.head(c, m),
    "ledger.redact": lambda c, m: ledger.redact(c, m, 1),
    "ledger.verify": lambda c, m: ledger.verify(c, m),
    "outbox.put": lambda c, m: outbox.put(
        c, guild_id=GUILD, meeting_id=m, key="k", persona=Persona.SYSTEM, now=NOW, files=[("a", b"b")]
    ),
    "outbox.due": lambda c, m: outbox.due(c, m),
    "outbox.unsettled": lambda c, m: outbox.unsettled(c),
    "outbox.get": lambda c, m: outbox.get(c, m, "k"),
    "outbox.begin_attempt": lambda c, m: outbox.begin_attempt(c, 1, "me", NOW),
    "outbox.attempts": lambda c, m: outbox.attempts(c, 1),
    "outbox.sent": lambda c, m: outbox.sent(c, 1, 55, NOW),
    "outbox.fail": lambda c, m: outbox.fail(c, 1, "gone", NOW),
    "outbox.sent_ids": lambda c, m: outbox.sent_ids(c, m),
    "outbox.recent_own": lambda c, m: outbox.recent_own(c, m, 5),
    "outbox.everything_own": lambda c, m: outbox.everything_own(c, m),
    "overview.posts": lambda c, m: overview.posts(c, m),
    "minutes.save_draft": lambda c, m: minutes.save_draft(c, GUILD, m, "{}", "x", "d", NOW),
    "minutes.get": lambda c, m: minutes.get(c, m, guild_id=GUILD),
    "minutes.replace_erased": lambda c, m: minutes.replace_erased(c, m, "{}", "y", "d"),
    "minutes.add_erratum": lambda c, m: minutes.add_erratum(
        c, guild_id=GUILD, meeting_id=m, text="x", author_id=1, author_name="a", source_key="i:1", now=NOW
    ),
    "minutes.errata": lambda c, m: minutes.errata(c, m),
    "generations.record": lambda c, m: generations.record(c, GUILD, m, *generated(), NOW),
    "generations.everything": lambda c, m: generations.everything(c, m),
    "generations.totals": lambda c, m: generations.totals(c, GUILD, NOW),
    "generations.sources": lambda c, m: generations.sources(c, None),
    "generations.usage": lambda c, m: generations.usage(c, GUILD, NOW),
    "generations.count_since": lambda c, m: generations.count_since(c, GUILD, NOW),
    "servers.save": lambda c, m: servers.save(c, servers.ServerSettings(GUILD)),
    "servers.get": lambda c, m: servers.get(c, GUILD),
    "heartbeats.replace": lambda c, m: heartbeats.replace(c, [heartbeats.Heartbeat("sweep", NOW)]),
    "heartbeats.everything": lambda c, m: heartbeats.everything(c),
    "meta.put": lambda c, m: meta.put(c, "commands", "x"),
    "meta.get": lambda c, m: meta.get(c, "commands"),
    "archive.ledgers": lambda c, m: archive.ledgers(c, GUILD, [CHANNEL]),
    "search.index": lambda c, m: search.index(c, m),
    "search.catch_up": lambda c, m: search.catch_up(c),
    "search.reindex_erased": lambda c, m: search.reindex_erased(c, [m]),
    "search.decisions": lambda c, m: search.decisions(c, GUILD, "価格", [CHANNEL], without=9),
    "panels.create": lambda c, m: panels.create(c, GUILD, m, _PLAN, NOW),
    "panels.get": lambda c, m: panels.get(c, m),
    "panels.update": lambda c, m: panels.update(c, m, webhook_id=9),
    "panels.stop": lambda c, m: panels.stop(c, m, "turns", NOW),
    "panels.add_turn": lambda c, m: panels.add_turn(c, Panel(m, GUILD, (), 1, NOW), Turn(1, 0, "said", NOW)),
    "panels.turns": lambda c, m: panels.turns(c, m),
    "panels.people_at": lambda c, m: panels.people_at(c, m),
    "panels.usage": lambda c, m: panels.usage(c, m),
    "search.one": lambda c, m: search.one(c, GUILD, m, 1),
    "passages.channels": lambda c, m: passages.channels(c, GUILD),
    "search.replacements": lambda c, m: search.replacements(c, GUILD, [(m, 1)]),
    "meetings.unposted": lambda c, m: meetings.unposted(c, GUILD),
    "minutes.posted": lambda c, m: minutes.posted(c, m),
    "transcript.some": lambda c, m: transcript.some(c, m, [5]),
    "passages.fill": lambda c, m: passages.fill(c, GUILD),
    "passages.sections": lambda c, m: passages.sections(c, m),
    "passages.find": lambda c, m: passages.find(c, GUILD, ["価格", "決*"], [CHANNEL], meeting_id=m),
    "passages.scrub": lambda c, m: passages.scrub(c),
    "dues.meetings_with_due": lambda c, m: dues.meetings_with_due(c, NOW.date()),
    "dues.carried_on": lambda c, m: dues.carried_on(c, m),
    "search.held": lambda c, m: search.held(c, GUILD, [CHANNEL], 5),
    "transcript.opted_out_of": lambda c, m: transcript.opted_out_of(c, GUILD, [9]),
    "own_data.everything": lambda c, m: own_data.everything(c, GUILD, SATO),
    "cleanup.messages": lambda c, m: cleanup.messages(c, m),
    "cleanup.mark": lambda c, m: cleanup.mark(c, m, ["佐藤"]),
    "cleanup.mark_resting": lambda c, m: cleanup.mark_resting(c, GUILD, m),
    "cleanup.owed": lambda c, m: cleanup.owed(c),
    "cleanup.done": lambda c, m: cleanup.done(c, 1),
    "person.meetings_of": lambda c, m: person.meetings_of(c, GUILD, SATO),
    "person.erase_person": lambda c, m: person.erase_person(c, GUILD, SATO, NOW),
    "archive.sweep": lambda c, m: archive.sweep(c, NOW),
    "archive.erase_meeting": lambda c, m: archive.erase_meeting(c, GUILD, m),
}


async def test_every_statement_compiles_for_postgresql(database: Database) -> None:
    statements: list[Any] = []

    async def work(c: AsyncConnection) -> None:
        def note(connection: Any, element: Any, *_: Any) -> None:
            statements.append(element)

        sa.event.listen(c.sync_connection, "before_execute", note)
        try:
            meeting = await make_meeting(c)
            for call in CALLS.values():
                await call(c, meeting.id)
        finally:
            sa.event.remove(c.sync_connection, "before_execute", note)

    await database.unit(work)
    assert len(statements) > len(CALLS)
    for statement in statements:
        assert str(statement.compile(dialect=postgresql.dialect()))
    for table in schema.metadata.sorted_tables:
        assert str(sa.schema.CreateTable(table).compile(dialect=postgresql.dialect()))
        for index in table.indexes:
            assert str(sa.schema.CreateIndex(index).compile(dialect=postgresql.dialect()))


def test_every_public_function_of_the_store_is_called_above() -> None:
    modules = (
        meetings,
        transcript,
        ledger,
        outbox,
        overview,
        panels,
        meta,
        minutes,
        generations,
        servers,
        heartbeats,
        archive,
        person,
        search,
        dues,
        cleanup,
        own_data,
        passages,
    )
    public = {
        f"{module.__name__.rsplit('.', 1)[1]}.{name}"
        for module in modules
        for name, value in vars(module).items()
        if callable(value) and value.__module__ == module.__name__ and not name.startswith("_")
        if name[0].islower()
    }
    helpers = {
        "meetings.create",
        "meetings.page",
        "search.readable",
        "search.replaces",
        "ledger.redact_fields",
        "archive.forget_own_words",
        "passages.assert_available",
        "passages.assert_there",
    }  # called by these
    assert public - helpers == {name.removesuffix(" off") for name in CALLS}
