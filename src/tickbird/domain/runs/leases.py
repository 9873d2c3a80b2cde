"""Leases of runs: what claiming, renewing, finishing and rescuing them report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.runs.unreadable_runs import Unreadable


@dataclass(frozen=True, slots=True)
class LeaseRef:
    """A run that a worker is working on, with its fencing token."""

    run_id: int
    attempt: int
    # Of the store that leased it; 0: whichever it was.
    incarnation: int = 0


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Runs leased to this worker, and when to look again: at once where any was found, so that it can start first."""

    now: datetime
    runs: Sequence[ClaimedRun] = ()
    next_at: datetime | None = None
    # Queued runs that this process cannot read: they were left to other workers.
    unreadable: tuple[Unreadable, ...] = ()


@dataclass(frozen=True, slots=True)
class RenewResult:
    """Which leases were renewed; those not named were lost. `cancelled` ones are asked to stop."""

    now: datetime
    held: frozenset[int] = frozenset()
    cancelled: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class FinishResult:
    """Which outcomes counted; the others came too late, under a lease that is no longer current."""

    now: datetime
    accepted: frozenset[int] = frozenset()
    released: int = 0


@dataclass(frozen=True, slots=True)
class RescueResult:
    """Runs taken from lost workers, cancelled, or released; and when to look again.

    Those that misfired had not started in time; what the unmet ones depend on had not succeeded in time.
    """

    now: datetime
    requeued: Sequence[int] = ()
    failed: Sequence[int] = ()
    misfired: Sequence[int] = ()
    unmet: Sequence[int] = ()
    released: Sequence[int] = ()
    next_at: datetime | None = None
