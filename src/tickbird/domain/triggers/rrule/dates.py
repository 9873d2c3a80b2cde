"""EXDATE and RDATE of a recurrence rule: wall-clock times, and instants that no wall-clock time names exactly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from tickbird.domain.time.instants import (
    FIRST_SECOND,
    LAST_SECOND,
    iso,
    parse_iso,
    to_datetime,
    to_seconds,
    wall_datetime,
    wall_seconds,
)
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import MAX_SHIFT, Zone
from tickbird.domain.triggers.rrule.parser import refuse
from tickbird.domain.triggers.rrule.walls import RuleWalls


class Dates(NamedTuple):
    """Wall-clock seconds, and epoch seconds of the other dates; both in order."""

    walls: tuple[int, ...]
    instants: tuple[int, ...]

    @property
    def number(self) -> int:
        return len(self.walls) + len(self.instants)

    @property
    def datetimes(self) -> list[datetime]:
        return [*map(wall_datetime, self.walls), *map(to_datetime, self.instants)]

    @property
    def texts(self) -> list[str]:
        return sorted([*(wall_text(wall) for wall in self.walls), *map(iso, self.instants)])


def wall_text(wall: int) -> str:
    return wall_datetime(wall).isoformat()


def read_wall(at: datetime | str, in_zone: Zone, field: str) -> tuple[int, int | None]:
    """Return the wall-clock second, and the epoch second if it is the second occurrence of a repeated time."""
    if isinstance(at, str):
        at = parse_iso(at, field)
    if not isinstance(at, datetime):
        raise refuse(field, f"must be a date and time, not {type(at).__name__}")
    if at.microsecond:
        raise refuse(field, "has microseconds, but ticks are whole seconds", "Use .replace(microsecond=0).")
    if at.tzinfo is None:
        wall, tick = wall_seconds(at), None
        if at.fold:
            second = to_seconds(at.replace(tzinfo=zone_info(in_zone.name)))
            # In a gap, fold selects another wall-clock time.
            tick = second if in_zone.to_wall(second) == wall else None
    else:
        tick = to_seconds(at)
        wall = in_zone.to_wall(tick)
    if not FIRST_SECOND <= wall <= LAST_SECOND:
        raise refuse(field, "is outside the years 1 to 9999", "Choose an instant in this range.")
    return wall, None if tick == in_zone.to_epoch(wall) else tick


def read_rdates(dates: Iterable[datetime | str], in_zone: Zone) -> Dates:
    return _dates(read_wall(at, in_zone, "rdate") for at in dates)


def read_exdates(dates: Iterable[datetime | str], in_zone: Zone) -> Dates:
    """Read EXDATEs; the end of a gap also counts as an instant, because all times in the gap tick then."""
    pairs = (read_wall(at, in_zone, "exdate") for at in dates)
    return _dates((wall, _gap_end(wall, in_zone) if tick is None else tick) for wall, tick in pairs)


def _dates(pairs: Iterable[tuple[int, int | None]]) -> Dates:
    walls, instants = set(), set()
    for wall, tick in pairs:
        if tick is None:
            walls.add(wall)
        else:
            instants.add(tick)
    return Dates(tuple(sorted(walls)), tuple(sorted(instants)))


def _gap_end(wall: int, in_zone: Zone) -> int | None:
    tick = in_zone.to_epoch(wall)
    return tick if in_zone.to_wall(tick) == wall and in_zone.to_epoch(wall - 1) == tick else None


def latest_wall(at: int, in_zone: Zone) -> int:
    """Return the latest wall-clock second shown up to an epoch second."""
    latest = in_zone.to_wall(at)
    for span in in_zone.spans(at - MAX_SHIFT, at):
        latest = max(latest, min(span.end - 1, at) + span.offset)
    return latest


def _lost_walls(at: int, in_zone: Zone) -> tuple[int, int] | None:
    """Return the first and last wall-clock second that tick at an instant; None for a second occurrence."""
    first, last = latest_wall(at - 1, in_zone) + 1, in_zone.to_wall(at)
    return (first, last) if first <= last else None


class Exclusions:
    """Ranges of wall-clock seconds that EXDATE removes: single seconds, and gaps with their end."""

    __slots__ = ("_ends", "_rule", "_starts", "_totals")

    def __init__(self, rule: RuleWalls, exdates: Dates, in_zone: Zone) -> None:
        gaps = (gap for at in exdates.instants if (gap := _lost_walls(at, in_zone)) is not None)
        ranges = [*((wall, wall) for wall in exdates.walls), *gaps]
        self._starts: list[int] = []
        self._ends: list[int] = []
        for first, last in sorted(ranges, key=lambda pair: (pair[0], -pair[1])):
            if not self._ends or first > self._ends[-1]:
                self._starts.append(first)
                self._ends.append(last)
        self._rule = rule
        self._totals: list[int] | None = None

    def end_of(self, wall: int) -> int | None:
        """Return the last second of the range that contains `wall`; None if it is not removed."""
        index = bisect_right(self._starts, wall) - 1
        return self._ends[index] if index >= 0 and wall <= self._ends[index] else None

    def before(self, wall: int) -> int:
        """Count the removed matches of the rule before `wall`."""
        if self._totals is None:
            self._totals = [0]
            for first, last in zip(self._starts, self._ends, strict=True):
                self._totals.append(self._totals[-1] + self._count(first, last + 1))
        index = bisect_left(self._starts, wall)
        if index and wall <= self._ends[index - 1]:
            return self._totals[index - 1] + self._count(self._starts[index - 1], wall)
        return self._totals[index]

    def _count(self, first: int, end: int) -> int:
        if end - first == 1:
            return int(self._rule.contains(first))
        return self._rule.before(end) - self._rule.before(first)


def unused_exdates(rule: RuleWalls, exdates: Dates, rdates: Dates, in_zone: Zone) -> Sequence[str]:
    """Return the exdates that match no tick, as texts."""
    added, moments = set(rdates.walls), set(rdates.instants)
    texts = [wall_text(wall) for wall in exdates.walls if wall not in added and not rule.contains(wall)]
    for at in exdates.instants:
        if (gap := _lost_walls(at, in_zone)) is None:
            is_used = at in moments
        else:
            first, last = gap
            match = rule.next(first)
            is_used = (match is not None and match <= last) or any(first <= wall <= last for wall in added)
        if not is_used:
            texts.append(iso(at))
    return sorted(texts)
