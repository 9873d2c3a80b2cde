"""The history of the store's rows, recorded by triggers of the checker in SQLite's temporary schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

MICROS = 1_000_000
# The lanes of waiting runs: for another schedule, for a slot, for its turn in a backfill, or for an operator.
AWAITING, USUAL, BACKFILL, HELD = -1, 0, 1, 2

_RUN = (
    "id, schedule_id, revision, status, origin, scheduled_for, due_at, available_at, start_by, covers_first, "
    "covers_last, covers_count, attempt, failures, crashes, crash_limit, lease_until, worker, created_at, started_at, "
    "finished_at, cancel_requested_at, retry_of, reason, failure_kind, queue, priority, lane, "
    "concurrency_key, backfill_id"
)
_SKIP = "id, schedule_id, revision, reason, first_at, last_at, count, run_id"
_CURSOR = "schedule_id, revision, state, next_run_at, planned_until, runs_planned"


class RunRow(NamedTuple):
    """A run after one change; instants in microseconds."""

    id: int
    schedule_id: int | None
    revision: int | None
    status: str
    origin: str
    scheduled_for: int | None
    due_at: int
    available_at: int
    start_by: int | None
    covers_first: int | None
    covers_last: int | None
    covers_count: int | None
    attempt: int
    failures: int
    crashes: int
    crash_limit: int
    lease_until: int | None
    worker: str | None
    created_at: int
    started_at: int | None
    finished_at: int | None
    cancel_requested_at: int | None
    retry_of: int | None
    reason: str | None
    failure_kind: str | None
    queue: str
    priority: int
    lane: int
    concurrency_key: str | None
    backfill_id: int | None


class SkipRow(NamedTuple):
    """A skip after one change; instants in microseconds."""

    id: int
    schedule_id: int
    revision: int
    reason: str
    first_at: int
    last_at: int
    ticks: int
    run_id: int | None


class CursorRow(NamedTuple):
    """A cursor after one change; instants in microseconds."""

    schedule_id: int
    revision: int
    state: str
    next_run_at: int | None
    planned_until: int | None
    runs_planned: int


class Event(NamedTuple):
    """One changed row: its store call, the kind of change, and its new values (old ones if deleted)."""

    call: int
    change: str
    row: RunRow | SkipRow | CursorRow


def _watch(table: str, columns: str) -> list[str]:
    names = [name.strip() for name in columns.split(",")]
    statements = [f"CREATE TEMP TABLE past_{table} (position INTEGER, called, changed, {', '.join(names)})"]
    for change, side in (("insert", "NEW"), ("update", "NEW"), ("delete", "OLD")):
        values = ", ".join(f"{side}.{name}" for name in names)
        statements.append(
            f"CREATE TEMP TRIGGER {table}_{change} AFTER {change} ON main.{table} BEGIN "
            f"INSERT INTO past_{table} VALUES (next_position(), current_call(), '{change}', {values}); END"
        )
    return statements


_STATEMENTS = _watch("runs", _RUN) + _watch("skips", _SKIP) + _watch("cursors", _CURSOR)


def watch(db: sqlite3.Connection, current_call: Callable[[], int]) -> None:
    """Start recording; rolled-back changes are not recorded."""
    position = 0

    def next_position() -> int:
        nonlocal position
        position += 1
        return position

    db.create_function("current_call", 0, current_call)
    db.create_function("next_position", 0, next_position)
    db.execute("BEGIN")
    for statement in _STATEMENTS:
        db.execute(statement)
    db.execute("COMMIT")


def read_history(db: sqlite3.Connection) -> list[Event]:
    """Every change, in order."""
    events: list[tuple[int, Event]] = []
    kinds: tuple[tuple[str, Any], ...] = (("runs", RunRow), ("skips", SkipRow), ("cursors", CursorRow))
    for table, kind in kinds:
        rows = db.execute(f"SELECT * FROM past_{table}")
        events += [(row[0], Event(row[1], row[2], kind._make(row[3:]))) for row in rows]
    events.sort(key=itemgetter(0))
    return [event for _, event in events]
