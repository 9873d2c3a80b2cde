"""The checks of `doctor` on a PostgreSQL server, through a connection like a worker's."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from tickbird.domain.doctor.snapshot import (
    FAILING,
    MAX_COUNT,
    DatabaseSession,
    EventHealth,
    ExpiredLeases,
    FailingSchedule,
    GroupHealth,
    OverdueSchedules,
    Parked,
    PostgresSnapshot,
    SchemaState,
    StoreSnapshot,
    TableStats,
    Workload,
    ZoneDataStatus,
)
from tickbird.domain.errors import SchemaError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.codec import ignored_reason, missing_plug_in
from tickbird.domain.time.zone_data import zone_source
from tickbird.store.postgres.database.connection import Connection, Connections, Session
from tickbird.store.postgres.database.errors import translate
from tickbird.store.postgres.database.identity import read_database
from tickbird.store.postgres.database.schema import MIGRATIONS, missing_indexes
from tickbird.store.postgres.leadership import to_lease
from tickbird.store.postgres.rows import texts, to_waiting_runs
from tickbird.store.postgres.workers import to_worker
from tickbird.store.shared.identity import compare, same_database
from tickbird.store.shared.migrations import check_schema_generation, read_version, unusable_schema
from tickbird.store.shared.stored_definitions import readable_bounds, scheduled_targets, unplanned_schedules
from tickbird.version import VERSION

T = TypeVar("T")
_SETTINGS: Final = (
    "autovacuum",
    "fsync",
    "full_page_writes",
    "idle_in_transaction_session_timeout",
    "lock_timeout",
    "max_connections",
    "statement_timeout",
    "synchronous_commit",
    "synchronous_standby_names",
    "track_counts",
)
# Seconds after which a wake-up counts as lost.
_NOTIFY_TIMEOUT: Final = 2.0


@dataclass
class _Inspector:
    """Runs one query at a time: a failed one is recorded for its check, and the others continue."""

    connection: Connection
    db: Session
    location: str
    unseen: dict[str, str] = field(default_factory=dict)

    async def rows(self, check: str, name: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self._fetch(check, lambda: self.db.fetch(name, **values))

    async def named(self, check: str, name: str, **values: Any) -> list[dict[str, Any]]:
        return await self._fetch(check, lambda: self.db.fetch_named(name, **values))

    async def _fetch(self, check: str, query: Callable[[], Awaitable[list[T]]]) -> list[T]:
        try:
            async with self.connection.transaction():
                await self.db.execute("relax_planner")
                return await query()
        except psycopg.Error as error:
            self.note(check, error)
            return []

    def note(self, check: str, error: psycopg.Error) -> None:
        """Record that a check could not be read; a lost connection ends the inspection."""
        if self.connection.closed:
            raise translate(error, self.location) from None
        message = " ".join((error.diag.message_primary or str(error)).split()).rstrip(".")
        self.unseen.setdefault(check, f"It could not be read: {message}.")


async def examine(
    connections: Connections, listening: Connections, namespace: str, now: datetime | None
) -> StoreSnapshot:
    """Inspect the server, the schema, workers, schedules and runs."""
    async with connections.dedicated() as connection:
        inspector = _Inspector(connection, Session(connection, connections.schema), connections.display_name)
        requested_at = datetime.now(UTC)
        [(clock_at,)] = await inspector.rows("clock", "clock", now=now) or [(requested_at,)]
        responded_at = datetime.now(UTC)
        # First, because nothing else can be read if the schema does not fit.
        schema = await _schema(inspector)
        is_usable = schema.is_usable
        server = await _server(inspector, connections)
        if server is not None and not server.standby:
            server = replace(server, heard=await _receives_notifications(connections, listening))
        if server is not None and is_usable:
            server = replace(server, unbuilt=await _unbuilt(inspector))
        bounds = {"namespace": namespace, "now": now}
        workers = await inspector.named("workers", "list_workers", **bounds) if is_usable else []
        leases = await inspector.named("leader", "read_lease", now=now) if is_usable else []
        planners = await inspector.rows("planning", "examine_planners", now=now) if is_usable else []
        return StoreSnapshot(
            kind="postgresql",
            namespace=namespace,
            now=clock_at,
            version=VERSION,
            schema=schema,
            copy_reason=await _copied(inspector) if is_usable else "",
            zones=await _zones(inspector) if is_usable else None,
            workers=[to_worker(row) for row in workers],
            planners=planners[0][0] if planners else 0,
            lease=to_lease(leases[0]) if leases else None,
            work=await _work(inspector, {**bounds, "limit": MAX_COUNT, **readable_bounds()}) if is_usable else None,
            server=server,
            unseen=inspector.unseen,
            asked_at=requested_at,
            answered_at=responded_at,
        )


async def _server(inspector: _Inspector, connections: Connections) -> PostgresSnapshot | None:
    rows = await inspector.named("server", "examine_server")
    if not rows:
        return None
    [row] = rows
    info = inspector.connection.info
    timeout = str(conninfo_to_dict(connections.conninfo).get("tcp_user_timeout") or "0")
    local = info.host.startswith(("/", "@"))
    return PostgresSnapshot(
        **row,
        schema=connections.schema,
        settings=dict(await inspector.rows("time-outs", "examine_settings", names=texts(_SETTINGS))),
        tcp_user_timeout=None if local else int(timeout) if timeout.isdigit() else 0,
        pooled=bool(connections.is_pooled),
        lacking=[name for (name,) in await inspector.rows("rights", "examine_rights")],
        replicas=[(name, state) for name, state in await inspector.rows("replication", "examine_replicas")],
        idle_slots=[(name, size) for name, size in await inspector.rows("replication", "examine_slots")],
        sessions=[DatabaseSession(**row) for row in await inspector.named("snapshots", "examine_sessions")],
        prepared=[(name, seconds) for name, seconds in await inspector.rows("snapshots", "examine_prepared")],
        tables=[TableStats(**row) for row in await inspector.named("vacuum", "examine_tables")],
    )


async def _receives_notifications(connections: Connections, listening: Connections) -> bool:
    """True if a wake-up that is sent on one connection arrives on another."""
    text = secrets.token_hex(8)
    async with listening.dedicated() as listener, connections.dedicated() as mouth:
        await listener.execute(Session(listener).statements["listen_probe"])
        await Session(mouth).fetch("send_probe", text=text)
        async for notification in listener.notifies(timeout=_NOTIFY_TIMEOUT):
            if notification.payload == text:
                return True
    return False


async def _schema(inspector: _Inspector) -> SchemaState:
    newest = len(MIGRATIONS)
    try:
        meta = dict(await inspector.db.fetch("read_meta"))
        check_schema_generation(meta)
        version, min_compatible = read_version(meta)
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return SchemaState(version=None, min_compatible=0, newest=newest)
    except SchemaError as error:
        return unusable_schema(error, newest)
    except errors.InsufficientPrivilege as error:
        inspector.unseen["schema"] = f"It could not be read: {error.diag.message_primary}."
        return SchemaState(version=None, min_compatible=0, newest=newest)
    return SchemaState(version=version, min_compatible=min_compatible, newest=newest)


async def _copied(inspector: _Inspector) -> str:
    stored = await inspector.rows("copy", "read_identity")
    try:
        location = await read_database(inspector.db)
    except psycopg.Error as error:
        inspector.note("copy", error)
        return ""
    return compare(location, stored[0][0] if stored else None, same_database).copy_reason


async def _unbuilt(inspector: _Inspector) -> Sequence[str]:
    try:
        return list(await missing_indexes(inspector.db))
    except psycopg.Error as error:
        inspector.note("indexes", error)
        return ()


async def _zones(inspector: _Inspector) -> ZoneDataStatus:
    rows = await inspector.named("time zone data", "list_zone_data", limit=1)
    stored = rows[0] if rows else {}
    return ZoneDataStatus(zone_source().data, stored.get("version"), stored.get("digest"))


async def _events(inspector: _Inspector, bounds: dict[str, Any]) -> EventHealth:
    [(unstamped_since, kept_since)] = await inspector.rows("event log", "examine_events", **bounds) or [(None, None)]
    groups = await inspector.named("consumers", "examine_groups", **bounds)
    return EventHealth(
        unstamped_since=unstamped_since, kept_since=kept_since, groups=[GroupHealth(**row) for row in groups]
    )


async def _work(inspector: _Inspector, bounds: dict[str, Any]) -> Workload:
    async def rows(check: str, name: str, **more: Any) -> list[tuple[Any, ...]]:
        return await inspector.rows(check, name, **bounds, **more)

    held = await rows("held", "examine_held") or [(0, 0)]
    undecided = await rows("undecided", "examine_undecided") or [(0,)]
    rates = await rows("queues", "stored_rates", queue=None)
    return Workload(
        parked=[Parked(*row) for row in await rows("parked", "examine_parked")],
        refused=[
            Parked(name, error, ignored_reason(part), missing_plug_in(part))
            for name, error, part in await rows("parked", "examine_refused")
        ],
        orphans=[schedule_id for (schedule_id,) in await rows("cursors", "examine_orphans")],
        cursorless=[name for (name,) in await rows("cursors", "examine_cursorless")],
        waiting=[to_waiting_runs(row) for row in await rows("queues", "examine_waiting")],
        rates={queue: RateLimit(count, seconds) for queue, count, seconds, _ in rates},
        scheduled=scheduled_targets(await rows("queues", "examine_scheduled")),
        due=OverdueSchedules(*(await rows("planning", "examine_due") or [()])[0]),
        unplanned=unplanned_schedules(await rows("planning", "examine_unplanned")),
        expired=ExpiredLeases(*(await rows("leases", "examine_expired") or [()])[0]),
        old_calendars=[(schedule, calendar) for schedule, calendar in await rows("calendars", "examine_calendars")],
        stuck=[(name, needed, state) for name, needed, state in await rows("dependencies", "examine_dependencies")],
        failing=[FailingSchedule(*row) for row in await rows("failing", "examine_failing", streak=FAILING)],
        held_runs=held[0][0],
        held_schedules=held[0][1],
        undecided_runs=undecided[0][0],
        events=await _events(inspector, bounds),
    )
