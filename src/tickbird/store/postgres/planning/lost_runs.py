"""Lost runs on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.runs.lost_runs import (
    EFFECT_CONFIRMED,
    LOST_CALLS,
    MAX_CALLS,
    Effect,
    LostRun,
    ReconcileCall,
    ReconcileReport,
    Resolution,
    not_undecided,
)
from tickbird.domain.runs.run import WaitLane
from tickbird.domain.workers import Worker
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.planning.dependencies import record_successes
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import clean, numbers, texts, to_run
from tickbird.store.protocol.lost_runs import LostRunStore
from tickbird.store.shared.lost_runs import claimed_run


class PostgresLostRuns(NounStore, LostRunStore):
    async def list(self, namespace: str, *, before: int | None = None, limit: int = 100) -> Sequence[LostRun]:
        rows = await self._db.fetch_named("list_lost_runs", namespace=namespace, before=before, limit=limit)
        return [LostRun(**row) for row in rows]

    async def get(self, run_id: int) -> LostRun | None:
        rows = await self._db.fetch_named("get_lost_run", id=run_id)
        return LostRun(**rows[0]) if rows else None

    @transaction
    async def claim(
        self,
        db: Session,
        worker: Worker,
        tasks: Collection[str],
        limit: int,
        lease: float,
        *,
        now: datetime | None = None,
    ) -> Sequence[ReconcileCall]:
        [(at,)] = await db.fetch("clock", now=now)
        await db.execute("give_up_calls", now=at, maximum=MAX_CALLS, error=LOST_CALLS)
        claimed = await db.fetch(
            "claim_lost_runs",
            namespace=worker.namespace,
            targets=texts(sorted(tasks)),
            limit=limit,
            lease=lease,
            worker=worker.id,
            now=at,
        )
        calls = dict(claimed)
        rows = await db.fetch_named("runs_of_calls", ids=numbers(calls)) if calls else []
        runs = [to_run(row) for row in rows]
        return [ReconcileCall(claimed_run(run), calls[run.id]) for run in sorted(runs, key=lambda run: run.id)]

    @transaction
    async def report(self, db: Session, report: ReconcileReport, *, now: datetime | None = None) -> bool:
        row = await _lock(db, report.run_id)
        if row is None or not _is_undecided(row) or row[9:] != (report.attempt, report.number, None):
            return False
        await self._settle(db, row, report.effect, report.error, None, "", now)
        return True

    @transaction
    async def resolve(self, db: Session, run_id: int, resolution: Resolution, *, now: datetime | None = None) -> None:
        row = await _lock(db, run_id)
        if row is None or not _is_undecided(row):
            rows = await db.fetch("lock_run", id=run_id)
            raise not_undecided(run_id, rows[0][3] if rows else "deleted")
        actor, effect, note = resolution.actor, resolution.effect, clean(resolution.note) or ""
        at = await self._settle(db, row, effect, None, actor, note, now)
        await write_audit(
            db,
            at,
            actor,
            "resolve",
            row[2],
            schedule_id=row[1],
            schedule=row[8],
            run_id=run_id,
            detail={"effect": effect, "note": note},
        )

    async def _settle(
        self,
        db: Session,
        row: tuple[Any, ...],
        effect: Effect,
        error: str | None,
        actor: str | None,
        note: str,
        now: datetime | None,
    ) -> datetime:
        """Record the answer, and end the run or let it wait for another attempt."""
        run_id, schedule_id, namespace, _, key, _, crashes, crash_limit, *_ = row
        [(at,)] = await db.fetch("clock", now=now)
        await db.execute(
            "resolve_lost_run", id=run_id, effect=effect, error=clean(error), actor=actor, note=note, now=at
        )
        if effect == "unknown":
            return at  # type: ignore[no-any-return]
        freed = set() if schedule_id is None else {schedule_id}
        if effect == "yes" or crashes > abs(crash_limit):
            status, reason = ("succeeded", EFFECT_CONFIRMED) if effect == "yes" else ("failed", None)
            [(watched,)] = await db.fetch("end_lost_run", id=run_id, status=status, reason=reason, now=at)
            if watched:
                freed.update(await record_successes(db, watched, [], at))
        else:
            await db.execute("retry_lost_run", id=run_id, now=at)
        await release(db, self._db.revisions, freed, at, keys=[] if key is None else [(namespace, key)])
        await db.execute("wake")
        return at  # type: ignore[no-any-return]


async def _lock(db: Session, run_id: int) -> tuple[Any, ...] | None:
    # Every transaction that waits for a waiting run first locks the oldest one of its schedule.
    for (schedule_id,) in await db.fetch("waits_of", id=run_id):
        await db.fetch("lock_waiters", ids=numbers([schedule_id]))
    rows = await db.fetch("lock_lost_run", id=run_id)
    return rows[0] if rows else None


def _is_undecided(row: tuple[Any, ...]) -> bool:
    return bool(row[3] == "waiting" and row[5] == WaitLane.HELD)
