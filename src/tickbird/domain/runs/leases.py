"""Leases of runs: results of claim, renew, finish and rescue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.runs.unreadable_runs import Unreadable


@dataclass(frozen=True, slots=True)
class LeaseRef:
    """A run that a worker executes, with its fencing token."""

    run_id: int
    attempt: int
    # Incarnation of the store that leased it; 0: any.
    incarnation: int = 0


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Runs leased to this worker, and when to claim again: at once if there were any, so that they start first."""

    now: datetime
    runs: Sequence[ClaimedRun] = ()
    next_at: datetime | None = None
    # Queued runs that this process cannot read: they are left to other workers.
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class RenewResult:
    """The renewed leases; all others were lost. Runs in `cancelled` must stop."""

    now: datetime
    held: frozenset[int] = frozenset()
    cancelled: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class FinishResult:
    """The accepted outcomes; the others came too late, under a lease that is no longer current."""

    now: datetime
    accepted: frozenset[int] = frozenset()
    released: int = 0


@dataclass(frozen=True, slots=True)
class ConfirmResult:
    """The runs that a transaction of their task has finished, and the runs whose transaction is still open.

    All others were rolled back, or were taken from the attempt.
    """

    now: datetime
    succeeded: frozenset[int] = frozenset()
    open: frozenset[int] = frozenset()
    released: int = 0


@dataclass(frozen=True, slots=True)
class RescueResult:
    """Runs that were taken from lost workers, cancelled or released, and when to rescue again.

    `misfired` runs had not started in time; the dependencies of `unmet` runs had not succeeded in time.
    """

    now: datetime
    requeued: Sequence[int] = ()
    failed: Sequence[int] = ()
    # They wait for the answer whether they had their effect.
    undecided: Sequence[int] = ()
    misfired: Sequence[int] = ()
    unmet: Sequence[int] = ()
    released: Sequence[int] = ()
    next_at: datetime | None = None
