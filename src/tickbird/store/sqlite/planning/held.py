"""Held runs on SQLite: let go at a rate, or dropped."""

from __future__ import annotations

import sqlite3
from typing import Any

from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs.held import DROPPED, MAX_COUNT, Drop, HeldSchedule, Release, none_held
from tickbird.domain.runs.run import RunRecord
from tickbird.store.shared.plans import RevisionCache
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import MICROS, to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.queries import get_schedule
from tickbird.store.sqlite.rows import dump, run_record


def resolve_held(
    db: sqlite3.Connection, known: RevisionCache, namespace: str, name: str, decision: Release | Drop, now: int
) -> int:
    """Release or drop the oldest held runs of a schedule; how many that were."""
    schedule = get_schedule(db, namespace, name)
    if schedule is None:
        raise NotFoundError(f"there is no schedule {name[:200]!r};", hint="`tickbird ls` shows those that exist.")
    wanted = {"schedule_id": schedule.id, "count": decision.count or MAX_COUNT}
    ids = [row[0] for row in db.execute(SQL["oldest_held"], wanted)]
    if not ids:
        raise none_held(name)
    detail: dict[str, Any] = {"count": len(ids), "note": decision.note}
    if isinstance(decision, Release):
        apart = decision.interval * MICROS
        turns = [(run_id, now, decision.actor, now + round(apart * place)) for place, run_id in enumerate(ids)]
        db.executemany(SQL["release_held"], turns)
        release(db, known, [schedule.id], now)
        action, detail = "release_held", {**detail, "per_minute": decision.per_minute}
    else:
        db.execute(SQL["cancel_runs"], {"ids": dump(ids), "now": now, "actor": decision.actor, "reason": DROPPED})
        action = "drop_held"
    write_audit(db, now, decision.actor, action, namespace, schedule_id=schedule.id, schedule=name, detail=detail)
    db.execute(SQL["wake_others"])
    return len(ids)


def held_schedules(db: sqlite3.Connection, namespace: str, schedule: str | None) -> list[HeldSchedule]:
    """The schedules of which runs are held."""
    rows = db.execute(SQL["held_schedules"], {"namespace": namespace, "schedule": schedule})
    return [
        HeldSchedule(name, count, to_instant(first), to_instant(last), to_instant(since))
        for name, count, first, last, since in rows
    ]


def list_held_runs(db: sqlite3.Connection, filters: dict[str, Any]) -> list[RunRecord]:
    """The held runs of a schedule, oldest first."""
    return [run_record(row) for row in db.execute(SQL["list_held_runs"], filters)]
