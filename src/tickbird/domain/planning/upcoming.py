"""The upcoming ticks of a schedule, computed from its row alone."""

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
    """An upcoming tick; `skipped` is the reason if it will be skipped, or "done" if it was decided early."""

    scheduled_for: datetime
    due_at: datetime
    skipped: str | None = None
    override: OverrideRecord | None = None
    # How changes of the clock (DST) affect it.
    notes: Sequence[str] = ()


# Ticks, each with notes on how a change of the clock (DST) affects it.
NotedTicks = Sequence[tuple[UpcomingTick, Sequence[str]]]


def overrides_of(schedule: Schedule) -> Sequence[OverrideRecord]:
    """Return the overrides of a schedule's pending ticks, in order."""
    if schedule.definition is None or schedule.cursor.planned_until is None or not schedule.cursor.tick_overrides:
        return []
    pending = PendingTicks(schedule)
    return [pending.record(override) for override in pending.overrides]


def upcoming_ticks(schedule: Schedule, now: datetime, count: int) -> Sequence[UpcomingTick]:
    """Return the next `count` ticks of a schedule, with the reason if one will be skipped."""
    return [*islice(iter_upcoming(schedule, now), check_count(count))]


def iter_upcoming(schedule: Schedule, now: datetime) -> Iterator[UpcomingTick]:
    definition, cursor = schedule.definition, schedule.cursor
    if definition is None or schedule.state in ("parked", "ended", "deleted"):
        return
    after = to_seconds(now) if cursor.planned_until is None else cursor.planned_until
    if schedule.state == "paused" or schedule.in_memory:
        after = max(after, to_seconds(now))
    left = None if definition.max_runs is None else definition.max_runs - cursor.runs_planned
    pending = None if cursor.planned_until is None else PendingTicks(schedule)
    until = schedule.pause.until if schedule.pause else None
    while left != 0 and (tick := schedule.grid.next(after)) is not None:
        after = tick
        override = None if pending is None else pending.override(tick)
        skipped: str | None = None
        if pending is not None and pending.is_decided_early(tick):
            skipped = "done"
        elif schedule.state == "paused" and (until is None or schedule.due_at(tick) < until):
            skipped = "paused"
        elif pending is not None and pending.skipped_by(tick) is not None:
            skipped = "rescheduled"
        elif pending is not None and pending.is_skipped(tick):
            skipped = "operator"
        elif (override is None or override.due_at is None) and schedule.grid.excludes(tick):
            skipped = "calendar"
        elif definition.shadow:
            skipped = "shadow"
        elif left is not None:
            left -= 1
        shown = None if pending is None or override is None else pending.record(override)
        yield UpcomingTick(to_datetime(tick), to_datetime(schedule.due_at(tick)), skipped, shown)


def next_skipped(schedule: Schedule, now: datetime) -> str | None:
    """Return why the next tick of an active schedule will be skipped; None if it runs or is a shadow."""
    if schedule.state != "active":
        return None
    reasons = (tick.skipped for tick in iter_upcoming(schedule, now) if tick.skipped != "done")
    reason = next(reasons, None)
    return None if reason == "shadow" else reason


def check_count(count: int) -> int:
    """Raise InvalidError if the number of ticks is too large for one request."""
    if not 1 <= count <= 10_000:
        raise InvalidError("count must be from 1 to 10000.", field="count")
    return count


def with_notes(schedule: Schedule, ticks: Sequence[UpcomingTick], now: datetime) -> NotedTicks:
    """Add notes on DST changes; if only a server can read the schedule, keep the notes of the server."""
    if schedule.definition is None:
        return [(tick, tick.notes) for tick in ticks]
    return with_dst_notes(schedule.definition.trigger, ticks, to_seconds(now))


def with_dst_notes(trigger: TriggerValue, ticks: Sequence[UpcomingTick], after: int) -> NotedTicks:
    ticks_with_notes: list[tuple[UpcomingTick, Sequence[str]]] = []
    for tick in ticks:
        at = to_seconds(tick.scheduled_for)
        ticks_with_notes.append((tick, notes(trigger, min(after, at), at)))
        after = at
    return ticks_with_notes
