"""Reading: what people and pages ask for; each sees one state of the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.runs.durations import LOOKED_AT, DurationStats, run_length
from tickbird.domain.runs.run import AttemptRecord, RunRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.sqlite.database.instants import MICROS
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import (
    attempt_record,
    audit_record,
    dump,
    revision_record,
    run_record,
    schedule_record,
    skip_record,
)


def get_schedule(db: sqlite3.Connection, namespace: str, name: str) -> Schedule | None:
    """A schedule by name, also a deleted one."""
    row = db.execute(SQL["schedule_by_name"], {"namespace": namespace, "name": name}).fetchone()
    return None if row is None else schedule_record(row)


def durations(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, DurationStats]:
    """How long the last successful runs of these schedules took."""
    asked = {"namespace": namespace, "names": dump(sorted(names)), "looked_at": LOOKED_AT}
    taken: dict[str, list[float]] = {}
    for name, micros in db.execute(SQL["durations"], asked):
        taken.setdefault(name, []).append(micros / MICROS)
    return {name: run_length(found) for name, found in taken.items()}


def list_app_schedules(
    db: sqlite3.Connection, namespace: str, app: str, names: Collection[str]
) -> dict[str, AppSchedule]:
    """Every schedule of the app, and others among `names`, with the fingerprints that code has declared."""
    rows = db.execute(SQL["list_app_schedules"], {"namespace": namespace, "app": app, "names": dump(list(names))})
    return {row[2]: AppSchedule(schedule_record(row), frozenset(as_list(decode(row[-1])))) for row in rows}


def list_runs(db: sqlite3.Connection, filters: dict[str, Any]) -> list[RunRecord]:
    """Runs, newest first."""
    status = filters["status"]
    if status in ("failed", "cancelled"):
        name = "page_unwell"
    elif status is None or status == "succeeded":
        name = "list_runs"
    else:
        name = "page_active"
    statement = SQL[name if filters["schedule"] is None else f"{name}_of"]
    return [run_record(row) for row in db.execute(statement, filters)]


def active_runs(db: sqlite3.Connection, schedule_id: int) -> list[RunRecord]:
    """The runs of a schedule that are not final, oldest first."""
    return [run_record(row) for row in db.execute(SQL["active_runs"], {"schedule_id": schedule_id})]


def list_attempts(db: sqlite3.Connection, run_id: int) -> list[AttemptRecord]:
    """The attempts of a run that did not end it well."""
    return [attempt_record(row) for row in db.execute(SQL["list_attempts"], {"run_id": run_id})]


def decisions(db: sqlite3.Connection, bounds: dict[str, int]) -> TickDecisions:
    """Runs and skips whose ticks touch a range."""
    return TickDecisions(
        runs=[run_record(row) for row in db.execute(SQL["runs_of_ticks"], bounds)],
        skips=[skip_record(row) for row in db.execute(SQL["list_skips"], bounds)],
    )


def recent(db: sqlite3.Connection, bounds: dict[str, Any]) -> RecentOutcomes:
    """Runs that ended, and skips that were recorded or extended, since an instant."""
    ended = [run_record(row) for row in db.execute(SQL["ended_since"], bounds)]
    skips = [(name, skip_record(row)) for name, *row in db.execute(SQL["skipped_since"], bounds)]
    return RecentOutcomes(ended, skips)


def ledger(db: sqlite3.Connection, bounds: dict[str, int]) -> LedgerPage:
    """A page of all decisions about ticks."""
    runs = [LedgerEntry.run(*row) for row in db.execute(SQL["ledger_runs"], bounds)]
    skips = [LedgerEntry.skip(*row) for row in db.execute(SQL["ledger_skips"], bounds)]
    pruned = db.execute(SQL["pruned_until"], bounds).fetchone()
    return LedgerPage(runs, skips, None if pruned is None else pruned[0])


def list_revisions(db: sqlite3.Connection, bounds: dict[str, Any]) -> list[RevisionRecord]:
    """The newest revisions of a schedule."""
    return [revision_record(row) for row in db.execute(SQL["list_revisions"], bounds)]


def list_audit(db: sqlite3.Connection, filters: dict[str, Any]) -> list[AuditEntry]:
    """What was done, newest first."""
    statement = SQL["list_audit"] if filters["schedule"] is None else SQL["list_schedule_audit"]
    return [audit_record(row) for row in db.execute(statement, filters)]
