"""The ledger: all runs and skips of a schedule; and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions


class LedgerStore(Protocol):
    async def tick_decisions(
        self, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        """Runs and skips whose ticks touch the range."""

    async def recent_outcomes(self, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        """Runs that ended, and skips that were recorded or extended, since an instant: the newest of each."""

    async def page(
        self, schedule_id: int, runs_from: datetime, skips_from: datetime, last: datetime, limit: int = 10_000
    ) -> LedgerPage:
        """A page of all decisions about ticks: runs since `runs_from`, and skips that end at `skips_from` or later."""

    async def list_audit(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """Entries of the audit log, newest first, with ids below `before`."""
