"""Cron expressions as sets of values, and their conversion to cron fields of Tickbird."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from tickbird.domain.time.zone_data import zone_info
from tickbird.importers.entries import Fires

WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ALL: Final = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 6)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSets:
    """Five sets; weekday 0 is Sunday. With `either`, matching the day or the weekday is enough."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either: bool = False
    # The wildcards of minute and hour, such as */5, or "". Wildcards follow elapsed time over a DST change.
    starred: tuple[str, str] = ("", "")

    def walls(self, day: date) -> Iterator[datetime]:
        """Yield the local times of a day, in order, without a time zone."""
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if day.month in self.months and ((of_month or of_week) if self.either else (of_month and of_week)):
            for hour in sorted(self.hours):
                for minute in sorted(self.minutes):
                    yield datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001 - local time

    def fields(self) -> dict[str, Any]:
        """Return `cron`, and `exclude` if day and weekday must both match, which cron cannot express."""
        minute, hour = (
            star or spelled(values, name)
            for star, values, name in zip(self.starred, (self.minutes, self.hours), ("minute", "hour"), strict=True)
        )
        day, month = spelled(self.days, "day"), spelled(self.months, "month")
        weekday = spelled(self.weekdays, "weekday")
        if self.either and "*" in (day, weekday):
            day = weekday = "*"
        if self.either or "*" in (day, weekday):
            return {"cron": f"{minute} {hour} {day} {month} {weekday}"}
        # Both must match, but in cron either is enough.
        closed = [name for number, name in enumerate(WEEKDAYS) if number not in self.weekdays]
        return {"cron": f"{minute} {hour} {day} {month} *", "exclude": closed}

    def fires_by_wall(self, tz: str) -> Fires:
        """Return the firings of a scheduler that computes the next local time after the last one, as Celery does."""

        def fires(after: int, until: int) -> Iterator[int]:
            # Load the time zone only here: an unknown one is reported when the schedule is read.
            info = zone_info(tz)
            last = datetime.fromtimestamp(after, UTC).astimezone(info)
            walls = self._walls(info, after, until)
            for wall in walls:
                if wall <= last.replace(tzinfo=None, fold=0):
                    continue
                instant = wall.replace(tzinfo=info, fold=last.fold).astimezone(UTC)
                yield int(instant.timestamp())
                last = instant.astimezone(info)

        return fires

    def fires_by_clock(self, tz: str) -> Fires:
        """Return the firings of a scheduler that checks the clock each minute. Repeated times fire twice."""

        def fires(after: int, until: int) -> Iterator[int]:
            # Load the time zone only here: an unknown one is reported when the schedule is read.
            info = zone_info(tz)
            instants = set()
            for wall in self._walls(info, after, until):
                for fold in (0, 1):
                    instant = wall.replace(tzinfo=info, fold=fold).astimezone(UTC)
                    if instant.astimezone(info).replace(tzinfo=None, fold=0) == wall:
                        instants.add(int(instant.timestamp()))
            return iter(sorted(instants))

        return fires

    def _walls(self, info: ZoneInfo, after: int, until: int) -> Iterator[datetime]:
        day = datetime.fromtimestamp(after, UTC).astimezone(info).date() - timedelta(days=1)
        end = datetime.fromtimestamp(until, UTC).astimezone(info).date() + timedelta(days=1)
        while day <= end:
            yield from self.walls(day)
            day += timedelta(days=1)


def all_values(name: str) -> frozenset[int]:
    low, high = _ALL[name]
    return frozenset(range(low, high + 1))


def spelled(values: Iterable[int], name: str) -> str:
    """Convert a set to a cron field: `*`, or numbers and ranges."""
    numbers = sorted(set(values))
    if set(numbers) == all_values(name):
        return "*"
    runs: list[list[int]] = []
    for value in numbers:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    return ",".join(parts)


def number_of(word: str, names: Mapping[str, int]) -> int:
    """Parse a number or a name; raise ValueError for other words."""
    if word.isascii() and word.isdigit():
        return int(word)
    number = names.get(word[:3].lower())
    if number is None:
        raise ValueError(f"{word!r} is neither a number nor a name")
    return number
