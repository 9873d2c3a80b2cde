"""Triggers by plain arithmetic: days and minutes of the wall clock are tried one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tickbird.domain.time.zone_data import zone_info

EPOCH = date(1970, 1, 1)
MINUTE, HOUR, DAY = 60, 3_600, 86_400
_ELAPSED = {"seconds": 1, "minutes": MINUTE, "hours": HOUR}
# Ticks are computed and cached in chunks of this many seconds.
_CHUNK = 4 * DAY


def utc(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def local_day(second: int, tz: str) -> date:
    return utc(second).astimezone(zone_info(tz)).date()


def _days(tz: str, first: int, last: int) -> list[date]:
    """The local days of an interval, and one more on each side, because the end of a gap can be on the next day."""
    begin, end = local_day(first, tz).toordinal() - 1, local_day(last, tz).toordinal() + 1
    return [date.fromordinal(day) for day in range(begin, end + 1)]


@lru_cache(maxsize=4_096)
def _midnight(day: date, zone: ZoneInfo) -> int | None:
    """Midnight, if the UTC offset does not change on this day, the day before or the day after."""
    noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001 - on the wall
    offsets = {(noon + timedelta(days=days)).replace(tzinfo=zone).utcoffset() for days in (-1, 0, 1)}
    offset = offsets.pop()
    return None if offsets or offset is None else (day - EPOCH).days * DAY - int(offset.total_seconds())


def _instants(wall: datetime, zone: ZoneInfo) -> list[int]:
    """The instants of a wall-clock time: none in a gap, two in a repeated hour."""
    instants = set()
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == wall:
            instants.add(int(instant.timestamp()))
    return sorted(instants)


def _first_instant(wall: datetime, zone: ZoneInfo) -> int:
    """The first instant of a wall-clock time; the end of the gap if it is in one."""
    if instants := _instants(wall, zone):
        return instants[0]
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    instant = before.replace(second=0)
    while instant.astimezone(zone).utcoffset() == offset:
        instant += timedelta(minutes=1)
    return int(instant.timestamp())


@dataclass(frozen=True)
class Interval:
    """Every N units, from an anchor on the wall clock or the default one."""

    unit: str
    step: int
    tz: str = "UTC"
    anchor: datetime | None = None

    @property
    def zones(self) -> set[str]:
        return {self.tz}

    def ticks(self, first: int, last: int) -> Collection[int]:
        zone = zone_info(self.tz)
        anchor = self.anchor or datetime(1970, 1, 5 if self.unit == "weeks" else 1)  # noqa: DTZ001 - on the wall
        if self.unit in _ELAPSED:
            step = self.step * _ELAPSED[self.unit]
            return range(first + (_first_instant(anchor, zone) - first) % step, last + 1, step)
        ticks = set()
        for day in _days(self.tz, first, last):
            if self._is_day(day, anchor.date()):
                if (midnight := _midnight(day, zone)) is not None:
                    tick = midnight + anchor.hour * HOUR + anchor.minute * MINUTE + anchor.second
                else:
                    tick = _first_instant(datetime.combine(day, anchor.time()), zone)
                ticks.add(tick)
        return ticks

    def _is_day(self, day: date, anchor: date) -> bool:
        if self.unit == "months":
            months = (day.year - anchor.year) * 12 + day.month - anchor.month
            return months % self.step == 0 and day.day == anchor.day
        return (day - anchor).days % (self.step * (7 if self.unit == "weeks" else 1)) == 0


@lru_cache(maxsize=512)
def _field(text: str, first: int, last: int) -> list[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        low, _, high = span.partition("-")
        begin, end = (first, last) if span == "*" else (int(low), int(high or (last if step else low)))
        values.update(range(begin, end + 1, int(step or 1)))
    return sorted(values)


@dataclass(frozen=True)
class Cron:
    """Five fields; at most one of the two day fields is restricted."""

    text: str
    tz: str = "UTC"

    @property
    def zones(self) -> set[str]:
        return {self.tz}

    def ticks(self, first: int, last: int) -> Collection[int]:
        minutes, hours, days, months, weekdays = self.text.split()
        zone = zone_info(self.tz)
        follows_clock = hours.startswith("*") or minutes.startswith("*")
        times = [(hour, minute) for hour in _field(hours, 0, 23) for minute in _field(minutes, 0, 59)]
        isoweekdays = {number % 7 or 7 for number in _field(weekdays, 0, 7)}
        ticks: set[int] = set()
        for day in _days(self.tz, first, last):
            if day.day not in _field(days, 1, 31) or day.month not in _field(months, 1, 12):
                continue
            if day.isoweekday() not in isoweekdays:
                continue
            if (midnight := _midnight(day, zone)) is not None:
                ticks.update(midnight + hour * HOUR + minute * MINUTE for hour, minute in times)
                continue
            for hour, minute in times:
                wall = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - on the wall
                ticks.update(_instants(wall, zone) if follows_clock else [_first_instant(wall, zone)])
        return ticks


@dataclass(frozen=True)
class At:
    instant: int

    @property
    def zones(self) -> set[str]:
        return {"UTC"}

    def ticks(self, first: int, last: int) -> Collection[int]:
        return [self.instant]


@dataclass(frozen=True)
class AnyOf:
    """The union of triggers."""

    members: tuple[Interval | Cron | At, ...]

    @property
    def zones(self) -> set[str]:
        return {zone for member in self.members for zone in member.zones}

    def ticks(self, first: int, last: int) -> Collection[int]:
        return {tick for member in self.members for tick in member.ticks(first, last)}


# Their `ticks` have all ticks from first to last, inclusive, and may have others.
TriggerSpec = Interval | Cron | At | AnyOf


@lru_cache(maxsize=8_192)
def _cached_chunk(trigger: TriggerSpec, number: int) -> Sequence[int]:
    first, last = number * _CHUNK, (number + 1) * _CHUNK - 1
    ticks = trigger.ticks(first, last)
    return ticks if isinstance(ticks, range) else sorted(tick for tick in ticks if first <= tick <= last)


def _chunks(first: int, last: int) -> range:
    return range(first // _CHUNK, last // _CHUNK + 1)


def ticks_between(trigger: TriggerSpec, first: int, last: int) -> list[int]:
    """All ticks from first to last, both included, in order."""
    ticks: list[int] = []
    for number in _chunks(first, last):
        chunk = _cached_chunk(trigger, number)
        ticks += chunk[bisect_left(chunk, first) : bisect_right(chunk, last)]
    return ticks


def first_tick(trigger: TriggerSpec, first: int, last: int) -> int | None:
    """The first tick from first to last, both included."""
    for number in _chunks(first, last):
        chunk = _cached_chunk(trigger, number)
        if (index := bisect_left(chunk, first)) < len(chunk):
            return chunk[index] if chunk[index] <= last else None
    return None


def last_tick(trigger: TriggerSpec, first: int, last: int) -> int | None:
    """The last tick from first to last, both included."""
    for number in reversed(_chunks(first, last)):
        chunk = _cached_chunk(trigger, number)
        if index := bisect_right(chunk, last):
            return chunk[index - 1] if chunk[index - 1] >= first else None
    return None
