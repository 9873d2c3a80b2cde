"""Days that a recurrence rule names and that some months or years do not have."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Iterator
from datetime import datetime
from math import gcd

from tickbird.domain.triggers.base import DateWarning
from tickbird.domain.triggers.month_lengths import fifth_weekday, missing_day, nth
from tickbird.domain.triggers.rrule.parser import Rule


def missing_dates(rule: Rule, start: datetime) -> Iterator[DateWarning]:
    """Warnings about the dates that a rule from `start` on names and that do not always exist."""
    if rule.positions:
        # BYMONTHDAY=28,29,30,31;BYSETPOS=-1 chooses the last day that there is.
        return
    months = _months(rule, start)
    if not rule.weekdays:
        for day in _month_days(rule, start):
            # A day whose neighbour is named too is part of a range.
            if abs(day) > 28 and (abs(day) - 1) * (1 if day > 0 else -1) not in rule.month_days:
                name = nth(day) if day > 0 else f"{nth(-day)} to last day"
                yield from missing_day(abs(day), name, months)
    if rule.freq == "MONTHLY" or (rule.freq == "YEARLY" and rule.months):
        for number, weekday in rule.weekdays:
            if abs(number) == 5:
                yield fifth_weekday(day_name[weekday])
    if 366 in map(abs, rule.year_days):
        yield "missing-dates", "there is a 366th day in leap years only"
    if 53 in map(abs, rule.week_numbers):
        yield "missing-dates", "most years have only 52 weeks: no tick in those without a 53rd"


def _month_days(rule: Rule, start: datetime) -> tuple[int, ...]:
    """The days that the rule names, or takes from its start."""
    if rule.month_days or rule.year_days or rule.week_numbers or rule.freq not in ("MONTHLY", "YEARLY"):
        return rule.month_days
    return (start.day,)


def _months(rule: Rule, start: datetime) -> list[int]:
    """The months that the rule comes to."""
    months = list(rule.months) or list(range(1, 13))
    if rule.freq == "MONTHLY":
        step = gcd(rule.interval, 12)
        return [month for month in months if (month - start.month) % step == 0]
    if rule.freq == "YEARLY" and not (rule.months or rule.month_days or rule.weekdays):
        return [start.month]
    return months
