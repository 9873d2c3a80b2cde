"""Claims on SQLite: one transaction, which also counts the starts of queues that have a rate."""

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
    known: RevisionCache,
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
    """Lease what is available, by priority, then from each line in turn; of a queue with a rate, what may begin now.

    Leases and rates go by the clock as it is, since other workers may believe it.
    """
    believed = to_micros(believed_now(now, expected))
    if unread.is_due(now):
        unread.keep((), (), now)
    for _ in range(ROUNDS):
        wanted: dict[str, Any] = {
            "namespace": worker.namespace,
            "targets": dump(list(targets)),
            "now": to_micros(now),
            "believed": believed,
            "unread_runs": dump(list(unread.runs)),
            "unread": dump([f"{schedule_id}:{revision}" for schedule_id, revision in unread.revisions]),
        }
        lines = db.execute(SQL["queued_lines"], {**wanted, "queues": dump(sorted(set(queues)))}).fetchall()
        paced = RateBudget(
            {queue: rate_state(*row) for queue, _, _, _, _, _, *row in lines if row[0] is not None}, now, at_once
        )
        before = len(unread)
        taken = _pick(db, known, unread, turns, wanted, lines, paced, limit, now)
        if taken or len(unread) == before:
            break
    else:
        return ClaimResult(now, next_at=unread.next_claim_at(now), unreadable=unread.snapshot())
    for queue, starts in paced.changed() if paced.left else ():
        save_starts(db, worker.namespace, queue, starts)
    if taken:
        ids, until = dump([run.id for run in taken]), to_micros(now + timedelta(seconds=lease))
        [incarnation] = db.execute(SQL["read_incarnation"]).fetchone()
        leased = {"ids": ids, "worker": worker.id, "until": until, "started": believed, "incarnation": incarnation}
        db.execute(SQL["lease_runs"], leased)
        for run in taken:
            run.incarnation = incarnation
        return ClaimResult(now, taken, now, unread.snapshot())
    later = [
        (line[0], from_micros(row[0]))
        for line in lines
        for statement in (("next_available", "next_behind") if line[5] else ("next_available",))
        for row in db.execute(SQL[statement], {**wanted, **_line(line)})
    ]
    return ClaimResult(now, next_at=paced.next_wakeup(later), unreadable=unread.snapshot())


def _line(line: Row) -> dict[str, Any]:
    """The values that name a line in statements."""
    return dict(zip(("queue", "kind", "target", "ad_hoc", "priority"), line, strict=False))


def _pick(
    db: sqlite3.Connection,
    known: RevisionCache,
    unread: UnreadableRuns,
    turns: Turns,
    wanted: Mapping[str, Any],
    lines: Sequence[Row],
    paced: RateBudget,
    limit: int,
    now: datetime,
) -> list[ClaimedRun]:
    """The runs to lease; those that cannot be read are added to `unread`."""
    limit = paced.max_claims(limit) if paced.left else limit
    taken: list[ClaimedRun] = []
    for priority in dict.fromkeys(line[4] for line in lines):
        # Those behind a line come after all that stand in one.
        for statement in ("available_runs", "available_behind"):
            level = [line for line in lines if line[4] == priority and (line[5] or statement == "available_runs")]
            for queue, row in _in_turn(db, statement, turns, wanted, level, limit - len(taken)):
                if len(taken) >= limit:
                    break
                if paced.left.get(queue, 1) > 0 and (run := _read(db, known, unread, row, now)) is not None:
                    taken.append(run)
                    if queue in paced.left:
                        paced.record(queue, [run.id])
                        paced.take([run.id])
    turns.serve((run.schedule_id, run.target_key) for run in taken)
    return taken


def _in_turn(
    db: sqlite3.Connection, statement: str, turns: Turns, wanted: Mapping[str, Any], lines: Sequence[Row], limit: int
) -> Iterator[tuple[str, Row]]:
    """The available runs of these lines, one of each at a time, with their queues."""
    if limit <= 0:
        return
    offers = []
    for line in lines:
        rows = db.execute(SQL[statement], {**wanted, **_line(line), "limit": limit}).fetchall()
        if rows:
            queue, kind, name, ad_hoc = line[:4]
            turn = turns.of(line_name((kind, name), ad_hoc=bool(ad_hoc)))
            offers.append((turn, rows[0][1], rows[0][0], queue, rows))
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
        from_micros(due_at),
        payload,
        from_micros(scheduled_for),
        None if first is None else Covers(from_micros(first), from_micros(last), count),
        schedule_id,
        None if one is None else one.name,
        None if one is None else one.definition,
        key,
        target_kind=row[16],
    )
