"""Backfills on SQLite: made in one transaction, as the runs of its own ticks are."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from tickbird.domain.planning.backfills import (
    BackfillPlan,
    BackfillRecord,
    BackfillSelection,
    NewBackfill,
    cancel_reason,
    no_such_backfill,
    over_already,
)
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.shared.json_columns import decode
from tickbird.store.shared.plans import RevisionCache
from tickbird.store.shared.zone_data import PlanningPermission
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import Row, dump, schedule_record
from tickbird.store.sqlite.runs import reserve_ids
from tickbird.store.sqlite.schedule_changes import up_to_date


def make(
    db: sqlite3.Connection,
    known: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    name: str,
    new: NewBackfill,
    now: int,
) -> BackfillPlan:
    """Decide what is due first, so that all that is past can be asked for; then make the runs, and let the first go."""
    row = up_to_date(db, known, may, namespace, name, now)
    wanted = _selection(db, None if row is None else schedule_record(row), name, new)
    ticks = _ticks(db, wanted)
    if not ticks:
        return wanted.plan(ticks)
    schedule, definition = wanted.schedule, wanted.definition
    payload = None if new.payload is None else check_payload(new.payload)
    backfill = {
        "namespace": namespace,
        "schedule_id": schedule.id,
        "revision": schedule.revision,
        "first": wanted.first,
        "last": wanted.last,
        "total": len(ticks),
        "newest_first": new.order == "newest",
        "concurrency": new.concurrency,
        "payload": payload,
        "actor": new.actor,
        "note": new.note,
        "now": now,
    }
    [(backfill_id,)] = db.execute(SQL["insert_backfill"], backfill).fetchall()
    common = (
        backfill_id,
        namespace,
        schedule.id,
        schedule.revision,
        definition.target.kind,
        definition.target.name,
        definition.queue,
        definition.priority,
        definition.crash_limit,
        now,
        new.actor,
        definition.key(new.payload),
    )
    ids = reserve_ids(db, "run", len(ticks))
    numbered = list(zip(ids, ticks, strict=True))
    db.executemany(
        SQL["insert_backfilled"], [(run_id, tick, tick + schedule.offset, *common) for run_id, tick in numbered]
    )
    if payload is not None:
        db.executemany(SQL["insert_payload"], [(run_id, payload) for run_id in ids])
    release(db, known, [schedule.id], now)
    write_audit(
        db,
        now,
        new.actor,
        "backfill",
        namespace,
        schedule_id=schedule.id,
        schedule=name,
        detail=wanted.detail(backfill_id, ticks),
    )
    db.execute(SQL["wake_others"])
    return wanted.plan(ticks, backfill_id)


def _selection(db: sqlite3.Connection, schedule: Schedule | None, name: str, new: NewBackfill) -> BackfillSelection:
    row = None if schedule is None else db.execute(SQL["pruned_until"], {"schedule_id": schedule.id}).fetchone()
    return BackfillSelection(schedule, name, new, None if row is None else row[0])


def _ticks(db: sqlite3.Connection, wanted: BackfillSelection) -> list[int]:
    bounds = {"schedule_id": wanted.schedule.id, "first": wanted.runs_from, "last": wanted.last}
    if wanted.unknown:
        unknown = {**bounds, "first": wanted.first, "last": wanted.pruned_until}
        [wanted.kept] = db.execute(SQL["count_taken"], unknown).fetchone()
    if wanted.is_countless:
        [taken] = db.execute(SQL["count_taken"], bounds).fetchone()
        raise wanted.too_many(taken)
    return wanted.ticks({row[0] for row in db.execute(SQL["taken_ticks"], bounds)})


def read(db: sqlite3.Connection, namespace: str, backfill_id: int) -> BackfillRecord:
    """A backfill that must exist."""
    return backfill_record(_row(db, namespace, backfill_id))


def _row(db: sqlite3.Connection, namespace: str, backfill_id: int) -> Row:
    row: Row | None = db.execute(SQL["backfill_by_id"], {"id": backfill_id, "namespace": namespace}).fetchone()
    if row is None:
        raise no_such_backfill(backfill_id)
    return row


def listed(db: sqlite3.Connection, filters: dict[str, Any]) -> list[BackfillRecord]:
    """Backfills, newest first."""
    return [backfill_record(row) for row in db.execute(SQL["list_backfills"], filters)]


def cancel(
    db: sqlite3.Connection,
    known: RevisionCache,
    namespace: str,
    backfill_id: int,
    actor: str,
    note: str,
    stop_running: bool,
    now: int,
) -> BackfillRecord:
    """Cancel what has not started; what runs is asked to stop only if asked for."""
    row = _row(db, namespace, backfill_id)
    active = db.execute(SQL["unfinished_of_backfill"], {"id": backfill_id}).fetchall()
    running = [run_id for run_id, status, _ in active if status == "running"]
    waiting = [run_id for run_id, status, _ in active if status != "running"]
    keys = {(namespace, key) for _, status, key in active if status == "queued" and key is not None}
    if not waiting and not (running and stop_running):
        raise over_already(backfill_id)
    change = {"now": now, "actor": actor, "reason": cancel_reason(backfill_id, actor, note)}
    db.execute(SQL["cancel_runs"], {**change, "ids": dump(waiting)})
    if stop_running:
        db.execute(SQL["stop_runs"], {**change, "ids": dump(running)})
    db.execute(SQL["end_backfill"], {"id": backfill_id, "actor": actor, "now": now})
    release(db, known, [row[-1]], now, keys=keys)
    stopped = len(running) if stop_running else 0
    detail = {"backfill": backfill_id, "cancelled": len(waiting), "asked_to_stop": stopped, "note": note}
    write_audit(db, now, actor, "cancel_backfill", namespace, schedule_id=row[-1], schedule=row[2], detail=detail)
    db.execute(SQL["wake_others"])
    return read(db, namespace, backfill_id)


def backfill_record(row: Row) -> BackfillRecord:
    """A row of `backfill_by_id` or `list_backfills`."""
    return BackfillRecord(
        id=row[0],
        namespace=row[1],
        schedule=row[2],
        revision=row[3],
        first=to_instant(row[4]),
        last=to_instant(row[5]),
        total=row[6],
        order="newest" if row[7] else "oldest",
        concurrency=row[8],
        payload=decode(row[9]),
        actor=row[10],
        note=row[11],
        created_at=to_instant(row[12]),
        cancelled_at=to_instant(row[13]),
        cancelled_by=row[14],
        counts=json.loads(row[15]),
    )
