"""Days in a recurrence rule that some months or years do not have."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Iterator
from datetime import datetime
from math import gcd

from tickbird.domain.triggers.base import DateWarning
from tickbird.domain.triggers.month_lengths import fifth_weekday, missing_day, nth
from tickbird.domain.triggers.rrule.parser import Rule


def missing_dates(rule: Rule, start: datetime) -> Iterator[DateWarning]:
    """Yield warnings about dates in a rule that do not always exist."""
    if rule.positions:
        # BYMONTHDAY=28,29,30,31;BYSETPOS=-1 selects the last existing day.
        return
    months = _months(rule, start)
    if not rule.weekdays:
        for day in _month_days(rule, start):
            # A day next to another given day is part of a range.
            if abs(day) > 28 and (abs(day) - 1) * (1 if day > 0 else -1) not in rule.month_days:
                name = nth(day) if day > 0 else f"{nth(-day)} to last day"
                yield from missing_day(abs(day), name, months)
    if rule.freq == "MONTHLY" or (rule.freq == "YEARLY" and rule.months):
        for number, weekday in rule.weekdays:
            if abs(number) == 5:
                yield fifth_weekday(day_name[weekday])
    if 366 in map(abs, rule.year_days):
        yield "missing-dates", "only leap years have a 366th day"
    if 53 in map(abs, rule.week_numbers):
        yield "missing-dates", "most years have only 52 weeks: no tick in years without a 53rd week"


def _month_days(rule: Rule, start: datetime) -> tuple[int, ...]:
    """Return the days of the rule, or the day of its start."""
    if rule.month_days or rule.year_days or rule.week_numbers or rule.freq not in ("MONTHLY", "YEARLY"):
        return rule.month_days
    return (start.day,)


def _months(rule: Rule, start: datetime) -> list[int]:
    """Return the months that the rule can match."""
    months = list(rule.months) or list(range(1, 13))
    if rule.freq == "MONTHLY":
        step = gcd(rule.interval, 12)
        return [month for month in months if (month - start.month) % step == 0]
    if rule.freq == "YEARLY" and not (rule.months or rule.month_days or rule.weekdays):
        return [start.month]
    return months
