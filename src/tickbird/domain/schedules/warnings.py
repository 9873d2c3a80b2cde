"""Warnings about a definition before it is created: clock changes, dates that never come, very frequent ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice, pairwise
from math import gcd
from typing import Literal

from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import DAY, LAST_SECOND, iso, to_datetime, to_seconds, wall_datetime
from tickbird.domain.time.zones import Span, zone
from tickbird.domain.triggers.trigger import AnyOf, Trigger

Code = Literal[
    "ticks-move",
    "ticks-vanish",
    "ticks-once",
    "ticks-twice",
    "missing-dates",
    "last-day",
    "unused-exdate",
    "frequent",
    "far-off",
    "closed",
    "no-ticks",
    "spread",
]
# Seconds that are searched for clock changes, and the maximum of warnings.
HORIZON = 366 * DAY
MAX_COUNT = 50
# More ticks a day than this are reported.
_OFTEN = 1_440
# Maximum of closed ticks in a row that are examined.
_MAX_CLOSED = 400
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class DefinitionWarning:
    """A warning about a definition: a code for programs, a sentence for people, and the instant that it concerns."""

    code: Code
    text: str
    at: datetime | None = None


def definition_warnings(definition: Definition, after: int) -> Sequence[DefinitionWarning]:
    """Return warnings about the ticks of a definition after an instant, in bounded time."""
    return list(islice(_warnings(definition, after), MAX_COUNT))


def members(trigger: Trigger) -> Sequence[Trigger]:
    """Return the members of a union, or the trigger itself."""
    return trigger.members if isinstance(trigger, AnyOf) else (trigger,)


def _warnings(definition: Definition, after: int) -> Iterator[DefinitionWarning]:
    yield from _first(definition, after)
    for member in members(definition.trigger):
        yield from (DefinitionWarning(code, text) for code, text in member.date_warnings())
    often = definition.trigger.max_per_day
    if often > _OFTEN:
        interval = duration_text(max(1, DAY // often))
        yield DefinitionWarning(
            "frequent", f"it ticks up to {often:,} times a day, about every {interval}, and each tick is a run"
        )
    first = max([after, *([to_seconds(definition.start_at) - 1] if definition.start_at else [])])
    last = min(
        [first + HORIZON, LAST_SECOND - 2 * DAY, *([to_seconds(definition.end_at)] if definition.end_at else [])]
    )
    seen: set[str] = set()
    for member in members(definition.trigger):
        for caution in _clock_changes(member, first, last):
            closed = caution.at is not None and definition.grid.excludes(to_seconds(caution.at))
            if not closed and caution.text not in seen:
                seen.add(caution.text)
                yield caution


def _first(definition: Definition, after: int) -> Iterator[DefinitionWarning]:
    """Warn if there is no tick, only a distant one, or only ticks on closed days."""
    first = tick = definition.grid.next(after)
    if first is None or tick is None:
        yield DefinitionWarning("no-ticks", f"it has no tick after {iso(after)}, so it cannot be created")
        return
    if first - after > HORIZON:
        yield DefinitionWarning(
            "far-off", f"its first tick is more than a year away, at {iso(first)}", to_datetime(first)
        )
    closed = 0
    while tick is not None and definition.grid.excludes(tick):
        closed += 1
        if closed == _MAX_CLOSED:
            yield DefinitionWarning("closed", f"its first {closed} ticks, until {iso(tick)}, all fall on closed days")
            return
        tick = definition.grid.next(tick)
    if tick is None:
        yield DefinitionWarning("closed", "all of its ticks fall on closed days")


# Days on which the clock changes


def _clock_changes(trigger: Trigger, first: int, last: int) -> Iterator[DefinitionWarning]:
    wall = trigger.on_wall_clock()
    if wall is None:
        # Elapsed time does not follow the wall clock.
        return
    for before, span in pairwise(zone(trigger.tz).spans(first, last + 1)):
        leap = span.offset - before.offset
        if leap and not _is_steady(wall, span.start + before.offset, leap):
            yield from (_gap if leap > 0 else _fold)(trigger, wall, before, span)


def _is_steady(wall: Trigger, at: int, leap: int) -> bool:
    """Return whether it ticks equally often in every hour of that day, so that the change has no effect."""
    step = gcd(abs(leap), _HOUR)
    if step < 600:
        return False
    day = at // DAY * DAY
    counts = {wall.count(start - 1, start + step - 1) for start in range(day, day + DAY, step)}
    return len(counts) == 1


def _gap(trigger: Trigger, wall: Trigger, before: Span, span: Span) -> Iterator[DefinitionWarning]:
    begin, end = span.start + before.offset, span.start + span.offset
    lost = wall.count(begin - 1, end - 1)
    if not lost:
        return
    tick = trigger.next_tick(span.start - 1)
    moves = tick is not None and any(second < end for second in trigger.walls(tick))
    what = _times(wall, begin, end, lost, "does not exist", "do not exist")
    change = f"{wall_datetime(begin):%Y-%m-%d}: the clock of {trigger.tz} goes from {_time(begin)} to {_time(end)}"
    at = to_datetime(span.start)
    if moves and tick is not None:
        shown = _time(tick + span.offset)
        how = f"it ticks at {shown} instead" if lost == 1 else f"it ticks once, at {shown}, instead"
        yield DefinitionWarning("ticks-move", f"{change}, so {what}: {how}", at)
    else:
        yield DefinitionWarning(
            "ticks-vanish", f"{change}, so {what}, and {'does' if lost == 1 else 'do'} not tick", at
        )


def _fold(trigger: Trigger, wall: Trigger, before: Span, span: Span) -> Iterator[DefinitionWarning]:
    begin, end = span.start + span.offset, span.start + before.offset
    doubled = wall.count(begin - 1, end - 1)
    if not doubled:
        return
    again = trigger.count(span.start - 1, span.start + end - begin - 1)
    what = _times(wall, begin, end, doubled, "comes twice", "come twice")
    change = f"{wall_datetime(begin):%Y-%m-%d}: the clock of {trigger.tz} goes back from {_time(end)} to {_time(begin)}"
    at = to_datetime(span.start)
    if again:
        yield DefinitionWarning(
            "ticks-twice", f"{change}, so {what}, and {'ticks' if doubled == 1 else 'tick'} both times", at
        )
    else:
        how = "ticks" if doubled == 1 else "tick"
        yield DefinitionWarning("ticks-once", f"{change}, so {what}, and {how} the first time only", at)


def _times(wall: Trigger, begin: int, end: int, number: int, one: str, many: str) -> str:
    first, last = wall.next_tick(begin - 1), wall.previous_tick(end)
    assert first is not None and last is not None
    return f"{_time(first)} {one}" if number == 1 else f"{_time(first)} to {_time(last)} ({number:,} ticks) {many}"


def _time(wall: int) -> str:
    at = wall_datetime(wall)
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"
