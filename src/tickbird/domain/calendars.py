"""Days on which a schedule does not run: weekdays and single dates, in the trigger's zone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from tickbird.domain.errors import DefinitionError

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Calendar:
    """Excluded days; `weekdays` count from Monday = 0."""

    dates: frozenset[date] = frozenset()
    weekdays: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.dates or self.weekdays)

    def excludes(self, ordinal: int) -> bool:
        """Is the day with this proleptic ordinal excluded?"""
        return (ordinal - 1) % 7 in self.weekdays or (bool(self.dates) and date.fromordinal(ordinal) in self.dates)


def exclude(*days: str | date) -> Calendar:
    """A calendar without these days: exclude("sat", "sun", date(2026, 12, 25))."""
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
        raise DefinitionError("exclude: all seven weekdays are excluded, so nothing would ever run.", field="exclude")
    return Calendar(frozenset(dates), frozenset(weekdays))


def _date(text: object) -> date:
    try:
        return date.fromisoformat(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DefinitionError(
            f"exclude: {str(text)[:40]!r} is neither a weekday nor a date;",
            field="exclude",
            hint=f"use {', '.join(WEEKDAYS)} or a date such as 2026-12-25.",
        ) from None


def calendar_to_json(calendar: Calendar) -> list[str]:
    """Weekdays first, then dates, sorted, so equal calendars look equal."""
    return [WEEKDAYS[n] for n in sorted(calendar.weekdays)] + [d.isoformat() for d in sorted(calendar.dates)]


def calendar_from_json(days: Any) -> Calendar:
    """The calendar of `calendar_to_json`."""
    if not isinstance(days, list):
        raise DefinitionError("exclude: must be a list of weekdays and dates.", field="exclude")
    return exclude(*_checked(days))


def _checked(days: Iterable[object]) -> Iterable[str]:
    for day in days:
        if not isinstance(day, str):
            raise DefinitionError("exclude: must be a list of weekdays and dates.", field="exclude")
        yield day
