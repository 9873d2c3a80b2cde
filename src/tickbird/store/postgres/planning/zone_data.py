"""Time zone data on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones, zone_source
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, autocommit, transaction
from tickbird.store.postgres.planning.due import read_due_schedules
from tickbird.store.postgres.planning.write import write_plans
from tickbird.store.postgres.planning.zone_cursors import audit, stamp
from tickbird.store.protocol.zone_data import ZoneDataStore
from tickbird.store.shared.planning.decide import recompute_for_zone_data
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.store.shared.zone_data import MAX_RECORDS, UNKNOWN, is_adopted


class PostgresZoneData(NounStore, ZoneDataStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._checked = UNKNOWN

    async def check(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        self._checked = await self._compare(here or zone_source().data, adopt, actor, now)
        return self._checked

    @autocommit
    async def _compare(self, db: Session, here: ZoneData, adopt: bool, actor: str, now: datetime | None) -> Zones:
        records = [ZoneRecord(*row) for row in await db.fetch("list_zone_data", limit=MAX_RECORDS)]
        if not is_adopted(here, records, adopt=adopt, by_hand=bool(actor)):
            return Zones(here, records[0])
        adopted = await db.execute(
            "adopt_zone_data",
            generation=records[0].generation + 1 if records else 1,
            version=here.version,
            digest=here.digest,
            actor=actor or "worker",
            now=now,
        )
        [stored] = await db.fetch("list_zone_data", limit=1)
        return Zones(here, ZoneRecord(*stored), adopted=bool(adopted))

    async def cached(self, *, adopt: bool = True) -> Zones:
        """The last result of a check, which decides whether this process may plan."""
        return await self.check(adopt=adopt) if self._checked is UNKNOWN else self._checked

    async def recompute(self, after: int = 0, limit: int = 500, *, now: datetime | None = None) -> ZoneRecomputeResult:
        zones = await self.cached()
        return await self._recompute(zones, after, limit, now) if zones.same else ZoneRecomputeResult()

    @transaction
    async def _recompute(
        self, db: Session, zones: Zones, after: int, limit: int, now: datetime | None
    ) -> ZoneRecomputeResult:
        locked = await db.fetch(
            "lock_other_zones", after=after, zones=zones.generation, limit=limit, now=now, **readable_bounds()
        )
        if not locked:
            await db.execute("end_recompute", zones=zones.generation, now=now)
            return ZoneRecomputeResult()
        ids, at = [row[0] for row in locked], locked[0][1]
        # The planner handles edits by plain SQL, also with the new time zone data.
        due = [
            schedule for schedule in await read_due_schedules(db, self._db.revisions, ids) if schedule.edited is None
        ]
        recomputed = [
            decision
            for schedule in due
            if (decision := recompute_for_zone_data(schedule.schedule, schedule.last_skip_id)) is not None
        ]
        await write_plans(db, self._db.revisions, recomputed, at)
        moved = [decision.moved for decision in recomputed if decision.moved is not None]
        await audit(db, zones, moved, at)
        await stamp(db, zones, ids)
        if moved:
            await db.execute("wake")
        return ZoneRecomputeResult(moved, ids[-1])

    async def list(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        return [ZoneRecord(*row) for row in await self._db.fetch("list_zone_data", limit=limit)]
