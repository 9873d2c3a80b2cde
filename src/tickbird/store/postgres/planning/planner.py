"""The planning verb on PostgreSQL."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.database import Database, NounStore
from tickbird.store.postgres.planning.step import Step
from tickbird.store.postgres.planning.zone_data import PostgresZoneData
from tickbird.store.protocol.planning import PlanningStore
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.shared.planning.next_due import NextDue


class PostgresPlanning(NounStore, PlanningStore):
    def __init__(self, database: Database, zone_data: PostgresZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data
        self._backoff = PlanBackoff()
        self._next_due = NextDue()

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        zones = await self._zone_data.cached()
        step = Step(self._db.connections, self._db.revisions, self._backoff, self._next_due, zones, expected, now)
        return await step.plan(limit, hand_off, self._db.notifier.notify)
