"""Runs on SQLite: enqueue, read, cancel, prune."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from tickbird.domain.access.http_responses import RESPONSE_TTL
from tickbird.domain.access.sessions import SESSION_KEPT
from tickbird.domain.doctor.snapshot import WaitingRuns
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.runs.idempotency import KEY_SECONDS
from tickbird.domain.runs.run import FINAL, AttemptRecord, NewRun, RunRecord, Status, already_final_error
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import MIN_REVISIONS_KEPT, PRUNE_BATCH
from tickbird.domain.time.instants import to_micros
from tickbird.store.protocol.runs import RunStore
from tickbird.store.shared.statement_scripts import run_sync
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import (
    NounStore,
    read_transaction,
    waking_transaction,
    write_transaction,
)
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.enqueue import audit_row, enqueueing, run_row
from tickbird.store.sqlite.planning.waiting_runs import release, room
from tickbird.store.sqlite.rows import Row, dump, to_attempt, to_run, to_waiting_runs


class SqliteRuns(NounStore, RunStore):
    @waking_transaction
    def enqueue(
        self, db: Session, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        at = read_clock(now)
        if any(run.idempotency_key is not None for run in runs):
            execute = partial(fetch, db)
            return [run_sync(enqueueing(namespace, run, actor, at), execute) for run in runs]
        ids = reserve_ids(db, "run_id", len(runs))
        pairs = list(zip(ids, runs, strict=True))
        slots = room(db, {(namespace, run.concurrency_key) for run in runs if run.concurrency_key is not None})
        db.executemany(SQL["enqueue_run"], [run_row(run_id, namespace, run, actor, at, slots) for run_id, run in pairs])
        payloads = [(run_id, check_payload(run.payload)) for run_id, run in pairs if run.payload]
        db.executemany(SQL["insert_payload"], payloads)
        if pairs:
            db.execute(SQL["write_audit"], audit_row(ids[0], namespace, runs, actor, at))
            db.execute(SQL["wake_others"])
        return list(ids)

    @read_transaction
    def get(self, db: Session, run_id: int) -> RunRecord | None:
        return get_run(db, run_id)

    @read_transaction
    def list(
        self,
        db: Session,
        namespace: str,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        bounds = {"namespace": namespace, "schedule": schedule, "status": status, "before": before, "limit": limit}
        statement = _page_statement(status)
        rows = fetch_named(db, statement if schedule is None else f"{statement}_of", bounds)
        return [to_run(row) for row in rows]

    @read_transaction
    def list_attempts(self, db: Session, run_id: int) -> Sequence[AttemptRecord]:
        return [to_attempt(row) for row in fetch_named(db, "list_attempts", {"run_id": run_id})]

    @read_transaction
    def list_active(self, db: Session, schedule_id: int) -> Sequence[RunRecord]:
        return [to_run(row) for row in fetch_named(db, "active_runs", {"schedule_id": schedule_id})]

    @read_transaction
    def list_waiting(
        self, db: Session, namespace: str, *, limit: int = 100, now: datetime | None = None
    ) -> Sequence[WaitingRuns]:
        return waiting_runs(db, {"namespace": namespace, "limit": limit, "now": to_micros(read_clock(now))})

    async def cancel(self, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None) -> RunRecord:
        run, wakes = await self._cancel(run_id, actor, reason, now)
        if wakes:
            self._db.signal()
        return run

    @write_transaction
    def _cancel(
        self, db: Session, run_id: int, actor: str, reason: str, now: datetime | None
    ) -> tuple[RunRecord, bool]:
        """Returns the cancelled run, and whether that created work."""
        at, run = read_clock(now), get_run(db, run_id)
        if run is None:
            raise NotFoundError(f"there is no run {run_id}.", hint="`tickbird runs` lists the newest runs.")
        if run.status in FINAL:
            raise already_final_error(run_id, run.status)
        change = {
            "ids": dump([run_id]),
            "now": to_micros(at),
            "actor": actor,
            "reason": reason or f"cancelled by {actor}",
        }
        wakes = run.status == "running"
        if run.status == "running":
            db.execute(SQL["stop_runs"], change)
        else:
            db.execute(SQL["cancel_runs"], change)
            schedules = [] if run.schedule_id is None else [run.schedule_id]
            keys = [] if run.concurrency_key is None else [(run.namespace, run.concurrency_key)]
            wakes = bool(release(db, self._db.revisions, schedules, at, keys=keys))
        write_audit(
            db,
            at,
            actor,
            "cancel",
            run.namespace,
            schedule_id=run.schedule_id,
            schedule=run.schedule,
            run_id=run_id,
            detail={"reason": reason, "status": run.status},
        )
        if wakes:
            db.execute(SQL["wake_others"])
        after = get_run(db, run_id)
        assert after is not None
        return after, wakes

    @write_transaction
    def prune(
        self, db: Session, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None
    ) -> int:
        if keep < 0 or older_than < 0:
            raise InvalidError("keep and older_than must not be negative.", field="keep" if keep < 0 else "older_than")
        at = read_clock(now)
        cutoff, key_cutoff = at - timedelta(seconds=older_than), to_micros(at - timedelta(seconds=KEY_SECONDS))
        bounds = {"cutoff": to_micros(cutoff), "limit": limit}
        runs = db.execute(SQL["prune_runs"], {**bounds, "keep": keep, "key_cutoff": key_cutoff}).fetchall()
        skips = db.execute(SQL["prune_skips"], bounds).fetchall()
        pruned = [row for row in (*runs, *skips) if row[0] is not None and row[1] is not None]
        db.executemany(SQL["mark_pruned"], pruned)
        revisions = _prune_revisions(db, cutoff, limit)
        db.execute(SQL["prune_audit"], bounds)
        db.execute(SQL["prune_backfills"], bounds)
        db.execute(
            SQL["prune_responses"], {"kept_since": to_micros(at - timedelta(seconds=RESPONSE_TTL)), "limit": limit}
        )
        db.execute(
            SQL["prune_sessions"], {"kept_since": to_micros(at - timedelta(seconds=SESSION_KEPT)), "limit": limit}
        )
        db.execute(SQL["prune_pings"], bounds)
        db.execute(SQL["unwatch"])
        return len(runs) + revisions


def waiting_runs(db: Session | sqlite3.Connection, bounds: Mapping[str, Any]) -> list[WaitingRuns]:
    """Read the runs that could start now: the oldest first, by queue and target."""
    queues = db.execute(SQL["examine_queues"], bounds).fetchall()
    rows = [row for (queue,) in queues for row in db.execute(SQL["examine_waiting"], {**bounds, "queue": queue})]
    return sorted((to_waiting_runs(row) for row in rows), key=lambda runs: runs.since)


def _page_statement(status: Status | None) -> str:
    """The statement for a page of runs; with the suffix `_of`, for one schedule."""
    if status in ("failed", "cancelled"):
        return "page_unsuccessful"
    return "list_runs" if status is None or status == "succeeded" else "page_active"


def reserve_ids(db: Session, name: str, count: int) -> range:
    """New ids of this kind; each is issued only once."""
    if not count:
        return range(0)
    [(last,)] = db.execute(SQL["reserve_ids"], {"name": name, "count": count}).fetchall()
    return range(last - count + 1, last + 1)


def fetch(db: Session, name: str, values: Mapping[str, Any]) -> list[Row]:
    return db.execute(SQL[name], values).fetchall()


def get_run(db: Session, run_id: int) -> RunRecord | None:
    rows = fetch_named(db, "get_run", {"id": run_id})
    return to_run(rows[0]) if rows else None


def _prune_revisions(db: Session, cutoff: datetime, limit: int) -> int:
    deleted, after = 0, 0
    while deleted < limit:
        edited = db.execute(SQL["schedules_with_old_revisions"], {"after": after, "limit": PRUNE_BATCH}).fetchall()
        for schedule_id, revision in edited:
            bounds = {"id": schedule_id, "newest": revision - MIN_REVISIONS_KEPT, "cutoff": to_micros(cutoff)}
            deleted += len(db.execute(SQL["prune_revisions"], {**bounds, "limit": limit - deleted}).fetchall())
            after = schedule_id
        if len(edited) < PRUNE_BATCH:
            break
    return deleted
