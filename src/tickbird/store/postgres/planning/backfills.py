"""Backfills on PostgreSQL: created under the schedule's lock, like the runs of its ticks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tickbird.cpu_threads import compute_now
from tickbird.domain.planning.backfills import (
    BackfillPlan,
    BackfillRecord,
    NewBackfill,
    cancel_reason,
    no_such_backfill,
    over_already,
)
from tickbird.domain.schedules.definition import check_payload
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, autocommit, transaction
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import numbers, to_schedule
from tickbird.store.postgres.schedule_changes import plan_due_ticks, read_locked
from tickbird.store.protocol.backfills import BackfillStore
from tickbird.store.shared.backfills import choose_ticks
from tickbird.store.shared.zone_data import PlanningPermission, PlanningSwitch


class PostgresBackfills(NounStore, BackfillStore):
    def __init__(self, database: Database, switch: PlanningSwitch) -> None:
        super().__init__(database)
        self._switch = switch

    async def create(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        if not dry_run:
            return await self._create(await self._switch.permission(), namespace, name, new, now)
        rows = await self._db.fetch_named("get_schedule", namespace=namespace, name=name)
        selection, ticks = await choose_ticks(self._db.fetch, to_schedule(rows[0]) if rows else None, name, new)
        return selection.plan(ticks)

    @transaction
    async def _create(
        self,
        db: Session,
        permission: PlanningPermission,
        namespace: str,
        name: str,
        new: NewBackfill,
        now: datetime | None,
    ) -> BackfillPlan:
        locked = await db.fetch("lock_schedule", namespace=namespace, name=name)
        current = await read_locked(db, locked[0][0] if locked else None, now)
        # Plan due ticks first, so that the range may end now.
        if locked and permission.plan(locked[0][1]):
            current = await plan_due_ticks(db, self._db.revisions, current)
        selection, ticks = await choose_ticks(db.fetch, current.schedule, name, new, compute_now)
        if not ticks:
            return selection.plan(ticks)
        schedule, definition = selection.schedule, selection.definition
        run: dict[str, Any] = {
            "namespace": namespace,
            "schedule_id": schedule.id,
            "revision": schedule.revision,
            "payload": None if new.payload is None else check_payload(new.payload),
            "actor": new.actor,
            "now": current.now,
        }
        [(backfill_id,)] = await db.fetch(
            "insert_backfill",
            first=selection.first,
            last=selection.last,
            total=len(ticks),
            newest_first=new.order == "newest",
            concurrency=new.concurrency,
            note=new.note,
            **run,
        )
        await db.execute(
            "insert_backfilled",
            ticks=numbers(ticks),
            offset=schedule.offset,
            backfill_id=backfill_id,
            target_kind=definition.target.kind,
            target=definition.target.name,
            queue=definition.queue,
            priority=definition.priority,
            crash_limit=definition.crash_limit,
            concurrency_key=definition.key(new.payload),
            **run,
        )
        await release(db, self._db.revisions, [schedule.id], current.now)
        detail = selection.detail(backfill_id, ticks)
        await write_audit(
            db, current.now, new.actor, "backfill", namespace, schedule_id=schedule.id, schedule=name, detail=detail
        )
        await db.execute("wake")
        return selection.plan(ticks, backfill_id)

    @transaction
    async def cancel(
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
        before = await _read(db, namespace, backfill_id)
        schedule_id, name = before["schedule_id"], before["schedule"]
        active = await db.fetch("lock_backfilled", id=backfill_id)
        running = [run_id for run_id, status, _ in active if status == "running"]
        waiting = [run_id for run_id, status, _ in active if status != "running"]
        keys = {(namespace, key) for _, status, key in active if status == "queued" and key is not None}
        if not waiting and not (running and stop_running):
            raise over_already(backfill_id)
        [(at,)] = await db.fetch("clock", now=now)
        reason = cancel_reason(backfill_id, actor, note)
        await db.execute("cancel_waiting", ids=numbers(waiting), actor=actor, reason=reason, now=at)
        if stop_running:
            await db.execute("stop_runs", ids=numbers(running), by=actor, reason=reason, now=at)
        await db.execute("end_backfill", id=backfill_id, actor=actor, now=at)
        await release(db, self._db.revisions, [schedule_id], at, keys=keys)
        stopped = len(running) if stop_running else 0
        detail = {"backfill": backfill_id, "cancelled": len(waiting), "asked_to_stop": stopped, "note": note}
        await write_audit(
            db, at, actor, "cancel_backfill", namespace, schedule_id=schedule_id, schedule=name, detail=detail
        )
        await db.execute("wake")
        return _record(await _read(db, namespace, backfill_id))

    @autocommit
    async def get(self, db: Session, namespace: str, backfill_id: int) -> BackfillRecord:
        return _record(await _read(db, namespace, backfill_id))

    async def list(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        bounds = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        return [_record(row) for row in await self._db.fetch_named("list_backfills", **bounds)]


async def _read(db: Session, namespace: str, backfill_id: int) -> dict[str, Any]:
    rows = await db.fetch_named("backfill_by_id", id=backfill_id, namespace=namespace)
    if not rows:
        raise no_such_backfill(backfill_id)
    return rows[0]


def _record(row: dict[str, Any]) -> BackfillRecord:
    del row["schedule_id"]
    order: Any = "newest" if row.pop("newest_first") else "oldest"
    first, last, counts = row.pop("first_at"), row.pop("last_at"), row.pop("counts") or {}
    return BackfillRecord(first=first, last=last, order=order, counts=counts, **row)
