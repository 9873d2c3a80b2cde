"""Runs on PostgreSQL: enqueue, read, cancel, prune."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import MutableMapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg
from psycopg import errors

from tickbird.domain.access.http_responses import RESPONSE_TTL
from tickbird.domain.access.sessions import SESSION_KEPT
from tickbird.domain.doctor.snapshot import WaitingRuns
from tickbird.domain.errors import NotFoundError
from tickbird.domain.limits.concurrency import Key, take
from tickbird.domain.runs.idempotency import KEY_SECONDS
from tickbird.domain.runs.run import (
    FINAL,
    AttemptRecord,
    NewRun,
    RunRecord,
    Status,
    already_final_error,
    enqueued_detail,
)
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import MIN_REVISIONS_KEPT, PRUNE_BATCH
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, transaction
from tickbird.store.postgres.enqueue import enqueueing
from tickbird.store.postgres.planning.upcoming_ticks import refresh_upcoming
from tickbird.store.postgres.planning.waiting_runs import lock_keys, release
from tickbird.store.postgres.rows import clean, numbers, texts, to_run, to_waiting_runs
from tickbird.store.protocol.runs import RunStore
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import run_async

# Seconds between retries after the response to COMMIT was lost.
_PAUSES: Final = (0.1, 0.5, 2.0)
# The position at which the next search for old runs continues.
PrunePosition = tuple[datetime, int]
_START: Final[PrunePosition] = (datetime.min.replace(tzinfo=UTC), 0)


class PostgresRuns(NounStore, RunStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._pruned = _START

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        if not runs:
            return []
        notified = False
        ids: list[int] = []

        async def work(db: Session) -> None:
            nonlocal notified
            ids[:] = await _enqueue(db, self._db.revisions, namespace, runs, actor, now, ids)
            if notified := self._db.notifier.may_notify_with_commit():
                await db.execute("wake")

        for pause in (*_PAUSES, None):
            try:
                await self._db.connections.transact(work)
                break
            except psycopg.Error as error:
                if ids and isinstance(error, errors.UniqueViolation):
                    # The response to COMMIT was lost, but it committed: the runs exist.
                    break
                # Their ids are reserved, so inserting the same runs again cannot create them twice.
                if pause is None or not ids or not isinstance(error, psycopg.OperationalError):
                    raise self._db.translate(error) from None
                await asyncio.sleep(pause)
        if not notified:
            self._db.notifier.notify()
        return ids

    async def get(self, run_id: int) -> RunRecord | None:
        rows = await self._db.fetch_named("get_run", id=run_id)
        return to_run(rows[0]) if rows else None

    async def list(
        self,
        namespace: str,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        bounds = {"namespace": namespace, "status": status, "before": before, "limit": limit}
        statement = _page_statement(status)
        if schedule is not None:
            statement, bounds["schedule"] = f"{statement}_of", schedule
        return [to_run(row) for row in await self._db.fetch_named(statement, **bounds)]

    async def list_attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        return [AttemptRecord(*row) for row in await self._db.fetch("list_attempts", id=run_id)]

    async def list_active(self, schedule_id: int) -> Sequence[RunRecord]:
        return [to_run(row) for row in await self._db.fetch_named("active_runs", schedule_id=schedule_id)]

    async def list_waiting(
        self, namespace: str, *, limit: int = 100, now: datetime | None = None
    ) -> Sequence[WaitingRuns]:
        rows = await self._db.fetch("examine_waiting", namespace=namespace, limit=limit, now=now)
        return [to_waiting_runs(row) for row in rows]

    @transaction
    async def cancel(
        self, db: Session, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None
    ) -> RunRecord:
        # Every transaction that waits for a waiting run first locks the oldest one of its schedule.
        for (schedule_id,) in await db.fetch("waits_of", id=run_id):
            await db.fetch("lock_waiters", ids=numbers([schedule_id]))
        rows = await db.fetch("lock_run", id=run_id)
        if not rows:
            raise NotFoundError(f"there is no run {run_id}.", hint="`tickbird runs` lists the newest runs.")
        [(_, schedule_id, namespace, status, key)] = rows
        if status in FINAL:
            raise already_final_error(run_id, status)
        [(at,)] = await db.fetch("clock", now=now)
        await db.execute("cancel_run", id=run_id, actor=actor, reason=clean(reason) or None, now=at)
        if status != "running":
            schedules = [] if schedule_id is None else [schedule_id]
            await release(db, self._db.revisions, schedules, at, keys=[] if key is None else [(namespace, key)])
        [row] = await db.fetch_named("get_run", id=run_id)
        run = to_run(row)
        await write_audit(
            db,
            at,
            actor,
            "cancel",
            namespace,
            schedule_id=schedule_id,
            schedule=run.schedule,
            run_id=run_id,
            detail={"reason": clean(reason)},
        )
        await db.execute("wake")
        return run

    async def prune(self, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None) -> int:
        deleted, self._pruned = await self._prune_runs(older_than, keep, limit, self._pruned, now)
        [(at,)] = await self._db.fetch("clock", now=now)
        return deleted + await self._prune_revisions(at - timedelta(seconds=older_than), limit)

    @transaction
    async def _prune_runs(
        self, db: Session, older_than: float, keep: int, limit: int, since: PrunePosition, now: datetime | None
    ) -> tuple[int, PrunePosition]:
        """Delete old runs; returns their number, and the position to continue from."""
        rows = await db.fetch(
            "prune_runs",
            older_than=older_than,
            key_seconds=KEY_SECONDS,
            keep=keep,
            limit=limit,
            since=since[0],
            after=since[1],
            now=now,
        )
        [(of_jobs,)] = await db.fetch("prune_job_runs", limit=limit, now=now)
        await db.execute("prune_skips", older_than=older_than, limit=limit, now=now)
        await db.execute("prune_audit", older_than=older_than, limit=limit, now=now)
        await db.execute("prune_backfills", older_than=older_than, now=now)
        await db.execute("prune_workers", older_than=older_than, now=now)
        await db.execute("prune_responses", kept=float(RESPONSE_TTL), limit=limit, now=now)
        await db.execute("prune_sessions", kept=float(SESSION_KEPT), limit=limit, now=now)
        await db.execute("prune_pings", older_than=older_than, limit=limit, now=now)
        await db.execute("unwatch")
        await refresh_upcoming(db, limit, now)
        if not rows:
            return of_jobs, _START
        [(deleted, examined, last_at, last_id)] = rows
        if deleted == limit:
            return of_jobs + deleted, since
        return of_jobs + deleted, (last_at, last_id) if examined == 10 * limit else _START

    async def _prune_revisions(self, cutoff: datetime, limit: int) -> int:
        deleted = after = 0
        while deleted < limit:
            edited = await self._db.fetch("schedules_with_old_revisions", after=after, limit=PRUNE_BATCH)
            for (after,) in edited:
                deleted += await self._prune_revisions_of(after, cutoff, limit - deleted)
            if len(edited) < PRUNE_BATCH:
                break
        return deleted

    @transaction
    async def _prune_revisions_of(self, db: Session, schedule_id: int, cutoff: datetime, limit: int) -> int:
        """Delete revisions that were replaced before the cutoff and that nothing refers to; returns their number."""
        locked = await db.fetch("lock_for_pruning", id=schedule_id)
        if not locked:
            return 0
        bounds = {"newest": locked[0][0] - MIN_REVISIONS_KEPT, "cutoff": cutoff, "limit": limit}
        return await db.execute("prune_revisions", id=schedule_id, **bounds)


def _page_statement(status: Status | None) -> str:
    """The statement for a page of runs; with the suffix `_of`, for one schedule."""
    if status in ("failed", "cancelled"):
        return "page_unsuccessful"
    return "list_runs" if status is None or status == "succeeded" else "page_active"


async def _enqueue(
    db: Session,
    revisions: RevisionCache,
    namespace: str,
    runs: Sequence[NewRun],
    actor: str,
    now: datetime | None,
    ids: Sequence[int],
) -> list[int]:
    """Insert runs, or find the runs of their idempotency keys.

    `ids` are the ids that the same runs got before, if it is unknown whether that committed.
    """
    keys = {(namespace, run.concurrency_key) for run in runs if run.concurrency_key is not None}
    if all(run.idempotency_key is None for run in runs):
        return await _insert_runs(db, namespace, runs, actor, now, ids, await lock_keys(db, keys))
    enqueued: list[int] = []
    for index, run in enumerate(runs):
        if run.idempotency_key is not None:
            enqueued.append(await run_async(enqueueing(namespace, run, actor, now, audited=True), db.fetch_step))
        else:
            no_slots = defaultdict[Key, int](int)
            enqueued += await _insert_runs(db, namespace, [run], actor, now, ids[index : index + 1], no_slots)
    if keys:
        [(at,)] = await db.fetch("clock", now=now)
        await release(db, revisions, [], at, keys=keys)
    return enqueued


async def _insert_runs(
    db: Session,
    namespace: str,
    runs: Sequence[NewRun],
    actor: str,
    now: datetime | None,
    ids: Sequence[int],
    slots: MutableMapping[Key, int],
) -> list[int]:
    keys = [run.concurrency_key for run in runs]
    any_key = any(key is not None for key in keys)
    statuses = [take(slots, None if key is None else (namespace, key)) for key in keys] if any_key else []
    rows = await db.fetch(
        "insert_runs",
        namespace=namespace,
        actor=actor,
        detail=json.dumps(enqueued_detail(runs)),
        now=now,
        kinds=texts([run.target.kind for run in runs]),
        targets=texts([run.target.name for run in runs]),
        queues=texts([run.queue for run in runs]),
        priorities=numbers(run.priority for run in runs),
        at=texts([None if run.at is None else run.at.isoformat() for run in runs]),
        delays=numbers(run.delay for run in runs),
        start_within=numbers(run.start_within for run in runs),
        crash_limits=numbers(run.crash_limit for run in runs),
        retries=numbers(run.retry_of for run in runs),
        payloads=texts([check_payload(run.payload) if run.payload else None for run in runs]),
        ids=numbers(ids),
        concurrency_keys=texts(keys) if any_key else "{}",
        statuses=texts(statuses) if any_key else "{}",
    )
    return [row[0] for row in rows]
