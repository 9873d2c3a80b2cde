"""Runs on PostgreSQL: enqueue, renew, finish, cancel, rescue, prune."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import MutableMapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final

from psycopg.types.json import Jsonb

from tickbird.domain.access.http_responses import RESPONSE_TTL
from tickbird.domain.access.sessions import SESSION_KEPT
from tickbird.domain.errors import NotFoundError
from tickbird.domain.limits.concurrency import Key, take
from tickbird.domain.runs.idempotency import KEY_SECONDS
from tickbird.domain.runs.leases import FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.run import FINAL, NewRun, Outcome, RunRecord, Status, already_final_error, enqueued_detail
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import REVISIONS_KEPT
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.enqueue import enqueueing
from tickbird.store.postgres.planning.dependencies import cancel_unmet, note_successes
from tickbird.store.postgres.planning.waiting_runs import hold_keys, release
from tickbird.store.postgres.rows import clean, json_text, numbers, texts, to_run
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import run_async


def page_of(status: Status | None) -> str:
    """The statement for a page of runs of a status; with `_of` behind it, of a schedule's."""
    if status in ("failed", "cancelled"):
        return "page_unwell"
    return "list_runs" if status is None or status == "succeeded" else "page_active"


async def enqueue(
    db: Session,
    known: RevisionCache,
    namespace: str,
    runs: Sequence[NewRun],
    actor: str,
    now: datetime | None,
    ids: Sequence[int] = (),
) -> list[int]:
    """Insert runs that belong to no schedule, or find those that their keys stand for.

    `ids` are those that the same runs were given before, when nobody learned whether that counted.
    """
    keys = {(namespace, run.concurrency_key) for run in runs if run.concurrency_key is not None}
    if all(run.idempotency_key is None for run in runs):
        return await _enqueue_all(db, namespace, runs, actor, now, ids, await hold_keys(db, keys))
    made: list[int] = []
    for place, run in enumerate(runs):
        if run.idempotency_key is not None:
            made.append(await run_async(enqueueing(namespace, run, actor, now, audited=True), db.fetch_step))
        else:
            nothing = defaultdict[Key, int](int)
            made += await _enqueue_all(db, namespace, [run], actor, now, ids[place : place + 1], nothing)
    if keys:
        [(now,)] = await db.fetch("clock", now=now)
        assert now is not None
        await release(db, known, [], now, keys=keys)
    return made


async def _enqueue_all(
    db: Session,
    namespace: str,
    runs: Sequence[NewRun],
    actor: str,
    now: datetime | None,
    ids: Sequence[int],
    room: MutableMapping[Key, int],
) -> list[int]:
    keys = [run.concurrency_key for run in runs]
    any_key = any(key is not None for key in keys)
    statuses = [take(room, None if key is None else (namespace, key)) for key in keys] if any_key else []
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


async def renew(db: Session, worker: str, held: Sequence[LeaseRef], lease: float, now: datetime | None) -> RenewResult:
    """Extend leases that are still held."""
    rows = await db.fetch(
        "renew_runs",
        worker=worker,
        ids=numbers(one.run_id for one in held),
        attempts=numbers(one.attempt for one in held),
        lease=lease,
        now=now,
    )
    return RenewResult(
        rows[0][0],
        frozenset(run_id for _, run_id, _ in rows if run_id is not None),
        frozenset(run_id for _, run_id, asked_to_stop in rows if asked_to_stop),
    )


async def finish(
    db: Session, known: RevisionCache, worker: str | None, outcomes: Sequence[Outcome], now: datetime | None
) -> FinishResult:
    """Record how attempts ended, then release waiters in a later statement, which sees who came meanwhile."""
    # By id, so that two who finish or renew the same runs wait for each other and never in a circle.
    outcomes = sorted(outcomes, key=_run_id)
    values: dict[str, Any] = {
        "ids": numbers([outcome.run_id for outcome in outcomes]),
        "attempts": numbers([outcome.attempt for outcome in outcomes]),
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
    if watched:
        freed = await note_successes(db, watched, freed, at)
    released = await release(db, known, freed, at, keys=set(zip(*keys, strict=True)))
    return FinishResult(at, frozenset(ended), len(released))


_run_id = attrgetter("run_id")


def _results(outcomes: Sequence[Outcome]) -> str:
    """The results as JSON texts; an empty array, which gives as many NULLs, where there are none."""
    if all(outcome.result is None for outcome in outcomes):
        return "{}"
    return texts([None if outcome.result is None else json_text(outcome.result) for outcome in outcomes])


async def cancel(
    db: Session, known: RevisionCache, run_id: int, actor: str, reason: str, now: datetime | None
) -> RunRecord:
    """Cancel what has not started; ask what runs to stop."""
    # The first waiter of its schedule comes before any other, for everybody who waits for one.
    for (schedule_id,) in await db.fetch("waits_of", id=run_id):
        await db.fetch("lock_waiters", ids=numbers([schedule_id]))
    found = await db.fetch("lock_run", id=run_id)
    if not found:
        raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows those that exist.")
    [(_, schedule_id, namespace, status, key)] = found
    if status in FINAL:
        raise already_final_error(run_id, status)
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    await db.execute("cancel_run", id=run_id, actor=actor, reason=clean(reason) or None, now=now)
    if status != "running":
        schedules = [] if schedule_id is None else [schedule_id]
        await release(db, known, schedules, now, keys=[] if key is None else [(namespace, key)])
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


async def rescue(db: Session, known: RevisionCache, limit: int, now: datetime) -> RescueResult:
    """Take runs from lost workers, cancel what was not started in time, release who waits for nobody."""
    lost = await db.fetch("rescue_runs", limit=limit, now=now)
    # Held before any waiter is cancelled: nobody waits for a waiter who holds one that comes later.
    waiting = await db.fetch("waiting_schedules", limit=limit)
    await db.fetch("lock_waiters", ids=numbers(row[0] for row in waiting))
    late = await db.fetch("cancel_misfired", limit=limit, now=now)
    unmet = await cancel_unmet(db, limit, now)
    await db.execute("join_lines", limit=limit, now=now)
    # Nobody should be waiting for nothing; if it ever happens, it ends here.
    ended = {(namespace, key) for *_, status, namespace, key in (*lost, *late) if key is not None and status in FINAL}
    keys = ended.union(await db.fetch("waiting_keys", limit=limit))
    released = await release(db, known, {row[0] for row in waiting}, now, keys=keys)
    [(_, next_at, _)] = await db.fetch("next_rescue", now=now)
    return RescueResult(
        now,
        requeued=[run_id for run_id, _, status, *_ in lost if status == "queued"],
        failed=[run_id for run_id, _, status, *_ in lost if status == "failed"],
        misfired=[run_id for run_id, *_ in late],
        unmet=unmet,
        released=released,
        next_at=next_at,
    )


# Where the next look for old runs may go on; the beginning of time is where the first one starts.
PrunePosition = tuple[datetime, int]
START: Final[PrunePosition] = (datetime.min.replace(tzinfo=UTC), 0)


async def prune_revisions(db: Session, schedule_id: int, cutoff: datetime, limit: int) -> int:
    """Delete revisions of a schedule that were replaced before the cutoff and that nothing refers to; how many."""
    locked = await db.fetch("lock_edited", id=schedule_id)
    if not locked:
        return 0
    bounds = {"newest": locked[0][0] - REVISIONS_KEPT, "cutoff": cutoff, "limit": limit}
    return await db.execute("prune_revisions", id=schedule_id, **bounds)


async def prune(
    db: Session, older_than: float, keep: int, limit: int, since: PrunePosition, now: datetime | None
) -> tuple[int, PrunePosition]:
    """Delete what is old enough; how many runs that were, and where to go on."""
    found = await db.fetch(
        "prune_runs",
        older_than=older_than,
        key_seconds=KEY_SECONDS,
        keep=keep,
        limit=limit,
        since=since[0],
        after=since[1],
        now=now,
    )
    await db.execute("prune_skips", older_than=older_than, limit=limit, now=now)
    await db.execute("prune_audit", older_than=older_than, limit=limit, now=now)
    await db.execute("prune_backfills", older_than=older_than, now=now)
    await db.execute("prune_workers", older_than=older_than, now=now)
    await db.execute("prune_answers", kept=float(RESPONSE_TTL), limit=limit, now=now)
    await db.execute("prune_sessions", kept=float(SESSION_KEPT), limit=limit, now=now)
    await db.execute("prune_pings", older_than=older_than, limit=limit, now=now)
    await db.execute("unwatch")
    if not found:
        return 0, START
    [(gone, seen, last_at, last_id)] = found
    if gone == limit:
        return gone, since
    return gone, (last_at, last_id) if seen == 10 * limit else START
