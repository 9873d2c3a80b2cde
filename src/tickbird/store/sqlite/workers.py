"""Workers: who is alive, and what they declare."""

from __future__ import annotations

import sqlite3

from tickbird.store.protocol import Worker
from tickbird.store.sqlite.records import dump, worker_record
from tickbird.store.sqlite.statements import SQL
from tickbird.store.sqlite.times import MICROS, to_micros
from tickbird.store.sqlite.zones import current

# A worker that vanished without a word is remembered for a day.
REMEMBERED = 86_400 * MICROS


def report(db: sqlite3.Connection, worker: Worker, live_for: float, now: int) -> tuple[frozenset[str], int]:
    """Insert or refresh a worker's row; the ids of the other live workers of its app, and which zone rules hold."""
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
        "held": worker.held,
        "vitals": dump(dict(worker.vitals)),
        "started_at": to_micros(worker.started_at),
        "now": now,
        "live_until": now + round(live_for * MICROS),
    }
    db.execute(SQL["report_worker"], row)
    db.execute(SQL["forget_workers"], {"cutoff": now - REMEMBERED})
    return frozenset(peer for (peer,) in db.execute(SQL["list_peers"], row)), current(db)


def live(db: sqlite3.Connection, namespace: str, now: int) -> list[Worker]:
    """The live workers."""
    return [worker_record(row) for row in db.execute(SQL["list_workers"], {"namespace": namespace, "now": now})]
