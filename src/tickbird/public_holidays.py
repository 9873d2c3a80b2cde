"""Public holidays by country and subdivision, from the optional library `holidays`."""

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
    """Names of holidays by date, and the library with its version."""

    names: dict[date, str]
    library: str


def find_holidays(rule: Holidays, first: int, last: int) -> HolidayDates:
    """The holidays from year `first` to `last`; DefinitionError if the library or the country is missing."""
    holidays = _library()
    countries: dict[str, list[str]] = holidays.list_supported_countries()
    if rule.country not in countries:
        close = get_close_matches(rule.country, countries, 3, 0.4)
        raise DefinitionError(
            f"country: the holidays of {rule.country!r} are unknown.",
            field="country",
            hint=f"Use a code of two letters such as {', '.join(close or ['DE', 'US'])}.",
        )
    parts = countries[rule.country]
    if rule.subdivision is not None and rule.subdivision not in parts:
        known = ", ".join(parts) if parts else "none"
        raise DefinitionError(
            f"subdivision: {rule.country} has no subdivision {rule.subdivision!r}.",
            field="subdivision",
            hint=f"Use one of {known}.",
        )
    found: Any = holidays.country_holidays(rule.country, subdiv=rule.subdivision, years=range(first, last + 1))
    names = {day: str(name) for day, name in found.items() if first <= day.year <= last}
    return HolidayDates(names, f"holidays {version('holidays')}")


def _library() -> ModuleType:
    try:
        return import_module("holidays")
    except ImportError:
        raise DefinitionError(
            "holidays: public holidays need the library `holidays`.",
            field="holidays",
            hint="Install it with `pip install 'tickbird[holidays]'`, or give the dates.",
        ) from None
