"""How much else goes on around an instant: the ticks of other schedules, counted in closed form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.warnings import members
from tickbird.domain.time.instants import to_datetime, to_seconds

# Of more schedules, and around more instants, nothing is counted.
MAX_SCHEDULES = 500
MAX_INSTANTS = 10
_MINUTE, _HOUR = 60, 3_600


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
    starts = [at // _MINUTE * _MINUTE for at in instants[:MAX_INSTANTS]]
    totals = [[0, 0, 0] for _ in starts]
    known = 0
    for schedule in others:
        definition = schedule.definition
        if definition is None or schedule.state != "active":
            continue
        known += 1
        checkpoint()
        offset = schedule.offset
        for start, total in zip(starts, totals, strict=True):
            edges = [start - _HOUR, start, start + _MINUTE, start + _MINUTE + _HOUR]
            places = [edge - offset - 1 for edge in edges]
            # Most have none at all around an instant, and one look tells.
            upcoming = definition.trigger.next_tick(places[0]) if definition.roll == "skip" else places[0]
            if upcoming is None or upcoming > places[3]:
                continue
            for place in range(3):
                total[place] += count_ticks(definition, places[place], places[place + 1])
    found = [LoadPoint(to_datetime(at), *total) for at, total in zip(starts, totals, strict=True)]
    return TickLoad(known, complete, found)


def count_ticks(definition: Definition, after: int, until: int) -> int:
    """The ticks of (after, until] that run; those that several triggers of one schedule share count for each."""
    if definition.shadow:
        return 0
    if definition.exclude or definition.calendars:
        return sum(each.count for each in definition.grid.segments(after, until) if not each.excluded)
    if definition.start_at is not None:
        after = max(after, to_seconds(definition.start_at) - 1)
    if definition.end_at is not None:
        until = min(until, to_seconds(definition.end_at))
    # One by one, since to find what they share, ticks would have to be walked.
    return sum(member.count(after, until) for member in members(definition.trigger)) if after < until else 0
