"""The ticks of a schedule that are to come, by what stands in the schedule alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.triggers.dst_notes import notes
from tickbird.domain.triggers.trigger import Trigger as TriggerValue


@dataclass(frozen=True, slots=True)
class UpcomingTick:
    """A tick to come: its instant on the grid, when it is due, and why it will not run, if so.

    `done`: it was decided already, ahead of its time.
    """

    scheduled_for: datetime
    due_at: datetime
    skipped: str | None = None
    # What was decided for it alone, by whom and why.
    override: OverrideRecord | None = None


# Ticks, each with what changes of the clock do to it.
Noted = Sequence[tuple[UpcomingTick, Sequence[str]]]


def overrides_of(schedule: Schedule) -> Sequence[OverrideRecord]:
    """The coming ticks of a schedule for which something was decided one by one, in order."""
    if schedule.definition is None or schedule.cursor.planned_until is None:
        return []
    ahead = PendingTicks(schedule)
    return [ahead.record(each) for each in ahead.overrides]


def upcoming_ticks(schedule: Schedule, now: datetime, count: int) -> Sequence[UpcomingTick]:
    """The next ticks of a schedule, with what will keep them from running, as it stands now."""
    return [*islice(iter_upcoming(schedule, now), check_count(count))]


def iter_upcoming(schedule: Schedule, now: datetime) -> Iterator[UpcomingTick]:
    """The same one by one, as many as there are."""
    definition, cursor = schedule.definition, schedule.cursor
    if definition is None or schedule.state in ("parked", "ended", "deleted"):
        return
    after = to_seconds(now) if cursor.planned_until is None else cursor.planned_until
    if schedule.state == "paused":
        after = max(after, to_seconds(now))
    left = None if definition.max_runs is None else definition.max_runs - cursor.runs_planned
    ahead = None if cursor.planned_until is None else PendingTicks(schedule)
    until = schedule.pause.until if schedule.pause else None
    while left != 0 and (tick := schedule.grid.next(after)) is not None:
        after = tick
        override = None if ahead is None else ahead.override(tick)
        skipped: str | None = None
        if ahead is not None and ahead.is_done(tick):
            skipped = "done"
        elif schedule.state == "paused" and (until is None or schedule.due_at(tick) < until):
            skipped = "paused"
        elif ahead is not None and ahead.passed_over_by(tick) is not None:
            skipped = "rescheduled"
        elif ahead is not None and ahead.is_skipped(tick):
            skipped = "operator"
        elif (override is None or override.due_at is None) and schedule.grid.excludes(tick):
            skipped = "calendar"
        elif definition.shadow:
            skipped = "shadow"
        elif left is not None:
            left -= 1
        shown = None if ahead is None or override is None else ahead.record(override)
        yield UpcomingTick(to_datetime(tick), to_datetime(schedule.due_at(tick)), skipped, shown)


def next_skipped(schedule: Schedule, now: datetime) -> str | None:
    """Why the next tick of an active schedule will be skipped; None where it runs, or where it is a shadow's."""
    if schedule.state != "active":
        return None
    reasons = (tick.skipped for tick in iter_upcoming(schedule, now) if tick.skipped != "done")
    reason = next(reasons, None)
    return None if reason == "shadow" else reason


def check_count(count: int) -> int:
    """So many ticks are told at once."""
    if not 1 <= count <= 10_000:
        raise InvalidError("count: must be from 1 to 10000.", field="count")
    return count


def with_notes(schedule: Schedule, ticks: Sequence[UpcomingTick], now: datetime) -> Noted:
    """Ticks with what changes of the clock do to them."""
    return [] if schedule.definition is None else noted(schedule.definition.trigger, ticks, to_seconds(now))


def noted(trigger: TriggerValue, ticks: Sequence[UpcomingTick], after: int) -> Noted:
    """Ticks after an instant with what changes of the clock do to them."""
    found: list[tuple[UpcomingTick, Sequence[str]]] = []
    for tick in ticks:
        at = to_seconds(tick.scheduled_for)
        found.append((tick, notes(trigger, min(after, at), at)))
        after = at
    return found
