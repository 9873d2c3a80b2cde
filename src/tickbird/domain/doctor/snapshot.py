"""Snapshot of a store: plain facts, which the checks judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tickbird.domain.events.groups import GroupState
from tickbird.domain.leadership import LeaderLease
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.schedule import State
from tickbird.domain.targets.target import Target
from tickbird.domain.time.zone_data import ZoneData
from tickbird.domain.workers import Worker, is_planner

# Maximum of rows that are read per kind; beyond it, texts say "at least".
MAX_COUNT = 1_000
# Failures in a row that make a schedule a problem, for `doctor` and the Now page; fewer are a warning on that page.
FAILING: Final = 3
# Reported by `migrate` if the schema was up to date, and only the table `meta` stated another version.
CORRECTED_VERSION: Final = "meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The schema's version (None: no schema), the oldest compatible code, and the newest version known here."""

    version: int | None
    min_compatible: int
    newest: int
    # Why it cannot be used, if the versions do not show it; and the next step.
    error: str = ""
    fix: str = "tickbird migrate"

    @property
    def is_usable(self) -> bool:
        """Return whether this code can read the tables. If not, `doctor` reads none of them."""
        return not self.error and self.version is not None and self.min_compatible <= self.newest <= self.version


@dataclass(frozen=True, slots=True)
class ZoneDataStatus:
    """The time zone data of this process, and the release and digest of the data that the store uses."""

    here: ZoneData
    version: str | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Parked:
    """A schedule that cannot be planned, and why."""

    name: str
    error: str
    # Why this process ignores it; empty if it does not.
    ignored: str = ""
    # The target kind or the custom trigger that this process lacks.
    missing_plug_in: str = ""


@dataclass(frozen=True, slots=True)
class WaitingRuns:
    """Runs that could start now, by queue and target; `count` covers the first ones only."""

    queue: str
    target: Target
    count: int
    since: datetime


@dataclass(frozen=True, slots=True)
class ScheduledByTarget:
    """Active schedules by queue and target, and the next due time among them."""

    queue: str
    target: Target
    count: int
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class OverdueSchedules:
    """Overdue schedules, since when the oldest is due, and the number of rows that were never planned."""

    count: int = 0
    since: datetime | None = None
    new: int = 0


@dataclass(frozen=True, slots=True)
class UnplannedSchedule:
    """A due schedule that not every worker can plan, and the plug-in or format that it needs."""

    namespace: str
    name: str
    since: datetime
    requirement: str


@dataclass(frozen=True, slots=True)
class ExpiredLeases:
    """Runs with an expired lease that were not rescued."""

    count: int = 0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FailingSchedule:
    """A schedule that fails: the failures among its newest 100 runs since the last success, and the newest error."""

    name: str
    runs: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHealth:
    """A consumer group of the namespace."""

    name: str
    app: str = ""
    # When a worker declared it last; of a scratch group, its original.
    declared_at: datetime | None = None
    state: GroupState = "active"
    # Why it is stopped.
    reason: str = ""
    # When the oldest event that it has not read got its position; None if it has read all.
    oldest_at: datetime | None = None
    # Failed dead letters, at most MAX_COUNT.
    failed: int = 0
    # Partitions that are paused after an error, and one of these errors.
    paused: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventHealth:
    """The event log of the namespace."""

    # When the oldest event without a position was published.
    unstamped_since: datetime | None = None
    # When the oldest event that retention has kept got its position; None if it has removed none.
    kept_since: datetime | None = None
    groups: Sequence[GroupHealth] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Schedules and runs of one namespace; due schedules and expired leases are those of all namespaces."""

    parked: Sequence[Parked] = ()
    # Active schedules that cannot be planned, or that this process ignores.
    refused: Sequence[Parked] = ()
    # Cursors without a schedule, by schedule id. Of all namespaces, because only the schedule has one.
    orphans: Sequence[int] = ()
    # Names of schedules without a cursor, which only plain SQL can have deleted.
    cursorless: Sequence[str] = ()
    waiting: Sequence[WaitingRuns] = ()
    # Queues with a rate limit.
    rates: Mapping[str, RateLimit] = field(default_factory=dict)
    scheduled: Sequence[ScheduledByTarget] = ()
    due: OverdueSchedules = OverdueSchedules()
    # Schedules of all namespaces, oldest first, including schedules that this process ignores.
    unplanned: Sequence[UnplannedSchedule] = ()
    expired: ExpiredLeases = ExpiredLeases()
    # (schedule, calendar): the schedule still uses an earlier version of the calendar.
    old_calendars: Sequence[tuple[str, str]] = ()
    # (active schedule, its dependency, state): why the dependency does not tick; None: it does not exist.
    stuck: Sequence[tuple[str, str, State | None]] = ()
    failing: Sequence[FailingSchedule] = ()
    held_runs: int = 0
    held_schedules: int = 0
    # Runs that wait for the answer whether they had their effect.
    undecided_runs: int = 0
    events: EventHealth = EventHealth()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSession:
    """A database session with an open transaction; durations in seconds."""

    pid: int
    role: str
    program: str
    state: str
    open_for: float
    idle_for: float
    # Does it hold locks on Tickbird's tables?
    locks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStats:
    """Statistics of a table of Tickbird; sizes in bytes."""

    name: str
    live: int
    dead: int
    autovacuum: bool
    vacuumed_at: datetime | None
    size: int
    indexes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresSnapshot:
    """A PostgreSQL server, seen through a connection like that of a worker; None: not visible."""

    version: int
    words: str
    role: str
    database: str
    schema: str
    standby: bool
    # As PostgreSQL reports them: times in milliseconds.
    settings: Mapping[str, str] = field(default_factory=dict)
    # Milliseconds after which a silent connection is closed; None for a Unix socket.
    tcp_user_timeout: int | None = None
    # Whether there is a pooler, and whether a wake-up arrives through it.
    pooled: bool = False
    heard: bool | None = None
    # Tables (or the schema) on which this login lacks a privilege that a worker needs.
    lacking: Sequence[str] = ()
    # Whether the login may see other sessions.
    sees_all: bool = True
    replicas: Sequence[tuple[str, str]] = ()
    # Replication slots without a reader: name, and bytes of WAL that the server retains.
    idle_slots: Sequence[tuple[str, int]] = ()
    sessions: Sequence[DatabaseSession] = ()
    # Prepared transactions: name and age in seconds.
    prepared: Sequence[tuple[str, float]] = ()
    tables: Sequence[TableStats] = ()
    # Indexes that are missing, or that an interrupted build left unusable.
    unbuilt: Sequence[str] = ()
    xid_age: int = 0
    connections: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSnapshot:
    """A SQLite file and its disk; sizes in bytes."""

    path: str
    library: str
    journal_mode: str
    # 0 off, 1 normal, 2 full, 3 extra.
    synchronous: int
    file_system: str
    size: int
    log_size: int
    free: int
    free_pages: int
    pages: int
    page_size: int
    # Result of a quick integrity check: empty if it passed, None if the file is too large for it.
    damage: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSnapshot:
    """The facts about a store; `unseen` has the checks that could not run, with the reason."""

    kind: Literal["postgresql", "sqlite"]
    namespace: str
    now: datetime
    version: str
    schema: SchemaState
    # Capabilities that the store lacks, and what users lose without them.
    missing: Mapping[str, str] = field(default_factory=dict)
    copy_reason: str = ""
    zones: ZoneDataStatus | None = None
    workers: Sequence[Worker] = ()
    # Live workers of all namespaces that plan.
    planners: int = 0
    # Of leader mode; None: no worker has one.
    lease: LeaderLease | None = None
    work: Workload | None = None
    server: PostgresSnapshot | None = None
    file: SqliteSnapshot | None = None
    unseen: Mapping[str, str] = field(default_factory=dict)
    # This machine's clock before and after the store read its own.
    asked_at: datetime | None = None
    answered_at: datetime | None = None


def plans(worker: Worker) -> bool:
    return is_planner(worker) and not worker.draining
