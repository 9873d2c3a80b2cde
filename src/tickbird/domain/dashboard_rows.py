"""Filters and narrow rows of dashboard pages; every query has a limit."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar, get_args
from uuid import UUID

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.event import MAX_KEY
from tickbird.domain.events.topics import check_patterns
from tickbird.domain.runs.run import ACTIVE, Origin, RunRecord, SkipReason, Status
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.targets.target import Target
from tickbird.domain.text import check_text

T = TypeVar("T")

# A page that is not full yet examines at most this many rows, then returns where to continue.
MAX_EXAMINED: Final = 20_000
# Failing schedules come from this many newest failed runs, plus this many schedules if there are more failures.
MAX_FAILED: Final = 5_000
# Number of schedules that are read first if the filter excludes active ones.
MAX_IDLE: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFilter:
    """Filter of schedules: the fields are combined with AND, and an unset field matches everything.

    `contains` matches names, tags and targets, ignoring case. A schedule is failing if its newest run that succeeded
    or failed has failed. The search covers the newest 5,000 failures and, if there are more, the first 5,000 schedules
    that ever failed. Without `states`, deleted schedules are excluded.
    """

    contains: str = ""
    states: Collection[State] = ()
    tag: str | None = None
    app: str | None = None
    queue: str | None = None
    failing: bool = False

    def __post_init__(self) -> None:
        _check_choices("state", self.states, get_args(State))
        for name in ("contains", "tag", "app", "queue"):
            check_text(getattr(self, name) or "", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter of runs: `since` (inclusive) and `until` (exclusive) compare `due_at`."""

    schedule: str | None = None
    statuses: Collection[Status] = ()
    origin: Origin | None = None
    target: str | None = None
    target_kind: str | None = None
    worker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    # A part of the error, ignoring case.
    error: str = ""
    queue: str | None = None
    # The concurrency key.
    key: str | None = None
    # Only runs that wait for the answer whether they had their effect.
    undecided: bool = False

    def __post_init__(self) -> None:
        _check_choices("status", self.statuses, get_args(Status))
        _check_choices("origin", [self.origin] if self.origin else (), get_args(Origin))
        for name in ("schedule", "target", "target_kind", "worker", "queue", "key", "error"):
            check_text(getattr(self, name) or "", name)

    @property
    def is_going(self) -> bool:
        """Return whether only active runs of all schedules match; these are few."""
        return self.schedule is None and bool(self.statuses) and ACTIVE.issuperset(self.statuses)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Filter of audit entries; `actor` matches any part of the actor, ignoring case."""

    actor: str = ""
    action: str | None = None
    schedule: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("actor", "action", "schedule"):
            check_text(getattr(self, name) or "", name)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Filter of events; an event matches if one of the patterns matches its topic."""

    topics: tuple[str, ...] = ()
    key: str | None = None
    partition: int | None = None

    def __post_init__(self) -> None:
        if self.topics:
            check_patterns(self.topics, "topic")
        check_text(self.key or "", "key", maximum=MAX_KEY)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """A stamped event as a list shows it, without its data."""

    position: int
    id: UUID
    topic: str
    type: str
    key: str | None
    version: int | None
    partition: int
    published_at: datetime
    run_id: int | None
    transaction_id: UUID | None
    ordinal: int
    count: int


def _check_choices(field: str, values: Collection[str], choices: Sequence[str]) -> None:
    for value in values:
        if value not in choices:
            raise InvalidError(f"{field}: {str(value)[:60]!r} is not one of {', '.join(choices)}.", field=field)


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[T]):
    """A page of rows, newest first; `reached` is the id to continue from, None at the end."""

    rows: Sequence[T]
    reached: int | None = None


@dataclass(frozen=True, slots=True)
class CappedCount:
    """A count; `capped` means "at least"."""

    number: int
    capped: bool = False

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.capped else ''}"


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A run as a mark on a timeline."""

    schedule_id: int
    id: int
    status: Status
    origin: Origin
    scheduled_for: datetime | None
    due_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def at(self) -> datetime:
        return self.due_at


@dataclass(frozen=True, slots=True)
class SkipPoint:
    """A range of skipped ticks as a mark on a timeline."""

    schedule_id: int
    id: int
    reason: SkipReason
    first: datetime
    last: datetime
    count: int

    @property
    def at(self) -> datetime:
        return self.last


Marked = RunPoint | SkipPoint


@dataclass(frozen=True, slots=True)
class RunTiming:
    """Due, start and end time of a run that has started."""

    schedule_id: int | None
    id: int
    status: Status
    due_at: datetime
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Marks around now by schedule id, oldest first, and the schedules in display order.

    Failed schedules come first, then running ones, then the most recently active ones, then upcoming ones.
    """

    schedules: Sequence[Schedule] = ()
    marks: Mapping[int, Sequence[Marked]] = field(default_factory=dict)
    # Some marks were left out.
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStreak:
    """A failing schedule: its failures in a row (counted up to 100), since when, and the last error."""

    schedule: str
    failures: int
    since: datetime
    run_id: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueRun:
    """A run that could have started at `available_at` and has not."""

    id: int
    schedule: str | None
    queue: str
    target: Target
    available_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """Input of a schedule's load forecast; `definition` is JSON with only the fields that affect ticks."""

    id: int
    name: str
    definition: str
    queue: str
    next_run_at: datetime | None
    # Seconds: the median of the newest runs that succeeded; None if there are none.
    duration: float | None


def page_of_going(
    examined: int, ids: Sequence[int], maximum: int, after: int | None, limit: int
) -> KeysetPage[int] | None:
    """Return a page of active runs; None if not all were examined, because newer ones may be missing."""
    if examined >= maximum:
        return None
    ids = sorted(ids, reverse=after is None)
    page = ids[:limit]
    reached = page[-1] if len(ids) > limit else None
    return KeysetPage(page if after is None else page[::-1], reached)


def newest_points(runs: Sequence[RunPoint], skips: Sequence[SkipPoint], maximum: int) -> dict[int, list[Marked]]:
    """Return the newest marks of each schedule, oldest first."""
    lines: dict[int, list[Marked]] = {}
    mark: Marked
    for mark in itertools.chain[Marked](runs, skips):
        lines.setdefault(mark.schedule_id, []).append(mark)
    for line in lines.values():
        line.sort(key=lambda mark: (mark.at, mark.id))
        del line[:-maximum]
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSummary:
    """A schedule as a list shows it: with its newest run and its failures in a row (capped)."""

    schedule: Schedule
    last_run: RunRecord | None
    failure_streak: int
    # Number of held runs.
    held: int = 0
    # Start of the latest attempt among the stored runs. The newest run may still be queued.
    last_run_at: datetime | None = None
    # Sentences that say why the schedule does not run as planned; the client fills them in.
    problems: tuple[str, ...] = ()
    # A version of all fields above, from the store; None if the store has no versions.
    version: str | None = field(default=None, compare=False, repr=False)

    @property
    def cache_key(self) -> tuple[int, str, tuple[str, ...]] | None:
        """Equal keys mean equal summaries of one store; None if the store has no versions."""
        return None if self.version is None else (self.schedule.id, self.version, self.problems)

    def with_problems(self, problems: tuple[str, ...]) -> ScheduleSummary:
        # `replace` takes several times as long.
        return ScheduleSummary(
            schedule=self.schedule,
            last_run=self.last_run,
            failure_streak=self.failure_streak,
            held=self.held,
            last_run_at=self.last_run_at,
            problems=problems,
            version=self.version,
        )

    @property
    def last_run_id(self) -> int | None:
        """The id of the newest run, of any origin."""
        return None if self.last_run is None else self.last_run.id

    @property
    def last_enqueued_at(self) -> datetime | None:
        return None if self.last_run is None else self.last_run.created_at
