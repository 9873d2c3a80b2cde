"""Workers on SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from tickbird.domain.time.instants import to_micros
from tickbird.domain.workers import HeartbeatResult, Worker, check_drainable, no_such_worker
from tickbird.store.protocol.workers import WorkerStore
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database import schema
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.identity import SqliteIdentity
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.rows import dump, to_worker

# The row of a lost worker is retained for a day.
WORKER_RETENTION = timedelta(days=1)


class SqliteWorkers(NounStore, WorkerStore):
    def __init__(self, database: Database, identity: SqliteIdentity) -> None:
        super().__init__(database)
        self._identity = identity

    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        here = (await self._identity.cached()).here
        return await self._heartbeat(worker, live_for, here, now)

    @write_transaction
    def _heartbeat(
        self, db: Session, worker: Worker, live_for: float, here: Mapping[str, str], now: datetime | None
    ) -> HeartbeatResult:
        at = read_clock(now)
        if too_new := schema.changed(db):
            # This code may not be able to write its rows.
            return HeartbeatResult(at, outdated_reason=too_new)
        row = {
            "id": worker.id,
            "namespace": worker.namespace,
            "app": worker.app,
            "kind": worker.kind,
            "coordination": worker.coordination,
            "host": worker.host,
            "pid": worker.pid,
            "version": worker.version,
            "queues": dump(list(worker.queues)),
            "slots": worker.slots,
            "tasks": dump(dict(worker.tasks)),
            "declared": dump(dict(worker.declared)),
            "draining": worker.draining,
            "standby_reason": worker.standby_reason,
            "health": dump(dict(worker.health)),
            "started_at": to_micros(worker.started_at),
            "now": to_micros(at),
            "live_until": to_micros(at + timedelta(seconds=live_for)),
        }
        [(drained_by,)] = db.execute(SQL["heartbeat"], row).fetchall()
        db.execute(SQL["delete_lost_workers"], {"cutoff": to_micros(at - WORKER_RETENTION)})
        peers = frozenset(peer for (peer,) in db.execute(SQL["list_peers"], row))
        [generation] = db.execute(SQL["current_zones"]).fetchone()
        copied = self._identity.update(db, here).copy_reason
        planners = _count_planners(db, at)
        return HeartbeatResult(at, peers, int(generation), copied, drain_requested_by=drained_by, planners=planners)

    async def drain(
        self, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        worker = await self._drain(namespace, worker_id, actor, note, now)
        self._db.call_for_heartbeats()
        return worker

    @write_transaction
    def _drain(
        self, db: Session, namespace: str, worker_id: str, actor: str, note: str, now: datetime | None
    ) -> Worker:
        at = read_clock(now)
        rows = fetch_named(db, "find_worker", {"id": worker_id, "namespace": namespace, "now": to_micros(at)})
        if not rows:
            raise no_such_worker(worker_id)
        worker = to_worker(rows[0])
        check_drainable(worker)
        if worker.drain_requested_at is not None:
            return worker
        db.execute(SQL["drain_worker"], {"id": worker_id, "actor": actor, "now": to_micros(at)})
        write_audit(db, at, actor, "drain_worker", namespace, detail={"worker": worker_id, "note": note})
        db.execute(SQL["call_for_heartbeats"])
        return replace(worker, drain_requested_at=at, drain_requested_by=actor)

    @write_transaction
    def remove(self, db: Session, worker_id: str) -> None:
        db.execute(SQL["remove_worker"], {"id": worker_id})

    @read_transaction
    def list(self, db: Session, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        return live_workers(db, namespace, read_clock(now))

    @read_transaction
    def snapshot(
        self, db: Session, namespace: str, *, now: datetime | None = None
    ) -> tuple[datetime, Sequence[Worker]]:
        at = read_clock(now)
        return at, live_workers(db, namespace, at)

    @read_transaction
    def list_lost(self, db: Session, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        at = read_clock(now)
        since = {"namespace": namespace, "now": to_micros(at), "cutoff": to_micros(at - WORKER_RETENTION)}
        return [to_worker(row) for row in fetch_named(db, "list_lost_workers", since)]

    @read_transaction
    def count_planners(self, db: Session, *, now: datetime | None = None) -> int:
        return _count_planners(db, read_clock(now))


def _count_planners(db: Session, now: datetime) -> int:
    [planners] = db.execute(SQL["examine_planners"], {"now": to_micros(now)}).fetchone()
    return int(planners)


def live_workers(db: Session, namespace: str, now: datetime) -> list[Worker]:
    return [to_worker(row) for row in fetch_named(db, "list_workers", {"namespace": namespace, "now": to_micros(now)})]
