"""Pings on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from tickbird.domain.ledger.shadow_report import MAX_PINGS
from tickbird.store.sqlite.database.instants import to_instant
from tickbird.store.sqlite.database.statements import SQL


def add(db: sqlite3.Connection, schedule_id: int, at: int) -> None:
    """Note a ping; the oldest make room for it where there are too many."""
    db.execute(SQL["ping"], {"schedule_id": schedule_id, "at": at})
    db.execute(SQL["trim_pings"], {"schedule_id": schedule_id, "maximum": MAX_PINGS})


def read(db: sqlite3.Connection, schedule_id: int, bounds: Mapping[str, int | None]) -> list[datetime]:
    """The pings of a schedule within bounds, oldest first."""
    return [to_instant(at) for (at,) in db.execute(SQL["list_pings"], {**bounds, "schedule_id": schedule_id})]
