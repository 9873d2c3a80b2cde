"""Grids: the ticks of every kind of trigger, computed without the product's triggers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every
from tickbird.domain.triggers.trigger import Trigger, any_of, at

EPOCH = date(1970, 1, 1)
MINUTE, HOUR, DAY = 60, 3_600, 86_400
_ELAPSED = {"seconds": 1, "minutes": MINUTE, "hours": HOUR}


def utc(second: int) -> datetime:
    """An epoch second as a datetime."""
    return datetime.fromtimestamp(second, UTC)


def _local_days(tz: str, first: int, last: int) -> list[date]:
    begin = (utc(first) - timedelta(days=2)).astimezone(zone_info(tz)).date()
    end = (utc(last) + timedelta(days=2)).astimezone(zone_info(tz)).date()
    return [date.fromordinal(day) for day in range(begin.toordinal(), end.toordinal() + 1)]


@lru_cache(maxsize=4_096)
def _midnight(day: date, zone: ZoneInfo) -> int | None:
    """Midnight of a day on which the clock on the wall never changes, nor on the days beside it; None for others."""
    noon = datetime(day.year, day.month, day.day, 12)  # noqa: DTZ001 - on the wall
    around = [(noon + timedelta(days=days)).replace(tzinfo=zone).utcoffset() for days in (-1, 0, 1)]
    if around[0] != around[2] or around[0] != around[1] or around[1] is None:
        return None
    return (day - EPOCH).days * DAY - int(around[1].total_seconds())


def _passes(wall: datetime, zone: ZoneInfo) -> list[int]:
    """The instants at which the clock on the wall shows this: none in a gap, two in a repeated hour."""
    instants = set()
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == wall:
            instants.add(int(instant.timestamp()))
    return sorted(instants)


def _gap_end(wall: datetime, zone: ZoneInfo) -> int:
    """The first instant after the gap in which this wall-clock time is missing."""
    before = wall.replace(tzinfo=zone, fold=1).astimezone(UTC)
    offset = before.astimezone(zone).utcoffset()
    instant = before.replace(second=0)
    while instant.astimezone(zone).utcoffset() == offset:
        instant += timedelta(minutes=1)
    return int(instant.timestamp())


def _first_instant(wall: datetime, zone: ZoneInfo) -> int:
    """A wall-clock time that happens once: the first pass, or the end of the gap."""
    passes = _passes(wall, zone)
    return passes[0] if passes else _gap_end(wall, zone)


@dataclass(frozen=True)
class Interval:
    """Every so many units, from an anchor on the wall clock or the default one."""

    unit: str
    step: int
    tz: str = "UTC"
    anchor: datetime | None = None

    @property
    def zones(self) -> set[str]:
        """The zone it speaks of."""
        return {self.tz}

    def trigger(self) -> Trigger:
        """As the product has it."""
        return Every({self.unit: self.step}, self.anchor, self.tz)

    def ticks(self, first: int, last: int) -> set[int]:
        """All ticks from first to last."""
        zone = zone_info(self.tz)
        anchor = self.anchor or datetime(1970, 1, 5 if self.unit == "weeks" else 1)  # noqa: DTZ001 - on the wall
        if self.unit in _ELAPSED:
            step = self.step * _ELAPSED[self.unit]
            start = _first_instant(anchor, zone)
            return set(range(first + (start - first) % step, last + 1, step))
        ticks = set()
        for day in _local_days(self.tz, first, last):
            if self._is_day(day, anchor.date()):
                midnight = _midnight(day, zone)
                if midnight is not None:
                    tick = midnight + anchor.hour * HOUR + anchor.minute * MINUTE + anchor.second
                else:
                    tick = _first_instant(datetime.combine(day, anchor.time()), zone)
                if first <= tick <= last:
                    ticks.add(tick)
        return ticks

    def _is_day(self, day: date, anchor: date) -> bool:
        if self.unit == "months":
            months = (day.year - anchor.year) * 12 + day.month - anchor.month
            return months % self.step == 0 and day.day == anchor.day
        return (day - anchor).days % (self.step * (7 if self.unit == "weeks" else 1)) == 0


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
        """The zone it speaks of."""
        return {self.tz}

    def trigger(self) -> Trigger:
        """As the product has it."""
        return cron(self.text, self.tz)

    def ticks(self, first: int, last: int) -> set[int]:
        """All ticks from first to last."""
        minutes, hours, days, months, weekdays = self.text.split()
        zone = zone_info(self.tz)
        follows_clock = hours.startswith("*") or minutes.startswith("*")
        times = [(hour, minute) for hour in _field(hours, 0, 23) for minute in _field(minutes, 0, 59)]
        right_days, right_months = _field(days, 1, 31), _field(months, 1, 12)
        right_weekdays = {number % 7 for number in _field(weekdays, 0, 7)}
        ticks: set[int] = set()
        for day in _local_days(self.tz, first, last):
            right = day.day in right_days and day.month in right_months
            if not right or day.isoweekday() % 7 not in right_weekdays:
                continue
            if (midnight := _midnight(day, zone)) is not None:
                ticks.update(midnight + hour * HOUR + minute * MINUTE for hour, minute in times)
                continue
            for hour, minute in times:
                wall = datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - on the wall
                ticks.update(_passes(wall, zone) if follows_clock else [_first_instant(wall, zone)])
        return {tick for tick in ticks if first <= tick <= last}


@dataclass(frozen=True)
class Instant:
    """One instant."""

    instant: int

    @property
    def zones(self) -> set[str]:
        """An instant has none of its own."""
        return {"UTC"}

    def trigger(self) -> Trigger:
        """As the product has it."""
        return at(utc(self.instant))

    def ticks(self, first: int, last: int) -> set[int]:
        """Itself."""
        return {self.instant} if first <= self.instant <= last else set()


@dataclass(frozen=True)
class Several:
    """Whenever one of them does."""

    members: tuple[Interval | Cron | Instant, ...]

    @property
    def zones(self) -> set[str]:
        """All of them."""
        return {zone for member in self.members for zone in member.zones}

    def trigger(self) -> Trigger:
        """As the product has it."""
        return any_of(*(member.trigger() for member in self.members))

    def ticks(self, first: int, last: int) -> set[int]:
        """The ticks of all."""
        return set().union(*(member.ticks(first, last) for member in self.members))


Form = Interval | Cron | Instant | Several


@lru_cache(maxsize=512)
def _ticks(form: Form, first: int, last: int) -> list[int]:
    return sorted(form.ticks(first, last))


@dataclass(frozen=True)
class Days:
    """Days of the week (Monday is 0) and dates on which nothing runs."""

    weekdays: tuple[int, ...] = ()
    dates: tuple[date, ...] = ()

    def hold(self, day: date) -> bool:
        """Is this one of them?"""
        return day.weekday() in self.weekdays or day in self.dates


@dataclass(frozen=True)
class Grid:
    """A trigger within its window, over the stretch of time that one simulation can reach."""

    form: Form
    start_at: int | None
    end_at: int | None
    reach: tuple[int, int]
    exclude: Days = field(default_factory=Days)

    def between(self, after: int, until: int) -> list[int]:
        """The ticks of (after, until]."""
        if self.start_at is not None:
            after = max(after, self.start_at - 1)
        if self.end_at is not None:
            until = min(until, self.end_at)
        ticks = _ticks(self.form, *self.reach)
        if until > self.reach[1]:
            # Rare: an operator skipped ticks long after the simulation.
            ticks = ticks + _ticks(self.form, self.reach[1] + 1, until)
        return ticks[bisect_right(ticks, after) : bisect_right(ticks, until)]

    def next(self, after: int) -> int | None:
        """The first tick after an instant."""
        if self.start_at is not None:
            after = max(after, self.start_at - 1)
        for further in (0, 3 * DAY, 30 * DAY, 400 * DAY):
            ticks = self.between(after, max(after, self.reach[1]) + further)
            if ticks:
                return ticks[0]
            if self.end_at is not None and self.end_at <= max(after, self.reach[1]) + further:
                return None
        return None

    def last(self, until: int) -> int | None:
        """The last tick up to an instant."""
        ticks = _ticks(self.form, *self.reach)
        if self.end_at is not None:
            until = min(until, self.end_at)
        index = bisect_left(ticks, until + 1)
        tick = ticks[index - 1] if index else None
        return None if tick is None or (self.start_at is not None and tick < self.start_at) else tick

    def excludes(self, tick: int) -> bool:
        """Does the calendar say no to the local day of a tick?"""
        zones = self.form.zones
        zone = zone_info(zones.pop() if len(zones) == 1 else "UTC")
        return self.exclude.hold(utc(tick).astimezone(zone).date())
