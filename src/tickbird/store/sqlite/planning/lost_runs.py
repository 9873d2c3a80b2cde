"""Lost runs on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from tickbird.domain.runs.lost_runs import (
    EFFECT_CONFIRMED,
    LOST_CALLS,
    MAX_CALLS,
    Effect,
    LostRun,
    ReconcileCall,
    ReconcileReport,
    Resolution,
    not_undecided,
)
from tickbird.domain.runs.run import WaitLane
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.workers import Worker
from tickbird.store.protocol.lost_runs import LostRunStore
from tickbird.store.shared.json_columns import clean
from tickbird.store.shared.lost_runs import claimed_run
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, waking_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.planning.dependencies import record_successes
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump, to_run


class SqliteLostRuns(NounStore, LostRunStore):
    @read_transaction
    def list(self, db: Session, namespace: str, *, before: int | None = None, limit: int = 100) -> Sequence[LostRun]:
        bounds = {"namespace": namespace, "before": before, "limit": limit}
        return [_to_lost_run(row) for row in fetch_named(db, "list_lost_runs", bounds)]

    @read_transaction
    def get(self, db: Session, run_id: int) -> LostRun | None:
        rows = [*fetch_named(db, "get_lost_run", {"id": run_id})]
        return _to_lost_run(rows[0]) if rows else None

    @write_transaction
    def claim(
        self,
        db: Session,
        worker: Worker,
        tasks: Collection[str],
        limit: int,
        lease: float,
        *,
        now: datetime | None = None,
    ) -> Sequence[ReconcileCall]:
        at = read_clock(now)
        clock = to_micros(at)
        db.execute(SQL["give_up_calls"], {"now": clock, "maximum": MAX_CALLS, "error": LOST_CALLS})
        bounds = {"namespace": worker.namespace, "targets": dump(sorted(tasks)), "now": clock, "limit": limit}
        calls: dict[int, int] = {}
        for (run_id,) in db.execute(SQL["free_lost_runs"], bounds).fetchall():
            until = to_micros(at + timedelta(seconds=lease))
            values = {"id": run_id, "worker": worker.id, "until": until}
            [(calls[run_id],)] = db.execute(SQL["claim_lost_run"], values).fetchall()
        runs = [to_run(row) for row in fetch_named(db, "runs_by_id", {"ids": dump([*calls])})]
        return [ReconcileCall(claimed_run(run), calls[run.id]) for run in sorted(runs, key=lambda run: run.id)]

    @waking_transaction
    def report(self, db: Session, report: ReconcileReport, *, now: datetime | None = None) -> bool:
        row = db.execute(SQL["lost_run_state"], {"id": report.run_id}).fetchone()
        if row is None or not _is_undecided(row) or row[9:] != (report.attempt, report.number, None):
            return False
        error = None if report.error is None else clean(report.error)
        self._settle(db, row, report.effect, error, None, "", read_clock(now))
        return True

    @waking_transaction
    def resolve(self, db: Session, run_id: int, resolution: Resolution, *, now: datetime | None = None) -> None:
        at, actor, note = read_clock(now), resolution.actor, resolution.note
        row = db.execute(SQL["lost_run_state"], {"id": run_id}).fetchone()
        if row is None or not _is_undecided(row):
            runs = [*fetch_named(db, "get_run", {"id": run_id})]
            raise not_undecided(run_id, runs[0]["status"] if runs else "deleted")
        self._settle(db, row, resolution.effect, None, actor, note, at)
        write_audit(
            db,
            at,
            actor,
            "resolve",
            row[2],
            schedule_id=row[1],
            schedule=row[8],
            run_id=run_id,
            detail={"effect": resolution.effect, "note": note},
        )

    def _settle(
        self,
        db: Session,
        row: tuple[Any, ...],
        effect: Effect,
        error: str | None,
        actor: str | None,
        note: str,
        now: datetime,
    ) -> None:
        """Record the answer, and end the run or let it wait for another attempt."""
        run_id, schedule_id, namespace, _, key, _, crashes, crash_limit, *_ = row
        at = to_micros(now)
        values = {"id": run_id, "effect": effect, "error": error, "actor": actor, "note": note, "now": at}
        db.execute(SQL["resolve_lost_run"], values)
        if effect == "unknown":
            return
        freed = set() if schedule_id is None else {schedule_id}
        if effect == "yes" or crashes > abs(crash_limit):
            status, reason = ("succeeded", EFFECT_CONFIRMED) if effect == "yes" else ("failed", None)
            db.execute(SQL["end_lost_run"], {"id": run_id, "status": status, "reason": reason, "now": at})
            if effect == "yes":
                freed |= record_successes(db, freed, now)
        else:
            db.execute(SQL["retry_lost_run"], {"id": run_id, "now": at})
        release(db, self._db.revisions, freed, now, keys=[] if key is None else [(namespace, key)])
        db.execute(SQL["wake_others"])


def _is_undecided(row: tuple[Any, ...]) -> bool:
    return bool(row[3] == "waiting" and row[5] == WaitLane.HELD)


def _to_lost_run(row: NamedRow) -> LostRun:
    return LostRun(
        run_id=row["run_id"],
        schedule=row["schedule"],
        target=row["target"],
        attempt=row["attempt"],
        lost_at=from_micros(row["lost_at"]),
        calls=row["calls"],
        effect=row["effect"],
        error=row["error"],
        resolved_at=from_micros(row["resolved_at"]),
        resolved_by=row["resolved_by"],
        note=row["note"],
    )
