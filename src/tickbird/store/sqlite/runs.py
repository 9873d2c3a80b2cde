"""Runs: enqueue, claim, renew, finish, cancel, rescue and prune; each is one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tickbird.domain.access.http_responses import RESPONSE_TTL
from tickbird.domain.access.sessions import SESSION_KEPT
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.limits.concurrency import Key
from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.runs.idempotency import KEY_SECONDS
from tickbird.domain.runs.leases import ClaimResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.run import FINAL, ClaimedRun, Covers, NewRun, Outcome, RunRecord, already_final_error
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import MAX_SQL_EDITS, REVISIONS_KEPT
from tickbird.domain.time.clock_bounds import ClockBounds, believed_now
from tickbird.domain.workers import Worker
from tickbird.store.shared.fairness import Turns, line_name
from tickbird.store.shared.json_columns import clean
from tickbird.store.shared.plans import RevisionCache, RevisionInfo
from tickbird.store.shared.rate_limits import RateBudget
from tickbird.store.shared.statement_scripts import run_sync
from tickbird.store.shared.unreadable_runs import ROUNDS, UnreadableRuns, decode_payload
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import MICROS, to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.enqueue import audit_row, enqueueing, run_row
from tickbird.store.sqlite.planning.dependencies import cancel_unmet, note_successes
from tickbird.store.sqlite.planning.rate_limits import rate_state, save_starts
from tickbird.store.sqlite.planning.revisions import try_revision
from tickbird.store.sqlite.planning.waiting_runs import release, room
from tickbird.store.sqlite.rows import Row, dump, run_record


def reserve_ids(db: sqlite3.Connection, name: str, count: int) -> range:
    """New ids of this kind, never given out before."""
    if not count:
        return range(0)
    [(last,)] = db.execute(SQL["reserve_ids"], {"name": name, "count": count}).fetchall()
    return range(last - count + 1, last + 1)


def enqueue(db: sqlite3.Connection, namespace: str, new: Sequence[NewRun], actor: str, now: int) -> list[int]:
    """Insert runs that belong to no schedule, or find those that their keys stand for."""
    if any(run.idempotency_key is not None for run in new):
        at = to_instant(now)
        return [run_sync(enqueueing(namespace, run, actor, at), partial(fetch, db)) for run in new]
    ids = reserve_ids(db, "run", len(new))
    pairs = list(zip(ids, new, strict=True))
    left = room(db, {(namespace, run.concurrency_key) for run in new if run.concurrency_key is not None})
    db.executemany(SQL["enqueue_run"], [run_row(run_id, namespace, run, actor, now, left) for run_id, run in pairs])
    payloads = [(run_id, check_payload(run.payload)) for run_id, run in pairs if run.payload]
    db.executemany(SQL["insert_payload"], payloads)
    if pairs:
        db.execute(SQL["write_audit"], audit_row(ids[0], namespace, new, actor, now))
        db.execute(SQL["wake_others"])
    return list(ids)


def fetch(db: sqlite3.Connection, name: str, values: Mapping[str, Any]) -> list[Row]:
    """All rows of a step's statement."""
    return db.execute(SQL[name], values).fetchall()


def claim(
    db: sqlite3.Connection,
    known: RevisionCache,
    unread: UnreadableRuns,
    turns: Turns,
    worker: Worker,
    limit: int,
    lease: float,
    queues: Collection[str],
    tasks: Collection[str],
    now: int,
    at_once: int,
    expected: ClockBounds | None = None,
) -> ClaimResult:
    """Lease what is available, by priority, then from each line in turn; of a queue with a rate, what may begin now.

    Leases and rates go by the clock as it is, since other workers may believe it.
    """
    believed = to_micros(believed_now(to_instant(now), expected))
    if unread.is_due(to_instant(now)):
        unread.keep((), (), to_instant(now))
    for _ in range(ROUNDS):
        wanted: dict[str, Any] = {
            "namespace": worker.namespace,
            "tasks": dump(list(tasks)),
            "now": now,
            "believed": believed,
            "unread_runs": dump(list(unread.runs)),
            "unread": dump([f"{schedule_id}:{revision}" for schedule_id, revision in unread.revisions]),
        }
        lines = db.execute(SQL["queued_lines"], {**wanted, "queues": dump(sorted(set(queues)))}).fetchall()
        paced = RateBudget(
            {queue: rate_state(*row) for queue, _, _, _, _, *row in lines if row[0] is not None}, now, at_once
        )
        before = len(unread)
        taken = _pick(db, known, unread, turns, wanted, lines, paced, limit)
        if taken or len(unread) == before:
            break
    else:
        at = to_instant(now)
        return ClaimResult(at, next_at=unread.next_claim_at(at), unreadable=unread.snapshot())
    for queue, starts in paced.changed() if paced.left else ():
        save_starts(db, worker.namespace, queue, starts)
    if taken:
        ids, until = dump([run.id for run in taken]), now + round(lease * MICROS)
        db.execute(SQL["lease_runs"], {"ids": ids, "worker": worker.id, "until": until, "started": believed})
        return ClaimResult(to_instant(now), taken, to_instant(now), unread.snapshot())
    later = [
        (line[0], row[0])
        for line in lines
        for statement in (("next_available", "next_behind") if line[4] else ("next_available",))
        for row in db.execute(SQL[statement], {**wanted, **_line(line)})
    ]
    return ClaimResult(to_instant(now), next_at=to_instant(paced.next_wakeup(later)), unreadable=unread.snapshot())


def _line(line: Row) -> dict[str, Any]:
    """The values that name a line in statements."""
    return dict(zip(("queue", "target", "ad_hoc", "priority"), line, strict=False))


def _pick(
    db: sqlite3.Connection,
    known: RevisionCache,
    unread: UnreadableRuns,
    turns: Turns,
    wanted: Mapping[str, Any],
    lines: Sequence[Row],
    paced: RateBudget,
    limit: int,
) -> list[ClaimedRun]:
    """The runs to lease; those that cannot be read are added to `unread`."""
    limit = paced.max_claims(limit) if paced.left else limit
    now = to_instant(wanted["now"])
    taken: list[ClaimedRun] = []
    for priority in dict.fromkeys(line[3] for line in lines):
        # Those behind a line come after all that stand in one.
        for statement in ("available_runs", "available_behind"):
            level = [line for line in lines if line[3] == priority and (line[4] or statement == "available_runs")]
            for queue, row in _in_turn(db, statement, turns, wanted, level, limit - len(taken)):
                if len(taken) >= limit:
                    break
                if paced.left.get(queue, 1) > 0 and (run := _read(db, known, unread, row, now)) is not None:
                    taken.append(run)
                    if queue in paced.left:
                        paced.record(queue, [run.id])
                        paced.take([run.id])
    turns.serve((run.schedule_id, run.target) for run in taken)
    return taken


def _in_turn(
    db: sqlite3.Connection,
    statement: str,
    turns: Turns,
    wanted: Mapping[str, Any],
    lines: Sequence[Row],
    limit: int,
) -> Iterator[tuple[str, Row]]:
    """The available runs of these lines, one of each at a time, with their queues."""
    if limit <= 0:
        return
    offers = []
    for line in lines:
        rows = db.execute(SQL[statement], {**wanted, **_line(line), "limit": limit}).fetchall()
        if rows:
            offers.append((turns.of(line_name(line[1], ad_hoc=bool(line[2]))), rows[0][1], rows[0][0], line[0], rows))
    offers.sort(key=lambda offer: offer[:3])
    for place in range(max((len(rows) for *_, rows in offers), default=0)):
        for *_, queue, rows in offers:
            if place < len(rows):
                yield queue, rows[place]


def _read(
    db: sqlite3.Connection, known: RevisionCache, unread: UnreadableRuns, row: Row, now: datetime
) -> ClaimedRun | None:
    """A row of `available_runs` as it is leased; None if it cannot be read completely."""
    run_id, _, schedule_id, revision, attempt, failures, target, origin, due_at, scheduled_for = row[:10]
    first, last, count, text, key = row[10:15]
    one: RevisionInfo | None = None
    if schedule_id is not None:
        one, name, error = try_revision(db, known, schedule_id, revision)
        if one is None:
            if revision is None:
                unread.add_run(run_id, error, now)
            else:
                unread.add_revision(schedule_id, revision, name, error, now)
            return None
    payload: Any = {} if one is None else one.definition.payload
    if text is not None:
        payload, undecodable = decode_payload(text)
        if undecodable is not None:
            unread.add_run(run_id, undecodable, now)
            return None
    return ClaimedRun(
        run_id,
        attempt + 1,
        failures,
        target,
        origin,
        to_instant(due_at),
        payload,
        to_instant(scheduled_for),
        None if first is None else Covers(to_instant(first), to_instant(last), count),
        schedule_id,
        None if one is None else one.name,
        None if one is None else one.definition,
        key,
    )


def renew(db: sqlite3.Connection, worker: str, held: Sequence[LeaseRef], lease: float, now: int) -> RenewResult:
    """Extend the leases that are still held under the attempt that is named."""
    attempts = {(one.run_id, one.attempt) for one in held}
    ids = dump([one.run_id for one in held])
    rows = db.execute(SQL["held_runs"], {"ids": ids, "worker": worker}).fetchall()
    kept = {run_id: asked for run_id, attempt, asked in rows if (run_id, attempt) in attempts}
    db.execute(SQL["renew_leases"], {"ids": dump(list(kept)), "until": now + round(lease * MICROS)})
    cancelled = frozenset(run_id for run_id, asked in kept.items() if asked)
    return RenewResult(to_instant(now), frozenset(kept), cancelled)


@dataclass(slots=True)
class _Running:
    """A running run as finish finds it."""

    id: int
    attempt: int
    schedule_id: int | None
    asked_to_stop: int
    worker: str | None
    started_at: int | None
    reason: str | None
    namespace: str
    concurrency_key: str | None


def finish(
    db: sqlite3.Connection, known: RevisionCache, worker: str | None, outcomes: Sequence[Outcome], now: int
) -> FinishResult:
    """Record how attempts ended that the worker still holds, then release the next waiters."""
    ids = dump([outcome.run_id for outcome in outcomes])
    found = db.execute(SQL["running_runs"], {"ids": ids, "worker": worker})
    running = {run.id: run for run in (_Running(*row) for row in found)}
    ended, requeued, attempts, schedules, succeeded = [], [], [], set(), set()
    keys: set[Key] = set()
    accepted: set[int] = set()
    for outcome in outcomes:
        run = running.get(outcome.run_id)
        if run is None or run.attempt != outcome.attempt or run.id in accepted:
            continue
        accepted.add(run.id)
        error = None if outcome.error is None else clean(outcome.error)
        if outcome.status == "queued" and not run.asked_to_stop:
            available_at = now + round(outcome.delay * MICROS)
            counts = (outcome.failures, 0, outcome.started)
            requeued.append((run.id, available_at, error, outcome.failure_kind, outcome.reason, *counts))
            ending = "retried" if outcome.failures else "drained"
        else:
            status = "cancelled" if outcome.status == "queued" else outcome.status
            reason = outcome.reason or (run.reason if status == "cancelled" else None)
            result = None if outcome.result is None else dump(outcome.result)
            ended.append((run.id, status, now, result, error, outcome.failure_kind, reason, outcome.failures))
            ending = status
            if run.schedule_id is not None:
                schedules.add(run.schedule_id)
                if status == "succeeded":
                    succeeded.add(run.schedule_id)
            if run.concurrency_key is not None:
                keys.add((run.namespace, run.concurrency_key))
        if ending != "succeeded":
            attempts.append((run.id, run.attempt, run.worker, run.started_at, now, ending, error))
    if ended:
        db.executemany(SQL["end_run"], ended)
    if requeued:
        db.executemany(SQL["requeue_run"], requeued)
    if attempts:
        db.executemany(SQL["insert_attempt"], attempts)
    schedules |= note_successes(db, succeeded, now)
    released = release(db, known, schedules, now, keys=keys)
    if released or requeued:
        db.execute(SQL["wake_others"])
    return FinishResult(to_instant(now), frozenset(accepted), len(released))


def cancel(
    db: sqlite3.Connection, known: RevisionCache, run_id: int, actor: str, reason: str, now: int
) -> tuple[RunRecord, bool]:
    """Cancel a run that has not started, or ask a running one to stop; and whether that made work."""
    run = get_run(db, run_id)
    if run is None:
        raise NotFoundError(f"there is no run {run_id};", hint="`tickbird runs` shows those that exist.")
    if run.status in FINAL:
        raise already_final_error(run_id, run.status)
    change = {"ids": dump([run_id]), "now": now, "actor": actor, "reason": reason or f"cancelled by {actor}"}
    released: list[int] = []
    if run.status == "running":
        db.execute(SQL["stop_runs"], change)
    else:
        db.execute(SQL["cancel_runs"], change)
        schedules = [] if run.schedule_id is None else [run.schedule_id]
        keys = [] if run.concurrency_key is None else [(run.namespace, run.concurrency_key)]
        released = release(db, known, schedules, now, keys=keys)
    write_audit(
        db,
        now,
        actor,
        "cancel",
        run.namespace,
        schedule_id=run.schedule_id,
        schedule=run.schedule,
        run_id=run_id,
        detail={"reason": reason, "status": run.status},
    )
    if released or run.status == "running":
        db.execute(SQL["wake_others"])
    after = get_run(db, run_id)
    assert after is not None
    return after, bool(released) or run.status == "running"


def get_run(db: sqlite3.Connection, run_id: int) -> RunRecord | None:
    """A run by id."""
    row = db.execute(SQL["get_run"], {"id": run_id}).fetchone()
    return None if row is None else run_record(row)


def rescue(db: sqlite3.Connection, known: RevisionCache, limit: int, now: int) -> RescueResult:
    """Take runs from lost workers, cancel those not started in time, release any waiter that has room."""
    requeued, failed, lost, attempts = [], [], [], []
    for row in db.execute(SQL["expired_runs"], {"now": now, "limit": limit}).fetchall():
        run_id, attempt, crashes, crash_limit, worker, started_at, asked_to_stop, reason = row
        error = f"worker {worker} was lost while it ran this"
        attempts.append((run_id, attempt, worker, started_at, now, "lost", error))
        if not asked_to_stop and crashes + 1 <= crash_limit:
            requeued.append((run_id, now, error, "lost", reason, 0, 1, True))
            continue
        lost.append((run_id, "cancelled" if asked_to_stop else "failed", now, error, "lost"))
        if not asked_to_stop:
            failed.append(run_id)
    db.executemany(SQL["requeue_run"], requeued)
    db.executemany(SQL["lose_run"], lost)
    db.executemany(SQL["insert_attempt"], attempts)
    misfired = db.execute(SQL["misfired_runs"], {"now": now, "limit": limit}).fetchall()
    unmet = cancel_unmet(db, limit, now)
    db.execute(SQL["join_lines"], {"minute": -(-now // (MINUTE * MICROS))})
    waiting = [row[0] for row in db.execute(SQL["all_with_waiters"]).fetchall()]
    released = release(db, known, waiting, now, keys=db.execute(SQL["waiting_keys"]).fetchall())
    if requeued or released:
        db.execute(SQL["wake_others"])
    ends = [end for end in db.execute(SQL["next_rescue"]).fetchone() if end is not None]
    return RescueResult(
        to_instant(now),
        requeued=[row[0] for row in requeued],
        failed=failed,
        misfired=sorted(row[0] for row in misfired),
        unmet=unmet,
        released=released,
        next_at=to_instant(min(ends, default=None)),
    )


def prune(db: sqlite3.Connection, older_than: float, keep: int, limit: int, now: int) -> int:
    """Delete old final runs, and skips, revisions and audit rows of that age; how many runs and revisions."""
    if keep < 0 or older_than < 0:
        raise InvalidError("keep and older_than must not be negative.", field="keep" if keep < 0 else "older_than")
    bounds = {"cutoff": now - round(older_than * MICROS), "limit": limit}
    key_cutoff = now - KEY_SECONDS * MICROS
    runs = db.execute(SQL["prune_runs"], {**bounds, "keep": keep, "key_cutoff": key_cutoff}).fetchall()
    skips = db.execute(SQL["prune_skips"], bounds).fetchall()
    db.executemany(SQL["mark_pruned"], [row for row in (*runs, *skips) if row[0] is not None and row[1] is not None])
    revisions = _prune_revisions(db, bounds["cutoff"], limit)
    db.execute(SQL["prune_audit"], bounds)
    db.execute(SQL["prune_backfills"], bounds)
    db.execute(SQL["prune_answers"], {"kept_since": now - RESPONSE_TTL * MICROS, "limit": limit})
    db.execute(SQL["prune_sessions"], {"kept_since": now - SESSION_KEPT * MICROS, "limit": limit})
    db.execute(SQL["prune_pings"], bounds)
    db.execute(SQL["unwatch"])
    return len(runs) + revisions


def _prune_revisions(db: sqlite3.Connection, cutoff: int, limit: int) -> int:
    gone, after = 0, 0
    while gone < limit:
        edited = db.execute(SQL["edited_often"], {"after": after, "limit": MAX_SQL_EDITS}).fetchall()
        for schedule_id, revision in edited:
            bounds = {"id": schedule_id, "newest": revision - REVISIONS_KEPT, "cutoff": cutoff, "limit": limit - gone}
            gone += len(db.execute(SQL["prune_revisions"], bounds).fetchall())
            after = schedule_id
        if len(edited) < MAX_SQL_EDITS:
            break
    return gone
