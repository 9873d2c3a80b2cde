"""A kill before a COMMIT on SQLite, which has no connection for a proxy."""

from __future__ import annotations

import os
import signal
import sqlite3
from typing import Any


def die_before_commit_of(text: str) -> None:
    """Kill this process before it commits a transaction with a statement that contains a text."""
    connect = sqlite3.connect

    def connect_and_watch(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        armed = False

        def watch(statement: str) -> None:
            nonlocal armed
            armed = armed or text in statement
            if armed and statement.startswith("COMMIT"):
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(watch)
        return connection

    sqlite3.connect = connect_and_watch  # type: ignore[assignment]
