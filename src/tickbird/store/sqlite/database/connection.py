"""One SQLite connection with its own thread; it runs complete transactions."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from tickbird.domain.errors import SchedulesUnusableError, StoreError, StoreUnavailableError
from tickbird.store.sqlite.database.schema import check_stored_generation
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import retry_while_busy
from tickbird.store.sqlite.database.url import MEMORY, SqliteUrl

T = TypeVar("T")
# The same name as in the other driver: a connection inside one transaction.
Session = sqlite3.Connection

# Seconds that SQLite waits for another process; then `retry_while_busy` tries again.
BUSY_TIMEOUT = 5.0

# A commit that was acknowledged must survive a power failure, otherwise its tick could run twice; in WAL mode only
# FULL syncs at each commit.
_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA journal_size_limit = 67108864",
)
# Plain SQL can write text that is not UTF-8; one such value must not hide all other rows.
_TEXT = partial(str, encoding="utf-8", errors="replace")
_CREATING = threading.Lock()


class Connection:
    """A connection with its own thread.

    For a database in memory, work runs in the caller's thread, because it never waits for a disk or another process.
    """

    def __init__(self, location: SqliteUrl, name: str) -> None:
        self.path = location.path
        self._location = location
        self._name = name
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._process = 0

    @property
    def is_open(self) -> bool:
        return self._db is not None

    async def open(self) -> None:
        """Connect; no effect if it is open."""
        if self._db is not None:
            return
        self._process = os.getpid()
        if self.path == MEMORY:
            self._db = self._work(lambda: connect(self._location))
        else:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix=self._name)
            connecting = self._thread.submit(self._work, lambda: connect(self._location))
            try:
                self._db = await asyncio.wrap_future(connecting)
            except BaseException:
                # Cancelling the caller does not stop the thread, which may still connect.
                connecting.add_done_callback(_close_abandoned)
                self._end_thread()
                raise
        # For a connection that is not closed: an event loop without an orderly end, a program that exits.
        weakref.finalize(self, _close_unclosed, self._db, self._process)

    async def close(self) -> None:
        """Disconnect after the current work; no effect if it is not open."""
        db, self._db = self._db, None
        if db is not None and self._process == os.getpid():
            try:
                await self._hop(db.close)
            except RuntimeError:
                # Python is exiting, and has ended the thread.
                db.close()
        self._end_thread()

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run work with exclusive use of the connection."""
        db = self._db
        if db is None:
            raise StoreError(f"the store {self.path} is not open.", hint="Call `await store.open()` first.")
        if self._process != os.getpid():
            raise StoreError(
                f"the store {self.path} was opened before this process was forked.",
                hint="Open a separate store in each process.",
            )
        return await self._hop(lambda: work(db))

    async def _hop(self, work: Callable[[], T]) -> T:
        if self._thread is None:
            return self._work(work)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, work)

    def _work(self, work: Callable[[], T]) -> T:
        with self._lock:
            try:
                return work()
            except sqlite3.Error as error:
                raise explain(error, self.path) from None

    def _end_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None


def _close_abandoned(connecting: Future[sqlite3.Connection]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def _close_unclosed(db: sqlite3.Connection, process: int) -> None:
    if process == os.getpid():
        db.close()


def connect(location: SqliteUrl) -> sqlite3.Connection:
    """A connection with our settings, on a file that is or becomes a database."""
    path = location.path
    if path != MEMORY:
        _check_path(Path(path))
        _inspect_read_only(location)
        _create_private(Path(path))
    # The lock of Connection ensures that only one thread uses it at a time.
    db = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        # Before the journal mode, which is stored in the file.
        retry_while_busy(db, lambda: _inspect(db, location))
        # This fails at once, whatever the timeout, while another process does the same.
        retry_while_busy(db, lambda: db.execute("PRAGMA journal_mode = WAL").fetchone())
        for setting in _SETTINGS:
            db.execute(setting)
        db.create_function("casefold", 1, str.casefold, deterministic=True)
    except BaseException:
        db.close()
        raise
    return db


def _check_path(path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise StoreError(
            f"the folder {folder} of the database {path.name} does not exist.",
            hint="Create it, or choose another path.",
        )
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a database file.", hint="Choose a file in it.")


def _create_private(path: Path) -> None:
    """Create the file, if there is none, with access only for its owner: payloads and results may be secrets.

    SQLite gives its -wal, -shm and -journal files the mode of the database. An existing file keeps its mode.
    """
    # No thread of this process may connect to the new file before it is closed, because that would drop its locks.
    # SQLite reports other problems with the location when it opens the file.
    with _CREATING, suppress(OSError):
        os.close(os.open(path.resolve(), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def has_content(path: str) -> bool:
    """True if the file exists and is not empty."""
    return path != MEMORY and Path(path).is_file() and Path(path).stat().st_size > 0


def _inspect_read_only(location: SqliteUrl) -> None:
    """Refuse a file that this code must not use, through a connection that cannot change it.

    Only through SQLite: opening and closing the file in any other way would drop the locks that other connections of
    this process hold on it.
    """
    path = Path(location.path)
    if not has_content(location.path) or not os.access(path, os.R_OK):
        return
    had_log = Path(f"{path.resolve()}-wal").exists()
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=BUSY_TIMEOUT, isolation_level=None, uri=True)
    try:
        retry_while_busy(db, lambda: _inspect(db, location))
    except StoreError:
        db.close()
        if not had_log:
            _remove_empty_log(path)
        raise
    except sqlite3.OperationalError as error:
        # After a crash, only a writer can read it.
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise
    finally:
        db.close()


def _remove_empty_log(path: Path) -> None:
    """Remove the -wal and -shm files that a reader of a file in WAL mode leaves; only a writer would remove them."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(SQL["owner"]).fetchone()


def _inspect(db: sqlite3.Connection, location: SqliteUrl) -> None:
    db.text_factory = _TEXT
    tables, ours = db.execute(SQL["owner"]).fetchone()
    if tables and not ours and not location.shared:
        raise StoreError(
            f"the database {location.path} belongs to another program. It was not changed.",
            hint="Choose another file, or end the URL with ?shared=1 to add Tickbird's tables to this one.",
        )
    check_stored_generation(db)


def is_incomplete(error: BaseException) -> bool:
    """True if a table or column is missing, so that no part of a batch can be planned."""
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith(("no such table", "no such column"))


def explain(error: sqlite3.Error, path: str) -> StoreError:
    """The message for users, with the next step."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    match code:
        case sqlite3.SQLITE_NOTADB:
            return StoreError(f"{path} is not a SQLite database.", hint="Choose another file.")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(
                f"the database {path} cannot be opened or created.",
                hint="Check that this user may read and write the file and its folder.",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreError(
                f"the database {path} cannot be written.",
                hint="Give this user write permission for the file and its folder.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreUnavailableError(
                f"another process has locked the database {path} for too long.",
                hint="End the program with the open transaction, then try again.",
            )
        case sqlite3.SQLITE_FULL:
            return StoreUnavailableError(f"the disk of {path} is full.", hint="Free some space, then try again.")
        case sqlite3.SQLITE_CORRUPT:
            return SchedulesUnusableError(
                f"the database {path} is damaged ({error}).", hint="Restore it from a backup."
            )
        case sqlite3.SQLITE_ERROR if is_incomplete(error):
            return SchedulesUnusableError(
                f"the schema of the database {path} is incomplete: {error}.", hint="Run `tickbird migrate --repair`."
            )
        case sqlite3.SQLITE_IOERR:
            return StoreUnavailableError(f"reading or writing {path} failed ({error}).", hint="Check its disk.")
    return StoreError(
        f"the database {path} refused a statement: {error}.",
        hint="Run `tickbird doctor`. If the schema was not changed by hand, this is a bug in Tickbird.",
    )
