"""Warnings about months that are too short for a day."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterator, Sequence

from tickbird.domain.triggers.base import DateWarning

_LENGTHS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


def missing_day(length: int, name: str, months: Sequence[int]) -> Iterator[DateWarning]:
    """Warn about months that have fewer days than `length`."""
    without = [month for month in months if length > _LENGTHS.get(month, 31)]
    if without:
        yield "missing-dates", f"there is no {name} of {_listed(without)}, so it does not tick then"
    elif length == 29 and 2 in months:
        yield "missing-dates", f"February has a {name} in leap years only"


def fifth_weekday(name: str) -> DateWarning:
    """Warn about months without a fifth weekday of this name."""
    return "missing-dates", f"most months have only four {name}s: no tick in months without a fifth"


def nth(number: int) -> str:
    """Return 29th, 30th or 31st."""
    return f"{number}{'st' if number == 31 else 'th'}"


def _listed(months: Sequence[int]) -> str:
    names = [month_name[month] for month in months]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
