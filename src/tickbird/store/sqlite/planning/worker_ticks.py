"""Ticks that workers compute themselves, on SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.planning.worker_ticks import WorkerSchedules, WorkerTick, WrittenTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_micros
from tickbird.store.protocol.worker_ticks import WorkerTickStore
from tickbird.store.shared.planning.worker_ticks import continue_from, restored_row, to_rows
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.planning.zone_data import SqliteZoneData
from tickbird.store.sqlite.rows import dump, to_schedule
from tickbird.store.sqlite.runs import reserve_ids


class SqliteWorkerTicks(NounStore, WorkerTickStore):
    def __init__(self, database: Database, zone_data: SqliteZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data

    async def read(
        self, namespace: str, app: str | None, known: Mapping[int, int], *, now: datetime | None = None
    ) -> WorkerSchedules:
        zones = (await self._zone_data.cached()).generation
        bounds = {"namespace": namespace, "app": app, "zones": zones, **readable_bounds()}
        return await self._db.read(lambda db: _read(db, known, bounds, read_clock(now)))

    async def write(
        self, ticks: Sequence[WorkerTick], *, fallback: bool = False, now: datetime | None = None
    ) -> WrittenTicks:
        written = await self._db.write(lambda db: self._write(db, ticks, fallback, read_clock(now)))
        if written.runs:
            self._db.signal()
        return written

    async def restore(self, schedules: Sequence[Schedule], actor: str, *, now: datetime | None = None) -> Sequence[str]:
        def work(db: Session) -> list[str]:
            missing = dict(
                db.execute(SQL["missing_schedules"], {"ids": dump([item.id for item in schedules])}).fetchall()
            )
            restored = [schedule for schedule in schedules if schedule.id in missing]
            for schedule in restored:
                _restore(db, schedule, actor, read_clock(now), without_row=bool(missing[schedule.id]))
            if restored:
                db.execute(SQL["wake_others"])
            return [schedule.name for schedule in restored]

        names = await self._db.write(work)
        if names:
            self._db.signal()
        return names

    def _write(self, db: Session, ticks: Sequence[WorkerTick], fallback: bool, now: datetime) -> WrittenTicks:
        stale: set[int] = set()
        if fallback:
            for schedule, _ in ticks:
                assert schedule.definition is not None
                # A claim of this process finds the revision here, if the tables are missing.
                info = RevisionInfo(schedule.namespace, schedule.name, schedule.definition)
                self._db.revisions.add((schedule.id, schedule.revision), info)
        else:
            read = {tick.schedule.id: tick.schedule.revision for tick in ticks}
            in_force = set(db.execute(SQL["in_force"], {"ids": dump(list(read))}).fetchall())
            stale = {key[0] for key in read.items() if key not in in_force}
        rows = [row for row in to_rows(ticks, fallback=fallback) if row.schedule_id not in stale]
        runs = 0
        for run_id, row in zip(reserve_ids(db, "run_id", len(rows)), rows, strict=True):
            values = {**row._asdict(), "id": run_id, "now": to_micros(now)}
            payload = values.pop("payload")
            if db.execute(SQL["insert_worker_tick"], values).rowcount:
                runs += 1
                if payload is not None:
                    db.execute(SQL["insert_payload"], (run_id, payload))
        if runs:
            db.execute(SQL["wake_others"])
        return WrittenTicks(now, runs, frozenset(stale))


def _read(db: Session, known: Mapping[int, int], bounds: Mapping[str, Any], now: datetime) -> WorkerSchedules:
    read = db.execute(SQL["worker_revisions"], {**bounds, "now": to_micros(now)}).fetchall()
    revisions = {schedule_id: revision for schedule_id, revision, _ in read}
    due = frozenset(schedule_id for schedule_id, _, is_due in read if is_due)
    ids = [schedule_id for schedule_id, revision in revisions.items() if known.get(schedule_id) != revision]
    rows = fetch_named(db, "worker_schedules", {"ids": dump(ids)}) if ids else []
    return WorkerSchedules(now, frozenset(revisions), tuple(to_schedule(row) for row in rows), due)


def _restore(db: Session, schedule: Schedule, actor: str, now: datetime, *, without_row: bool) -> None:
    """Insert the row of a schedule if it is missing, its cursor and its revision."""
    row = restored_row(schedule)
    if without_row:
        db.execute(SQL["restore_id"], row)
        for planned_until, runs_planned in db.execute(SQL["take_orphan_cursor"], row).fetchall():
            row = continue_from(row, planned_until, runs_planned)
        created_at = to_micros(schedule.created_at)
        db.execute(SQL["restore_schedule"], {**row, "created_at": created_at, "now": to_micros(now)})
    db.execute(SQL["restore_cursor"], row)
    db.execute(SQL["restore_progress"], {**row, "now": to_micros(now)})
    db.execute(SQL["restore_revision"], {"id": schedule.id, "actor": actor, "now": to_micros(now)})
