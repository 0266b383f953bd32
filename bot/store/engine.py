"""The database: one connection, one process, every transaction one unit that nobody can cut in half.

Units run as tasks of their own, in an empty context: cancelling whoever waits for one never reaches it
(aiosqlite 0.22.1 would let the next task commit the half), and simulated time does not see it.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import os
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool

from bot.errors import StoreError
from bot.store import passages, schema
from bot.store._gate import ERASED
from bot.store._lock import FileLock
from bot.store._queue import Queue

log = logging.getLogger(__name__)
# At debug level these log parameters and rows: what people wrote.
for _talkative in ("aiosqlite", "sqlalchemy.engine.Engine"):
    logging.getLogger(_talkative).addFilter(lambda record: record.levelno > logging.DEBUG)
T = TypeVar("T")
Connection = AsyncConnection  # the name by which use cases know it: SQLAlchemy itself stays in the store
Hook = Callable[[str], None]
Work = Callable[[AsyncConnection], Awaitable[T]]

MIGRATIONS = Path(__file__).parent / "migrations"

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("inside a unit", default=False)

# What RELIABILITY.md settled: WAL with FULL (NORMAL can lose on power cut), secure_delete for erasure,
# recursive_triggers because INSERT OR REPLACE slips past the delete trigger without.
_PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    "recursive_triggers": "ON",
    "secure_delete": "ON",
    "busy_timeout": "250",  # ms; only emptying the WAL ever waits, for whoever reads
    "temp_store": "MEMORY",  # what people wrote is not spilled into files elsewhere
}
_EXPECTED = {
    "journal_mode": "wal",
    "synchronous": 2,
    "foreign_keys": 1,
    "recursive_triggers": 1,
    "secure_delete": 1,
}


def random_salt() -> bytes:
    return os.urandom(16)


def _dumps(value: Any) -> str:
    return schema.storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class Database:
    """Opened once by the composition root; every use case goes through `unit`.

    `hooks` are called with "before" and "after" around every commit that changed something: one that raises
    in "before" rolls the unit back, one that raises in "after" leaves it committed (crash injection).
    `salt` gives the random bytes of ledger and database id; a rehearsal hands in seeded ones.
    """

    def __init__(self, url: str, *, salt: Callable[[], bytes] = random_salt, read_only: bool = False) -> None:
        self.salt = salt
        self.hooks: list[Hook] = []
        self._url, self._path = _parse(url)
        self._read_only = read_only
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None
        self._file_lock: FileLock | None = None
        self._queue = Queue()
        self._units: set[asyncio.Task[Any]] = set()

    @property
    def path(self) -> Path | None:
        """The database file, or None for one in memory."""
        return self._path

    async def open(self) -> None:
        """Lock, migrate, assert. StoreError names what is wrong; nothing stays open or locked then."""
        if self._connection is not None:
            raise StoreError("the database is open already")
        try:
            await self._open()
        except BaseException as error:
            await self._release()
            if isinstance(error, SQLAlchemyError):
                raise StoreError(f"cannot open the database {self._name}: {_plain(error)}") from error
            raise

    async def unit(self, work: Work[T], *, first: bool = False) -> T:
        """Run `work` as one transaction (BEGIN IMMEDIATE), after all units of its class asked for before.

        `first` is for what people just did: it goes before most of the bot's own work (`_queue.Queue`).
        Whoever waits may be cancelled; the unit is carried out all the same. Raises what `work` raised (then
        nothing is stored), or StoreError where the database failed. Units do not nest.
        """
        if _inside.get():
            raise StoreError("a unit inside a unit would wait for itself")
        if self._connection is None:
            raise StoreError("the database is not open")
        task = contextvars.Context().run(asyncio.create_task, self._run(self._connection, work, first))
        self._units.add(task)
        task.add_done_callback(self._units.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(_report)  # nobody waits for the outcome any more
            raise

    async def check(self) -> None:
        """Assert pragmas, layout, triggers and a shut erasure gate; StoreError names what is not so."""
        if self._connection is None:
            raise StoreError("the database is not open")
        async with self._queue.turn(), self._connection.begin():
            await self._connection.run_sync(self._assert)

    async def close(self) -> None:
        """Wait for the units under way, then let go of file and lock. Safe to call twice."""
        while self._units:
            await asyncio.wait(self._units)
        await self._release()

    async def _open(self) -> None:
        if self._path is not None and not self._read_only:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"cannot create the folder {self._path.parent}: {error.strerror}") from error
            self._file_lock = FileLock(self._path)
            self._file_lock.acquire()
            with suppress(OSError):  # what cannot be written is said by SQLite, with its reason
                self._path.touch(mode=0o600)  # people's words: for the bot's own account alone
        if self._path is not None and self._read_only and not self._path.exists():
            raise StoreError(f"there is no database {self._path}")
        self._engine = _engine(self._url, self._path, self._read_only)
        self._connection = await self._engine.connect()
        async with self._connection.begin():
            await self._connection.run_sync(passages.assert_available)
            if not self._read_only:
                await self._connection.run_sync(_migrate)
                await self._name_database(self._connection)
            await self._connection.run_sync(self._assert)
        if not self._read_only:
            await self._empty_wal(self._connection)  # what an erasure before a crash left there

    async def _run(self, connection: AsyncConnection, work: Work[T], first: bool) -> T:
        _inside.set(True)
        async with self._queue.turn(first=first):
            try:
                await connection.begin()
                before = await _changes(connection)
                result = await work(connection)
                if connection.info.get(ERASED):
                    await passages.scrub(connection)
                changed = await _changes(connection) != before
                if changed:
                    self._call("before")
                await connection.commit()
            except BaseException as error:
                await connection.rollback()
                if not connection.invalidated:  # as after a cancelled statement; the next BEGIN connects anew
                    connection.info.pop(ERASED, None)
                if isinstance(error, SQLAlchemyError):
                    raise StoreError(_plain(error)) from error
                raise
            if connection.info.pop(ERASED, False):
                await self._empty_wal(connection)
        if changed:
            self._call("after")
        return result

    def _call(self, moment: str) -> None:
        for hook in list(self.hooks):
            hook(moment)

    async def _empty_wal(self, connection: AsyncConnection) -> None:
        """Truncate the write-ahead log, so that no erased byte stays in it; outside any transaction."""
        if self._path is None:
            return
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        try:
            async with driver.execute("PRAGMA wal_checkpoint(TRUNCATE)") as cursor:
                busy = (await cursor.fetchone())[0]
        except sqlite3.Error:
            busy = 1  # the unit is committed: failing it now would make its caller do it again
        if busy:
            log.warning("someone is reading the database: the write-ahead log is emptied at the next start")

    async def _name_database(self, connection: AsyncConnection) -> None:
        """A random value of this database's own, part of every nonce: two copies never share one."""
        await connection.execute(
            insert(schema.meta).values(key="database_id", value=self.salt().hex()).on_conflict_do_nothing()
        )

    def _assert(self, connection: sa.Connection) -> None:
        if not self._read_only:
            for name, expected in _EXPECTED.items():
                if name == "journal_mode" and self._path is None:
                    continue  # memory has no log
                found = connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                if found != expected:
                    raise StoreError(f"{self._name}: PRAGMA {name} is {found}, must be {expected}")
        _assert_revision(connection, self._name)
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = {row.name: row.sql for row in connection.exec_driver_sql(query)}
        for expected, harm in (
            (schema.TRIGGERS, "the ledger is not protected"),
            (passages.TRIGGERS, "erased words would stay findable"),
        ):
            for name, sql in expected.items():
                if triggers.get(name) != sql:
                    state = "altered" if name in triggers else "missing"
                    raise StoreError(f"{self._name}: trigger {name} is {state}; {harm}")
        passages.assert_there(connection, self._name)
        if connection.execute(sa.select(sa.func.count()).select_from(schema.erasure_gate)).scalar():
            raise StoreError(f"{self._name}: the erasure gate stands open; the ledger is not protected")

    async def _release(self) -> None:
        connection, engine, file_lock = self._connection, self._engine, self._file_lock
        self._connection = self._engine = self._file_lock = None
        try:
            if connection is not None:
                await connection.close()
            if engine is not None:
                await engine.dispose()
        finally:
            if file_lock is not None:
                file_lock.release()

    @property
    def _name(self) -> str:
        return str(self._path) if self._path is not None else "in memory"


def _parse(url: str) -> tuple[URL, Path | None]:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StoreError(
            "the database URL cannot be read; it looks like sqlite+aiosqlite:///data/var/ketsugi.db"
        ) from error
    if parsed.get_backend_name() != "sqlite":
        raise StoreError(
            f"no support for {parsed.get_backend_name()} databases yet; use sqlite+aiosqlite:///<path>"
        )
    name = parsed.database or ":memory:"
    memory = name == ":memory:" or name.startswith("file::memory:")
    return parsed.set(drivername="sqlite+aiosqlite"), None if memory else Path(name)


def _engine(url: URL, path: Path | None, read_only: bool) -> AsyncEngine:
    if path is not None and read_only:
        url = url.set(database=f"file:{quote(str(path))}", query={"mode": "ro", "uri": "true"})
    engine = create_async_engine(url, poolclass=StaticPool, hide_parameters=True, json_serializer=_dumps)

    @event.listens_for(engine.sync_engine, "connect")
    def _connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        cursor = connection.cursor()
        for name, value in ({"query_only": "ON"} if read_only else _PRAGMAS).items():
            cursor.execute(f"PRAGMA {name} = {value}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _config(connection: sa.Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _migrate(connection: sa.Connection) -> None:
    try:
        command.upgrade(_config(connection), "head")
    except CommandError as error:
        raise StoreError(f"the database was made by another version of ketsugi: {error}") from error


def _assert_revision(connection: sa.Connection, name: str) -> None:
    head = ScriptDirectory.from_config(_config(connection)).get_current_head()
    found = MigrationContext.configure(connection).get_current_revision()
    if found != head:
        raise StoreError(f"{name} has the layout {found}, this version of ketsugi needs {head}")


async def _changes(connection: AsyncConnection) -> int:
    """Rows the connection has changed so far: units that only read call no hooks."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert driver is not None
    changes: int = driver.total_changes
    return changes


def _plain(error: SQLAlchemyError) -> str:
    """The driver's words only: they name tables and columns, never a value."""
    return f"{type(error).__name__}: {getattr(error, 'orig', None) or 'see the cause'}"


def _report(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a unit failed after its caller was cancelled: %s", type(error).__name__)
