"""Zone rules: which the store goes by, and what cursors are marked with."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from tickbird.domain.time.zone_data import MovedSchedule, ZoneData, ZoneRecord, Zones
from tickbird.store.shared.zone_data import actor_of, detail_of, is_adopted
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump

_MAX_RECORDS: Final = 1_000


def records(db: sqlite3.Connection, limit: int = _MAX_RECORDS) -> list[ZoneRecord]:
    """The rules that the store has gone by, newest first."""
    return [
        ZoneRecord(generation, version, digest, to_instant(adopted_at), by, to_instant(followed_at))
        for generation, version, digest, adopted_at, by, followed_at in db.execute(
            SQL["list_zone_data"], {"limit": limit}
        )
    ]


def check(db: sqlite3.Connection, here: ZoneData, adopt: bool, actor: str, now: int) -> Zones:
    """Compare these rules with the store's, and let it take them over if they win."""
    known = records(db)
    if not is_adopted(here, known, adopt=adopt, by_hand=bool(actor)):
        return Zones(here, known[0])
    row = {
        "generation": known[0].generation + 1 if known else 1,
        "version": here.version,
        "digest": here.digest,
        "actor": actor or "worker",
        "now": now,
    }
    db.execute(SQL["adopt_zone_data"], row)
    return Zones(here, records(db, 1)[0], adopted=True)


def current(db: sqlite3.Connection) -> int:
    """The generation of the rules that the store goes by."""
    return int(db.execute(SQL["current_zones"]).fetchone()[0])


def stamp(db: sqlite3.Connection, zones: Zones, ids: Sequence[int]) -> None:
    """These cursors go by these rules."""
    db.execute(SQL["stamp_zones"], {"zones": zones.generation, "ids": dump(list(ids))})


def audit(db: sqlite3.Connection, zones: Zones, moved: Sequence[MovedSchedule], now: int) -> None:
    """A row for each schedule whose next look moved; its revision is the same."""
    for each in moved:
        write_audit(
            db,
            now,
            actor_of(zones),
            "zones",
            each.namespace,
            schedule_id=each.schedule_id,
            schedule=each.schedule,
            detail=detail_of(zones, each),
        )
