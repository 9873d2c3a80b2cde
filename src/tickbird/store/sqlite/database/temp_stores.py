"""Temporary stores on SQLite: files next to another store, on the same disk."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tickbird.domain.errors import StoreError
from tickbird.store.shared.temp_stores import NAME, check_name, new_name
from tickbird.store.sqlite.database.connection import BUSY_TIMEOUT, explain
from tickbird.store.sqlite.database.url import MEMORY, read_url
from tickbird.store.sqlite.store import SqliteStore

_SUFFIX: Final = ".db"
# The suffixes of SQLite's files.
_SUFFIXES: Final = ("", "-wal", "-shm", "-journal")
# Seconds for which the fault locks the file.
_LOCKED: Final = 1.5


class SqliteScratches:
    """Files in the folder of a store's file."""

    def __init__(self, url: str) -> None:
        path = read_url(url).path
        if path == MEMORY:
            raise StoreError(
                "this store is in memory, so other processes cannot use it.", hint="Use the URL of a file."
            )
        self._folder = Path(path).absolute().parent

    def address(self) -> str:
        return f"sqlite:///{self._folder / new_name()}{_SUFFIX}"

    def name(self, url: str) -> str:
        path = Path(read_url(url).path)
        check_name(path.stem)
        return str(path)

    async def make(self, url: str) -> None:
        self.name(url)
        await SqliteStore(url).migrate()

    async def left(self) -> Sequence[str]:
        paths = sorted(self._folder.glob(f"*{_SUFFIX}"))
        return [f"sqlite:///{path}" for path in paths if NAME.fullmatch(path.stem)]

    async def disturb(self, url: str) -> str:
        """Lock the file for a while, as a long transaction of another program does."""
        await asyncio.to_thread(_lock, self.name(url))
        return "file locked"

    async def drop(self, url: str) -> None:
        path = self.name(url)
        for suffix in _SUFFIXES:
            Path(f"{path}{suffix}").unlink(missing_ok=True)  # noqa: ASYNC240 - a moment


def _lock(path: str) -> None:
    db = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None)
    try:
        db.execute("BEGIN IMMEDIATE")
        time.sleep(_LOCKED)
        db.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise explain(error, path) from None
    finally:
        db.close()
