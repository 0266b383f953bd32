"""SQLite without its thread, so that a real database lives in virtual time.

aiosqlite hands every statement to a thread, and a loop whose time jumps would run away from it. Here the
statement runs where it is awaited, after one turn of the loop, so that other tasks still come in between.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiosqlite import core
from aiosqlite.core import set_exception, set_result
from sqlalchemy.ext.asyncio import create_async_engine

from bot.store import engine
from bot.store.engine import Database
from tests.virtual_time import VirtualLoop

T = TypeVar("T")


class _Inline:
    """Stands in for the queue to aiosqlite's thread: jobs are done at once, results come a turn later."""

    def put_nowait(self, job: tuple[asyncio.Future[Any] | None, Callable[[], Any]]) -> None:
        future, function = job
        try:
            result = function()
        except BaseException as error:
            if future is not None:
                future.get_loop().call_soon(set_exception, future, error)
        else:
            if future is not None:
                future.get_loop().call_soon(set_result, future, result)


_dialect_and_cache: list[tuple[Any, Any]] = []


def _engine_with_known_statements(*args: Any, **options: Any) -> Any:
    """An engine that keeps what earlier ones compiled: each life of a process opens its own (saves 30%)."""
    made = create_async_engine(*args, **options)
    sync: Any = made.sync_engine
    if not _dialect_and_cache:
        _dialect_and_cache.append((sync.dialect, sync._compiled_cache))
    sync.dialect, sync._compiled_cache = _dialect_and_cache[0]
    return made


@contextmanager
def instant_sqlite() -> Iterator[None]:
    """Every aiosqlite connection opened inside runs its statements on the loop."""

    def _await(self: Any) -> Generator[Any, None, Any]:
        return self._connect().__await__()  # as the original, without starting the thread

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create_async_engine", _engine_with_known_statements)
        patch.setattr(core, "SimpleQueue", _Inline)
        patch.setattr(core.Connection, "__await__", _await)
        yield


def run_instant(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end in virtual time, databases included."""
    with instant_sqlite(), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


class Folder:
    """A folder in memory with a database file for each run, copied from a migrated one (saves 100 ms)."""

    def __init__(self) -> None:
        memory = Path("/dev/shm")
        self._folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self._template = self._folder / "template.db"
        Finalize(self, shutil.rmtree, (self._folder, True), exitpriority=1)  # spawned processes run no atexit
        self._count = 0

    def fresh(self) -> str:
        """The URL of a new, empty, migrated database; the one handed out before is removed."""
        if not self._template.exists():
            run_instant(self._migrate())
        self._remove(self._count)
        self._count += 1
        shutil.copy(self._template, self._path(self._count))
        return f"sqlite+aiosqlite:///{self._path(self._count)}"

    async def _migrate(self) -> None:
        database = Database(f"sqlite+aiosqlite:///{self._template}", salt=lambda: bytes(16))
        await database.open()
        await database.close()

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.db"

    def _remove(self, number: int) -> None:
        for path in self._folder.glob(f"{number}.db*"):
            path.unlink()

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
