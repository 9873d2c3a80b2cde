"""The ledger and the audit log on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.time.instants import to_micros
from tickbird.store.protocol.ledger import LedgerStore
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.rows import to_audit_entry, to_run, to_skip


class SqliteLedger(NounStore, LedgerStore):
    @read_transaction
    def tick_decisions(
        self, db: Session, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        bounds = {"schedule_id": schedule_id, "first": to_micros(first), "last": to_micros(last), "limit": limit}
        return TickDecisions(
            runs=[to_run(row) for row in fetch_named(db, "runs_of_ticks", bounds)],
            skips=[to_skip(row) for row in fetch_named(db, "list_skips", bounds)],
        )

    @read_transaction
    def recent_outcomes(self, db: Session, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        bounds = {"namespace": namespace, "since": to_micros(since), "limit": limit}
        runs = [to_run(row) for row in fetch_named(db, "ended_since", bounds)]
        skips = [(row["schedule"], to_skip(row)) for row in fetch_named(db, "skipped_since", bounds)]
        return RecentOutcomes(runs, skips)

    @read_transaction
    def page(
        self,
        db: Session,
        schedule_id: int,
        runs_from: datetime,
        skips_from: datetime,
        last: datetime,
        limit: int = 10_000,
    ) -> LedgerPage:
        bounds = {
            "schedule_id": schedule_id,
            "runs_from": to_micros(runs_from),
            "skips_from": to_micros(skips_from),
            "last": to_micros(last),
            "limit": limit,
        }
        runs = [LedgerEntry.run(*row) for row in db.execute(SQL["ledger_runs"], bounds)]
        skips = [LedgerEntry.skip(*row) for row in db.execute(SQL["ledger_skips"], bounds)]
        pruned = db.execute(SQL["pruned_until"], bounds).fetchone()
        return LedgerPage(runs, skips, None if pruned is None else pruned[0])

    @read_transaction
    def list_audit(
        self, db: Session, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        bounds = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        statement = "list_audit" if schedule is None else "list_audit_of"
        return [to_audit_entry(row) for row in fetch_named(db, statement, bounds)]
