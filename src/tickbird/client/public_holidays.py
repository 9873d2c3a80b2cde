"""Public holidays by country and subdivision, from the library `holidays`, which is an extra."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

from tickbird.domain.calendars.definition import Holidays
from tickbird.domain.errors import DefinitionError


@dataclass(frozen=True, slots=True)
class HolidayDates:
    """Holidays by date, and where they come from."""

    names: dict[date, str]
    library: str


def find_holidays(asked: Holidays, first: int, last: int) -> HolidayDates:
    """The holidays of a span of years; a DefinitionError where the library or the country is missing."""
    holidays = _library()
    countries: dict[str, list[str]] = holidays.list_supported_countries()
    if asked.country not in countries:
        close = get_close_matches(asked.country, countries, 3, 0.4)
        raise DefinitionError(
            f"country: the holidays of {asked.country!r} are not known;",
            field="country",
            hint=f"use a code of two letters such as {', '.join(close or ['DE', 'US'])}.",
        )
    parts = countries[asked.country]
    if asked.subdivision is not None and asked.subdivision not in parts:
        known = ", ".join(parts) if parts else "none"
        raise DefinitionError(
            f"subdivision: {asked.country} has no part {asked.subdivision!r};",
            field="subdivision",
            hint=f"known: {known}.",
        )
    found: Any = holidays.country_holidays(asked.country, subdiv=asked.subdivision, years=range(first, last + 1))
    names = {day: str(name) for day, name in found.items() if first <= day.year <= last}
    return HolidayDates(names, f"holidays {version('holidays')}")


def _library() -> ModuleType:
    try:
        return import_module("holidays")
    except ImportError:
        raise DefinitionError(
            "holidays: public holidays need the library `holidays`;",
            field="holidays",
            hint="install it with `pip install 'tickbird[holidays]'`, or give the dates.",
        ) from None
