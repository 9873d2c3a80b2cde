"""Transactions on a SQLite connection, and waiting for other processes."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

MAX_BUSY_SECONDS: Final = 60.0
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def write(db: sqlite3.Connection, work: Callable[[], T]) -> T:
    """One transaction that is the only writer from its first statement on."""
    retry_while_busy(db, lambda: db.execute("BEGIN IMMEDIATE"))
    return _end(db, work)


def read(db: sqlite3.Connection, work: Callable[[], T]) -> T:
    """One transaction that sees one snapshot of the database; it waits for no writer."""

    def attempt() -> T:
        db.execute("BEGIN")
        return _end(db, work)

    return retry_while_busy(db, attempt)


def _end(db: sqlite3.Connection, work: Callable[[], T]) -> T:
    try:
        result = work()
        db.execute("COMMIT")
    except BaseException:
        # A full disk and similar errors have already rolled back.
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result


def retry_while_busy(db: sqlite3.Connection, work: Callable[[], T]) -> T:
    """Retry while another process holds a lock, for at most MAX_BUSY_SECONDS."""
    deadline = time.monotonic() + MAX_BUSY_SECONDS
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _BUSY or time.monotonic() > deadline or db.in_transaction:
                raise
        time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - jitter between waiting processes
