"""Days on which a schedule does not run: weekdays, dates and days of the year, in the trigger's time zone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from tickbird.domain.errors import DefinitionError

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LAST_ORDINAL = date.max.toordinal()
_YEARLY = re.compile(r"(\d\d)-(\d\d)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Closed days; `weekdays` count from Monday = 0, `yearly` are (month, day), and `opened` overrides them all."""

    dates: frozenset[date] = frozenset()
    weekdays: frozenset[int] = frozenset()
    yearly: frozenset[tuple[int, int]] = frozenset()
    opened: frozenset[date] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.dates or self.weekdays or self.yearly)

    def excludes(self, ordinal: int) -> bool:
        """Return whether the day with this proleptic ordinal is excluded."""
        if not 1 <= ordinal <= LAST_ORDINAL:
            return False
        if self.dates or self.yearly or self.opened:
            day = date.fromordinal(ordinal)
            if day in self.opened:
                return False
            if day in self.dates or (day.month, day.day) in self.yearly:
                return True
        return (ordinal - 1) % 7 in self.weekdays

    def rule(self, day: date) -> str:
        """Describe the rule that excludes a day."""
        if day in self.dates:
            return "that date"
        if (day.month, day.day) in self.yearly:
            return f"every {day:%m-%d}"
        return f"every {WEEKDAYS[day.weekday()].capitalize()}"


# Available to every schedule without being stored.
BUILT_IN: Mapping[str, Calendar] = {"weekends": Calendar(weekdays=frozenset({5, 6}))}


@dataclass(frozen=True, slots=True)
class ClosedDays:
    """The days on which one schedule does not run: its own, and those of its calendars."""

    own: Calendar
    shared: Calendar

    def __bool__(self) -> bool:
        return bool(self.own or self.shared)

    def excludes(self, ordinal: int) -> bool:
        return self.own.excludes(ordinal) or self.shared.excludes(ordinal)


def merge(calendars: Iterable[Calendar]) -> Calendar:
    """Merge calendars: a day is closed if any of them closes it and none opens it."""
    dates: set[date] = set()
    weekdays: set[int] = set()
    yearly: set[tuple[int, int]] = set()
    opened: set[date] = set()
    for calendar in calendars:
        dates |= calendar.dates
        weekdays |= calendar.weekdays
        yearly |= calendar.yearly
        opened |= calendar.opened
    return Calendar(frozenset(dates), frozenset(weekdays), frozenset(yearly), frozenset(opened))


def exclude(*days: str | date) -> Calendar:
    """Create a calendar that excludes these days: exclude("sat", "sun", date(2026, 12, 25))."""
    dates: set[date] = set()
    weekdays: set[int] = set()
    for day in days:
        if isinstance(day, date):
            dates.add(date(day.year, day.month, day.day))
        elif isinstance(day, str) and day.lower() in WEEKDAYS:
            weekdays.add(WEEKDAYS.index(day.lower()))
        else:
            dates.add(_date(day))
    if len(weekdays) == 7:
        raise DefinitionError(
            "exclude: all seven weekdays are excluded, so no tick would ever run.",
            field="exclude",
            hint="Remove a weekday.",
        )
    return Calendar(frozenset(dates), frozenset(weekdays))


def _date(text: object) -> date:
    try:
        return date.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DefinitionError(
            f"exclude: {str(text)[:40]!r} is neither a weekday nor a date.",
            field="exclude",
            hint=f"Use {', '.join(WEEKDAYS)} or a date such as 2026-12-25.",
        ) from None


def calendar_to_json(calendar: Calendar) -> list[str]:
    """Weekdays, days of every year (12-25), dates, and opened dates (+2026-05-16), sorted."""
    return [
        *(WEEKDAYS[n] for n in sorted(calendar.weekdays)),
        *(f"{month:02}-{day:02}" for month, day in sorted(calendar.yearly)),
        *(d.isoformat() for d in sorted(calendar.dates)),
        *(f"+{d.isoformat()}" for d in sorted(calendar.opened)),
    ]


def calendar_from_json(days: Any) -> Calendar:
    """Read a schedule's own days from `calendar_to_json`: weekdays and dates."""
    return exclude(*_checked(days, "exclude"))


def content_from_json(days: Any) -> Calendar:
    """Read a calendar from `calendar_to_json`."""
    weekdays, yearly, dates, opened = set(), set(), set(), set()
    for day in _checked(days, "closed"):
        try:
            if day in WEEKDAYS:
                weekdays.add(WEEKDAYS.index(day))
            elif match := _YEARLY.fullmatch(day):
                yearly.add(yearly_day(int(match[1]), int(match[2])))
            elif day.startswith("+"):
                opened.add(date.fromisoformat(day[1:]))
            else:
                dates.add(date.fromisoformat(day))
        except ValueError:
            raise DefinitionError(
                f"closed: {day[:40]!r} is not a day.", field="closed", hint="Write a date such as 2026-12-25."
            ) from None
    return Calendar(frozenset(dates), frozenset(weekdays), frozenset(yearly), frozenset(opened))


def read_content(days: Any) -> Calendar:
    """Read a stored calendar for display; an invalid one, which only plain SQL can write, has no days."""
    try:
        return content_from_json(days)
    except DefinitionError:
        return Calendar()


def yearly_day(month: int, day: int) -> tuple[int, int]:
    """Return a day of the year, or raise ValueError if no year has it."""
    date(2000, month, day)
    return month, day


def _checked(days: Any, field: str) -> list[str]:
    if not isinstance(days, list) or not all(isinstance(day, str) for day in days):
        raise DefinitionError(f"{field} must be a list of weekdays and dates.", field=field)
    return days
