"""The next ticks of schedules with SQL functions, for readers that only speak SQL."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.sql import SqlSpec
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import numbers, to_schedule

COUNT: Final = 200
# Write the list again when fewer ticks than this are left.
_MIN_LEFT: Final = 100


async def write_upcoming(db: Session, schedules: Iterable[Schedule], now: datetime) -> None:
    """Write the next ticks of the schedules with SQL functions; none of a schedule that is not active."""
    for schedule in schedules:
        definition = schedule.definition
        if definition is None or definition.target.kind != SqlSpec.kind:
            continue
        ticks: list[int] = []
        tick = schedule.grid.next(int(now.timestamp())) if schedule.state == "active" else None
        while tick is not None and len(ticks) < COUNT:
            ticks.append(tick)
            tick = schedule.grid.next(tick)
        refresh = ticks[-_MIN_LEFT] if len(ticks) == COUNT else None
        await db.execute("write_upcoming", id=schedule.id, ticks=numbers(ticks), refresh=refresh)


async def refresh_upcoming(db: Session, limit: int, now: datetime | None) -> None:
    """Write the lists again that have few ticks left."""
    rows = await db.fetch_named("outdated_upcoming", limit=limit, now=now)
    for row in rows:
        at = row.pop("now")
        await write_upcoming(db, [to_schedule(row)], at)
