"""Runs on PostgreSQL: enqueue, claim, renew, finish, cancel, rescue, prune."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from psycopg.types.json import Jsonb

from tickbird.domain.definition import Target, check_payload
from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs import FINAL, ClaimedRun, Covers, NewRun, Outcome, RunRecord, final_already
from tickbird.store.plans import KnownRevisions
from tickbird.store.postgres.connection import Session
from tickbird.store.postgres.revisions import learn
from tickbird.store.postgres.rows import clean, json_text, numbers, texts, to_run
from tickbird.store.postgres.waiters import release
from tickbird.store.protocol import Finished, Held, Renewed, Rescued, Worker


async def enqueue(db: Session, namespace: str, runs: Sequence[NewRun], actor: str, now: datetime | None) -> list[int]:
    """Insert runs that belong to no schedule."""
    rows = await db.fetch(
        "insert_runs",
        namespace=namespace,
        actor=actor,
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
    )
    return [row[0] for row in rows]


async def claim(
    db: Session,
    known: KnownRevisions,
    worker: Worker,
    limit: int,
    lease: float,
    queues: Collection[str],
    tasks: Collection[str],
    now: datetime | None,
) -> list[ClaimedRun]:
    """Lease runs to a worker; the first statement is the whole transaction."""
    rows = await db.fetch(
        "claim_runs",
        worker=worker.id,
        namespace=worker.namespace,
        limit=limit,
        lease=lease,
        queues=texts(sorted(set(queues))),
        tasks=texts(sorted(set(tasks))),
        now=now,
    )
    await learn(db, known, {(row[2], row[3]) for row in rows if row[2] is not None})
    return [_claimed(known, worker.id, row) for row in rows]


def _claimed(known: KnownRevisions, worker: str, row: tuple[Any, ...]) -> ClaimedRun:
    # In the order of the statement claim_runs.
    (run_id, namespace, schedule_id, revision, target_kind, target, queue, priority, origin, *rest) = row
    (scheduled_for, due_at, available_at, start_by, first, last, count, attempt, failures, crashes, *rest) = rest
    (created_at, started_at, lease_until, retry_of, actor, reason, asked_at, asked_by, error, kind, payload) = rest
    revised = None if schedule_id is None else known.get(schedule_id, revision)
    if payload is None:
        payload = {} if revised is None else revised.definition.payload
    run = RunRecord(
        id=run_id,
        namespace=namespace,
        schedule_id=schedule_id,
        schedule=None if revised is None else revised.name,
        revision=revision,
        target=Target(target, target_kind),
        queue=queue,
        priority=priority,
        origin=origin,
        status="running",
        scheduled_for=scheduled_for,
        due_at=due_at,
        available_at=available_at,
        start_by=start_by,
        covers=None if first is None else Covers(first, last, count),
        attempt=attempt,
        failures=failures,
        crashes=crashes,
        created_at=created_at,
        started_at=started_at,
        finished_at=None,
        lease_until=lease_until,
        worker=worker,
        retry_of=retry_of,
        actor=actor,
        reason=reason,
        cancel_requested_at=asked_at,
        cancel_requested_by=asked_by,
        payload=payload,
        result=None,
        error=error,
        failure_kind=kind,
    )
    return ClaimedRun(run, None if revised is None else revised.definition)


async def renew(db: Session, worker: str, held: Sequence[Held], lease: float, now: datetime | None) -> Renewed:
    """Extend leases that are still held."""
    rows = await db.fetch(
        "renew_runs",
        worker=worker,
        ids=numbers(one.run_id for one in held),
        attempts=numbers(one.attempt for one in held),
        lease=lease,
        now=now,
    )
    return Renewed(
        rows[0][0],
        frozenset(run_id for _, run_id, _ in rows if run_id is not None),
        frozenset(run_id for _, run_id, asked_to_stop in rows if asked_to_stop),
    )


async def finish(db: Session, known: KnownRevisions, outcomes: Sequence[Outcome], now: datetime | None) -> Finished:
    """Record how attempts ended, then release waiters in a later statement, which sees who came meanwhile."""
    rows = await db.fetch(
        "finish_runs",
        ids=numbers(outcome.run_id for outcome in outcomes),
        attempts=numbers(outcome.attempt for outcome in outcomes),
        statuses=texts([outcome.status for outcome in outcomes]),
        delays=numbers(outcome.delay for outcome in outcomes),
        failures=numbers(outcome.failures for outcome in outcomes),
        results=texts([None if outcome.result is None else json_text(outcome.result) for outcome in outcomes]),
        errors=texts([clean(outcome.error) for outcome in outcomes]),
        kinds=texts([outcome.failure_kind for outcome in outcomes]),
        reasons=texts([clean(outcome.reason) for outcome in outcomes]),
        now=now,
    )
    at: datetime = rows[0][0]
    freed = {schedule_id for _, _, schedule_id, status in rows if schedule_id is not None and status in FINAL}
    released = await release(db, known, freed, at)
    return Finished(at, frozenset(row[1] for row in rows if row[1] is not None), len(released))


async def cancel(
    db: Session, known: KnownRevisions, run_id: int, actor: str, reason: str, now: datetime | None
) -> RunRecord:
    """Cancel what has not started; ask what runs to stop."""
    found = await db.fetch("lock_run", id=run_id)
    if not found:
        raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows those that exist.")
    [(_, schedule_id, namespace, status)] = found
    if status in FINAL:
        raise final_already(run_id, status)
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    await db.execute("cancel_run", id=run_id, actor=actor, reason=clean(reason) or None, now=now)
    if status != "running" and schedule_id is not None:
        await release(db, known, [schedule_id], now)
    [detail] = await db.fetch_named("get_run", id=run_id)
    run = to_run(detail)
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action="cancel",
        namespace=namespace,
        schedule_id=schedule_id,
        schedule=run.schedule,
        run_id=run_id,
        detail=Jsonb({"reason": clean(reason)}),
    )
    await db.execute("wake")
    return run


async def rescue(db: Session, known: KnownRevisions, limit: int, now: datetime) -> Rescued:
    """Take runs from lost workers, cancel what was not started in time, release who waits for nobody."""
    lost = await db.fetch("rescue_runs", limit=limit, now=now)
    late = await db.fetch("cancel_misfired", limit=limit, now=now)
    # Nobody should be waiting for nothing; if it ever happens, it ends here.
    waiting = await db.fetch("waiting_schedules", limit=limit)
    released = await release(db, known, {row[0] for row in waiting}, now)
    [(_, next_at, _)] = await db.fetch("next_rescue", now=now)
    return Rescued(
        now,
        requeued=[run_id for run_id, _, status in lost if status == "queued"],
        failed=[run_id for run_id, _, status in lost if status == "failed"],
        misfired=[run_id for run_id, _ in late],
        released=released,
        next_at=next_at,
    )


# Where the next look for old runs may go on; the beginning of time is where the first one starts.
Mark = tuple[datetime, int]
START: Final[Mark] = (datetime.min.replace(tzinfo=UTC), 0)


async def prune(
    db: Session, older_than: float, keep: int, limit: int, since: Mark, now: datetime | None
) -> tuple[int, Mark]:
    """Delete what is old enough; how many runs that were, and where to go on."""
    found = await db.fetch(
        "prune_runs", older_than=older_than, keep=keep, limit=limit, since=since[0], after=since[1], now=now
    )
    await db.execute("prune_skips", older_than=older_than, limit=limit, now=now)
    await db.execute("prune_audit", older_than=older_than, limit=limit, now=now)
    await db.execute("prune_workers", older_than=older_than, now=now)
    if not found:
        return 0, START
    [(gone, seen, last_at, last_id)] = found
    if gone == limit:
        return gone, since
    return gone, (last_at, last_id) if seen == 10 * limit else START
