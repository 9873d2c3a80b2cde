"""Leases: the right of one worker to execute a run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.runs.leases import ClaimResult, ConfirmResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.run import Outcome
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.workers import Worker


class LeaseStore(Protocol):
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
        """Lease up to `limit` available runs of these queues and targets for `lease` seconds: by priority, then oldest.

        `at_once` of them can start at once (default: all); a queue with a rate leases no more than that. If the store's
        clock is ahead of `expected`, runs that waited for it are not leased, see `believed_now`. A run whose revision
        or payload this process cannot read is not leased.
        """

    async def renew(
        self, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        """Extend the leases that this worker still holds, under the given attempt and incarnation."""

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        """Record the outcomes of attempts that are still current; release the next waiting runs.

        A worker passes itself, and finishes only runs that it holds, under the attempt and incarnation of its lease:
        after a restore to an earlier point, a store issues the same ids and attempts again.

        Raises InvalidError, and records nothing, if a value can never be stored.
        """

    async def confirm(self, refs: Sequence[LeaseRef], *, now: datetime | None = None) -> ConfirmResult:
        """Find out which of these attempts have finished their runs in a transaction of their own.

        Release the runs that waited for them. It does not wait for a transaction that is still open.
        """

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        """Requeue or fail runs whose lease has expired; cancel runs that have waited too long.

        If the store's clock is outside of `expected`, nothing is rescued.
        """
