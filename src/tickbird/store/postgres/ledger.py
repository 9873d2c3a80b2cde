"""The ledger and the audit log on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.runs.run import SkipRecord
from tickbird.store.postgres.database.database import NounStore
from tickbird.store.postgres.rows import to_run
from tickbird.store.protocol.ledger import LedgerStore
from tickbird.store.shared.json_columns import as_object


class PostgresLedger(NounStore, LedgerStore):
    async def tick_decisions(
        self, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        bounds = {"schedule_id": schedule_id, "first": first, "last": last, "limit": limit}
        runs = await self._db.fetch_named("runs_between", **bounds)
        skips = await self._db.fetch("skips_between", **bounds)
        return TickDecisions(runs=[to_run(row) for row in runs], skips=[SkipRecord(*row) for row in skips])

    async def recent_outcomes(self, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        bounds = {"namespace": namespace, "since": since, "limit": limit}
        runs = await self._db.fetch_named("ended_since", **bounds)
        skips = await self._db.fetch("skipped_since", **bounds)
        return RecentOutcomes([to_run(row) for row in runs], [(name, SkipRecord(*row)) for name, *row in skips])

    async def page(
        self, schedule_id: int, runs_from: datetime, skips_from: datetime, last: datetime, limit: int = 10_000
    ) -> LedgerPage:
        bounds = {"schedule_id": schedule_id, "last": last, "limit": limit}
        runs = await self._db.fetch("ledger_runs", runs_from=runs_from, **bounds)
        skips = await self._db.fetch("ledger_skips", skips_from=skips_from, **bounds)
        pruned = await self._db.fetch("pruned_until", schedule_id=schedule_id)
        return LedgerPage(
            [LedgerEntry.run(*row) for row in runs],
            [LedgerEntry.skip(*row) for row in skips],
            pruned[0][0] if pruned else None,
        )

    async def list_audit(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        bounds = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        rows = await self._db.fetch_named("list_audit" if schedule is None else "list_audit_of", **bounds)
        return [AuditEntry(**{**row, "detail": as_object(row["detail"])}) for row in rows]
