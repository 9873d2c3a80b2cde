"""Leases on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tickbird.domain.limits.concurrency import Key
from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.runs.leases import ClaimResult, ConfirmResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.run import Outcome
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.instants import from_micros, to_micros, to_seconds_ceil
from tickbird.domain.workers import Worker
from tickbird.store.protocol.leases import LeaseStore
from tickbird.store.shared.fairness import Turns
from tickbird.store.shared.json_columns import clean
from tickbird.store.shared.unreadable_runs import UnreadableRuns
from tickbird.store.shared.unstorable_values import refusing_values
from tickbird.store.sqlite.committed_runs import settle
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, write_transaction
from tickbird.store.sqlite.database.instants import has_jumped, read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_as
from tickbird.store.sqlite.planning.claims import claim
from tickbird.store.sqlite.planning.dependencies import cancel_unmet, record_successes
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump


class _Running(NamedTuple):
    """The columns of a running run that finish needs."""

    id: int
    attempt: int
    incarnation: int | None
    schedule_id: int | None
    asked_to_stop: int
    worker: str | None
    started_at: int | None
    reason: str | None
    namespace: str
    concurrency_key: str | None


def _is_of(ref: LeaseRef | Outcome, attempt: int, incarnation: int | None) -> bool:
    """True if this has the fencing token of the current lease."""
    return ref.attempt == attempt and ref.incarnation in (0, incarnation)


class SqliteLeases(NounStore, LeaseStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._unread = UnreadableRuns()
        self._turns = Turns()

    @write_transaction
    def claim(
        self,
        db: Session,
        worker: Worker,
        limit: int,
        lease: float,
        *,
        queues: Collection[str],
        targets: Collection[TargetKey],
        at_once: int | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> ClaimResult:
        return claim(
            db,
            self._db.revisions,
            self._unread,
            self._turns,
            worker,
            limit,
            lease,
            queues,
            targets,
            read_clock(now),
            limit if at_once is None else at_once,
            expected,
        )

    @write_transaction
    def renew(
        self, db: Session, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        at = read_clock(now)
        leases = {ref.run_id: ref for ref in held}
        rows = db.execute(SQL["held_runs"], {"ids": dump(list(leases)), "worker": worker.id}).fetchall()
        renewed = {
            run_id: stop for run_id, attempt, incarnation, stop in rows if _is_of(leases[run_id], attempt, incarnation)
        }
        db.execute(SQL["renew_leases"], {"ids": dump(list(renewed)), "until": to_micros(at + timedelta(seconds=lease))})
        cancelled = frozenset(run_id for run_id, stop in renewed.items() if stop)
        return RenewResult(at, frozenset(renewed), cancelled)

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        with refusing_values():
            finished = await self._finish(None if worker is None else worker.id, outcomes, now)
        if finished.released or any(outcome.status == "queued" for outcome in outcomes):
            self._db.signal()
        return finished

    @write_transaction
    def _finish(
        self, db: Session, worker: str | None, outcomes: Sequence[Outcome], now: datetime | None
    ) -> FinishResult:
        at = read_clock(now)
        ids = dump([outcome.run_id for outcome in outcomes])
        running = {run.id: run for run in fetch_as(db, _Running, "running_runs", {"ids": ids, "worker": worker})}
        finished_at = to_micros(at)
        ended, requeued, attempts, schedules, succeeded = [], [], [], set(), set()
        keys: set[Key] = set()
        accepted: set[int] = set()
        for outcome in outcomes:
            run = running.get(outcome.run_id)
            if run is None or not _is_of(outcome, run.attempt, run.incarnation) or run.id in accepted:
                continue
            accepted.add(run.id)
            error = None if outcome.error is None else clean(outcome.error)
            if outcome.status == "queued" and not run.asked_to_stop:
                available_at = to_micros(at + timedelta(seconds=outcome.delay))
                counts = (outcome.failures, 0, outcome.started)
                requeued.append((run.id, available_at, error, outcome.failure_kind, outcome.reason, *counts))
                ending = "retried" if outcome.failures else "drained"
            else:
                status = "cancelled" if outcome.status == "queued" else outcome.status
                reason = outcome.reason or (run.reason if status == "cancelled" else None)
                result = None if outcome.result is None else dump(outcome.result)
                ended.append(
                    (run.id, status, finished_at, result, error, outcome.failure_kind, reason, outcome.failures)
                )
                ending = status
                if run.schedule_id is not None:
                    schedules.add(run.schedule_id)
                    if status == "succeeded":
                        succeeded.add(run.schedule_id)
                if run.concurrency_key is not None:
                    keys.add((run.namespace, run.concurrency_key))
            if ending != "succeeded":
                attempts.append((run.id, run.attempt, run.worker, run.started_at, finished_at, ending, error))
        if ended:
            db.executemany(SQL["end_run"], ended)
        if requeued:
            db.executemany(SQL["requeue_run"], requeued)
        if attempts:
            db.executemany(SQL["insert_attempt"], attempts)
        schedules |= record_successes(db, succeeded, at)
        released = release(db, self._db.revisions, schedules, at, keys=keys)
        if released or requeued:
            db.execute(SQL["wake_others"])
        return FinishResult(at, frozenset(accepted), len(released))

    async def confirm(self, refs: Sequence[LeaseRef], *, now: datetime | None = None) -> ConfirmResult:
        confirmed = await self._confirm(refs, now)
        if confirmed.released:
            self._db.signal()
        return confirmed

    @write_transaction
    def _confirm(self, db: Session, refs: Sequence[LeaseRef], now: datetime | None) -> ConfirmResult:
        # The only writer: no transaction of a task is open.
        at = read_clock(now)
        leases = {ref.run_id: ref for ref in refs}
        rows = db.execute(SQL["confirm_runs"], {"ids": dump(list(leases))}).fetchall()
        succeeded = frozenset(run_id for run_id, *token in rows if _is_of(leases[run_id], *token))
        released = settle(db, self._db.revisions, at, succeeded) if succeeded else []
        if released:
            db.execute(SQL["wake_others"])
        return ConfirmResult(at, succeeded, released=len(released))

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        rescued = await self._rescue(limit, expected, now)
        if rescued.requeued or rescued.released or rescued.undecided:
            self._db.signal()
        return rescued

    @write_transaction
    def _rescue(self, db: Session, limit: int, expected: ClockBounds | None, now: datetime | None) -> RescueResult:
        at = read_clock(now)
        if has_jumped(at, expected):
            return RescueResult(at)
        lost_at = to_micros(at)
        bounds = {"now": lost_at, "limit": limit}
        requeued, failed, lost, undecided, attempts = [], [], [], [], []
        for row in db.execute(SQL["expired_runs"], bounds).fetchall():
            run_id, attempt, crashes, crash_limit, worker, started_at, asked_to_stop, reason = row
            error = f"worker {worker} was lost during this run"
            attempts.append((run_id, attempt, worker, started_at, lost_at, "lost", error))
            if not asked_to_stop and crash_limit < 0:
                undecided.append({"id": run_id, "now": lost_at, "error": error})
                continue
            if not asked_to_stop and crashes + 1 <= crash_limit:
                requeued.append((run_id, lost_at, error, "lost", reason, 0, 1, True))
                continue
            lost.append((run_id, "cancelled" if asked_to_stop else "failed", lost_at, error, "lost"))
            if not asked_to_stop:
                failed.append(run_id)
        db.executemany(SQL["requeue_run"], requeued)
        db.executemany(SQL["fail_lost_run"], lost)
        db.executemany(SQL["hold_lost_run"], undecided)
        db.executemany(SQL["add_lost_run"], undecided)
        db.executemany(SQL["insert_attempt"], attempts)
        misfired = db.execute(SQL["misfired_runs"], bounds).fetchall()
        unmet = cancel_unmet(db, limit, at)
        db.execute(SQL["join_lines"], {"minute": -(-to_seconds_ceil(at) // MINUTE)})
        settled = settle(db, self._db.revisions, at)
        waiting = [row[0] for row in db.execute(SQL["all_with_waiters"]).fetchall()]
        released = release(db, self._db.revisions, waiting, at, keys=db.execute(SQL["waiting_keys"]).fetchall())
        released = [*settled, *released]
        if requeued or released or undecided:
            db.execute(SQL["wake_others"])
        ends = [end for end in db.execute(SQL["next_rescue"]).fetchone() if end is not None]
        return RescueResult(
            at,
            requeued=[row[0] for row in requeued],
            failed=failed,
            undecided=[row["id"] for row in undecided],
            misfired=sorted(row[0] for row in misfired),
            unmet=unmet,
            released=released,
            next_at=from_micros(min(ends, default=None)),
        )
