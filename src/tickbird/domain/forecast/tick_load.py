"""Ticks of schedules, counted by slots of time: around an instant, by the minute and by the hour."""

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

# Of more schedules, and around more instants, nothing is counted.
MAX_SCHEDULES = 500
MAX_INSTANTS = 10
MINUTE, HOUR = 60, 3_600


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """How many ticks of others are due in the hour before the minute of an instant, in it, and in the hour after it."""

    at: datetime
    before: int
    minute: int
    after: int


@dataclass(frozen=True, slots=True)
class TickLoad:
    """Around the first of some instants; `complete` is false where there are more schedules than were looked at."""

    schedules: int
    complete: bool
    instants: Sequence[LoadPoint] = ()


def load_around(instants: Sequence[int], others: Iterable[Schedule], *, complete: bool) -> TickLoad:
    """The ticks that active schedules have around these instants; the work grows with both and with nothing else."""
    starts = [at // MINUTE * MINUTE for at in instants[:MAX_INSTANTS]]
    totals = [[0, 0, 0] for _ in starts]
    known = 0
    for schedule in others:
        definition = schedule.definition
        if definition is None or schedule.state != "active":
            continue
        known += 1
        checkpoint()
        for start, total in zip(starts, totals, strict=True):
            edge = start - schedule.offset
            counts = count_by_slot(definition, (edge - HOUR, edge, edge + MINUTE, edge + MINUTE + HOUR))
            total[:] = map(add, total, counts)
    found = [LoadPoint(to_datetime(at), *total) for at, total in zip(starts, totals, strict=True)]
    return TickLoad(known, complete, found)


def count_by_slot(definition: Definition, edges: Sequence[int]) -> list[int]:
    """The ticks that run in each slot, which reaches from an edge to the next one, in closed form."""
    # Most schedules have no tick in a short time, and one look tells.
    first = edges[0] if definition.roll != "skip" else definition.trigger.next_tick(edges[0] - 1)
    if first is None or first >= edges[-1]:
        return [0] * (len(edges) - 1)
    return [count_ticks(definition, start - 1, end - 1) for start, end in pairwise(edges)]


def count_ticks(definition: Definition, after: int, until: int) -> int:
    """The ticks of (after, until] that run; one that several triggers of the schedule share is one."""
    if definition.shadow or after >= until:
        return 0
    if definition.exclude or definition.calendars:
        return sum(each.count for each in definition.grid.segments(after, until) if not each.excluded)
    return definition.grid.count(after, until)


def sum_by_hour(minutes: Sequence[int]) -> list[int]:
    """The ticks of each hour, given those of each minute."""
    return [sum(minutes[place : place + 60]) for place in range(0, len(minutes), 60)]
