"""Schedules on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from tickbird.domain.dashboard_rows import ScheduleFilter, ScheduleSummary
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.store.postgres import schedule_changes
from tickbird.store.postgres.dashboard import PostgresDashboard
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, autocommit
from tickbird.store.postgres.planning.dependencies import read_successes
from tickbird.store.postgres.rows import texts, to_schedule, to_schedules
from tickbird.store.protocol.schedules import ScheduleStore
from tickbird.store.shared.json_columns import as_object
from tickbird.store.shared.planning.revision_cache import UncommittedRevisions
from tickbird.store.shared.zone_data import PlanningSwitch


class PostgresSchedules(NounStore, ScheduleStore):
    def __init__(self, database: Database, switch: PlanningSwitch, dashboard: PostgresDashboard) -> None:
        super().__init__(database)
        self._switch = switch
        self._dashboard = dashboard

    async def get(self, namespace: str, name: str) -> Schedule | None:
        rows = await self._db.fetch_named("get_schedule", namespace=namespace, name=name)
        return to_schedule(rows[0], definitions=self._db.definitions) if rows else None

    async def list(
        self,
        namespace: str,
        *,
        contains: str = "",
        state: State | None = None,
        tag: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        filters = ScheduleFilter(contains=contains, states=() if state is None else (state,), tag=tag)
        return await self._dashboard.schedules(namespace, filters, after=after, limit=limit)

    async def list_of_app(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        rows = await self._db.fetch_named("list_app_schedules", namespace=namespace, app=app, names=texts(list(names)))
        fingerprints = [frozenset(row["seen"]) for row in rows]
        schedules = await to_schedules(rows)
        return {
            schedule.name: AppSchedule(schedule, earlier_fingerprints)
            for schedule, earlier_fingerprints in zip(schedules, fingerprints, strict=True)
        }

    async def change(self, namespace: str, name: str, command: Command, *, now: datetime | None = None) -> ChangeResult:
        permission = await self._switch.permission()

        async def work(db: Session) -> ChangeResult:
            revisions = UncommittedRevisions(self._db.revisions)
            return await schedule_changes.change(db, revisions, permission, namespace, name, command, now)

        return await schedule_changes.transact(self._db, namespace, [command], work, name=name)

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        bounds = {"before": before, "made_before": made_before, "limit": limit}
        rows = await self._db.fetch_named("list_revisions", schedule_id=schedule_id, **bounds)
        objects = ("definition", "detail")
        return [RevisionRecord(**{**row, **{name: as_object(row[name]) for name in objects}}) for row in rows]

    @autocommit
    async def last_successes(self, db: Session, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        return (await read_successes(db, {(namespace, name) for name in names})).get(namespace, {})
