"""Workers: who is alive, and what they declare."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from tickbird.domain.workers import Worker, check_drainable, no_such_worker
from tickbird.store.sqlite.database.instants import MICROS, to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.zone_data import current
from tickbird.store.sqlite.rows import dump, worker_record

# A worker that vanished without a word is remembered for a day.
WORKER_RETENTION = 86_400 * MICROS


def report(db: sqlite3.Connection, worker: Worker, live_for: float, now: int) -> tuple[frozenset[str], int, str]:
    """Insert or refresh a worker's row.

    The ids of the other live workers of its app, which zone rules hold, and who wants it to drain.
    """
    row = {
        "id": worker.id,
        "namespace": worker.namespace,
        "app": worker.app,
        "kind": worker.kind,
        "host": worker.host,
        "pid": worker.pid,
        "version": worker.version,
        "queues": dump(list(worker.queues)),
        "slots": worker.slots,
        "tasks": dump(dict(worker.tasks)),
        "declares": dump(dict(worker.declares)),
        "draining": worker.draining,
        "standby_reason": worker.standby_reason,
        "health": dump(dict(worker.health)),
        "started_at": to_micros(worker.started_at),
        "now": now,
        "live_until": now + round(live_for * MICROS),
    }
    [(drained_by,)] = db.execute(SQL["heartbeat"], row).fetchall()
    db.execute(SQL["forget_workers"], {"cutoff": now - WORKER_RETENTION})
    return frozenset(peer for (peer,) in db.execute(SQL["list_peers"], row)), current(db), drained_by


def drain(db: sqlite3.Connection, namespace: str, worker_id: str, actor: str, note: str, now: int) -> Worker:
    """Ask a worker to drain; one that was asked before stays as it is."""
    row = db.execute(SQL["find_worker"], {"id": worker_id, "namespace": namespace, "now": now}).fetchone()
    if row is None:
        raise no_such_worker(worker_id)
    worker = worker_record(row)
    check_drainable(worker)
    if worker.drain_requested_at is not None:
        return worker
    db.execute(SQL["drain_worker"], {"id": worker_id, "actor": actor, "now": now})
    told = {"now": now, "actor": actor, "action": "drain_worker", "namespace": namespace, "run_id": None}
    detail = dump({"worker": worker_id, "note": note})
    db.execute(SQL["write_audit"], {**told, "schedule_id": None, "schedule": None, "detail": detail})
    db.execute(SQL["call_for_heartbeats"])
    return replace(worker, drain_requested_at=to_instant(now), drain_requested_by=actor)


def live(db: sqlite3.Connection, namespace: str, now: int) -> list[Worker]:
    """The live workers."""
    return [worker_record(row) for row in db.execute(SQL["list_workers"], {"namespace": namespace, "now": now})]
