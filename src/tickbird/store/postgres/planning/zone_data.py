"""Zone rules on PostgreSQL: which the store goes by, and what cursors are marked with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tickbird.domain.time.zone_data import MovedSchedule, ZoneData, ZoneRecord, Zones
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import json_text, numbers, texts
from tickbird.store.shared.zone_data import actor_of, detail_of, is_adopted

_MAX_RECORDS: Final = 1_000


async def records(db: Session, limit: int = _MAX_RECORDS) -> list[ZoneRecord]:
    """The rules that the store has gone by, newest first."""
    return [ZoneRecord(*row) for row in await db.fetch("list_zone_data", limit=limit)]


async def check(db: Session, here: ZoneData, adopt: bool, actor: str, now: datetime | None) -> Zones:
    """Compare these rules with the store's, and let it take them over if they win."""
    known = await records(db)
    if not is_adopted(here, known, adopt=adopt, by_hand=bool(actor)):
        return Zones(here, known[0])
    made = await db.execute(
        "adopt_zone_data",
        generation=known[0].generation + 1 if known else 1,
        version=here.version,
        digest=here.digest,
        actor=actor or "worker",
        now=now,
    )
    [stored] = await records(db, 1)
    return Zones(here, stored, adopted=bool(made))


async def stamp(db: Session, zones: Zones, ids: Sequence[int]) -> None:
    """These cursors go by these rules."""
    await db.execute("stamp_zones", zones=zones.generation, ids=numbers(ids))


async def audit(db: Session, zones: Zones, moved: Sequence[MovedSchedule], now: datetime) -> None:
    """A row for each schedule whose next look moved; its revision is the same."""
    if moved:
        await db.execute(
            "audit_zones",
            now=now,
            actor=actor_of(zones),
            namespaces=texts([each.namespace for each in moved]),
            ids=numbers(each.schedule_id for each in moved),
            schedules=texts([each.schedule for each in moved]),
            details=texts([json_text(detail_of(zones, each)) for each in moved]),
        )
