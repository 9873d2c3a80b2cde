"""What runs say while they execute, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.store.shared.json_columns import decode
from tickbird.store.sqlite.database.instants import to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


def write_logs(db: sqlite3.Connection, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
    """Add lines, and the newest progress of each run."""
    db.executemany(
        SQL["write_line"],
        [(line.run_id, line.attempt, line.number, to_micros(line.at), line.level, line.text) for line in lines],
    )
    db.executemany(
        SQL["write_progress"],
        [(one.run_id, one.attempt, to_micros(one.at), dump(one.value)) for one in progress],
    )


def read_logs(db: sqlite3.Connection, bounds: dict[str, Any]) -> list[LogLine]:
    """Lines of a run, in order."""
    rows = db.execute(SQL["read_lines"], bounds).fetchall()
    return [
        LogLine(run_id, attempt, number, to_instant(at), level, text)
        for run_id, attempt, number, at, level, text in rows
    ]


def read_progress(db: sqlite3.Connection, run_id: int) -> Progress | None:
    """What a run said last of how far it is."""
    row = db.execute(SQL["read_progress"], {"id": run_id}).fetchone()
    return None if row is None else Progress(row[0], row[1], to_instant(row[2]), decode(row[3]))
