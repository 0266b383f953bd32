"""One process owns an SQLite file: before version 3.51.3 two writers can corrupt the WAL (RELIABILITY)."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from bot.errors import StoreError


class FileLock:
    """An OS lock on a file beside the database; the system drops it however the process dies."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._path = database.with_name(database.name + ".lock")
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock or raise StoreError naming the process that has it."""
        if sys.platform == "win32":
            raise StoreError("a database file needs a POSIX system (Linux, macOS, WSL or a container)")
        import fcntl

        try:
            # Opened without truncating: the first process's name has to stay readable.
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreError(
                f"cannot write beside the database {self._database}: {error.strerror}"
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.read(handle, 200).decode("utf-8", "replace").strip() or "another process"
            os.close(handle)
            raise StoreError(
                f"the database {self._database} is in use by {owner}; stop that one first"
            ) from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
