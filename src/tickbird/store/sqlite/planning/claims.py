"""Claims on SQLite: one transaction, which also counts the starts of queues with a rate limit."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.run import ClaimedRun, Covers
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.clock_bounds import ClockBounds, believed_now
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.workers import Worker
from tickbird.store.shared.fairness import Turns, line_name
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.rate_limits import RateBudget
from tickbird.store.shared.unreadable_runs import ROUNDS, UnreadableRuns, decode_payload
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.rate_limits import rate_state, save_starts
from tickbird.store.sqlite.planning.revisions import try_revision
from tickbird.store.sqlite.rows import Row, dump


def claim(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    unread: UnreadableRuns,
    turns: Turns,
    worker: Worker,
    limit: int,
    lease: float,
    queues: Collection[str],
    targets: Collection[TargetKey],
    now: datetime,
    at_once: int,
    expected: ClockBounds | None = None,
) -> ClaimResult:
    """Lease available runs, by priority, then from each line in turn; a queue with a rate limit only within its budget.

    Leases and rate limits use the clock as it is, because other workers may trust it.
    """
    believed = to_micros(believed_now(now, expected))
    if unread.is_due(now):
        unread.keep((), (), now)
    for _ in range(ROUNDS):
        bounds: dict[str, Any] = {
            "namespace": worker.namespace,
            "targets": dump(list(targets)),
            "now": to_micros(now),
            "believed": believed,
            "unread_runs": dump(list(unread.runs)),
            "unread": dump([f"{schedule_id}:{revision}" for schedule_id, revision in unread.revisions]),
        }
        lines = db.execute(SQL["queued_lines"], {**bounds, "queues": dump(sorted(set(queues)))}).fetchall()
        budget = RateBudget(
            {queue: rate_state(*row) for queue, _, _, _, _, _, *row in lines if row[0] is not None}, now, at_once
        )
        before = len(unread)
        claimed = _pick(db, revisions, unread, turns, bounds, lines, budget, limit, now)
        if claimed or len(unread) == before:
            break
    else:
        return ClaimResult(now, next_at=unread.next_claim_at(now), unreadable=unread.snapshot())
    for queue, starts in budget.changed() if budget.left else ():
        save_starts(db, worker.namespace, queue, starts)
    if claimed:
        ids, until = dump([run.id for run in claimed]), to_micros(now + timedelta(seconds=lease))
        [incarnation] = db.execute(SQL["read_incarnation"]).fetchone()
        leased = {"ids": ids, "worker": worker.id, "until": until, "started": believed, "incarnation": incarnation}
        db.execute(SQL["lease_runs"], leased)
        for run in claimed:
            run.incarnation = incarnation
        return ClaimResult(now, claimed, now, unread.snapshot())
    later = [
        (line[0], from_micros(row[0]))
        for line in lines
        for statement in (("next_available", "next_deferred") if line[5] else ("next_available",))
        for row in db.execute(SQL[statement], {**bounds, **_line(line)})
    ]
    return ClaimResult(now, next_at=budget.next_wakeup(later), unreadable=unread.snapshot())


def _line(line: Row) -> dict[str, Any]:
    """The values that identify a line in statements."""
    return dict(zip(("queue", "kind", "target", "ad_hoc", "priority"), line, strict=False))


def _pick(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    unread: UnreadableRuns,
    turns: Turns,
    bounds: Mapping[str, Any],
    lines: Sequence[Row],
    budget: RateBudget,
    limit: int,
    now: datetime,
) -> list[ClaimedRun]:
    """The runs to lease; adds unreadable ones to `unread`."""
    limit = budget.max_claims(limit) if budget.left else limit
    claimed: list[ClaimedRun] = []
    for priority in dict.fromkeys(line[4] for line in lines):
        # Deferred runs come after all others.
        for statement in ("available_runs", "available_deferred"):
            level = [line for line in lines if line[4] == priority and (line[5] or statement == "available_runs")]
            for queue, row in _in_turn(db, statement, turns, bounds, level, limit - len(claimed)):
                if len(claimed) >= limit:
                    break
                if budget.left.get(queue, 1) > 0 and (run := _read(db, revisions, unread, row, now)) is not None:
                    claimed.append(run)
                    if queue in budget.left:
                        budget.record(queue, [run.id])
                        budget.take([run.id])
    turns.serve((run.schedule_id, run.target_key) for run in claimed)
    return claimed


def _in_turn(
    db: sqlite3.Connection, statement: str, turns: Turns, bounds: Mapping[str, Any], lines: Sequence[Row], limit: int
) -> Iterator[tuple[str, Row]]:
    """The available runs of these lines, one of each at a time, with their queues."""
    if limit <= 0:
        return
    offers = []
    for line in lines:
        rows = db.execute(SQL[statement], {**bounds, **_line(line), "limit": limit}).fetchall()
        if rows:
            queue, kind, name, ad_hoc = line[:4]
            turn = turns.of(line_name((kind, name), ad_hoc=bool(ad_hoc)))
            offers.append((turn, rows[0][1], rows[0][0], queue, rows))
    offers.sort(key=lambda offer: offer[:3])
    for index in range(max((len(rows) for *_, rows in offers), default=0)):
        for *_, queue, rows in offers:
            if index < len(rows):
                yield queue, rows[index]


def _read(
    db: sqlite3.Connection, revisions: RevisionCache, unread: UnreadableRuns, row: Row, now: datetime
) -> ClaimedRun | None:
    """A row of `available_runs` as a lease; None if it cannot be read completely."""
    run_id, _, schedule_id, revision, attempt, failures, target, origin, due_at, scheduled_for = row[:10]
    first, last, count, text, key = row[10:15]
    revision_info: RevisionInfo | None = None
    if schedule_id is not None:
        revision_info, name, error = try_revision(db, revisions, schedule_id, revision)
        if revision_info is None:
            if revision is None:
                unread.add_run(run_id, error, now)
            else:
                unread.add_revision(schedule_id, revision, name, error, now)
            return None
    payload: Any = {} if revision_info is None else revision_info.definition.payload
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
        from_micros(due_at),
        payload,
        from_micros(scheduled_for),
        None if first is None else Covers(from_micros(first), from_micros(last), count),
        schedule_id,
        None if revision_info is None else revision_info.name,
        None if revision_info is None else revision_info.definition,
        key,
        target_kind=row[16],
    )
