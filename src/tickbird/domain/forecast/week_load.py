"""Load of the coming days, hour by hour. Equal triggers are counted once for all schedules that share them."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tickbird.domain.dashboard_rows import LoadRow
from tickbird.domain.forecast.tick_load import HOUR, MINUTE, count_by_slot, count_running_ticks
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.time.instants import to_datetime, to_seconds

HOURS: Final = 7 * 24
# A trigger with more ticks is counted per hour and assumed even within the hour.
_MAX_ENUMERATED: Final = 3_000
# Maximum of names per group, and of groups per hour.
_NAMED: Final = 5
_MAX_NAMES: Final = 10


@dataclass(frozen=True, slots=True)
class TriggerShare:
    """The share of one trigger in an hour: its schedules, their total ticks, and some of their names."""

    trigger: str
    schedules: int
    ticks: int
    busy: float
    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class HourLoad:
    """One hour: its ticks, the average of busy slots, and the busiest minute; shares are sorted, largest first."""

    at: datetime
    ticks: int
    busy: float
    peak_at: datetime
    peak: int
    shares: Sequence[TriggerShare]


@dataclass(frozen=True, slots=True)
class WeekLoad:
    """The load by hour, aligned to the clock, the ticks by minute, and the number of schedules."""

    hours: Sequence[HourLoad]
    minutes: Sequence[int]
    schedules: int
    unreadable: int
    # Seconds that were assumed for schedules without a successful run.
    assumed: float

    def quiet_minutes(self, hour: int, maximum: int = 5) -> Sequence[int]:
        """Return the minutes of an hour with the fewest ticks, to suggest them for other schedules."""
        ticks = self.minutes[hour * 60 : hour * 60 + 60]
        return sorted(range(len(ticks)), key=lambda minute: (ticks[minute], minute))[:maximum]

    def quiet_hours(self, hour: int, maximum: int = 3) -> Sequence[int]:
        """Return the hours with the lowest load within 12 hours of an hour; nearest first if equal."""
        near = [other for other in range(max(0, hour - 12), min(len(self.hours), hour + 13)) if other != hour]
        return sorted(near, key=lambda other: (self.hours[other].busy, self.hours[other].ticks, abs(other - hour)))[
            :maximum
        ]


@dataclass(slots=True)
class _Group:
    """Schedules with the same ticks and, to the minute, the same spread offset."""

    definition: str
    offset: int
    schedules: int = 0
    known: int = 0
    seconds: float = 0.0
    names: list[str] = field(default_factory=list)


class WeekLoadCounter:
    """Collects schedules page by page, then counts; the cost grows with distinct triggers, not with schedules."""

    def __init__(self, namespace: str, now: datetime, hours: int = HOURS) -> None:
        self._namespace = namespace
        self._start = to_seconds(now) // HOUR * HOUR
        self._hours = hours
        self._groups: dict[tuple[str, int], _Group] = {}
        self._read: dict[str, Definition | None] = {}
        self._unreadable = 0

    def add(self, rows: Iterable[LoadRow]) -> None:
        """Add active schedules."""
        for row in rows:
            definition = self._definition(row.definition)
            if definition is None:
                self._unreadable += 1
                continue
            if definition.shadow:
                continue
            offset = spread_offset(self._namespace, row.name, definition.spread) // MINUTE * MINUTE
            group = self._groups.get((row.definition, offset))
            if group is None:
                group = self._groups[row.definition, offset] = _Group(row.definition, offset)
            group.schedules += 1
            if row.duration is not None:
                group.known += 1
                group.seconds += row.duration
            if len(group.names) < _NAMED:
                group.names.append(row.name)

    def _definition(self, text: str) -> Definition | None:
        if text not in self._read:
            try:
                self._read[text] = decode_definition(json.loads(text))
            except Exception:  # noqa: BLE001 - an error in one row must not affect others
                self._read[text] = None
        return self._read[text]

    def week(self) -> WeekLoad:
        known = sum(group.known for group in self._groups.values())
        assumed = sum(group.seconds for group in self._groups.values()) / known if known else 0.0
        minutes = array("q", bytes(8 * self._hours * 60))
        shares: list[dict[str, list[TriggerShare]]] = [{} for _ in range(self._hours)]
        ticks_of: dict[str, dict[int, int] | list[int]] = {}
        for group in self._groups.values():
            definition = self._read[group.definition]
            assert definition is not None
            if group.definition not in ticks_of:
                ticks_of[group.definition] = self._ticks(definition)
            hourly = self._spread_over(ticks_of[group.definition], group, minutes)
            seconds = (group.seconds + assumed * (group.schedules - group.known)) / group.schedules
            for hour, ticks in hourly.items():
                total = ticks * group.schedules
                share = TriggerShare(
                    definition.trigger.describe(), group.schedules, total, total * seconds / HOUR, group.names
                )
                shares[hour].setdefault(group.definition, []).append(share)
        hours = [self._hour(hour, minutes, by_trigger) for hour, by_trigger in enumerate(shares)]
        number = sum(group.schedules for group in self._groups.values())
        return WeekLoad(hours, minutes, number, self._unreadable, assumed)

    def _ticks(self, definition: Definition) -> dict[int, int] | list[int]:
        """Return ticks by minute of the grid, starting early by the spread; by hour if there are many."""
        first, end = self._start - definition.spread, self._start + self._hours * HOUR
        if count_running_ticks(definition, first - 1, end - 1) > _MAX_ENUMERATED:
            return count_by_slot(definition, range(self._start, end + 1, HOUR))
        grid = definition.grid
        ticks = (tick for tick in grid.walk(first - 1, end - 1) if not grid.excludes(tick))
        return Counter((tick - self._start) // MINUTE for tick in ticks)

    def _spread_over(self, ticks: dict[int, int] | list[int], group: _Group, minutes: array[int]) -> dict[int, int]:
        """Add a group to `minutes`; return the ticks per hour of one of its schedules."""
        hourly: dict[int, int] = {}
        if isinstance(ticks, list):
            for hour, number in enumerate(ticks):
                if number:
                    hourly[hour] = number
                    share, rest = divmod(number * group.schedules, 60)
                    for minute in range(60):
                        minutes[hour * 60 + minute] += share + (minute < rest)
            return hourly
        for minute, number in ticks.items():
            moved = minute + group.offset // MINUTE
            if 0 <= moved < len(minutes):
                minutes[moved] += number * group.schedules
                hourly[moved // 60] = hourly.get(moved // 60, 0) + number
        return hourly

    def _hour(self, hour: int, minutes: array[int], by_trigger: dict[str, list[TriggerShare]]) -> HourLoad:
        start = self._start + hour * HOUR
        of_hour = minutes[hour * 60 : hour * 60 + 60]
        busiest = max(range(60), key=lambda minute: (of_hour[minute], -minute))
        # Groups of one trigger with different spread offsets are one share.
        shares = [
            TriggerShare(
                parts[0].trigger,
                sum(part.schedules for part in parts),
                sum(part.ticks for part in parts),
                sum(part.busy for part in parts),
                [name for part in parts for name in part.names][:_NAMED],
            )
            for parts in by_trigger.values()
        ]
        shares.sort(key=lambda share: (-share.busy, -share.ticks, share.names))
        return HourLoad(
            at=to_datetime(start),
            ticks=sum(of_hour),
            busy=sum(share.busy for share in shares),
            peak_at=to_datetime(start + busiest * MINUTE),
            peak=of_hour[busiest],
            shares=shares[:_MAX_NAMES],
        )
