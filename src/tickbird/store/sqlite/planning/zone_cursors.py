"""Cursors that were recomputed with other time zone data, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.time.zone_data import MovedSchedule, Zones
from tickbird.store.shared.zone_data import actor_of, detail_of
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


def stamp(db: sqlite3.Connection, zones: Zones, ids: Sequence[int]) -> None:
    """Record that these cursors were computed with this time zone data."""
    db.execute(SQL["stamp_zones"], {"zones": zones.generation, "ids": dump(list(ids))})


def audit(db: sqlite3.Connection, zones: Zones, moved: Sequence[MovedSchedule], now: datetime) -> None:
    """Write an audit row for each schedule whose next pass moved; its revision is the same."""
    for schedule in moved:
        write_audit(
            db,
            now,
            actor_of(zones),
            "zones",
            schedule.namespace,
            schedule_id=schedule.schedule_id,
            schedule=schedule.schedule,
            detail=detail_of(zones, schedule),
        )
