"""Held runs on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs.held import DROPPED, MAX_COUNT, Drop, HeldSchedule, Release, none_held
from tickbird.domain.runs.run import RunRecord
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import numbers, to_run
from tickbird.store.postgres.schedule_changes import read_locked
from tickbird.store.protocol.held import HeldStore


class PostgresHeld(NounStore, HeldStore):
    async def list_schedules(self, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        rows = await self._db.fetch_named("held_schedules", namespace=namespace, schedule=schedule)
        return [HeldSchedule(**row) for row in rows]

    async def list_runs(
        self, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        bounds = {"namespace": namespace, "schedule": schedule, "after": after, "limit": limit}
        return [to_run(row) for row in await self._db.fetch_named("list_held_runs", **bounds)]

    @transaction
    async def resolve(
        self, db: Session, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None
    ) -> int:
        locked = await db.fetch("lock_schedule", namespace=namespace, name=name)
        if not locked:
            raise NotFoundError(f"there is no schedule {name[:200]!r}.", hint="`tickbird ls` lists all schedules.")
        # The active runs are locked too, because released runs wait for them.
        schedule_id, at = locked[0][0], (await read_locked(db, locked[0][0], now)).now
        rows = await db.fetch("lock_held", schedule_id=schedule_id, count=decision.count or MAX_COUNT)
        if not rows:
            raise none_held(name)
        ids = numbers(row[0] for row in rows)
        detail: dict[str, Any] = {"count": len(rows), "note": decision.note}
        if isinstance(decision, Release):
            await db.execute("release_held", ids=ids, now=at, actor=decision.actor, apart=decision.interval)
            action, detail["per_minute"] = "release_held", decision.per_minute
        else:
            await db.execute("cancel_waiting", ids=ids, now=at, actor=decision.actor, reason=DROPPED)
            action = "drop_held"
        # Also after a drop: another transaction may have skipped a waiting run that was locked here.
        await release(db, self._db.revisions, [schedule_id], at)
        await write_audit(
            db, at, decision.actor, action, namespace, schedule_id=schedule_id, schedule=name, detail=detail
        )
        await db.execute("wake")
        return len(rows)
