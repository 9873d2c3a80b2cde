"""Schedules on SQLite."""

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
from tickbird.domain.time.instants import to_micros
from tickbird.store.protocol.schedules import ScheduleStore
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.shared.zone_data import PlanningSwitch
from tickbird.store.sqlite import schedule_changes
from tickbird.store.sqlite.dashboard import SqliteDashboard
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import fetch_named
from tickbird.store.sqlite.planning.dependencies import read_successes
from tickbird.store.sqlite.rows import dump, to_revision, to_schedule


class SqliteSchedules(NounStore, ScheduleStore):
    def __init__(self, database: Database, switch: PlanningSwitch, dashboard: SqliteDashboard) -> None:
        super().__init__(database)
        self._switch = switch
        self._dashboard = dashboard

    @read_transaction
    def get(self, db: Session, namespace: str, name: str) -> Schedule | None:
        rows = fetch_named(db, "schedule_by_name", {"namespace": namespace, "name": name})
        return to_schedule(rows[0]) if rows else None

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

    @read_transaction
    def list_of_app(self, db: Session, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        bounds = {"namespace": namespace, "app": app, "names": dump(list(names))}
        return {
            row["name"]: AppSchedule(to_schedule(row), frozenset(as_list(decode(row["seen"]))))
            for row in fetch_named(db, "list_app_schedules", bounds)
        }

    async def change(self, namespace: str, name: str, command: Command, *, now: datetime | None = None) -> ChangeResult:
        permission = await self._switch.permission()
        changed = await self._db.write(
            lambda db: schedule_changes.change(
                db, self._db.revisions, permission, namespace, name, command, read_clock(now)
            )
        )
        self._db.signal()
        return changed

    @read_transaction
    def list_revisions(
        self,
        db: Session,
        schedule_id: int,
        *,
        before: int | None = None,
        made_before: datetime | None = None,
        limit: int = 100,
    ) -> Sequence[RevisionRecord]:
        bounds = {"schedule_id": schedule_id, "before": before, "made_before": to_micros(made_before), "limit": limit}
        return [to_revision(row) for row in fetch_named(db, "list_revisions", bounds)]

    @read_transaction
    def last_successes(self, db: Session, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        return read_successes(db, namespace, names)
