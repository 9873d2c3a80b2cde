"""SQLite has no wire to hold a COMMIT on: a process of its own can be killed just before it commits."""

from __future__ import annotations

import os
import signal
import sqlite3
from typing import Any


def die_before_commit_of(words: str) -> None:
    """From now on, this process is killed when it is about to commit a transaction with a statement of these words."""
    connect = sqlite3.connect

    def connect_and_watch(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        armed = False

        def watch(statement: str) -> None:
            nonlocal armed
            armed = armed or words in statement
            if armed and statement.startswith("COMMIT"):
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(watch)
        return connection

    sqlite3.connect = connect_and_watch  # type: ignore[assignment]
