"""Leases on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from tickbird.domain.runs.leases import ClaimResult, ConfirmResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.run import Outcome
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.workers import Worker
from tickbird.store.postgres.committed_runs import read_commits, settle
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, transaction
from tickbird.store.postgres.planning.claims import ClaimRequest, Claims
from tickbird.store.postgres.planning.dependencies import cancel_unmet, record_successes
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import clean, json_text, numbers, texts
from tickbird.store.protocol.leases import LeaseStore
from tickbird.store.shared.planning.revision_cache import RevisionCache


class PostgresLeases(NounStore, LeaseStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._claims = Claims(database.revisions, database.statement, database.transact)

    async def claim(
        self,
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
        start = limit if at_once is None else at_once
        return await self._claims.claim(ClaimRequest(worker, limit, lease, queues, targets, start, now, expected))

    async def renew(
        self, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        rows = await self._db.fetch(
            "renew_runs",
            worker=worker.id,
            ids=numbers(ref.run_id for ref in held),
            attempts=numbers(ref.attempt for ref in held),
            incarnations=numbers(ref.incarnation for ref in held),
            lease=lease,
            now=now,
        )
        return RenewResult(
            rows[0][0],
            frozenset(run_id for _, run_id, _ in rows if run_id is not None),
            frozenset(run_id for _, run_id, stop_requested in rows if stop_requested),
        )

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        holder = None if worker is None else worker.id
        # If no run can be waiting for these, one statement is the complete transaction.
        is_single = all(outcome.releases_no_run for outcome in outcomes)
        finished = await self._db.record(
            lambda db: record_outcomes(db, self._db.revisions, holder, outcomes, now), single_statement=is_single
        )
        if finished.released:
            self._db.notifier.notify()
        return finished

    async def confirm(self, refs: Sequence[LeaseRef], *, now: datetime | None = None) -> ConfirmResult:
        confirmed = await self._confirm(refs, now)
        if confirmed.released:
            self._db.notifier.notify()
        return confirmed

    @transaction
    async def _confirm(self, db: Session, refs: Sequence[LeaseRef], now: datetime | None) -> ConfirmResult:
        [(at,)] = await db.fetch("clock", now=now)
        succeeded, still_open = await read_commits(db, refs)
        released = await settle(db, self._db.revisions, at, succeeded) if succeeded else []
        return ConfirmResult(at, succeeded, still_open, len(released))

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        [(at, next_at, waiting, has_commits)] = await self._db.fetch("next_rescue", now=now)
        settled = await self._settle(at) if has_commits else []
        if not waiting and (next_at is None or next_at >= at):
            return RescueResult(at, next_at=next_at, released=settled)
        if expected is not None and not expected[0] <= at <= expected[1]:
            return RescueResult(at, released=settled)
        rescued = await self._rescue(limit, at, settled)
        if rescued.requeued or rescued.released or rescued.undecided:
            self._db.notifier.notify()
        return rescued

    @transaction
    async def _settle(self, db: Session, now: datetime) -> list[int]:
        return await settle(db, self._db.revisions, now)

    @transaction
    async def _rescue(self, db: Session, limit: int, now: datetime, settled: list[int]) -> RescueResult:
        lost = await db.fetch("rescue_runs", limit=limit, now=now)
        # Locked before a waiting run is cancelled, to avoid deadlocks.
        waiting = await db.fetch("waiting_schedules", limit=limit)
        await db.fetch("lock_waiters", ids=numbers(row[0] for row in waiting))
        late = await db.fetch("cancel_misfired", limit=limit, now=now)
        unmet = await cancel_unmet(db, limit, now)
        await db.execute("join_lines", limit=limit, now=now)
        ended = {
            (namespace, key) for *_, status, namespace, key in (*lost, *late) if key is not None and status != "queued"
        }
        # Normally no run waits without a reason; if it happens, it is released here.
        keys = ended.union(await db.fetch("waiting_keys", limit=limit))
        released = await release(db, self._db.revisions, {row[0] for row in waiting}, now, keys=keys)
        [(_, next_at, *_)] = await db.fetch("next_rescue", now=now)
        return RescueResult(
            now,
            requeued=[run_id for run_id, _, status, *_ in lost if status == "queued"],
            failed=[run_id for run_id, _, status, *_ in lost if status == "failed"],
            undecided=[run_id for run_id, _, status, *_ in lost if status == "waiting"],
            misfired=[run_id for run_id, *_ in late],
            unmet=unmet,
            released=[*settled, *released],
            next_at=next_at,
        )


async def record_outcomes(
    db: Session, revisions: RevisionCache, worker: str | None, outcomes: Sequence[Outcome], now: datetime | None
) -> FinishResult:
    """Record the outcomes, then release waiting runs in a later statement, which sees new ones too."""
    # In the order of ids, so that two transactions that finish or renew the same runs cannot deadlock.
    outcomes = sorted(outcomes, key=_run_id)
    values: dict[str, Any] = {
        "ids": numbers([outcome.run_id for outcome in outcomes]),
        "attempts": numbers([outcome.attempt for outcome in outcomes]),
        "incarnations": numbers([outcome.incarnation for outcome in outcomes]),
        "worker": worker,
        "results": _results(outcomes),
        "now": now,
    }
    if all(outcome.status == "succeeded" and outcome.reason is None for outcome in outcomes):
        [(at, ended, freed, watched, *keys)] = await db.fetch("succeed_runs", **values)
    else:
        [(at, ended, freed, watched, *keys)] = await db.fetch(
            "finish_runs",
            statuses=texts([outcome.status for outcome in outcomes]),
            delays=numbers([outcome.delay for outcome in outcomes]),
            failures=numbers([outcome.failures for outcome in outcomes]),
            errors=texts([clean(outcome.error) for outcome in outcomes]),
            kinds=texts([outcome.failure_kind for outcome in outcomes]),
            reasons=texts([clean(outcome.reason) for outcome in outcomes]),
            started=numbers([outcome.started for outcome in outcomes]),
            **values,
        )
    return FinishResult(at, frozenset(ended), await release_waiting(db, revisions, at, freed, watched, *keys))


async def release_waiting(
    db: Session,
    revisions: RevisionCache,
    at: datetime,
    freed: Collection[int],
    watched: Collection[int],
    namespaces: Sequence[str],
    keys: Sequence[str],
) -> int:
    """Release the runs that waited for runs that have ended; returns their number."""
    if watched:
        freed = await record_successes(db, watched, freed, at)
    return len(await release(db, revisions, freed, at, keys=set(zip(namespaces, keys, strict=True))))


_run_id = attrgetter("run_id")


def _results(outcomes: Sequence[Outcome]) -> str:
    """The results as JSON texts; an empty array if there are none, which unnests to NULLs."""
    if all(outcome.result is None for outcome in outcomes):
        return "{}"
    return texts([None if outcome.result is None else json_text(outcome.result) for outcome in outcomes])
