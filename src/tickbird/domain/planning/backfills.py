"""Backfills: runs of decided ticks without a run, created on request."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Schedule, check_revision, check_runs
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_datetime

Order = Literal["oldest", "newest"]

MAX_RUNS = 10_000
# Maximum of ticks that may already have a run; beyond it, ticks are counted but not examined.
MAX_EXISTING = 100_000
MAX_CONCURRENCY = 1_000
MAX_SHOWN = 1_000
MAX_PAYLOADS = 100_000_000
MAX_RANGE = 100 * 366 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBackfill:
    """A requested backfill: the ticks from `first` to `last`, inclusive, in whole seconds since the epoch."""

    actor: str
    first: int
    last: int
    concurrency: int = 1
    order: Order = "oldest"
    payload: Mapping[str, Any] | None = None
    note: str = ""
    # The expected revision of the schedule; None: any.
    revision: int | None = None

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(self.note, "note")
        if self.payload is not None:
            check_payload(self.payload)
        if self.order not in get_args(Order):
            choices = ", ".join(get_args(Order))
            raise InvalidError(f"order: {str(self.order)[:60]!r} is not one of {choices}.", field="order")
        whole = isinstance(self.concurrency, int) and not isinstance(self.concurrency, bool)
        if not whole or not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise InvalidError(
                f"concurrency must be a whole number from 1 to {MAX_CONCURRENCY:,}.", field="concurrency"
            )
        if self.first > self.last:
            raise InvalidError(
                f"first: {_iso(self.first)} is after last, {_iso(self.last)}.",
                field="first",
                hint="Give the earlier instant first.",
            )
        if self.last - self.first > MAX_RANGE:
            raise InvalidError(
                "last: the range is longer than 100 years.", field="last", hint="Choose a shorter range."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillPlan:
    """The result or preview of a backfill: `count` runs; `ticks` has the first ones in execution order."""

    schedule: str
    first: datetime
    last: datetime
    # The end of the range, if it was cut because later ticks are not decided yet.
    cut_at: datetime | None
    count: int
    # Omitted ticks: those that already have a run, and those on excluded days.
    taken: int
    excluded: int
    ticks: Sequence[datetime]
    # Omitted ticks without a run up to `pruned_until`, because their run may have been pruned.
    pruned: int = 0
    pruned_until: datetime | None = None
    # None for a dry run, and if there was nothing to create.
    backfill_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRecord:
    """A stored backfill, and its runs by status."""

    id: int
    namespace: str
    schedule: str
    revision: int
    first: datetime
    last: datetime
    total: int
    order: Order
    concurrency: int
    payload: Mapping[str, Any] | None
    actor: str
    note: str
    created_at: datetime
    cancelled_at: datetime | None
    cancelled_by: str | None
    counts: Mapping[Status, int] = field(default_factory=dict)

    def count(self, *statuses: Status) -> int:
        return sum(self.counts.get(status, 0) for status in statuses)

    @property
    def active(self) -> int:
        return self.count("waiting", "queued", "running")

    @property
    def done(self) -> int:
        """The number of final runs, including pruned ones."""
        return self.total - self.active


class BackfillSelection:
    """The ticks of a requested backfill: decided, and on the grid of the revision in force."""

    def __init__(self, schedule: Schedule | None, name: str, new: NewBackfill, pruned_until: int | None = None) -> None:
        if schedule is None:
            raise NotFoundError(f"there is no schedule {name[:200]!r}.", hint="`tickbird ls` lists the schedules.")
        if schedule.state == "deleted":
            raise NotFoundError(f"schedule {name!r} was deleted.", hint="Create it again before you backfill it.")
        check_revision(schedule, new.revision)
        if schedule.state == "parked" or schedule.definition is None:
            raise ConflictError(
                f"schedule {name!r} is parked ({schedule.error}).", hint="Repair its definition before you backfill it."
            )
        check_runs(schedule)
        decided = schedule.cursor.planned_until
        if decided is None:
            raise ConflictError(f"schedule {name!r} was never planned.", hint="Start a worker, then try again.")
        if new.first > decided:
            raise InvalidError(
                f"first: {_iso(new.first)} is after {_iso(decided)}, the last decided tick of {name!r}.",
                field="first",
                hint="Choose an earlier start. Later ticks are planned as usual.",
            )
        self.schedule = schedule
        self.definition = schedule.definition
        self.new = new
        self.first, self.last = new.first, min(new.last, decided)
        beyond = schedule.grid.next(decided)
        self.cut_at = decided if beyond is not None and beyond <= new.last else None
        # Before this instant, it is unknown which ticks had a run, so none of them runs again.
        self.pruned_until = None if pruned_until is None or pruned_until < self.first else min(pruned_until, self.last)
        self.runs_from = self.first if self.pruned_until is None else self.pruned_until + 1
        self.unknown, unknown_excluded = self._count(self.first, self.runs_from - 1)
        self.count, excluded = self._count(self.runs_from, self.last)
        self.excluded = excluded + unknown_excluded
        # Number of ticks up to `pruned_until` that still have their run.
        self.kept = 0

    def _count(self, first: int, last: int) -> tuple[int, int]:
        """Count the ticks from `first` to `last` that would run, and those that the calendar excludes."""
        segments = list(self.schedule.grid.segments(first - 1, last)) if first <= last else []
        excluded = sum(segment.count for segment in segments if segment.excluded)
        return sum(segment.count for segment in segments) - excluded, excluded

    @property
    def is_countless(self) -> bool:
        """Whether there are too many ticks to examine."""
        return self.count > MAX_RUNS + MAX_EXISTING

    def too_many(self, taken: int) -> InvalidError:
        """Return the error about a range with too many ticks; `taken` have a run."""
        left = self.count - taken
        if left <= MAX_RUNS:
            return InvalidError(
                f"last: the range has too many ticks to check. {taken:,} of them already have a run.",
                field="last",
                hint="Choose a shorter range.",
            )
        return InvalidError(
            f"last: the range has {'at least ' if taken else ''}{left:,} ticks without a run, more than the "
            f"{MAX_RUNS:,} of one backfill.",
            field="last",
            hint="Choose a shorter range.",
        )

    def ticks(self, taken: Collection[int]) -> list[int]:
        """Return the ticks to run, in execution order; `taken` already have a run."""
        grid, ticks = self.schedule.grid, []
        tick = grid.next(self.runs_from - 1)
        while tick is not None and tick <= self.last:
            if tick not in taken and not grid.excludes(tick):
                ticks.append(tick)
            tick = grid.next(tick)
        if len(ticks) > MAX_RUNS:
            raise self.too_many(self.count - len(ticks))
        if self.new.payload is not None and len(check_payload(self.new.payload)) * len(ticks) > MAX_PAYLOADS:
            raise InvalidError(
                f"payload: too large to store {len(ticks):,} times.",
                field="payload",
                hint="Store the data elsewhere, and pass a reference to it.",
            )
        return ticks if self.new.order == "oldest" else ticks[::-1]

    def plan(self, ticks: Sequence[int], backfill_id: int | None = None) -> BackfillPlan:
        """Return the result for these ticks."""
        return BackfillPlan(
            schedule=self.schedule.name,
            first=to_datetime(self.first),
            last=to_datetime(self.last),
            cut_at=None if self.cut_at is None else to_datetime(self.cut_at),
            count=len(ticks),
            taken=self.count - len(ticks) + self.kept,
            excluded=self.excluded,
            ticks=[to_datetime(tick) for tick in ticks[:MAX_SHOWN]],
            pruned=max(0, self.unknown - self.kept),
            pruned_until=None if self.pruned_until is None else to_datetime(self.pruned_until),
            backfill_id=backfill_id,
        )

    def detail(self, backfill_id: int, ticks: Sequence[int]) -> dict[str, Any]:
        """Return the audit detail."""
        return {
            "backfill": backfill_id,
            "first": self.first,
            "last": self.last,
            "count": len(ticks),
            "order": self.new.order,
            "concurrency": self.new.concurrency,
            "payload": None if self.new.payload is None else dict(self.new.payload),
            "note": self.new.note,
        }


def no_such_backfill(backfill_id: int) -> NotFoundError:
    return NotFoundError(f"there is no backfill {backfill_id}.", hint="`tickbird backfills` lists the backfills.")


def over_already(backfill_id: int) -> ConflictError:
    """Return the error for cancelling a finished backfill."""
    return ConflictError(
        f"backfill {backfill_id} has no run left to cancel.", hint=f"`tickbird backfills {backfill_id}` shows it."
    )


def cancel_reason(backfill_id: int, actor: str, note: str) -> str:
    """Return the cancellation reason of a run of a backfill."""
    return f"backfill {backfill_id} cancelled by {actor}" + (f": {note}" if note else "")


def _iso(at: int) -> str:
    return to_datetime(at).isoformat().replace("+00:00", "Z")
