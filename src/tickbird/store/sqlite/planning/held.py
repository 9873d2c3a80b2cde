"""Held runs on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs.held import DROPPED, MAX_COUNT, Drop, HeldSchedule, Release, none_held
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.held import HeldStore
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, waking_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump, to_run


class SqliteHeld(NounStore, HeldStore):
    @read_transaction
    def list_schedules(self, db: Session, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        rows = db.execute(SQL["held_schedules"], {"namespace": namespace, "schedule": schedule})
        return [
            HeldSchedule(name, count, from_micros(first), from_micros(last), from_micros(since))
            for name, count, first, last, since in rows
        ]

    @read_transaction
    def list_runs(
        self, db: Session, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        bounds = {"namespace": namespace, "schedule": schedule, "after": after, "limit": limit}
        return [to_run(row) for row in fetch_named(db, "list_held_runs", bounds)]

    @waking_transaction
    def resolve(
        self, db: Session, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None
    ) -> int:
        at = read_clock(now)
        row = db.execute(SQL["schedule_by_name"], {"namespace": namespace, "name": name}).fetchone()
        if row is None:
            raise NotFoundError(f"there is no schedule {name[:200]!r}.", hint="`tickbird ls` lists all schedules.")
        schedule_id = row[0]
        oldest = db.execute(SQL["oldest_held"], {"schedule_id": schedule_id, "count": decision.count or MAX_COUNT})
        ids = [run_id for (run_id,) in oldest]
        if not ids:
            raise none_held(name)
        detail: dict[str, Any] = {"count": len(ids), "note": decision.note}
        if isinstance(decision, Release):
            released_at = to_micros(at)
            turns = [
                (run_id, released_at, decision.actor, to_micros(at + timedelta(seconds=decision.interval * index)))
                for index, run_id in enumerate(ids)
            ]
            db.executemany(SQL["release_held"], turns)
            release(db, self._db.revisions, [schedule_id], at)
            action, detail["per_minute"] = "release_held", decision.per_minute
        else:
            db.execute(
                SQL["cancel_runs"], {"ids": dump(ids), "now": to_micros(at), "actor": decision.actor, "reason": DROPPED}
            )
            action = "drop_held"
        write_audit(db, at, decision.actor, action, namespace, schedule_id=schedule_id, schedule=name, detail=detail)
        db.execute(SQL["wake_others"])
        return len(ids)
