"""Workers on PostgreSQL: who is alive, and who is asked to drain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from tickbird.domain.workers import Worker, check_drainable, no_such_worker
from tickbird.store.postgres.database.connection import Session
from tickbird.store.shared.json_columns import as_object


async def drain(db: Session, namespace: str, worker_id: str, actor: str, note: str, now: datetime | None) -> Worker:
    """Ask a worker to drain; one that was asked before stays as it is."""
    rows = await db.fetch_named("find_worker", id=worker_id, namespace=namespace, now=now)
    if not rows:
        raise no_such_worker(worker_id)
    worker = record(rows[0])
    check_drainable(worker)
    if worker.drain_requested_at is not None:
        return worker
    [(at,)] = await db.fetch("drain_worker", id=worker_id, actor=actor, now=now)
    await db.execute(
        "write_audit",
        now=at,
        actor=actor,
        action="drain_worker",
        namespace=namespace,
        schedule_id=None,
        schedule=None,
        run_id=None,
        detail=Jsonb({"worker": worker_id, "note": note}),
    )
    await db.execute("call_for_heartbeats")
    return replace(worker, drain_requested_at=at, drain_requested_by=actor)


def record(row: Mapping[str, Any]) -> Worker:
    """A row of `workers`."""
    kinds = {"tasks": dict, "declares": str, "health": object}
    objects = {name: as_object(row[name], kind) for name, kind in kinds.items()}
    return Worker(**{**row, **objects, "queues": tuple(row["queues"])})
