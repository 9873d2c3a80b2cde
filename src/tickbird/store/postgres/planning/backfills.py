"""Backfills on PostgreSQL: made under the schedule's lock, as its own ticks are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

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
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import numbers
from tickbird.store.postgres.schedule_changes import hold, settle
from tickbird.store.shared.backfills import choose_ticks
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.zone_data import PlanningPermission


async def make(
    db: Session,
    known: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    name: str,
    new: NewBackfill,
    now: datetime | None,
) -> BackfillPlan:
    """Decide what is due first, so that all that is past can be asked for; then make the runs, and let the first go."""
    found = await db.fetch("lock_schedule", namespace=namespace, name=name)
    held = await hold(db, found[0][0] if found else None, now)
    if found and may.plan(found[0][1]):
        held = await settle(db, known, held)
    wanted, ticks = await choose_ticks(db.fetch, held.schedule, name, new, compute_now)
    if not ticks:
        return wanted.plan(ticks)
    schedule, definition = wanted.schedule, wanted.definition
    run: dict[str, Any] = {
        "namespace": namespace,
        "schedule_id": schedule.id,
        "revision": schedule.revision,
        "payload": None if new.payload is None else check_payload(new.payload),
        "actor": new.actor,
        "now": held.now,
    }
    [(backfill_id,)] = await db.fetch(
        "insert_backfill",
        first=wanted.first,
        last=wanted.last,
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
    await release(db, known, [schedule.id], held.now)
    await _audit(db, held.now, new.actor, "backfill", namespace, schedule.id, name, wanted.detail(backfill_id, ticks))
    await db.execute("wake")
    return wanted.plan(ticks, backfill_id)


async def read(db: Session, namespace: str, backfill_id: int) -> BackfillRecord:
    """A backfill that must exist."""
    rows = await db.fetch_named("backfill_by_id", id=backfill_id, namespace=namespace)
    if not rows:
        raise no_such_backfill(backfill_id)
    return to_backfill(rows[0])


async def cancel(
    db: Session,
    known: RevisionCache,
    namespace: str,
    backfill_id: int,
    actor: str,
    note: str,
    stop_running: bool,
    now: datetime | None,
) -> BackfillRecord:
    """Cancel what has not started; what runs is asked to stop only if asked for."""
    rows = await db.fetch_named("backfill_by_id", id=backfill_id, namespace=namespace)
    if not rows:
        raise no_such_backfill(backfill_id)
    schedule_id, name = rows[0]["schedule_id"], rows[0]["schedule"]
    active = await db.fetch("lock_backfilled", id=backfill_id)
    running = [run_id for run_id, status, _ in active if status == "running"]
    waiting = [run_id for run_id, status, _ in active if status != "running"]
    keys = {(namespace, key) for _, status, key in active if status == "queued" and key is not None}
    if not waiting and not (running and stop_running):
        raise over_already(backfill_id)
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    reason = cancel_reason(backfill_id, actor, note)
    await db.execute("cancel_waiting", ids=numbers(waiting), actor=actor, reason=reason, now=now)
    if stop_running:
        await db.execute("stop_runs", ids=numbers(running), by=actor, reason=reason, now=now)
    await db.execute("end_backfill", id=backfill_id, actor=actor, now=now)
    await release(db, known, [schedule_id], now, keys=keys)
    stopped = len(running) if stop_running else 0
    detail = {"backfill": backfill_id, "cancelled": len(waiting), "asked_to_stop": stopped, "note": note}
    await _audit(db, now, actor, "cancel_backfill", namespace, schedule_id, name, detail)
    await db.execute("wake")
    return await read(db, namespace, backfill_id)


def to_backfill(row: dict[str, Any]) -> BackfillRecord:
    """A row of `backfill_by_id` or `list_backfills`."""
    del row["schedule_id"]
    order: Any = "newest" if row.pop("newest_first") else "oldest"
    first, last, counts = row.pop("first_at"), row.pop("last_at"), row.pop("counts") or {}
    return BackfillRecord(first=first, last=last, order=order, counts=counts, **row)


async def _audit(
    db: Session, now: datetime, actor: str, action: str, namespace: str, schedule_id: int, schedule: str, detail: Any
) -> None:
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action=action,
        namespace=namespace,
        schedule_id=schedule_id,
        schedule=schedule,
        run_id=None,
        detail=Jsonb(detail),
    )
