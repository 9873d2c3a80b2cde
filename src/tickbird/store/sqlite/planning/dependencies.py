"""Dependencies between schedules: what is known of those that others depend on, and who waits for them."""

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
    """When these schedules last succeeded, as far as it is noted; without those that do not exist."""
    rows = db.execute(SQL["read_successes"], {"namespace": namespace, "names": dump(sorted(names))})
    return {name: LastSuccess(schedule_id, at) for name, schedule_id, _, at in rows}


def watch(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, LastSuccess]:
    """As read_successes; from now on their successes are noted."""
    found: dict[str, LastSuccess] = {}
    asked = {"namespace": namespace, "names": dump(sorted(names))}
    for name, schedule_id, known, noted in db.execute(SQL["read_successes"], asked).fetchall():
        if known:
            found[name] = LastSuccess(schedule_id, noted)
        else:
            [(at,)] = db.execute(SQL["watch_success"], {"id": schedule_id}).fetchall()
            found[name] = LastSuccess(schedule_id, at)
    return found


def note_successes(db: sqlite3.Connection, schedule_ids: Collection[int], now: datetime) -> set[int]:
    """Note that these schedules succeeded; the schedules of runs that wait for no other one any more."""
    if not schedule_ids or not db.execute(SQL["any_watched"]).fetchone()[0]:
        return set()
    noted = db.execute(SQL["note_success"], {"ids": dump(sorted(schedule_ids)), "now": to_micros(now)}).fetchall()
    if not noted:
        return set()
    met = db.execute(SQL["settle_awaits"], {"ids": dump([row[0] for row in noted]), "now": to_micros(now)}).fetchall()
    ended = db.execute(SQL["end_waits"], {"ids": dump([row[0] for row in met])}).fetchall() if met else []
    return {row[0] for row in ended}


def cancel_unmet(db: sqlite3.Connection, limit: int, now: datetime) -> list[int]:
    """Cancel runs that have waited too long for another schedule."""
    cancelled = db.execute(SQL["cancel_unmet"], {"now": to_micros(now), "limit": limit}).fetchall()
    db.execute(SQL["forget_awaits"], {"now": to_micros(now)})
    return sorted(row[0] for row in cancelled)


def read_needs(db: sqlite3.Connection, namespace: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What these schedules depend on, and those in turn, as far as that goes; without those that do not exist."""
    needs: dict[str, tuple[str, ...]] = {}
    wanted = set(names)
    while wanted:
        asked = {"namespace": namespace, "names": dump(sorted(wanted))}
        rows = db.execute(SQL["read_needs"], asked).fetchall()
        found = {name: as_object(decode(text)) for name, text in rows}
        needs |= {name: needed_by(raw) for name, raw in found.items()}
        wanted = {each for name in found for each in needs[name]} - needs.keys() - wanted
    return needs


def dependents(db: sqlite3.Connection, namespace: str, name: str) -> tuple[str, ...]:
    """The first of the schedules that depend on this one."""
    rows = db.execute(SQL["dependents"], {"namespace": namespace, "name": name, "limit": _MAX_NAMED})
    return tuple(row[0] for row in rows)
