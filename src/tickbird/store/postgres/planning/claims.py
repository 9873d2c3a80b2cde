"""Claims on PostgreSQL: one statement; with queues that have a rate, a transaction that counts what begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from tickbird.domain.limits.rate_limits import instant, micros
from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.run import ClaimedRun, Covers, Origin
from tickbird.domain.time.clock_bounds import ClockBounds, middle
from tickbird.domain.workers import Worker
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.revisions import learn
from tickbird.store.postgres.queues import rate_state, save_starts
from tickbird.store.postgres.rows import numbers, texts
from tickbird.store.shared.fairness import Turns
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.rate_limits import RateBudget
from tickbird.store.shared.unreadable_runs import ROUNDS, UnreadableRuns, decode_payload

T = TypeVar("T")
# What is available but in the hands of another claimer, who may leave it: look again after so long.
_RECHECK_AFTER: Final = timedelta(milliseconds=100)


class Doing(Protocol):
    """Does work on a connection, as a transaction or as a statement."""

    async def __call__(self, work: Callable[[Session], Awaitable[T]], /) -> T: ...


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What a worker asks for; `at_once` of the runs begin at once."""

    worker: Worker
    limit: int
    lease: float
    queues: Collection[str]
    tasks: Collection[str]
    at_once: int
    now: datetime | None
    expected: ClockBounds | None = None
    unread: UnreadableRuns = field(default_factory=UnreadableRuns)
    turns: Turns = field(default_factory=Turns)

    def values(self) -> dict[str, Any]:
        """What every statement asks for."""
        return {
            "namespace": self.worker.namespace,
            "queues": texts(sorted(set(self.queues))),
            "tasks": texts(sorted(set(self.tasks))),
            "now": self.now,
            "latest": None if self.expected is None else self.expected[1],
            "believed": None if self.expected is None else middle(self.expected),
            "unread_runs": numbers(self.unread.runs),
            "unread_schedules": numbers(schedule_id for schedule_id, _ in self.unread.revisions),
            "unread_revisions": numbers(revision for _, revision in self.unread.revisions),
        }


class Claims:
    """The claims of one process, which remembers whether any of its queues has a rate."""

    def __init__(self, known: RevisionCache, once: Doing, transact: Doing) -> None:
        self._known = known
        self._once = once
        self._transact = transact
        self._paced = False
        self._unread = UnreadableRuns()
        self._turns = Turns()

    async def claim(self, wanted: ClaimRequest) -> ClaimResult:
        """Lease runs to a worker, without those that this process cannot read."""
        wanted = replace(wanted, unread=self._unread, turns=self._turns)
        for _ in range(ROUNDS):
            before = len(self._unread)
            claimed = await self._claim(wanted)
            if self._unread.is_due(now := claimed.now):
                await self._once(partial(recheck, known=self._known, unread=self._unread, now=now))
            if claimed.runs or len(self._unread) == before:
                break
        else:
            claimed = ClaimResult(claimed.now, next_at=self._unread.next_claim_at(claimed.now))
        return replace(claimed, unreadable=self._unread.snapshot())

    async def _claim(self, wanted: ClaimRequest) -> ClaimResult:
        while True:
            if not self._paced:
                claimed = await self._once(lambda db: claim(db, self._known, wanted))
            else:
                claimed = await self._claim_paced(wanted)
            if claimed is not None:
                return claimed
            # A queue has a rate that had none when this process last looked.
            self._paced = True

    async def _claim_paced(self, wanted: ClaimRequest) -> ClaimResult | None:
        looked = await self._once(lambda db: db.fetch("look_at_rates", **wanted.values()))
        self._paced = bool(looked)
        if not looked:
            return await self._once(lambda db: claim(db, self._known, wanted))
        now = looked[0][0]
        paced = RateBudget({queue: rate_state(*row) for _, queue, *row, _ in looked}, micros(now), wanted.at_once)
        first = [(row[1], None if row[-1] is None else micros(row[-1])) for row in looked]
        free = replace(wanted, queues={*wanted.queues}.difference(paced.left))
        ready = [queue for queue, at in first if at is not None and at <= micros(now) and paced.left[queue] > 0]
        stale = [queue for queue, _ in paced.changed()]
        claimed: ClaimResult | None = ClaimResult(now)
        if ready or stale:
            claimed = await self._transact(lambda db: _take(db, self._known, free, {*ready, *stale}))
        elif free.queues:
            claimed = await self._once(lambda db: claim(db, self._known, free))
        if claimed is None or claimed.runs:
            return claimed
        look = paced.next_wakeup(first)
        looks = [
            claimed.next_at,
            None if look is None else instant(look),
            claimed.now + _RECHECK_AFTER if ready else None,
        ]
        return ClaimResult(claimed.now, next_at=min(filter(None, looks), default=None))


async def _take(db: Session, known: RevisionCache, free: ClaimRequest, limited: Collection[str]) -> ClaimResult | None:
    """A claim that may take of queues that have a rate too, and counts what begins in them."""
    values = {**free.values(), "queues": texts(sorted(limited))}
    rows = await db.fetch("lock_rates", **values)
    if not rows:
        return await claim(db, known, free)
    paced = RateBudget({queue: rate_state(*row) for _, queue, *row in rows}, micros(rows[0][0]), free.at_once)
    max_by_queue = {queue: max(0, left) for queue, left in paced.left.items()}
    claimed = await claim(db, known, replace(free, limit=paced.max_claims(free.limit)), max_by_queue)
    if claimed is None:
        return None
    if claimed.runs:
        ids = [run.id for run in claimed.runs]
        for queue, run_ids in await db.fetch("queues_of_runs", ids=numbers(ids)):
            if queue in max_by_queue:
                paced.record(queue, run_ids)
        paced.take(ids)
    for queue, starts in paced.changed(micros(claimed.now)):
        await save_starts(db, free.worker.namespace, queue, starts)
    return claimed


async def claim(
    db: Session, known: RevisionCache, free: ClaimRequest, max_by_queue: Mapping[str, int] | None = None
) -> ClaimResult | None:
    """Lease runs to a worker, in one statement; None if one of its queues has a rate.

    Of the queues in `max_by_queue`, which are asked for as well, so many runs may begin, whatever their rate.
    """
    values, limited = free.values(), max_by_queue or {}
    rows = await db.fetch(
        "claim_runs",
        **{**values, "queues": texts([*sorted(limited), *sorted(set(free.queues))])} if limited else values,
        worker=free.worker.id,
        limit=free.limit,
        lease=free.lease,
        free=values["queues"],
        maximum=numbers(limited[queue] for queue in sorted(limited)),
        served=texts(free.turns.served),
    )
    last_heartbeat_at, next_at, first_id = rows[0][:3]
    if rows[0][-1]:
        return None
    if first_id is None:
        return ClaimResult(last_heartbeat_at, next_at=next_at)
    free.turns.serve((row[3], row[7]) for row in rows)
    learnt = await learn(db, known, {(row[3], row[4]) for row in rows if row[3] is not None})
    runs: list[ClaimedRun] = []
    unread: list[tuple[Any, ...]] = []
    for row in rows:
        run_id, schedule_id, revision, text = *row[2:5], row[14]
        payload, error = (None, None) if text is None else decode_payload(text)
        if (key := (schedule_id, revision)) in learnt.errors:
            name, error = learnt.errors[key]
            if revision is None:
                free.unread.add_run(run_id, error, last_heartbeat_at)
            else:
                free.unread.add_revision(*key, name, error, last_heartbeat_at)
            unread.append(row)
        elif error is not None:
            free.unread.add_run(run_id, error, last_heartbeat_at)
            unread.append(row)
        else:
            runs.append(_claimed(learnt.found.get(key), *(*row[:14], payload, *row[15:])))
    if unread:
        ids, attempts = numbers(row[2] for row in unread), numbers(row[5] for row in unread)
        await db.fetch("return_runs", ids=ids, attempts=attempts, worker=free.worker.id)
    return ClaimResult(last_heartbeat_at, runs, last_heartbeat_at)


async def recheck(db: Session, known: RevisionCache, unread: UnreadableRuns, now: datetime) -> None:
    """Read again what could not be read: a person may have repaired it, or another worker may have claimed the runs."""
    ids, revisions = (numbers(key[place] for key in unread.revisions) for place in (0, 1))
    queued = [(row[0], row[1]) for row in await db.fetch("queued_revisions", ids=ids, revisions=revisions)]
    payloads = await db.fetch("queued_payloads", ids=numbers(unread.runs))
    undecodable = {run_id for run_id, text in payloads if decode_payload(text)[1] is not None}
    unread.keep((await learn(db, known, queued)).errors, undecodable, now)


def _claimed(
    revised: RevisionInfo | None,
    _now: datetime,
    _next_at: datetime | None,
    run_id: int,
    schedule_id: int | None,
    _revision: int,
    attempt: int,
    failures: int,
    target: str,
    origin: Origin,
    due_at: datetime,
    scheduled_for: datetime | None,
    covers_first: datetime | None,
    covers_last: datetime,
    covers_count: int,
    payload: Any,
    concurrency_key: str | None,
    _limited: bool,
) -> ClaimedRun:
    # In the order of the statement claim_runs.
    covers = None if covers_first is None else Covers(covers_first, covers_last, covers_count)
    assert (revised is None) == (schedule_id is None)
    if payload is None:
        payload = {} if revised is None else revised.definition.payload
    run = ClaimedRun(run_id, attempt, failures, target, origin, due_at, payload, scheduled_for, covers, schedule_id)
    run.concurrency_key = concurrency_key
    if revised is not None:
        run.schedule, run.definition = revised.name, revised.definition
    return run
