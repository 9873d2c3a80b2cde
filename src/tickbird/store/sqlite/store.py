"""The store on SQLite: one writer, one reader, its schema and its nouns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial

from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.errors import SchemaError
from tickbird.store.protocol.store import Store
from tickbird.store.shared.migrations import read_version
from tickbird.store.shared.zone_data import PlanningSwitch
from tickbird.store.sqlite import doctor
from tickbird.store.sqlite.activity import SqliteActivity
from tickbird.store.sqlite.bulk_changes import SqliteBulkChanges
from tickbird.store.sqlite.calendars import SqliteCalendars
from tickbird.store.sqlite.consumers import SqliteConsumers
from tickbird.store.sqlite.dashboard import SqliteDashboard
from tickbird.store.sqlite.database import schema
from tickbird.store.sqlite.database.connection import Connection, has_content
from tickbird.store.sqlite.database.database import Database
from tickbird.store.sqlite.database.identity import SqliteIdentity
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.repair import repair
from tickbird.store.sqlite.database.url import MEMORY, read_url
from tickbird.store.sqlite.dead_letters import SqliteDeadLetters
from tickbird.store.sqlite.events import SqliteEvents
from tickbird.store.sqlite.http_responses import SqliteHttpResponses
from tickbird.store.sqlite.leadership import SqliteLeadership
from tickbird.store.sqlite.leases import SqliteLeases
from tickbird.store.sqlite.ledger import SqliteLedger
from tickbird.store.sqlite.logs import SqliteLogs
from tickbird.store.sqlite.pings import SqlitePings
from tickbird.store.sqlite.planning.backfills import SqliteBackfills
from tickbird.store.sqlite.planning.concurrency import SqliteLimits
from tickbird.store.sqlite.planning.held import SqliteHeld
from tickbird.store.sqlite.planning.lost_runs import SqliteLostRuns
from tickbird.store.sqlite.planning.planner import SqlitePlanning
from tickbird.store.sqlite.planning.worker_ticks import SqliteWorkerTicks
from tickbird.store.sqlite.planning.zone_data import SqliteZoneData
from tickbird.store.sqlite.queues import SqliteQueues
from tickbird.store.sqlite.runs import SqliteRuns
from tickbird.store.sqlite.schedules import SqliteSchedules
from tickbird.store.sqlite.sessions import SqliteSessions
from tickbird.store.sqlite.statistics import SqliteStatistics
from tickbird.store.sqlite.tokens import SqliteTokens
from tickbird.store.sqlite.workers import SqliteWorkers


class SqliteStore(Store):
    """A store in a file, or in memory if the path is `:memory:`."""

    planners = 1

    def __init__(self, path_or_url: str) -> None:
        """Accepts a path, or a URL: `sqlite:///tickbird.db` (relative), `sqlite:////var/lib/tickbird.db`.

        With `?shared=1` at its end, the file may have tables of another program too.
        """
        self._location = read_url(path_or_url)
        self.path = self._location.path
        self._writer = Connection(self._location, "tickbird-write")
        self._reader = self._writer if self.path == MEMORY else Connection(self._location, "tickbird-read")
        self._database = database = Database(self._writer, self._reader)
        identity, zone_data = SqliteIdentity(database, self.path), SqliteZoneData(database)
        self._switch = switch = PlanningSwitch(identity.cached, partial(zone_data.cached, adopt=False))
        dashboard = SqliteDashboard(database)
        self.activity = SqliteActivity(database)
        self.backfills = SqliteBackfills(database, switch)
        self.bulk_changes = SqliteBulkChanges(database, switch)
        self.calendars = SqliteCalendars(database)
        self.consumers = SqliteConsumers(database)
        self.dashboard = dashboard
        self.dead_letters = SqliteDeadLetters(database)
        self.events = SqliteEvents(database)
        self.held = SqliteHeld(database)
        self.http_responses = SqliteHttpResponses(database)
        self.identity = identity
        leader = self._writer if self.path == MEMORY else Connection(self._location, "tickbird-leader")
        self.leadership = self._leadership = SqliteLeadership(database, leader)
        self.leases = SqliteLeases(database)
        self.ledger = SqliteLedger(database)
        self.limits = SqliteLimits(database)
        self.logs = SqliteLogs(database)
        self.lost_runs = SqliteLostRuns(database)
        self.pings = SqlitePings(database)
        self.planning = SqlitePlanning(database, zone_data)
        self.queues = SqliteQueues(database)
        self.runs = SqliteRuns(database)
        self.schedules = SqliteSchedules(database, switch, dashboard)
        self.sessions = SqliteSessions(database)
        self.statistics = SqliteStatistics(database)
        self.tokens = SqliteTokens(database)
        self.worker_ticks = SqliteWorkerTicks(database, zone_data)
        self.workers = SqliteWorkers(database, identity)
        self.zone_data = zone_data

    @property
    def plans(self) -> bool:
        return self._switch.is_on

    @plans.setter
    def plans(self, is_on: bool) -> None:
        self._switch.is_on = is_on

    @property
    def url(self) -> str:
        return "sqlite://" if self.path == MEMORY else f"sqlite:///{self.path}"

    async def open(self) -> None:
        """Connect; create or migrate the schema if it is older than this code."""
        try:
            await self._writer.open()
            await self._writer.run(schema.prepare)
            await self._reader.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._leadership.close()
        if self._reader is not self._writer:
            await self._reader.close()
        await self._writer.close()

    async def migrate(self) -> Sequence[str]:
        opened_here = not self._writer.is_open
        await self._writer.open()
        try:
            return await self._writer.run(schema.migrate)
        finally:
            # A database in memory ends with its connection.
            if opened_here and self.path != MEMORY:
                await self._writer.close()

    async def repair(self) -> Sequence[str]:
        opened_here = not self._writer.is_open
        await self._writer.open()
        try:
            return await self._writer.run(repair)
        finally:
            if opened_here and self.path != MEMORY:
                await self._writer.close()

    async def check_schema(self) -> None:
        if not has_content(self.path):
            return
        connection = Connection(self._location, "tickbird-check")
        await connection.open()
        try:
            await connection.run(schema.check_migratable)
        finally:
            await connection.close()

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        at = read_clock(now)
        if self._reader.is_open:
            return await self._reader.run(lambda db: doctor.examine(db, self.path, namespace, at))
        doctor.must_exist(self.path)
        connection = Connection(self._location, "tickbird-doctor")
        try:
            await connection.open()
        except SchemaError as error:
            return doctor.examine_refused(error, namespace, at)
        try:
            return await connection.run(lambda db: doctor.examine(db, self.path, namespace, at))
        finally:
            await connection.close()

    async def now(self) -> datetime:
        return read_clock()

    async def schema_version(self) -> int | None:
        return await self._database.read(lambda db: read_version(schema.meta_of(db) or {})[0])

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        return self._database.wakeups()
