"""Claims on PostgreSQL: one statement; for queues with a rate limit, a transaction that also counts starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from tickbird.domain.limits.rate_limits import RateState
from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.run import ClaimedRun, Covers, Origin
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.clock_bounds import ClockBounds, middle
from tickbird.domain.workers import Worker
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.revisions import load_revisions
from tickbird.store.postgres.queues import rate_state, save_starts
from tickbird.store.postgres.rows import numbers, texts
from tickbird.store.shared.fairness import Turns
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.rate_limits import RateBudget
from tickbird.store.shared.unreadable_runs import ROUNDS, UnreadableRuns, decode_payload

T = TypeVar("T")
Row = tuple[Any, ...]
# An available run may be locked by another claimer, which may leave it: claim again after this time.
_RECHECK_AFTER: Final = timedelta(milliseconds=100)


class Runner(Protocol):
    """Runs work on a connection, as a transaction or as a statement."""

    async def __call__(self, work: Callable[[Session], Awaitable[T]], /) -> T: ...


class _ClaimRow(NamedTuple):
    """A row of claim_runs: the clock, and a queue with a rate limit, a run, or neither."""

    now: datetime
    next_at: datetime | None
    queue: Any
    count_: int
    seconds: int
    starts: Any
    id: Any
    schedule_id: Any
    revision: Any
    attempt: int
    failures: int
    target: str
    origin: Origin
    due_at: datetime
    scheduled_for: datetime | None
    covers_first: datetime | None
    covers_last: Any
    covers_count: Any
    payload: str | None
    concurrency_key: str | None
    incarnation: int
    target_kind: str


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The request of a worker; `at_once` is the number of runs that start at once."""

    worker: Worker
    limit: int
    lease: float
    queues: Collection[str]
    targets: Collection[TargetKey]
    at_once: int
    now: datetime | None
    expected: ClockBounds | None = None
    unread: UnreadableRuns = field(default_factory=UnreadableRuns)
    turns: Turns = field(default_factory=Turns)

    def values(self) -> dict[str, Any]:
        """The values of claim_runs that are the same with and without budgets."""
        targets = sorted(set(self.targets))
        return {
            "namespace": self.worker.namespace,
            "queues": texts(sorted(set(self.queues))),
            "kinds": texts([kind for kind, _ in targets]),
            "targets": texts([name for _, name in targets]),
            "now": self.now,
            "latest": None if self.expected is None else self.expected[1],
            "believed": None if self.expected is None else middle(self.expected),
            "unread_runs": numbers(self.unread.runs),
            "unread_schedules": numbers(schedule_id for schedule_id, _ in self.unread.revisions),
            "unread_revisions": numbers(revision for _, revision in self.unread.revisions),
        }


@dataclass(frozen=True, slots=True)
class LimitedQueues:
    """Queues of a claim with a rate limit but no budget, each with the instant at which its first run is available."""

    now: datetime
    rates: Mapping[str, RateState]
    first: Mapping[str, datetime | None]


class Claims:
    """The claims of one process."""

    def __init__(self, revisions: RevisionCache, once: Runner, transact: Runner) -> None:
        self._known = revisions
        self._once = once
        self._transact = transact
        self._unread = UnreadableRuns()
        self._turns = Turns()

    async def claim(self, request: ClaimRequest) -> ClaimResult:
        """Lease runs to a worker, except those that this process cannot read."""
        request = replace(request, unread=self._unread, turns=self._turns)
        for _ in range(ROUNDS):
            before = len(self._unread)
            claimed = await self._claim(request)
            if self._unread.is_due(now := claimed.now):
                await self._once(partial(recheck, revisions=self._known, unread=self._unread, now=now))
            if claimed.runs or len(self._unread) == before:
                break
        else:
            claimed = ClaimResult(claimed.now, next_at=self._unread.next_claim_at(claimed.now))
        return replace(claimed, unreadable=self._unread.snapshot())

    async def _claim(self, request: ClaimRequest) -> ClaimResult:
        while True:
            claimed = await self._once(lambda db: claim(db, self._known, request))
            if isinstance(claimed, LimitedQueues):
                claimed = await self._claim_limited(request, claimed)
            # Otherwise another queue got a rate limit in between.
            if isinstance(claimed, ClaimResult):
                return claimed

    async def _claim_limited(self, request: ClaimRequest, limited: LimitedQueues) -> ClaimResult | LimitedQueues:
        budget = RateBudget(limited.rates, limited.now, request.at_once)
        free = replace(request, queues={*request.queues}.difference(limited.rates))
        ready = [
            queue
            for queue, at in limited.first.items()
            if at is not None and at <= limited.now and budget.left[queue] > 0
        ]
        stale = [queue for queue, _ in budget.changed()]
        claimed: ClaimResult | LimitedQueues = ClaimResult(limited.now)
        if ready or stale:
            claimed = await self._transact(lambda db: _claim_by_rate(db, self._known, free, {*ready, *stale}))
        elif free.queues:
            claimed = await self._once(lambda db: claim(db, self._known, free))
        if isinstance(claimed, LimitedQueues) or claimed.runs:
            return claimed
        wakeups = [
            claimed.next_at,
            budget.next_wakeup(limited.first.items()),
            claimed.now + _RECHECK_AFTER if ready else None,
        ]
        return ClaimResult(claimed.now, next_at=min(filter(None, wakeups), default=None))


async def _claim_by_rate(
    db: Session, revisions: RevisionCache, free: ClaimRequest, limited: Collection[str]
) -> ClaimResult | LimitedQueues:
    """Claim also from queues with a rate limit, and count the starts."""
    rows = await db.fetch("lock_rates", namespace=free.worker.namespace, queues=texts(sorted(limited)), now=free.now)
    if not rows:
        return await claim(db, revisions, free)
    budget = RateBudget({queue: rate_state(*row) for _, queue, *row in rows}, rows[0][0], free.at_once)
    maximum = {queue: max(0, remaining) for queue, remaining in budget.left.items()}
    claimed = await claim(db, revisions, replace(free, limit=budget.max_claims(free.limit)), maximum)
    if isinstance(claimed, LimitedQueues):
        return claimed
    if claimed.runs:
        ids = [run.id for run in claimed.runs]
        for queue, run_ids in await db.fetch("queues_of_runs", ids=numbers(ids)):
            if queue in maximum:
                budget.record(queue, run_ids)
        budget.take(ids)
    for queue, starts in budget.changed(claimed.now):
        await save_starts(db, free.worker.namespace, queue, starts)
    return claimed


async def claim(
    db: Session, revisions: RevisionCache, free: ClaimRequest, maximum: Mapping[str, int] | None = None
) -> ClaimResult | LimitedQueues:
    """Lease runs to a worker, in one statement; none if one of its queues has a rate limit.

    `maximum` includes queues with a rate limit, each with its maximum of leased runs.
    """
    values, budgets = free.values(), sorted((maximum or {}).items())
    rows = await db.fetch_as(
        _ClaimRow,
        "claim_runs",
        **{**values, "queues": texts([*(queue for queue, _ in budgets), *sorted(set(free.queues))])},
        worker=free.worker.id,
        limit=free.limit,
        lease=free.lease,
        free=values["queues"],
        maximum=numbers(number for _, number in budgets),
        served=texts(free.turns.served),
    )
    now, next_at = rows[0].now, rows[0].next_at
    if rows[0].queue is not None:
        rates = {row.queue: rate_state(row.count_, row.seconds, row.starts) for row in rows}
        return LimitedQueues(now, rates, {row.queue: row.next_at for row in rows})
    runs = [row for row in rows if row.id is not None]
    if not runs:
        return ClaimResult(now, next_at=next_at)
    return ClaimResult(now, await _read(db, revisions, free, now, runs), now)


async def _read(
    db: Session, revisions: RevisionCache, free: ClaimRequest, now: datetime, rows: Sequence[_ClaimRow]
) -> list[ClaimedRun]:
    """The claimed runs; those that this process cannot read are returned to their queue."""
    free.turns.serve((row.schedule_id, (row.target_kind, row.target)) for row in rows)
    loaded = await load_revisions(
        db, revisions, {(row.schedule_id, row.revision) for row in rows if row.schedule_id is not None}
    )
    runs: list[ClaimedRun] = []
    unread: list[_ClaimRow] = []
    for row in rows:
        run_id, text = row.id, row.payload
        payload, error = (None, None) if text is None else decode_payload(text)
        if (key := (row.schedule_id, row.revision)) in loaded.errors:
            name, error = loaded.errors[key]
            if row.revision is None:
                free.unread.add_run(run_id, error, now)
            else:
                free.unread.add_revision(*key, name, error, now)
            unread.append(row)
        elif error is not None:
            free.unread.add_run(run_id, error, now)
            unread.append(row)
        else:
            runs.append(_claimed(loaded.by_key.get(key), row, payload))
    if unread:
        ids, attempts = numbers(row.id for row in unread), numbers(row.attempt for row in unread)
        await db.fetch("return_runs", ids=ids, attempts=attempts, worker=free.worker.id)
    return runs


async def recheck(db: Session, revisions: RevisionCache, unread: UnreadableRuns, now: datetime) -> None:
    """Read unreadable runs again: a person may have repaired them, or another worker may have claimed them."""
    ids, numbers_of = (numbers(key[index] for key in unread.revisions) for index in (0, 1))
    queued = [(row[0], row[1]) for row in await db.fetch("queued_revisions", ids=ids, revisions=numbers_of)]
    payloads = await db.fetch("queued_payloads", ids=numbers(unread.runs))
    undecodable = {run_id for run_id, text in payloads if decode_payload(text)[1] is not None}
    unread.keep((await load_revisions(db, revisions, queued)).errors, undecodable, now)


def _claimed(revised: RevisionInfo | None, row: _ClaimRow, payload: Any) -> ClaimedRun:
    assert (revised is None) == (row.schedule_id is None)
    if payload is None:
        payload = {} if revised is None else revised.definition.payload
    covers = None
    if row.covers_first is not None:
        covers = Covers(row.covers_first, row.covers_last, row.covers_count)
    return ClaimedRun(
        row.id,
        row.attempt,
        row.failures,
        row.target,
        row.origin,
        row.due_at,
        payload,
        row.scheduled_for,
        covers,
        row.schedule_id,
        None if revised is None else revised.name,
        None if revised is None else revised.definition,
        row.concurrency_key,
        row.incarnation,
        row.target_kind,
    )
