"""Effects of DST changes on coming ticks, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import DAY, to_datetime, to_seconds, wall_datetime
from tickbird.domain.time.zone_data import clock_text as clock
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import Span, zone
from tickbird.domain.triggers.base import Trigger

_FAR = 400 * DAY


def notes(trigger: Trigger, after: int, tick: int) -> Sequence[str]:
    """Describe DST changes between two ticks, and their effect on skipped and repeated times."""
    # If ticks are far apart, a change between them is not worth a note, nor the work to find it.
    since = after if tick - after <= _FAR else tick - 1
    changes = [pair for pair in pairwise(zone(trigger.tz).spans(since, tick + 1)) if pair[0].offset != pair[1].offset]
    texts: list[str] = []
    # Between ticks with several changes, only a change at the tick itself matters.
    if len(changes) == 1 or (changes and changes[-1][1].start == tick):
        texts += _changed(trigger, *changes[-1], tick)
    texts += _repeated(trigger, tick)
    return texts


def _changed(trigger: Trigger, before: Span, span: Span, tick: int) -> Iterator[str]:
    leap = span.offset - before.offset
    way = "forward" if leap > 0 else "back"
    yield f"clocks go {way} {duration_text(abs(leap))} at {clock(to_datetime(span.start), trigger.tz)}"
    wall = trigger.on_wall_clock()
    begin, end = span.start + before.offset, span.start + span.offset
    if leap < 0 or wall is None:
        return
    first, last = wall.next_tick(begin - 1), wall.previous_tick(end)
    if first is None or last is None or first >= end:
        return
    lost = f"{_time(first)} does" if first == last else f"{_time(first)} to {_time(last)} do"
    if tick != span.start:
        yield f"{lost} not exist that day and not tick"
    elif wall.contains(end):
        yield f"{lost} not exist that day"
    else:
        yield f"{lost} not exist that day: it ticks at the end of the gap"


def _repeated(trigger: Trigger, tick: int) -> Iterator[str]:
    at = to_datetime(tick).astimezone(zone_info(trigger.tz))
    twin = to_seconds(at.replace(fold=1 - at.fold))
    # In a gap, the other fold is not a time of the day; in a repeated hour, it shows the same clock time.
    shown = to_datetime(twin).astimezone(zone_info(trigger.tz))
    if twin != tick and shown.replace(tzinfo=None, fold=0) == at.replace(tzinfo=None, fold=0):
        which = "second" if at.fold else "first"
        other = "" if trigger.contains(twin) else ", the other does not tick"
        yield f"{at:%H:%M} occurs twice that day: this is the {which}{other}"


def _time(wall: int) -> str:
    return f"{wall_datetime(wall):%H:%M}"
