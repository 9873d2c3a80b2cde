"""Counts of ticks: around an instant, by the minute and by the hour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from operator import add

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime

# At most this many schedules and instants are counted.
MAX_SCHEDULES = 500
MAX_INSTANTS = 10
MINUTE, HOUR = 60, 3_600


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """How many ticks of other schedules are due in the minute of an instant, and in the hours before and after it."""

    at: datetime
    hour_before: int
    in_minute: int
    hour_after: int


@dataclass(frozen=True, slots=True)
class TickLoad:
    """The load around some instants; `complete` is false if not all schedules were counted."""

    schedules: int
    complete: bool
    instants: Sequence[LoadPoint] = ()


def load_around(instants: Sequence[int], others: Iterable[Schedule], *, complete: bool) -> TickLoad:
    """Count the ticks of active schedules around these instants, in time proportional to schedules times instants."""
    starts = [at // MINUTE * MINUTE for at in instants[:MAX_INSTANTS]]
    totals = [[0, 0, 0] for _ in starts]
    counted = 0
    for schedule in others:
        definition = schedule.definition
        if definition is None or schedule.state != "active":
            continue
        counted += 1
        checkpoint()
        for start, total in zip(starts, totals, strict=True):
            edge = start - schedule.offset
            counts = count_by_slot(definition, (edge - HOUR, edge, edge + MINUTE, edge + MINUTE + HOUR))
            total[:] = map(add, total, counts)
    points = [LoadPoint(to_datetime(at), *total) for at, total in zip(starts, totals, strict=True)]
    return TickLoad(counted, complete, points)


def count_by_slot(definition: Definition, edges: Sequence[int]) -> list[int]:
    """Count the ticks that run between each edge and the next one, in closed form."""
    # Most schedules have no tick in a short time; this check is cheap.
    first = edges[0] if definition.roll != "skip" else definition.trigger.next_tick(edges[0] - 1)
    if first is None or first >= edges[-1]:
        return [0] * (len(edges) - 1)
    return [count_running_ticks(definition, start - 1, end - 1) for start, end in pairwise(edges)]


def count_running_ticks(definition: Definition, after: int, until: int) -> int:
    """Count the ticks of (after, until] that run; equal instants of several triggers are one tick."""
    if definition.shadow or after >= until:
        return 0
    if definition.exclude or definition.calendars:
        return sum(segment.count for segment in definition.grid.segments(after, until) if not segment.excluded)
    return definition.grid.count(after, until)


def sum_by_hour(minutes: Sequence[int]) -> list[int]:
    """Sum the ticks of each minute to those of each hour."""
    return [sum(minutes[start : start + 60]) for start in range(0, len(minutes), 60)]
