"""What pages of a dashboard ask for, and what they are given: narrow rows, and never more than was asked for."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Generic, TypeVar, get_args

from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.run import ACTIVE, Origin, RunRecord, SkipReason, Status
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.targets.target import Target
from tickbird.domain.text import check_text

T = TypeVar("T")

# Whoever looks for what is rare reads so many rows of a page that is not full, and is told where to go on.
MAX_EXAMINED: Final = 20_000
# The newest failed runs that tell which schedules fail; where there are more, so many schedules are looked at besides.
MAX_FAILED: Final = 5_000
# So many schedules that are not active are looked up first, where only such are asked for.
MAX_IDLE: Final = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFilter:
    """Which schedules: each field narrows, and what is not given does not.

    `contains` is looked for in names, tags and targets, in small or capital letters. Failing ones are those of whose
    runs the newest that succeeded or failed has failed: looked for in the newest 5,000 failures, and where there are
    more, also among the first 5,000 schedules that ever failed. Without states, all but deleted ones.
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
    """Which runs: each field narrows; `since` and `until` go by `due_at`, `until` itself is not in it."""

    schedule: str | None = None
    statuses: Collection[Status] = ()
    origin: Origin | None = None
    target: str | None = None
    target_kind: str | None = None
    worker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    # Anywhere in the error, in small or capital letters.
    error: str = ""
    queue: str | None = None
    # The concurrency key.
    key: str | None = None

    def __post_init__(self) -> None:
        _check_choices("status", self.statuses, get_args(Status))
        _check_choices("origin", [self.origin] if self.origin else (), get_args(Origin))
        for name in ("schedule", "target", "target_kind", "worker", "queue", "key", "error"):
            check_text(getattr(self, name) or "", name)

    @property
    def is_going(self) -> bool:
        """Are only runs wanted that are not over, of whatever schedule? There are few of them beside the others."""
        return self.schedule is None and bool(self.statuses) and ACTIVE.issuperset(self.statuses)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which entries of the audit; `actor` is looked for anywhere in it, in small or capital letters."""

    actor: str = ""
    action: str | None = None
    schedule: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("actor", "action", "schedule"):
            check_text(getattr(self, name) or "", name)


def _check_choices(field: str, values: Collection[str], choices: Sequence[str]) -> None:
    for value in values:
        if value not in choices:
            raise InvalidError(f"{field}: {str(value)[:60]!r} is not one of {', '.join(choices)}.", field=field)


@dataclass(frozen=True, slots=True)
class KeysetPage(Generic[T]):
    """A page of rows, newest first, and how far was looked: `reached` is the id to go on from, None at the end."""

    rows: Sequence[T]
    reached: int | None = None


@dataclass(frozen=True, slots=True)
class CappedCount:
    """How many there are; `capped`: at least as many."""

    number: int
    capped: bool = False

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.capped else ''}"


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A run as a mark on a line: nothing but when and how."""

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
        """Where on the line it stands."""
        return self.due_at


@dataclass(frozen=True, slots=True)
class SkipPoint:
    """A range of ticks that were not run, as one mark on a line."""

    schedule_id: int
    id: int
    reason: SkipReason
    first: datetime
    last: datetime
    count: int

    @property
    def at(self) -> datetime:
        """Where on the line it stands."""
        return self.last


Marked = RunPoint | SkipPoint


@dataclass(frozen=True, slots=True)
class RunTiming:
    """When a run that has begun was due, began and ended."""

    schedule_id: int | None
    id: int
    status: Status
    due_at: datetime
    started_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What went on around now: marks by schedule id, oldest first, and the schedules, in the order to show them in.

    First those that failed, then those that run, then those that were active last, then those that are to come.
    """

    schedules: Sequence[Schedule] = ()
    marks: Mapping[int, Sequence[Marked]] = field(default_factory=dict)
    # There is more than is told.
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureStreak:
    """A schedule that fails: how often in a row (at most 100 are counted), since when, and how the last run ended."""

    schedule: str
    failures: int
    since: datetime
    run_id: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverdueRun:
    """A run that could have begun and has not, and since when."""

    id: int
    schedule: str | None
    queue: str
    target: Target
    available_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """What the coming load of a schedule is computed from; of the definition, as JSON, what decides about its ticks."""

    id: int
    name: str
    definition: str
    queue: str
    next_run_at: datetime | None
    # Seconds; the median of its newest runs that succeeded, None where there are none.
    duration: float | None


def page_of_going(
    looked: int, ids: Sequence[int], maximum: int, after: int | None, limit: int
) -> KeysetPage[int] | None:
    """A page of those that go on; None where not all of them were looked at, since newer ones may be among the rest."""
    if looked >= maximum:
        return None
    ids = sorted(ids, reverse=after is None)
    page = ids[:limit]
    reached = page[-1] if len(ids) > limit else None
    return KeysetPage(page if after is None else page[::-1], reached)


def newest_points(runs: Sequence[RunPoint], skips: Sequence[SkipPoint], maximum: int) -> dict[int, list[Marked]]:
    """The newest marks of each schedule, oldest first."""
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
    """A schedule with what a list shows of it: its newest run, and how often in a row it failed (capped)."""

    schedule: Schedule
    last_run: RunRecord | None
    failure_streak: int
    # How many of its runs are held.
    held: int = 0
    # When an attempt last began, of the runs that are kept. The newest run may still be queued.
    last_run_at: datetime | None = None
    # Sentences that say why it does not run as it should; the client fills them in.
    problems: tuple[str, ...] = ()
    # A version of all the above, as the store has it; None if the store has no versions.
    version: str | None = field(default=None, compare=False, repr=False)

    @property
    def cache_key(self) -> tuple[int, str, tuple[str, ...]] | None:
        """Equal keys mean equal summaries of one store; None if the store has no versions."""
        return None if self.version is None else (self.schedule.id, self.version, self.problems)

    def with_problems(self, problems: tuple[str, ...]) -> ScheduleSummary:
        """A copy with these problems."""
        # Not `replace`, which takes several times as long.
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
        """The id of its newest run, of any origin."""
        return None if self.last_run is None else self.last_run.id

    @property
    def last_enqueued_at(self) -> datetime | None:
        """When its newest run was created."""
        return None if self.last_run is None else self.last_run.created_at
