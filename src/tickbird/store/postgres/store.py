"""The store on PostgreSQL: its connections, its schema and its nouns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from functools import partial

from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.store.postgres import doctor
from tickbird.store.postgres.activity import PostgresActivity
from tickbird.store.postgres.bulk_changes import PostgresBulkChanges
from tickbird.store.postgres.calendars import PostgresCalendars
from tickbird.store.postgres.consumers import PostgresConsumers
from tickbird.store.postgres.dashboard import PostgresDashboard
from tickbird.store.postgres.database import notifications, schema
from tickbird.store.postgres.database.connection import Connections
from tickbird.store.postgres.database.database import Database
from tickbird.store.postgres.database.identity import PostgresIdentity
from tickbird.store.postgres.database.repair import repair
from tickbird.store.postgres.dead_letters import PostgresDeadLetters
from tickbird.store.postgres.events import PostgresEvents
from tickbird.store.postgres.http_responses import PostgresHttpResponses
from tickbird.store.postgres.leadership import PostgresLeadership
from tickbird.store.postgres.leases import PostgresLeases
from tickbird.store.postgres.ledger import PostgresLedger
from tickbird.store.postgres.logs import PostgresLogs
from tickbird.store.postgres.pings import PostgresPings
from tickbird.store.postgres.planning.backfills import PostgresBackfills
from tickbird.store.postgres.planning.concurrency import PostgresLimits
from tickbird.store.postgres.planning.held import PostgresHeld
from tickbird.store.postgres.planning.lost_runs import PostgresLostRuns
from tickbird.store.postgres.planning.planner import PostgresPlanning
from tickbird.store.postgres.planning.worker_ticks import PostgresWorkerTicks
from tickbird.store.postgres.planning.zone_data import PostgresZoneData
from tickbird.store.postgres.queues import PostgresQueues
from tickbird.store.postgres.runs import PostgresRuns
from tickbird.store.postgres.schedules import PostgresSchedules
from tickbird.store.postgres.sessions import PostgresSessions
from tickbird.store.postgres.sql_functions import PostgresSqlFunctions
from tickbird.store.postgres.statistics import PostgresStatistics
from tickbird.store.postgres.tokens import PostgresTokens
from tickbird.store.postgres.workers import PostgresWorkers
from tickbird.store.protocol.store import Store
from tickbird.store.shared.migrations import read_version
from tickbird.store.shared.zone_data import PlanningSwitch


class PostgresStore(Store):
    """Tickbird's tables in the schema `tickbird` of a PostgreSQL database, or in another one with `?schema=`.

    `listen_url` is for servers with a transaction pooler, which does not support LISTEN. `within` is the statement
    timeout in seconds (default: the time that planning needs).
    """

    planners = 2

    def __init__(
        self, url: str, *, listen_url: str | None = None, connections: int = 10, within: float | None = None
    ) -> None:
        self._connections = Connections(url, connections, within)
        self._listening = self._connections if listen_url is None else Connections(listen_url, 1)
        self._database = database = Database(self._connections)
        identity, zone_data = PostgresIdentity(database), PostgresZoneData(database)
        self._switch = switch = PlanningSwitch(identity.cached, partial(zone_data.cached, adopt=False))
        dashboard = PostgresDashboard(database)
        self.activity = PostgresActivity(database)
        self.backfills = PostgresBackfills(database, switch)
        self.bulk_changes = PostgresBulkChanges(database, switch)
        self.calendars = PostgresCalendars(database)
        self.consumers = PostgresConsumers(database)
        self.dashboard = dashboard
        self.dead_letters = PostgresDeadLetters(database)
        self.events = PostgresEvents(database)
        self.held = PostgresHeld(database)
        self.http_responses = PostgresHttpResponses(database)
        self.identity = identity
        self.leadership = self._leadership = PostgresLeadership(database)
        self.leases = PostgresLeases(database)
        self.ledger = PostgresLedger(database)
        self.limits = PostgresLimits(database)
        self.logs = PostgresLogs(database)
        self.lost_runs = PostgresLostRuns(database)
        self.pings = PostgresPings(database)
        self.planning = PostgresPlanning(database, zone_data)
        self.queues = PostgresQueues(database)
        self.runs = PostgresRuns(database)
        self.schedules = PostgresSchedules(database, switch, dashboard)
        self.sessions = PostgresSessions(database)
        self.sql_functions = self._sql_functions = PostgresSqlFunctions(database)
        self.statistics = PostgresStatistics(database)
        self.tokens = PostgresTokens(database)
        self.worker_ticks = PostgresWorkerTicks(database, zone_data)
        self.workers = PostgresWorkers(database, identity)
        self.zone_data = zone_data

    @property
    def plans(self) -> bool:
        return self._switch.is_on

    @plans.setter
    def plans(self, is_on: bool) -> None:
        self._switch.is_on = is_on

    @property
    def url(self) -> str:
        return self._connections.url

    async def open(self) -> None:
        await self.close()
        async with self._connections.dedicated() as connection:
            with self._database.translating():
                await schema.check(connection, self._connections.schema)
        await self._connections.open()

    async def close(self) -> None:
        await self._sql_functions.close()
        await self._leadership.close()
        await self._database.notifier.close()
        await self._connections.close()

    async def migrate(self) -> Sequence[str]:
        name = self._connections.schema
        async with self._connections.dedicated() as connection:
            with self._database.translating():
                applied = await schema.migrate(connection, name)
            async with self._connections.dedicated() as guard:
                with self._database.translating():
                    built = await schema.build_indexes(connection, guard, name)
        return [*applied, *built]

    async def repair(self) -> Sequence[str]:
        async with self._connections.dedicated() as connection:
            with self._database.translating():
                return await repair(connection, self._connections.schema)

    async def check_schema(self) -> None:
        async with self._connections.dedicated() as connection:
            with self._database.translating():
                await schema.check_migratable(connection, self._connections.schema)

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        with self._database.translating():
            return await doctor.examine(self._connections, self._listening, namespace, now)

    async def now(self) -> datetime:
        [(now,)] = await self._database.fetch("clock", now=None)
        return now  # type: ignore[no-any-return]

    async def schema_version(self) -> int | None:
        return read_version(dict(await self._database.fetch("read_meta")))[0]

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        return notifications.listen(self._listening, self._connections.schema)
