"""Cursors that were recomputed with other time zone data, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.time.zone_data import MovedSchedule, Zones
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import json_text, numbers, texts
from tickbird.store.shared.zone_data import actor_of, detail_of


async def stamp(db: Session, zones: Zones, ids: Sequence[int]) -> None:
    """Record that these cursors were computed with this time zone data."""
    await db.execute("stamp_zones", zones=zones.generation, ids=numbers(ids))


async def audit(db: Session, zones: Zones, moved: Sequence[MovedSchedule], now: datetime) -> None:
    """Write an audit row for each schedule whose next pass moved; its revision is the same."""
    if moved:
        await db.execute(
            "audit_zones",
            now=now,
            actor=actor_of(zones),
            namespaces=texts([schedule.namespace for schedule in moved]),
            ids=numbers(schedule.schedule_id for schedule in moved),
            schedules=texts([schedule.schedule for schedule in moved]),
            details=texts([json_text(detail_of(zones, schedule)) for schedule in moved]),
        )
