"""Time zone data on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones, zone_source
from tickbird.store.protocol.zone_data import ZoneDataStore
from tickbird.store.shared.planning.decide import recompute_for_zone_data
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.store.shared.zone_data import MAX_RECORDS, UNKNOWN, is_adopted
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.due import read_due_schedules
from tickbird.store.sqlite.planning.write import write_plans
from tickbird.store.sqlite.planning.zone_cursors import audit, stamp


class SqliteZoneData(NounStore, ZoneDataStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._checked = UNKNOWN

    async def check(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        self._checked = await self._compare(here or zone_source().data, adopt, actor, now)
        return self._checked

    @write_transaction
    def _compare(self, db: Session, here: ZoneData, adopt: bool, actor: str, now: datetime | None) -> Zones:
        records = read_records(db, MAX_RECORDS)
        if not is_adopted(here, records, adopt=adopt, by_hand=bool(actor)):
            return Zones(here, records[0])
        row = {
            "generation": records[0].generation + 1 if records else 1,
            "version": here.version,
            "digest": here.digest,
            "actor": actor or "worker",
            "now": to_micros(read_clock(now)),
        }
        db.execute(SQL["adopt_zone_data"], row)
        return Zones(here, read_records(db, 1)[0], adopted=True)

    async def cached(self, *, adopt: bool = True) -> Zones:
        """The last result of a check, which decides whether this process may plan."""
        return await self.check(adopt=adopt) if self._checked is UNKNOWN else self._checked

    async def recompute(self, after: int = 0, limit: int = 500, *, now: datetime | None = None) -> ZoneRecomputeResult:
        zones = await self.cached()
        if not zones.same:
            return ZoneRecomputeResult()
        recomputed = await self._recompute(zones, after, limit, now)
        if recomputed.moved:
            self._db.signal()
        return recomputed

    @write_transaction
    def _recompute(
        self, db: Session, zones: Zones, after: int, limit: int, now: datetime | None
    ) -> ZoneRecomputeResult:
        at = read_clock(now)
        bounds = {"after": after, "zones": zones.generation, "limit": limit, "now": to_micros(at), **readable_bounds()}
        ids = [schedule_id for (schedule_id,) in db.execute(SQL["other_zones"], bounds)]
        if not ids:
            db.execute(SQL["end_recompute"], bounds)
            return ZoneRecomputeResult()
        # The planner handles edits by plain SQL, also with the new time zone data.
        due = [schedule for schedule in read_due_schedules(db, self._db.revisions, ids) if schedule.edited is None]
        recomputed = [
            decision
            for schedule in due
            if (decision := recompute_for_zone_data(schedule.schedule, schedule.last_skip_id)) is not None
        ]
        write_plans(db, self._db.revisions, recomputed, at)
        moved = [decision.moved for decision in recomputed if decision.moved is not None]
        audit(db, zones, moved, at)
        stamp(db, zones, ids)
        db.execute(SQL["wake_others"])
        return ZoneRecomputeResult(moved, ids[-1])

    @read_transaction
    def list(self, db: Session, *, limit: int = 100) -> Sequence[ZoneRecord]:
        return read_records(db, limit)


def read_records(db: Session, limit: int) -> list[ZoneRecord]:
    return [
        ZoneRecord(generation, version, digest, from_micros(adopted_at), actor, from_micros(recomputed_at))
        for generation, version, digest, adopted_at, actor, recomputed_at in db.execute(
            SQL["list_zone_data"], {"limit": limit}
        )
    ]
