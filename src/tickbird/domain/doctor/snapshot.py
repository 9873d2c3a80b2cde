"""The condition of a store as it was seen: plain facts, which `findings` judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.schedule import State
from tickbird.domain.targets.target import Target
from tickbird.domain.time.zone_data import ZoneData
from tickbird.domain.workers import Worker

# Rows of a kind that are looked at, at most; where there are more, a figure is told as "at least".
MAX_COUNT = 1_000
# Failures in a row that make a schedule a problem, for `doctor` and on the Now page; fewer are a warning on that page.
FAILING: Final = 3
# Reported by `migrate` if the schema was up to date, and only the table `meta` stated another version.
CORRECTED_VERSION: Final = "meta"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """The schema's version (None: there is no schema), what it asks of code, and what this code knows."""

    version: int | None
    min_compatible: int
    newest: int
    # Why it cannot be used, where the numbers alone do not tell; and the next step.
    error: str = ""
    fix: str = "tickbird migrate"

    @property
    def is_usable(self) -> bool:
        """Can this code read its tables? If not, `doctor` looks at none of them."""
        return not self.error and self.version is not None and self.min_compatible <= self.newest <= self.version


@dataclass(frozen=True, slots=True)
class ZoneDataStatus:
    """The zone rules of this process, and the release and digest of those that the store goes by."""

    here: ZoneData
    version: str | None
    digest: str | None


@dataclass(frozen=True, slots=True)
class Parked:
    """A schedule that cannot be planned, and why."""

    name: str
    error: str
    # Why this process leaves it to others; empty if it does not.
    left_alone: str = ""


@dataclass(frozen=True, slots=True)
class WaitingRuns:
    """Runs that could start now, by queue and target; `count` is of those in front."""

    queue: str
    target: Target
    count: int
    since: datetime


@dataclass(frozen=True, slots=True)
class ScheduledByTarget:
    """Active schedules by queue and target, and when the first of them is next due."""

    queue: str
    target: Target
    count: int
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class OverdueSchedules:
    """Schedules that are due and not planned, since when the oldest is; and rows that no planner has looked at yet."""

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
    """Runs whose lease is over and that nobody has taken over."""

    count: int = 0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FailingSchedule:
    """A schedule that fails: how many of its newest hundred runs failed since one succeeded, and the newest error."""

    name: str
    runs: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Schedules and runs of one namespace; what is due and whose lease is over in all of them."""

    parked: Sequence[Parked] = ()
    # Active schedules that cannot be planned, or are left alone.
    refused: Sequence[Parked] = ()
    # Cursors without a schedule, by its id; of all namespaces, since only the schedule has one.
    orphans: Sequence[int] = ()
    # Names of schedules without a cursor, which only plain SQL can have deleted.
    cursorless: Sequence[str] = ()
    waiting: Sequence[WaitingRuns] = ()
    # The rates of queues that have one.
    rates: Mapping[str, RateLimit] = field(default_factory=dict)
    scheduled: Sequence[ScheduledByTarget] = ()
    due: OverdueSchedules = OverdueSchedules()
    # Of all namespaces, the oldest first; also those that this process leaves alone.
    unplanned: Sequence[UnplannedSchedule] = ()
    expired: ExpiredLeases = ExpiredLeases()
    # Schedule and calendar: the schedule still has what the calendar said before.
    old_calendars: Sequence[tuple[str, str]] = ()
    # An active schedule, one that it depends on, and why that does not tick: its state; None: it does not exist.
    stuck: Sequence[tuple[str, str, State | None]] = ()
    failing: Sequence[FailingSchedule] = ()
    held_runs: int = 0
    held_schedules: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseSession:
    """A session of the database that has a transaction open; lengths of time in seconds."""

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
    """A table of Tickbird as the statistics have it; sizes in bytes."""

    name: str
    live: int
    dead: int
    autovacuum: bool
    vacuumed_at: datetime | None
    size: int
    indexes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresSnapshot:
    """A PostgreSQL server, seen through a connection such as every worker makes; None: it could not be seen."""

    version: int
    words: str
    role: str
    database: str
    schema: str
    standby: bool
    # As PostgreSQL writes them: times in milliseconds.
    settings: Mapping[str, str] = field(default_factory=dict)
    # Milliseconds after which a silent network ends a connection; None through a socket of this machine.
    tcp_user_timeout: int | None = None
    # Is something between us and the server, and does a wake-up come through it?
    pooled: bool = False
    heard: bool | None = None
    # Tables, or the schema itself, on which this login lacks a right that a worker needs.
    lacking: Sequence[str] = ()
    # May it see what other sessions do?
    sees_all: bool = True
    replicas: Sequence[tuple[str, str]] = ()
    # Replication slots that nobody reads: the name, and how many bytes of log the server keeps for it.
    idle_slots: Sequence[tuple[str, int]] = ()
    sessions: Sequence[DatabaseSession] = ()
    # Prepared transactions: the name, and for how many seconds.
    prepared: Sequence[tuple[str, float]] = ()
    tables: Sequence[TableStats] = ()
    # Indexes that are missing, or that an interrupted build left unusable.
    unbuilt: Sequence[str] = ()
    xid_age: int = 0
    connections: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteSnapshot:
    """A SQLite file and the disk that it is on; sizes in bytes."""

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
    # What a quick look through its pages found; empty when nothing, None when it is too large for that.
    damage: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSnapshot:
    """Everything that was seen of a store; what could not be looked at is in `unseen`, by check, with the reason."""

    kind: Literal["postgresql", "sqlite"]
    namespace: str
    now: datetime
    version: str
    schema: SchemaState
    # Capabilities that the store lacks, and what users lose without each.
    missing: Mapping[str, str] = field(default_factory=dict)
    copy_reason: str = ""
    zones: ZoneDataStatus | None = None
    workers: Sequence[Worker] = ()
    # Live workers of all namespaces that plan.
    planners: int = 0
    work: Workload | None = None
    server: PostgresSnapshot | None = None
    file: SqliteSnapshot | None = None
    unseen: Mapping[str, str] = field(default_factory=dict)
    # This machine's clock before and after the store's was read.
    asked_at: datetime | None = None
    answered_at: datetime | None = None


def plans(worker: Worker) -> bool:
    """Does a live worker plan?"""
    return worker.kind in ("worker", "planner") and not worker.draining
