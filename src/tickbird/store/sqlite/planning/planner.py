"""The planning verb on SQLite."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.planning import PlanningStore
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore
from tickbird.store.sqlite.database.instants import has_jumped, now_micros, to_instant
from tickbird.store.sqlite.planning.step import Step
from tickbird.store.sqlite.planning.zone_data import SqliteZoneData


class SqlitePlanning(NounStore, PlanningStore):
    def __init__(self, database: Database, zone_data: SqliteZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data
        self.backoff = PlanBackoff()

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        zones = await self._zone_data.cached()
        planned = await self._db.writer.run(lambda db: self._plan(db, zones, limit, hand_off, expected, now))
        if planned.runs > len(planned.leased):
            self._db.signal()
        return planned

    def _plan(
        self,
        db: Session,
        zones: Zones,
        limit: int,
        hand_off: HandOff | None,
        expected: ClockBounds | None,
        now: datetime | None,
    ) -> PlanResult:
        at = now_micros(now)
        if has_jumped(at, expected):
            return PlanResult(to_instant(at))

        def clock() -> int:
            later = now_micros(now)
            return at if has_jumped(later, expected) else later

        return Step(db, self._db.revisions, self.backoff, zones, clock).plan(limit, hand_off)
