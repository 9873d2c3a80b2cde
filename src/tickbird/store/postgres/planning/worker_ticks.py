"""Ticks that workers compute themselves, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

import psycopg

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.planning.worker_ticks import WorkerSchedules, WorkerTick, WrittenTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore
from tickbird.store.postgres.database.errors import translate, unusable_schedules
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs
from tickbird.store.postgres.planning.zone_data import PostgresZoneData
from tickbird.store.postgres.rows import columns, numbers, to_schedules
from tickbird.store.protocol.worker_ticks import WorkerTickStore
from tickbird.store.shared.planning.worker_ticks import continue_from, restored_row, to_rows
from tickbird.store.shared.stored_definitions import readable_bounds


class PostgresWorkerTicks(NounStore, WorkerTickStore):
    def __init__(self, database: Database, zone_data: PostgresZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data

    async def read(
        self, namespace: str, app: str | None, known: Mapping[int, int], *, now: datetime | None = None
    ) -> WorkerSchedules:
        bounds = {
            "namespace": namespace,
            "app": app,
            "now": now,
            "zones": (await self._zone_data.cached()).generation,
            **readable_bounds(),
        }
        with self._refusing():
            rows = await self._db.connections.statement(lambda db: db.fetch("worker_revisions", **bounds))
        revisions = {row[1]: row[2] for row in rows if row[1] is not None}
        read = WorkerSchedules(rows[0][0], frozenset(revisions), due=frozenset(row[1] for row in rows if row[3]))
        ids = [schedule_id for schedule_id, revision in revisions.items() if known.get(schedule_id) != revision]
        if not ids:
            return read
        schedules = await to_schedules(await self._db.fetch_named("worker_schedules", ids=numbers(ids)))
        return replace(read, changed=tuple(schedules))

    async def write(
        self, ticks: Sequence[WorkerTick], *, fallback: bool = False, now: datetime | None = None
    ) -> WrittenTicks:
        async def work(db: Session) -> WrittenTicks:
            return await self._write(db, ticks, fallback, now)

        with self._refusing():
            written = await self._db.connections.transact(work)
        if written.runs:
            self._db.notifier.notify()
        return written

    async def restore(self, schedules: Sequence[Schedule], actor: str, *, now: datetime | None = None) -> Sequence[str]:
        async def work(db: Session) -> list[str]:
            await db.execute("lock_restore")
            missing = dict(await db.fetch("missing_schedules", ids=numbers(schedule.id for schedule in schedules)))
            restored = [schedule for schedule in schedules if schedule.id in missing]
            for schedule in restored:
                await _restore(db, schedule, actor, now, without_row=missing[schedule.id])
            if restored:
                await db.execute("restore_next_id")
                await db.execute("wake")
            return [schedule.name for schedule in restored]

        with self._refusing():
            return await self._db.connections.transact(work)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Raise errors of the driver as errors of the store."""
        try:
            yield
        except psycopg.Error as error:
            location = self._db.connections.display_name
            raise unusable_schedules(error, location) or translate(error, location) from None

    async def _write(
        self, db: Session, ticks: Sequence[WorkerTick], fallback: bool, now: datetime | None
    ) -> WrittenTicks:
        stale: frozenset[int] = frozenset()
        if fallback:
            for schedule, _ in ticks:
                assert schedule.definition is not None
                # A claim of this process finds the revision here, if the tables are missing.
                info = RevisionInfo(schedule.namespace, schedule.name, schedule.definition)
                self._db.revisions.add((schedule.id, schedule.revision), info)
        else:
            ids = numbers(tick.schedule.id for tick in ticks)
            wanted = numbers(tick.run.scheduled_for for tick in ticks)
            locked = {row[0]: row for row in await db.fetch("lock_worker_ticks", ids=ids, ticks=wanted)}
            read = {tick.schedule.id: tick.schedule.revision for tick in ticks}
            stale = frozenset(
                schedule_id for schedule_id, row in locked.items() if not row[2] or row[1] != read[schedule_id]
            )
            ticks = [tick for tick in ticks if tick.schedule.id in locked and tick.schedule.id not in stale]
        rows = to_rows(ticks, fallback=fallback)
        if not rows:
            [(at,)] = await db.fetch("clock", now=now)
            return WrittenTicks(at, 0, stale)
        if limited := {row.schedule_id for row in rows if row.max_running is not None}:
            await lock_active_runs(db, limited)
        [(at, runs)] = await db.fetch("write_worker_ticks", **columns(rows), now=now)
        return WrittenTicks(at, runs, stale)


async def _restore(db: Session, schedule: Schedule, actor: str, now: datetime | None, *, without_row: bool) -> None:
    """Insert the row of a schedule if it is missing, its cursor and its revision."""
    row = restored_row(schedule)
    if without_row:
        await db.execute("restore_id", id=schedule.id, namespace=schedule.namespace, name=schedule.name)
        for planned_until, runs_planned in await db.fetch("take_orphan_cursor", id=schedule.id):
            row = continue_from(row, planned_until, runs_planned)
        await db.execute("restore_schedule", **row, created_at=schedule.created_at, now=now)
    await db.execute("restore_cursor", **row, now=now)
    await db.execute("restore_revision", id=schedule.id, actor=actor, now=now)
