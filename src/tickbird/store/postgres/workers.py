"""Workers on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from tickbird.domain.errors import StoreError, StoreUnavailableError
from tickbird.domain.workers import HeartbeatResult, Worker, check_drainable, no_such_worker
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database import schema
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, transaction
from tickbird.store.postgres.database.identity import PostgresIdentity
from tickbird.store.postgres.rows import texts
from tickbird.store.protocol.workers import WorkerStore
from tickbird.store.shared.json_columns import as_object
from tickbird.store.shared.migrations import outdated


class PostgresWorkers(NounStore, WorkerStore):
    def __init__(self, database: Database, identity: PostgresIdentity) -> None:
        super().__init__(database)
        self._identity = identity

    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        here = (await self._identity.cached()).here
        try:
            rows = await self._db.fetch(
                "heartbeat",
                id=worker.id,
                namespace=worker.namespace,
                app=worker.app,
                kind=worker.kind,
                coordination=worker.coordination,
                host=worker.host,
                pid=worker.pid,
                version=worker.version,
                queues=texts(worker.queues),
                slots=worker.slots,
                tasks=Jsonb(dict(worker.tasks)),
                declared=Jsonb(dict(worker.declared)),
                draining=worker.draining,
                standby_reason=worker.standby_reason,
                health=Jsonb(dict(worker.health)),
                started_at=worker.started_at,
                live_for=live_for,
                now=now,
            )
        except StoreUnavailableError:
            raise
        except StoreError:
            # The store may have been migrated beyond this code.
            if not (too_new := outdated(schema.MIGRATIONS, dict(await self._db.fetch("read_meta")))):
                raise
            [(clock,)] = await self._db.fetch("clock", now=None)
            return HeartbeatResult(clock, outdated_reason=too_new)
        [(last_heartbeat_at, peers, generation, stored, version, compatible, drained_by, planners)] = rows
        meta = {"version": version or 0, "min_compatible": compatible or 0}
        too_old, copied = outdated(schema.MIGRATIONS, meta), self._identity.update(here, stored).copy_reason
        return HeartbeatResult(last_heartbeat_at, frozenset(peers), generation, copied, too_old, drained_by, planners)

    @transaction
    async def drain(
        self, db: Session, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        rows = await db.fetch_named("find_worker", id=worker_id, namespace=namespace, now=now)
        if not rows:
            raise no_such_worker(worker_id)
        worker = to_worker(rows[0])
        check_drainable(worker)
        if worker.drain_requested_at is not None:
            return worker
        [(at,)] = await db.fetch("drain_worker", id=worker_id, actor=actor, now=now)
        await write_audit(db, at, actor, "drain_worker", namespace, detail={"worker": worker_id, "note": note})
        await db.execute("call_for_heartbeats")
        return replace(worker, drain_requested_at=at, drain_requested_by=actor)

    async def remove(self, worker_id: str) -> None:
        await self._db.execute("remove_worker", id=worker_id)

    async def list(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        rows = await self._db.fetch_named("list_workers", namespace=namespace, now=now)
        return [to_worker(row) for row in rows]

    async def snapshot(self, namespace: str, *, now: datetime | None = None) -> tuple[datetime, Sequence[Worker]]:
        rows = await self._db.fetch_named("snapshot_workers", namespace=namespace, now=now)
        clocks = [row.pop("clock") for row in rows]
        # Without a live worker, one row has only the clock.
        return clocks[0], [to_worker(row) for row in rows if row["id"] is not None]

    async def list_lost(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        rows = await self._db.fetch_named("list_lost_workers", namespace=namespace, now=now)
        return [to_worker(row) for row in rows]

    async def count_planners(self, *, now: datetime | None = None) -> int:
        [(planners,)] = await self._db.fetch("examine_planners", now=now)
        return int(planners)


def to_worker(row: Mapping[str, Any]) -> Worker:
    kinds = {"tasks": dict, "declared": str, "health": object}
    objects = {name: as_object(row[name], kind) for name, kind in kinds.items()}
    return Worker(**{**row, **objects, "queues": tuple(row["queues"])})
