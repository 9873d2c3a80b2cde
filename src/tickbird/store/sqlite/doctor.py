"""The checks of `doctor` on a SQLite file and its folder."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tickbird.domain.doctor.snapshot import (
    FAILING,
    MAX_COUNT,
    EventHealth,
    ExpiredLeases,
    FailingSchedule,
    GroupHealth,
    OverdueSchedules,
    Parked,
    SchemaState,
    SqliteSnapshot,
    StoreSnapshot,
    Workload,
    ZoneDataStatus,
)
from tickbird.domain.errors import SchemaError, StoreError, StoreUnavailableError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.codec import ignored_reason, missing_plug_in
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.time.zone_data import zone_source
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.shared.migrations import check_schema_generation, read_version, unusable_schema
from tickbird.store.shared.stored_definitions import readable_bounds, scheduled_targets, unplanned_schedules
from tickbird.store.sqlite.database.connection import explain
from tickbird.store.sqlite.database.identity import read_database, read_identity
from tickbird.store.sqlite.database.schema import MIGRATIONS, meta_of
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import read
from tickbird.store.sqlite.database.url import MEMORY
from tickbird.store.sqlite.leadership import read_lease
from tickbird.store.sqlite.planning.zone_data import read_records
from tickbird.store.sqlite.runs import waiting_runs
from tickbird.store.sqlite.workers import live_workers
from tickbird.version import VERSION

# Bytes; checking the pages of a larger file takes too long.
_MAX_CHECKED_SIZE: Final = 200 * 10**6
_MOUNTS: Final = Path("/proc/self/mounts")


def examine(db: sqlite3.Connection, path: str, namespace: str, now: datetime) -> StoreSnapshot:
    """Inspect the file, the schema, workers, schedules and runs."""
    file = _file(db, path)
    snapshot = StoreSnapshot(
        kind="sqlite",
        namespace=namespace,
        now=now,
        version=VERSION,
        schema=SchemaState(version=None, min_compatible=0, newest=len(MIGRATIONS)),
        file=file,
        unseen={"schema": "It could not be read: the file is damaged."} if file.damage else {},
    )
    if file.damage:
        return snapshot
    snapshot = replace(snapshot, schema=_schema(db))
    if not snapshot.schema.is_usable:
        return snapshot
    bounds = {"namespace": namespace, "now": to_micros(now), "limit": MAX_COUNT, **readable_bounds()}

    def inspect() -> StoreSnapshot:
        stored = read_records(db, 1)
        return replace(
            snapshot,
            copy_reason=read_identity(db, read_database(path)).copy_reason,
            zones=ZoneDataStatus(
                zone_source().data, stored[0].version if stored else None, stored[0].digest if stored else None
            ),
            workers=live_workers(db, namespace, now),
            planners=db.execute(SQL["examine_planners"], bounds).fetchone()[0],
            lease=read_lease(db),
            work=_work(db, bounds),
        )

    return read(db, inspect)


def examine_refused(error: SchemaError, namespace: str, now: datetime) -> StoreSnapshot:
    """The result for a file that was not opened, because its schema is of another generation."""
    schema = unusable_schema(error, len(MIGRATIONS))
    return StoreSnapshot(kind="sqlite", namespace=namespace, now=now, version=VERSION, schema=schema)


def must_exist(path: str) -> None:
    """Raise StoreError if the file does not exist, because an inspection must not create it."""
    if path != MEMORY and not Path(path).exists():
        raise StoreError(f"there is no database file {path}.", hint="Create it with `tickbird migrate`.")


def _schema(db: sqlite3.Connection) -> SchemaState:
    newest = len(MIGRATIONS)
    try:
        meta = read(db, lambda: meta_of(db) or {})
        check_schema_generation(meta)
        version, min_compatible = read_version(meta)
    except SchemaError as error:
        return unusable_schema(error, newest)
    return SchemaState(version=version, min_compatible=min_compatible, newest=newest)


def _work(db: sqlite3.Connection, bounds: dict[str, Any]) -> Workload:
    def rows(name: str, **more: Any) -> list[tuple[Any, ...]]:
        return db.execute(SQL[name], {**bounds, **more}).fetchall()

    [(due, due_since)], [(new,)] = rows("examine_due"), rows("examine_new")
    [(expired, expired_since)], [(held, held_of)] = rows("examine_expired"), rows("examine_held")
    failing = []
    for schedule_id, name in rows("examine_failing"):
        newest = rows("examine_newest", schedule_id=schedule_id)
        failures = next((index for index, row in enumerate(newest) if row[0] == "succeeded"), len(newest))
        if failures >= FAILING:
            failing.append(FailingSchedule(name, failures, newest[0][1]))
    return Workload(
        parked=[Parked(*row) for row in rows("examine_parked")],
        refused=[
            Parked(name, error, ignored_reason(part), missing_plug_in(part))
            for name, error, part in (
                (name, error, as_object(decode(text))) for name, error, text in rows("examine_refused")
            )
        ],
        orphans=[schedule_id for (schedule_id,) in rows("examine_orphans")],
        cursorless=[name for (name,) in rows("examine_cursorless")],
        waiting=waiting_runs(db, bounds),
        rates={queue: RateLimit(count, seconds) for queue, count, seconds, _ in rows("stored_rates", queue=None)},
        scheduled=scheduled_targets(
            (queue, decode(target), count, from_micros(next_at))
            for queue, target, count, next_at in rows("examine_scheduled")
        ),
        due=OverdueSchedules(due, from_micros(due_since), new),
        unplanned=unplanned_schedules(
            (namespace, name, from_micros(since), as_object(decode(part)))
            for namespace, name, since, part in rows("examine_unplanned")
        ),
        expired=ExpiredLeases(expired, from_micros(expired_since)),
        old_calendars=[(schedule, calendar) for schedule, calendar in rows("examine_calendars")],
        stuck=[(name, needed, state) for name, needed, state in rows("examine_dependencies")],
        failing=failing,
        held_runs=held,
        held_schedules=held_of,
        undecided_runs=rows("examine_undecided")[0][0],
        events=EventHealth(
            kept_since=next((from_micros(at) for (at,) in rows("examine_events")), None),
            groups=[
                GroupHealth(
                    name=name,
                    app=app,
                    declared_at=from_micros(declared_at),
                    state=state,
                    reason=reason,
                    oldest_at=from_micros(oldest_at),
                    failed=failed,
                    paused=paused,
                    error=error,
                )
                for name, app, declared_at, state, reason, oldest_at, failed, paused, error in rows("examine_groups")
            ],
        ),
    )


def _file(db: sqlite3.Connection, path: str) -> SqliteSnapshot:
    library, journal_mode, synchronous, free_pages, pages, page_size = db.execute(SQL["examine_file"]).fetchone()
    pragmas = {"library": library, "journal_mode": journal_mode, "synchronous": synchronous}
    pragmas |= {"free_pages": free_pages, "pages": pages, "page_size": page_size}
    if path == MEMORY:
        return SqliteSnapshot(path=path, file_system="", size=0, log_size=0, free=0, **pragmas)
    real = Path(path).resolve()
    log = real.with_name(f"{real.name}-wal")
    try:
        size, state = real.stat().st_size, os.statvfs(real.parent)
    except OSError as error:
        # The connection still has the file that was moved or deleted.
        raise StoreUnavailableError(
            f"the database {path} does not exist any more: {error.strerror}.", hint="Restore the file, then restart."
        ) from None
    return SqliteSnapshot(
        path=path,
        file_system=file_system(real),
        size=size,
        log_size=log.stat().st_size if log.exists() else 0,
        free=state.f_bavail * state.f_frsize,
        damage=_damage(db, path) if size <= _MAX_CHECKED_SIZE else None,
        **pragmas,
    )


def _damage(db: sqlite3.Connection, path: str) -> str:
    try:
        result = db.execute(SQL["examine_pages"]).fetchone()[0]
    except sqlite3.DatabaseError as error:
        return str(explain(error, path))
    return "" if result == "ok" else " ".join(str(result).split())


def file_system(path: Path, mounts: Path = _MOUNTS) -> str:
    """The type of the file system of a path; empty if the system does not report it."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    file_system_type, longest = "", -1
    for line in lines:
        _, mount_point, kind, *_ = line.split()
        folder = mount_point.replace("\\040", " ").replace("\\011", "\t")
        # Of two mounts at the same path, the later one covers the other.
        if path.is_relative_to(folder) and len(folder) >= longest:
            file_system_type, longest = kind, len(folder)
    return file_system_type
