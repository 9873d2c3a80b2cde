"""A calendar as a person defines it: weekdays, dates and ranges, public holidays, and days that are open after all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from tickbird.domain.calendars.calendar import BUILT_IN, WEEKDAYS, Calendar, yearly_day
from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, StaleError
from tickbird.domain.text import check_name, check_text

# So that a definition that holds what its calendars say stays small.
MAX_DATES = 2_000
MAX_YEARS = 40
YEARS_BACK, YEARS_AHEAD = 1, 10
_FIELDS = ("weekdays", "dates", "holidays", "include", "description")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_YEARLY = re.compile(r"\d\d-\d\d", re.ASCII)
_FORMS = "use 2026-12-24, 2026-12-24/2026-12-31, or every year 12-25 or 12-24/01-02."


@dataclass(frozen=True, slots=True)
class Holidays:
    """The public holidays of a country, or of a part of it, for a span of years."""

    country: str
    subdivision: str | None = None
    years: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        made: dict[str, Any] = {"country": self.country}
        made |= {"subdivision": self.subdivision} if self.subdivision else {}
        return made | ({"years": list(self.years)} if self.years else {})


@dataclass(frozen=True, slots=True)
class CalendarDefinition:
    """Checked, and not yet resolved: `dates` and `include` are texts such as 2026-12-24, 12-25 or 12-24/01-02."""

    weekdays: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    holidays: Holidays | None = None
    description: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, without what is empty."""
        made: dict[str, Any] = {name: list(getattr(self, name)) for name in ("weekdays", "dates", "include")}
        made |= {"holidays": self.holidays.to_json() if self.holidays else None, "description": self.description}
        return {name: value for name, value in made.items() if value}

    def closed(self, holidays: Iterable[date] = ()) -> Calendar:
        """The days that it closes, given the public holidays that it asks for."""
        dates: set[date] = set(holidays)
        yearly: set[tuple[int, int]] = set()
        for text in self.dates:
            found, each_year = _days(text, "dates")
            dates |= found
            yearly |= each_year
        opened = {day for text in self.include for day in _dates_only(text)}
        if len(dates) + len(opened) > MAX_DATES:
            raise DefinitionError(
                f"dates: {len(dates) + len(opened):,} days are more than the {MAX_DATES:,} allowed;",
                field="dates",
                hint="write days that return as 12-25, and fewer years of holidays.",
            )
        weekdays = frozenset(map(WEEKDAYS.index, self.weekdays))
        if len(weekdays) == 7 and not opened:
            raise DefinitionError("weekdays: all seven are closed, so nothing would ever run.", field="weekdays")
        return Calendar(frozenset(dates), weekdays, frozenset(yearly), frozenset(opened))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRecord:
    """A stored calendar: as defined, what it closes, where that comes from, and how often it was put (`revision`)."""

    name: str
    definition: Mapping[str, Any]
    closed: Calendar
    # Of public holidays: the library and its version, the span of years, and the names by date.
    source: Mapping[str, Any]
    revision: int
    created_at: datetime
    changed_at: datetime
    changed_by: str


def read_calendar(value: object) -> CalendarDefinition:
    """A definition from JSON values, or the error that names the field."""
    if isinstance(value, CalendarDefinition):
        return value
    if not isinstance(value, Mapping):
        raise DefinitionError(
            "calendar: must be an object,", field="calendar", hint=f"with some of {', '.join(_FIELDS)}."
        )
    for name in value:
        if name not in _FIELDS:
            raise DefinitionError(
                f"{str(name)[:60]!r} is not a field of a calendar;",
                field=str(name)[:60],
                hint=f"it has {', '.join(_FIELDS)}.",
            )
    weekdays = tuple(text.lower() for text in _texts(value.get("weekdays"), "weekdays"))
    for text in weekdays:
        if text not in WEEKDAYS:
            raise DefinitionError(
                f"weekdays: {text[:40]!r} is not a weekday;", field="weekdays", hint=f"use {', '.join(WEEKDAYS)}."
            )
    definition = CalendarDefinition(
        weekdays,
        _texts(value.get("dates"), "dates"),
        _texts(value.get("include"), "include"),
        _holidays(value.get("holidays")),
        check_text(value.get("description") or "", "description"),
    )
    definition.closed()
    if not definition.to_json().keys() - {"description"}:
        raise DefinitionError(
            "calendar: it closes nothing;", field="calendar", hint="give weekdays, dates, holidays or include."
        )
    return definition


def check_calendar_name(name: object) -> str:
    """The name itself; those that are built in cannot be put or deleted."""
    checked = check_name(name, "calendar")
    if checked in BUILT_IN:
        raise DefinitionError(
            f"calendar: {checked!r} is built in;", field="calendar", hint="name it in a schedule, or choose another."
        )
    return checked


def check_revision(name: str, found: int | None, wanted: int | None) -> None:
    """Refuse a change to a calendar that is at another revision than the one it was meant for; 0: that is not there."""
    if wanted is None or wanted == (found or 0):
        return
    is_at = f"is at revision {found}" if found else "is not there"
    meant = f"not {wanted}" if wanted else "though it was not to be there"
    raise StaleError(
        f"calendar {name!r} {is_at}, {meant}: it changed meanwhile.", hint="Read it again and repeat the change."
    )


def no_such_calendar(name: str, known: Iterable[str]) -> NotFoundError:
    """The error for a name that no calendar has."""
    return NotFoundError(
        f"there is no calendar {name[:200]!r};",
        hint=f"these exist: {', '.join(sorted({*known, *BUILT_IN}))}; put another with `tickbird calendar put`.",
    )


def calendar_in_use(name: str, schedules: Sequence[str]) -> ConflictError:
    """The error for deleting a calendar that schedules name; the list may have been cut."""
    return ConflictError(
        f"calendar {name!r} is used by {', '.join(schedules[:10])}{' and others' if len(schedules) > 10 else ''};",
        hint="let them name other calendars first.",
    )


def _texts(value: object, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = [value] if isinstance(value, str | date) else value
    if not isinstance(items, list | tuple | set | frozenset):
        raise DefinitionError(f"{field}: must be a list.", field=field)
    found = []
    for item in items:
        if isinstance(item, datetime) or not isinstance(item, str | date):
            raise DefinitionError(f"{field}: {str(item)[:40]!r} is not a day;", field=field, hint=_FORMS)
        found.append(item.strip() if isinstance(item, str) else item.isoformat())
    return tuple(found)


def _holidays(value: object) -> Holidays | None:
    if value is None or isinstance(value, Holidays):
        return value
    if isinstance(value, str):
        code, _, part = value.partition("-")
        value = {"country": code, "subdivision": part or None}
    if not isinstance(value, Mapping) or set(value) - {"country", "subdivision", "years"}:
        raise DefinitionError(
            "holidays: must be an object of country, subdivision and years,",
            field="holidays",
            hint='such as {"country": "DE", "subdivision": "BW", "years": [2026, 2036]}.',
        )
    country = check_name(value.get("country"), "country").upper()
    subdivision = value.get("subdivision")
    return Holidays(
        country, None if subdivision is None else check_name(subdivision, "subdivision"), _years(value.get("years"))
    )


def _years(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    if (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(isinstance(year, int) and not isinstance(year, bool) for year in value)
        and 1900 <= value[0] <= value[1] <= 2200
        and value[1] - value[0] < MAX_YEARS
    ):
        return value[0], value[1]
    raise DefinitionError(
        f"years: must be the first and the last year, at most {MAX_YEARS} of them,",
        field="years",
        hint="such as [2026, 2036].",
    )


def _dates_only(text: str) -> set[date]:
    found, each_year = _days(text, "include")
    if each_year:
        raise DefinitionError(f"include: {text[:40]!r} has no year;", field="include", hint="use 2026-12-24.")
    return found


def _days(text: str, field: str) -> tuple[set[date], set[tuple[int, int]]]:
    """The dates of a text, or the days of every year."""
    first, slash, last = text.partition("/")
    try:
        if all(_DATE.fullmatch(part) for part in ((first, last) if slash else (first,))):
            begin = date.fromisoformat(first)
            length = (date.fromisoformat(last) - begin).days if slash else 0
            if not 0 <= length <= MAX_DATES:
                raise ValueError
            return {begin + timedelta(days=n) for n in range(length + 1)}, set()
        if all(_YEARLY.fullmatch(part) for part in ((first, last) if slash else (first,))):
            return set(), _yearly(first, last or first)
    except (ValueError, OverflowError):
        pass
    raise DefinitionError(f"{field}: {text[:60]!r} is not a date or range;", field=field, hint=_FORMS)


def _yearly(first: str, last: str) -> set[tuple[int, int]]:
    """The days of the year from one to another, over the turn of the year if need be."""
    begin, end = (date(2000, *yearly_day(int(text[:2]), int(text[3:]))) for text in (first, last))
    length = (end - begin).days % 366
    days = (date(2000, 1, 1) + timedelta(days=(begin.timetuple().tm_yday - 1 + n) % 366) for n in range(length + 1))
    return {(day.month, day.day) for day in days}


def calendar_schema() -> dict[str, Any]:
    """The JSON Schema of a definition."""
    name = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,200}$"}
    text = {"type": "string", "description": "2026-12-24, 2026-12-24/2026-12-31, 12-25 or 12-24/01-02."}
    days = {"type": "array", "items": text, "maxItems": MAX_DATES}
    years = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    holidays = {
        "type": "object",
        "properties": {"country": name, "subdivision": name, "years": years},
        "required": ["country"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "weekdays": {"type": "array", "items": {"enum": list(WEEKDAYS)}, "maxItems": 7},
            "dates": days,
            "include": days,
            "holidays": holidays,
            "description": {"type": "string", "maxLength": 2_000},
        },
        "additionalProperties": False,
        "description": "Some of weekdays, dates, holidays, include and description.",
    }
