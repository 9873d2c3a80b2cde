"""Backfills on SQLite: created in one transaction, like the runs of a schedule's ticks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

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
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.backfills import BackfillStore
from tickbird.store.shared.backfills import choose_ticks
from tickbird.store.shared.json_columns import decode
from tickbird.store.shared.zone_data import PlanningPermission, PlanningSwitch
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, waking_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump, to_schedule
from tickbird.store.sqlite.runs import reserve_ids
from tickbird.store.sqlite.schedule_changes import plan_and_read


class SqliteBackfills(NounStore, BackfillStore):
    def __init__(self, database: Database, switch: PlanningSwitch) -> None:
        super().__init__(database)
        self._switch = switch

    async def create(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        if not dry_run:
            return await self._create(await self._switch.permission(), namespace, name, new, now)
        bounds = {"namespace": namespace, "name": name}
        rows = await self._db.read(lambda db: fetch_named(db, "schedule_by_name", bounds))
        schedule = to_schedule(rows[0]) if rows else None
        # Not in the connection's thread, which would block all others.
        selection, ticks = await choose_ticks(self._db.fetch, schedule, name, new)
        return selection.plan(ticks)

    @waking_transaction
    def _create(
        self,
        db: Session,
        permission: PlanningPermission,
        namespace: str,
        name: str,
        new: NewBackfill,
        now: datetime | None,
    ) -> BackfillPlan:
        at = read_clock(now)
        # Plan due ticks first, so that the range may end now.
        row = plan_and_read(db, self._db.revisions, permission, namespace, name, at)
        selection = _selection(db, None if row is None else to_schedule(row), name, new)
        ticks = _ticks(db, selection)
        if not ticks:
            return selection.plan(ticks)
        schedule, definition = selection.schedule, selection.definition
        payload = None if new.payload is None else check_payload(new.payload)
        backfill = {
            "namespace": namespace,
            "schedule_id": schedule.id,
            "revision": schedule.revision,
            "first": selection.first,
            "last": selection.last,
            "total": len(ticks),
            "newest_first": new.order == "newest",
            "concurrency": new.concurrency,
            "payload": payload,
            "actor": new.actor,
            "note": new.note,
            "now": to_micros(at),
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
            to_micros(at),
            new.actor,
            definition.key(new.payload),
        )
        ids = reserve_ids(db, "run_id", len(ticks))
        numbered = list(zip(ids, ticks, strict=True))
        db.executemany(
            SQL["insert_backfilled"], [(run_id, tick, tick + schedule.offset, *common) for run_id, tick in numbered]
        )
        if payload is not None:
            db.executemany(SQL["insert_payload"], [(run_id, payload) for run_id in ids])
        release(db, self._db.revisions, [schedule.id], at)
        write_audit(
            db,
            at,
            new.actor,
            "backfill",
            namespace,
            schedule_id=schedule.id,
            schedule=name,
            detail=selection.detail(backfill_id, ticks),
        )
        db.execute(SQL["wake_others"])
        return selection.plan(ticks, backfill_id)

    @waking_transaction
    def cancel(
        self,
        db: Session,
        namespace: str,
        backfill_id: int,
        actor: str,
        *,
        note: str = "",
        stop_running: bool = False,
        now: datetime | None = None,
    ) -> BackfillRecord:
        at = read_clock(now)
        row = _row(db, namespace, backfill_id)
        active = db.execute(SQL["unfinished_of_backfill"], {"id": backfill_id}).fetchall()
        running = [run_id for run_id, status, _ in active if status == "running"]
        waiting = [run_id for run_id, status, _ in active if status != "running"]
        keys = {(namespace, key) for _, status, key in active if status == "queued" and key is not None}
        if not waiting and not (running and stop_running):
            raise over_already(backfill_id)
        change = {"now": to_micros(at), "actor": actor, "reason": cancel_reason(backfill_id, actor, note)}
        db.execute(SQL["cancel_runs"], {**change, "ids": dump(waiting)})
        if stop_running:
            db.execute(SQL["stop_runs"], {**change, "ids": dump(running)})
        db.execute(SQL["end_backfill"], {"id": backfill_id, "actor": actor, "now": to_micros(at)})
        release(db, self._db.revisions, [row["schedule_id"]], at, keys=keys)
        stopped = len(running) if stop_running else 0
        detail = {"backfill": backfill_id, "cancelled": len(waiting), "asked_to_stop": stopped, "note": note}
        write_audit(
            db,
            at,
            actor,
            "cancel_backfill",
            namespace,
            schedule_id=row["schedule_id"],
            schedule=row["schedule"],
            detail=detail,
        )
        db.execute(SQL["wake_others"])
        return _record(_row(db, namespace, backfill_id))

    @read_transaction
    def get(self, db: Session, namespace: str, backfill_id: int) -> BackfillRecord:
        return _record(_row(db, namespace, backfill_id))

    @read_transaction
    def list(
        self, db: Session, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        bounds = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        return [_record(row) for row in fetch_named(db, "list_backfills", bounds)]


def _selection(db: Session, schedule: Schedule | None, name: str, new: NewBackfill) -> BackfillSelection:
    row = None if schedule is None else db.execute(SQL["pruned_until"], {"schedule_id": schedule.id}).fetchone()
    return BackfillSelection(schedule, name, new, None if row is None else row[0])


def _ticks(db: Session, selection: BackfillSelection) -> list[int]:
    bounds = {"schedule_id": selection.schedule.id, "first": selection.runs_from, "last": selection.last}
    if selection.unknown:
        unknown = {**bounds, "first": selection.first, "last": selection.pruned_until}
        [selection.kept] = db.execute(SQL["count_ticks_with_run"], unknown).fetchone()
    if selection.is_countless:
        [taken] = db.execute(SQL["count_ticks_with_run"], bounds).fetchone()
        raise selection.too_many(taken)
    return selection.ticks({row[0] for row in db.execute(SQL["ticks_with_run"], bounds)})


def _row(db: Session, namespace: str, backfill_id: int) -> NamedRow:
    rows = fetch_named(db, "backfill_by_id", {"id": backfill_id, "namespace": namespace})
    if not rows:
        raise no_such_backfill(backfill_id)
    return rows[0]


def _record(row: NamedRow) -> BackfillRecord:
    return BackfillRecord(
        id=row["id"],
        namespace=row["namespace"],
        schedule=row["schedule"],
        revision=row["revision"],
        first=from_micros(row["first_at"]),
        last=from_micros(row["last_at"]),
        total=row["total"],
        order="newest" if row["newest_first"] else "oldest",
        concurrency=row["concurrency"],
        payload=decode(row["payload"]),
        actor=row["actor"],
        note=row["note"],
        created_at=from_micros(row["created_at"]),
        cancelled_at=from_micros(row["cancelled_at"]),
        cancelled_by=row["cancelled_by"],
        counts=json.loads(row["counts"]),
    )
