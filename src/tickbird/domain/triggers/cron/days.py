"""The days on which a cron expression may run, for all of the calendar."""

from __future__ import annotations

from datetime import MAXYEAR, date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tickbird.domain.triggers.cron.parser import DayRule

_EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = 1 - _EPOCH, date.max.toordinal() - _EPOCH
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WEEKLY = 1 | 1 << 7 | 1 << 14 | 1 << 21 | 1 << 28
_CYCLE = 146_097  # days in 400 years, a whole number of weeks


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


# By year modulo 400: the day number of the 1st of January 1600 and later, and one of 14 kinds of year.
_STARTS = tuple(date(1600 + i, 1, 1).toordinal() - _EPOCH - 4 * _CYCLE for i in range(400))
_KINDS = tuple((_STARTS[i] + _EPOCH) % 7 + 7 * _is_leap(i) for i in range(400))


class Days:
    """The days of a day rule within some months; a day is a number counted from 1970-01-01.

    A month is defined by its length and the weekday of its 1st; a year by whether it is a leap year and the weekday of
    its 1st. So 28 masks of months and 14 of years cover everything, and an empty rule is detected without a search.
    """

    __slots__ = ("_totals", "_years", "all", "none")

    _totals: tuple[int, ...]  # computed by the first count

    def __init__(self, rule: DayRule, months: int) -> None:
        shapes: dict[tuple[int, int], int] = {}
        years = []
        for kind in range(14):
            mask = day = 0
            for month, length in enumerate(_LENGTHS, start=1):
                if month == 2 and kind >= 7:
                    length = 29  # noqa: PLW2901
                if months >> month & 1:
                    shape = length, (kind + day) % 7
                    if shape not in shapes:
                        shapes[shape] = _matching(rule, *shape)
                    mask |= shapes[shape] << day
                day += length
            years.append(mask)
        self._years = tuple(years)
        self.none = not any(years)
        self.all = all(mask == (1 << 365 + (kind >= 7)) - 1 for kind, mask in enumerate(years))

    def next(self, day: int) -> int | None:
        """Return the first matching day on or after `day`."""
        if day > LAST_DAY:
            return None
        day = max(day, FIRST_DAY)
        if self.all:
            return day
        year = date.fromordinal(day + _EPOCH).year
        years = self._years
        within = day - _start(year)
        mask = years[_KINDS[year % 400]] >> within << within
        while not mask:
            year += 1
            mask = years[_KINDS[year % 400]]
        return _start(year) + (mask & -mask).bit_length() - 1 if year <= MAXYEAR else None

    def previous(self, day: int) -> int | None:
        """Return the last matching day on or before `day`."""
        if day < FIRST_DAY:
            return None
        day = min(day, LAST_DAY)
        if self.all:
            return day
        year = date.fromordinal(day + _EPOCH).year
        years = self._years
        mask = years[_KINDS[year % 400]] & (2 << day - _start(year)) - 1
        while not mask:
            year -= 1
            mask = years[_KINDS[year % 400]]
        return _start(year) + mask.bit_length() - 1 if year >= 1 else None

    def before(self, day: int) -> int:
        """Count the matching days from year 1 to before `day`, which is at most one past the last."""
        if self.all:
            return day - FIRST_DAY
        year = date.fromordinal(day + _EPOCH).year if day <= LAST_DAY else MAXYEAR + 1
        try:
            totals = self._totals
        except AttributeError:
            totals = self._totals = self._count_years()
        cycles, within = divmod(year, 400)
        mask = self._years[_KINDS[within]] & (1 << day - _start(year)) - 1
        return cycles * totals[400] + totals[within] - totals[1] + mask.bit_count()

    def _count_years(self) -> tuple[int, ...]:
        """Return the matching days before each year of the 400-year cycle."""
        counts = [mask.bit_count() for mask in self._years]
        totals = [0]
        for kind in _KINDS:
            totals.append(totals[-1] + counts[kind])
        return tuple(totals)


def _start(year: int) -> int:
    return _STARTS[year % 400] + year // 400 * _CYCLE


def _matching(rule: DayRule, length: int, first: int) -> int:
    """Return the matching days of a month as bits (bit 0: the 1st), given the weekday of its 1st (Sunday 0)."""
    month = (1 << length) - 1
    day = rule.days >> 1 & month
    for n in range(1, length + 1):
        offset = length - n
        if rule.before_last >> offset & 1:
            day |= 1 << n - 1
        if (rule.nearest >> n | rule.nearest_before_last >> offset) & 1:
            day |= 1 << _workday(n, length, first) - 1
    weekday = 0
    for w in range(7):
        d = (w - first) % 7
        if rule.weekdays >> w & 1:
            weekday |= _WEEKLY << d & month
        for n in range(5) if rule.nth else ():
            if rule.nth >> (7 * n + w) & 1:
                weekday |= 1 << d + 7 * n & month
        if rule.last_weekdays >> w & 1:
            weekday |= 1 << d + (length - 1 - d) // 7 * 7
    return day & weekday if rule.both else day | weekday


def _workday(day: int, length: int, first: int) -> int:
    """Return the working day (Monday to Friday) nearest to a day, in the same month."""
    weekday = (first + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day
