"""The protocol of a store: a core that every store has, and capabilities. Each verb is a complete transaction.

Every verb that depends on time takes `now` (default: the store's own clock); tests pass an instant.
Verbs raise StoreUnavailableError if the database cannot be reached or does not respond in time. The transaction may
have committed or not; calling the verb again is safe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.store.protocol.activity import ActivityStore
from tickbird.store.protocol.backfills import BackfillStore
from tickbird.store.protocol.bulk_changes import BulkChangeStore
from tickbird.store.protocol.calendars import CalendarStore
from tickbird.store.protocol.capabilities import CAPABILITIES, capability
from tickbird.store.protocol.concurrency import LimitStore
from tickbird.store.protocol.consumers import ConsumerStore
from tickbird.store.protocol.dashboard import DashboardStore
from tickbird.store.protocol.dead_letters import DeadLetterStore
from tickbird.store.protocol.events import EventStore
from tickbird.store.protocol.held import HeldStore
from tickbird.store.protocol.http_responses import HttpResponseStore
from tickbird.store.protocol.identity import IdentityStore
from tickbird.store.protocol.leadership import LeadershipStore
from tickbird.store.protocol.leases import LeaseStore
from tickbird.store.protocol.ledger import LedgerStore
from tickbird.store.protocol.logs import LogStore
from tickbird.store.protocol.lost_runs import LostRunStore
from tickbird.store.protocol.pings import PingStore
from tickbird.store.protocol.planning import PlanningStore
from tickbird.store.protocol.queues import QueueStore
from tickbird.store.protocol.runs import RunStore
from tickbird.store.protocol.schedules import ScheduleStore
from tickbird.store.protocol.sessions import SessionStore
from tickbird.store.protocol.sql_functions import SqlFunctionStore
from tickbird.store.protocol.statistics import StatisticsStore
from tickbird.store.protocol.tokens import TokenStore
from tickbird.store.protocol.worker_ticks import WorkerTickStore
from tickbird.store.protocol.workers import WorkerStore
from tickbird.store.protocol.zone_data import ZoneDataStore


class Store(Protocol):
    """The only durable component."""

    # The number of batches of due schedules that one process should plan in parallel.
    planners: int
    # May commands of this process plan due ticks before they change a schedule?
    plans: bool

    identity: IdentityStore
    leases: LeaseStore
    ledger: LedgerStore
    logs: LogStore
    planning: PlanningStore
    runs: RunStore
    schedules: ScheduleStore
    worker_ticks: WorkerTickStore
    workers: WorkerStore
    zone_data: ZoneDataStore

    # Capabilities: if a driver does not set one of these, reading it raises UnsupportedError.
    activity: ActivityStore = capability(
        "activity feed", "The activity stream is refused, and pages do not refresh themselves."
    )
    backfills: BackfillStore = capability("backfills", "Past ticks cannot be run later.")
    bulk_changes: BulkChangeStore = capability(
        "bulk changes", "`tickbird apply` is refused; schedules are changed one by one, or in code."
    )
    calendars: CalendarStore = capability(
        "stored calendars",
        "Schedules name only built-in calendars; `exclude` still works.",
        fields=("calendars",),
    )
    consumers: ConsumerStore = capability("consumers", "Events are stored and read, but not delivered to consumers.")
    dashboard: DashboardStore = capability(
        "dashboard queries", "Only the pages Workers, Settings and Doctor are shown, and `--all` is refused."
    )
    dead_letters: DeadLetterStore = capability("dead letters", "Events that consumers cannot handle are not shown.")
    events: EventStore = capability("events", "Nothing is published, and runs of event targets stay queued.")
    held: HeldStore = capability(
        "held runs", "No run waits for an operator after a long outage.", fields=("hold_above",)
    )
    http_responses: HttpResponseStore = capability(
        "stored responses", "Requests with an `Idempotency-Key` are refused, unless they create a run."
    )
    leadership: LeadershipStore = capability(
        "leader mode", 'A worker with `coordination="leader"` does not start; without it, every worker plans.'
    )
    limits: LimitStore = capability(
        "concurrency limits", "Runs of different schedules cannot share slots.", fields=("concurrency_key",)
    )
    lost_runs: LostRunStore = capability(
        "lost runs", "No run waits for the answer whether it had its effect.", fields=("on_crash",)
    )
    pings: PingStore = capability("pings", "A shadow schedule can be compared only with a log of the other scheduler.")
    queues: QueueStore = capability(
        "queue rates", "Queues have no rates, counts or fairness: a burst of one schedule can delay the others."
    )
    sessions: SessionStore = capability(
        "sessions", "Users cannot log in to the dashboard; on localhost `tickbird dev` needs no login."
    )
    sql_functions: SqlFunctionStore = capability(
        "functions in its database", "Runs of SQL functions stay queued; registered statements are executed."
    )
    statistics: StatisticsStore = capability(
        "statistics", "`/metrics`, `tickbird simulate` and the page Now are refused."
    )
    tokens: TokenStore = capability(
        "tokens", "`tickbird server` refuses all requests; on localhost `tickbird dev` needs no token."
    )

    @property
    def capabilities(self) -> frozenset[str]:
        """The names of the capabilities that this store has."""
        return frozenset(CAPABILITIES.keys() & vars(self).keys())

    @property
    def url(self) -> str:
        """The address of the store, without a password."""

    async def open(self) -> None:
        """Connect; raises SchemaError unless the schema fits this code."""

    async def close(self) -> None:
        """Close every connection; no effect if it is not open."""

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date under a lock; returns the names of applied migrations and corrections."""

    async def repair(self) -> Sequence[str]:
        """Create the parts of the schema that are missing, such as dropped tables; returns their names.

        They are empty. Workers in fallback then restore the schedules that they last read.
        """

    async def check_schema(self) -> None:
        """Raise SchemaError if no migration makes the schema fit this code; changes nothing, needs no open store."""

    async def now(self) -> datetime:
        """The store's own clock."""

    async def schema_version(self) -> int | None:
        """The number of the newest migration that was applied; None if none was."""

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Yields when another process may have created work. Wake-ups are coalesced, may be spurious, and may get lost.

        The value is true if a heartbeat is needed: the schema may have changed, or a worker must drain.
        """

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        """Read everything that may need attention; works also if the store is not open, or has no schema."""
