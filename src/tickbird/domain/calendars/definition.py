"""Definition of a calendar: weekdays, dates and ranges, public holidays, and dates that stay open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from tickbird.domain.calendars.calendar import BUILT_IN, WEEKDAYS, Calendar, yearly_day
from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, StaleError
from tickbird.domain.text import check_name, check_text

# Limits keep schedule definitions small, because they contain the closed days of their calendars.
MAX_DATES = 2_000
MAX_YEARS = 40
YEARS_BACK, YEARS_AHEAD = 1, 10
_FIELDS = ("weekdays", "dates", "holidays", "include", "description")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_YEARLY = re.compile(r"\d\d-\d\d", re.ASCII)
_FORMS = "Use 2026-12-24, 2026-12-24/2026-12-31, or every year 12-25 or 12-24/01-02."


@dataclass(frozen=True, slots=True)
class Holidays:
    """The public holidays of a country, or of a part of it, for a span of years."""

    country: str
    subdivision: str | None = None
    years: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        encoded: dict[str, Any] = {"country": self.country}
        encoded |= {"subdivision": self.subdivision} if self.subdivision else {}
        return encoded | ({"years": list(self.years)} if self.years else {})


@dataclass(frozen=True, slots=True)
class CalendarDefinition:
    """A valid definition, in which holidays have no dates yet.

    `dates` and `include` are texts such as 2026-12-24, 12-25 or 12-24/01-02.
    """

    weekdays: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    holidays: Holidays | None = None
    description: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, without empty fields."""
        encoded: dict[str, Any] = {name: list(getattr(self, name)) for name in ("weekdays", "dates", "include")}
        encoded |= {"holidays": self.holidays.to_json() if self.holidays else None, "description": self.description}
        return {name: value for name, value in encoded.items() if value}

    def closed(self, holidays: Iterable[date] = ()) -> Calendar:
        """Return the closed days, with the given public holidays."""
        dates: set[date] = set(holidays)
        yearly: set[tuple[int, int]] = set()
        for text in self.dates:
            days, each_year = _days(text, "dates")
            dates |= days
            yearly |= each_year
        opened = {day for text in self.include for day in _dates_only(text)}
        if len(dates) + len(opened) > MAX_DATES:
            raise DefinitionError(
                f"dates: {len(dates) + len(opened):,} days are too many; at most {MAX_DATES:,} are allowed.",
                field="dates",
                hint="Write yearly days as 12-25, or use fewer years of holidays.",
            )
        weekdays = frozenset(map(WEEKDAYS.index, self.weekdays))
        if len(weekdays) == 7 and not opened:
            raise DefinitionError(
                "weekdays: all seven are closed, so no tick would ever run.", field="weekdays", hint="Remove a weekday."
            )
        return Calendar(frozenset(dates), weekdays, frozenset(yearly), frozenset(opened))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRecord:
    """A stored calendar: its definition, its closed days and their source; each put increments `revision`."""

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
    """Read a definition from JSON values, or raise DefinitionError."""
    if isinstance(value, CalendarDefinition):
        return value
    if not isinstance(value, Mapping):
        raise DefinitionError("calendar must be an object.", field="calendar", hint=f"Fields: {', '.join(_FIELDS)}.")
    for name in value:
        if name not in _FIELDS:
            raise DefinitionError(
                f"{str(name)[:60]!r} is not a field of a calendar.",
                field=str(name)[:60],
                hint=f"Fields: {', '.join(_FIELDS)}.",
            )
    weekdays = tuple(text.lower() for text in _texts(value.get("weekdays"), "weekdays"))
    for text in weekdays:
        if text not in WEEKDAYS:
            raise DefinitionError(
                f"weekdays: {text[:40]!r} is not a weekday.", field="weekdays", hint=f"Use {', '.join(WEEKDAYS)}."
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
            "calendar: it closes no days.", field="calendar", hint="Give weekdays, dates, holidays or include."
        )
    return definition


def check_calendar_name(name: object) -> str:
    """Return the name; built-in calendars cannot be put or deleted."""
    checked = check_name(name, "calendar")
    if checked in BUILT_IN:
        raise DefinitionError(
            f"calendar: {checked!r} is built in.",
            field="calendar",
            hint="Use it in a schedule, or choose another name.",
        )
    return checked


def check_revision(name: str, stored: int | None, wanted: int | None) -> None:
    """Raise StaleError if the calendar has another revision than `wanted`; 0: it must not exist."""
    if wanted is None or wanted == (stored or 0):
        return
    is_at = f"is at revision {stored}" if stored else "does not exist"
    expected = f"not {wanted}" if wanted else "but it must not exist"
    raise StaleError(
        f"calendar {name!r} {is_at}, {expected}: it has changed.", hint="Read it again and repeat the change."
    )


def no_such_calendar(name: str, known: Iterable[str]) -> NotFoundError:
    return NotFoundError(
        f"there is no calendar {name[:200]!r}.",
        hint=f"Calendars: {', '.join(sorted({*known, *BUILT_IN}))}. Create one with `tickbird calendar put`.",
    )


def calendar_in_use(name: str, schedules: Sequence[str]) -> ConflictError:
    """Return the error for deleting a calendar in use; `schedules` may be truncated."""
    return ConflictError(
        f"calendar {name!r} is used by {', '.join(schedules[:10])}{' and others' if len(schedules) > 10 else ''}.",
        hint="Remove it from their calendars first.",
    )


def _texts(value: object, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    items = [value] if isinstance(value, str | date) else value
    if not isinstance(items, list | tuple | set | frozenset):
        raise DefinitionError(f"{field} must be a list.", field=field, hint=_FORMS)
    texts = []
    for item in items:
        if isinstance(item, datetime) or not isinstance(item, str | date):
            raise DefinitionError(f"{field}: {str(item)[:40]!r} is not a day.", field=field, hint=_FORMS)
        texts.append(item.strip() if isinstance(item, str) else item.isoformat())
    return tuple(texts)


def _holidays(value: object) -> Holidays | None:
    if value is None or isinstance(value, Holidays):
        return value
    if isinstance(value, str):
        code, _, part = value.partition("-")
        value = {"country": code, "subdivision": part or None}
    if not isinstance(value, Mapping) or set(value) - {"country", "subdivision", "years"}:
        raise DefinitionError(
            "holidays must be an object with country, subdivision and years.",
            field="holidays",
            hint='Example: {"country": "DE", "subdivision": "BW", "years": [2026, 2036]}.',
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
        f"years must be the first and the last year of a range of at most {MAX_YEARS} years.",
        field="years",
        hint="Example: [2026, 2036].",
    )


def _dates_only(text: str) -> set[date]:
    dates, each_year = _days(text, "include")
    if each_year:
        raise DefinitionError(
            f"include: {text[:40]!r} has no year.", field="include", hint="Add the year, for example 2026-12-24."
        )
    return dates


def _days(text: str, field: str) -> tuple[set[date], set[tuple[int, int]]]:
    """Return the dates of a text, or its yearly days."""
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
    raise DefinitionError(f"{field}: {text[:60]!r} is not a date or range.", field=field, hint=_FORMS)


def _yearly(first: str, last: str) -> set[tuple[int, int]]:
    """Return the days of the year in a range, which may cross the end of the year."""
    begin, end = (date(2000, *yearly_day(int(text[:2]), int(text[3:]))) for text in (first, last))
    length = (end - begin).days % 366
    days = (date(2000, 1, 1) + timedelta(days=(begin.timetuple().tm_yday - 1 + n) % 366) for n in range(length + 1))
    return {(day.month, day.day) for day in days}


def calendar_schema() -> dict[str, Any]:
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
