"""Dependencies between schedules: recorded successes, and the runs that wait for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from datetime import datetime

from tickbird.domain.schedules.dependencies import LastSuccess, needed_by
from tickbird.domain.time.instants import to_micros
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump

_MAX_NAMED = 11


def read_successes(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, LastSuccess]:
    """The recorded last successes of these schedules; omits schedules that do not exist."""
    rows = db.execute(SQL["read_successes"], {"namespace": namespace, "names": dump(sorted(names))})
    return {name: LastSuccess(schedule_id, at) for name, schedule_id, _, at in rows}


def watch(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, LastSuccess]:
    """Like read_successes; from now on their successes are recorded."""
    successes: dict[str, LastSuccess] = {}
    bounds = {"namespace": namespace, "names": dump(sorted(names))}
    for name, schedule_id, is_recorded, recorded_at in db.execute(SQL["read_successes"], bounds).fetchall():
        if is_recorded:
            successes[name] = LastSuccess(schedule_id, recorded_at)
        else:
            [(at,)] = db.execute(SQL["watch_success"], {"id": schedule_id}).fetchall()
            successes[name] = LastSuccess(schedule_id, at)
    return successes


def record_successes(db: sqlite3.Connection, schedule_ids: Collection[int], now: datetime) -> set[int]:
    """Record successes; returns the schedules of runs that no longer wait for another schedule."""
    if not schedule_ids or not db.execute(SQL["any_watched"]).fetchone()[0]:
        return set()
    recorded = db.execute(SQL["record_success"], {"ids": dump(sorted(schedule_ids)), "now": to_micros(now)}).fetchall()
    if not recorded:
        return set()
    met = db.execute(
        SQL["resolve_awaits"], {"ids": dump([row[0] for row in recorded]), "now": to_micros(now)}
    ).fetchall()
    ended = db.execute(SQL["end_waits"], {"ids": dump([row[0] for row in met])}).fetchall() if met else []
    return {row[0] for row in ended}


def cancel_unmet(db: sqlite3.Connection, limit: int, now: datetime) -> list[int]:
    """Cancel runs that have waited too long for another schedule."""
    cancelled = db.execute(SQL["cancel_unmet"], {"now": to_micros(now), "limit": limit}).fetchall()
    db.execute(SQL["delete_awaits"], {"now": to_micros(now)})
    return sorted(row[0] for row in cancelled)


def read_needs(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The transitive dependencies of these schedules; omits schedules that do not exist."""
    needs: dict[str, tuple[str, ...]] = {}
    pending = set(names)
    while pending:
        bounds = {"namespace": namespace, "names": dump(sorted(pending))}
        rows = db.execute(SQL["read_needs"], bounds).fetchall()
        rows_by_name = {name: as_object(decode(text)) for name, text in rows}
        needs |= {name: needed_by(raw) for name, raw in rows_by_name.items()}
        pending = {needed for name in rows_by_name for needed in needs[name]} - needs.keys() - pending
    return needs


def dependents(db: sqlite3.Connection, namespace: str, name: str) -> tuple[str, ...]:
    """The first schedules that depend on this one."""
    rows = db.execute(SQL["dependents"], {"namespace": namespace, "name": name, "limit": _MAX_NAMED})
    return tuple(row[0] for row in rows)
