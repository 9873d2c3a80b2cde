"""Description of a cron expression, derived from the times that it matches, because its text can mislead."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tickbird.domain.triggers.cron.parser import MACROS, DayRule, parse

_EVERY_DAY = (1 << 32) - 2
_EVERY_WEEKDAY = (1 << 7) - 1
_MIDNIGHT = "At 00:00"


@lru_cache(maxsize=10_000)
def describe(expr: str) -> str:
    """Describe when a valid expression ticks."""
    fields = parse(expr)
    second, minute, hour, day, month, _ = ["0", *MACROS.get(expr.lower(), expr).split(" ")][-6:]
    times = [
        _field(fields.minutes, 0, 60, minute),
        # For a list of hours with a range, the library names minutes that are not meant.
        _field(fields.hours, 0, 24, hour, mixed=False),
    ]
    if fields.seconds != 1:
        times.insert(0, _field(fields.seconds, 0, 60, second))
    months = _described(f"0 0 * {_field(fields.months, 1, 12, month)} *").removeprefix(_MIDNIGHT)
    return _described(f"{' '.join(times)} * * *") + _describe_days(fields.days, day) + months


def _describe_days(rule: DayRule, day_text: str) -> str:
    every_day, every_weekday = rule.days == _EVERY_DAY, rule.weekdays == _EVERY_WEEKDAY
    if (every_day and every_weekday) or (not rule.both and (every_day or every_weekday)):
        return ""
    days = [] if every_day else list(_day_parts(rule, day_text))
    weekdays = [] if every_weekday else [_day_part(f"* * {item}") for item in _weekday_items(rule)]
    if not weekdays:
        return f", {' and '.join(days)}"
    if not days and len(weekdays) == 1:
        return f", {weekdays[0]}"
    named = [part.removeprefix("only ").removeprefix("on ") for part in weekdays]
    if not days:
        return f", on {' and on '.join(named)}"
    return f", {' or '.join(days)}, {'but only' if rule.both else 'or'} on {' or on '.join(named)}"


def _day_parts(rule: DayRule, text: str) -> Iterator[str]:
    """Yield one part per field, because the library supports few lists of them."""
    if rule.days:
        yield _day_part(f"{_field(rule.days, 1, 31, text)} * *")
    for n in _numbers(rule.nearest, 1, 31):
        yield _day_part(f"{n}W * *")
    for n in _numbers(rule.before_last, 0, 31):
        yield _before_last(n) if n else _day_part("L * *")
    for n in _numbers(rule.nearest_before_last, 0, 31):
        yield f"on the weekday nearest {_before_last(n)}" if n else _day_part("LW * *")


def _before_last(days: int) -> str:
    # The library writes "1 days", and does not support the weekday nearest to such a day.
    return f"{days} day{'s'[: days > 1]} before the last day of the month"


def _weekday_items(rule: DayRule) -> Iterator[str]:
    if rule.weekdays:
        # The week begins on Monday, so that a range may end on Sunday.
        yield _field(rule.weekdays | (rule.weekdays & 1) << 7, 1, 7)
    for position in _numbers(rule.nth, 0, 35):
        yield f"{position % 7}#{position // 7 + 1}"
    for n in _numbers(rule.last_weekdays, 0, 7):
        yield f"{n}L"


def _field(mask: int, low: int, size: int, text: str = "", *, mixed: bool = True) -> str:
    """Return an equivalent field: a step only if `text` has one and the gaps are equal, otherwise values and ranges."""
    numbers = list(_numbers(mask, low, size))
    first, last = numbers[0], numbers[-1]
    if len(numbers) == size:
        return "*"
    gaps = {after - before for before, after in pairwise(numbers)}
    if "/" in text and len(gaps) == 1 and (gap := gaps.pop()) > 1:
        if gap * len(numbers) == size:
            return f"{'*' if first == low else first}/{gap}"
        if "-" in text and "," not in text and len(numbers) > 2:
            return f"{first}-{last}/{gap}"
    ranges = list(_ranges(numbers))
    return ",".join(ranges if mixed or len(ranges) == 1 else map(str, numbers))


def _numbers(mask: int, low: int, size: int) -> Iterator[int]:
    return (n for n in range(low, low + size) if mask >> n & 1)


def _ranges(numbers: list[int]) -> Iterator[str]:
    """Yield three or more consecutive numbers as a range."""
    start = 0
    for index, number in enumerate(numbers):
        if index + 1 < len(numbers) and numbers[index + 1] == number + 1:
            continue
        run = numbers[start : index + 1]
        yield f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run))
        start = index + 1


def _day_part(fields: str) -> str:
    return _described(f"0 0 {fields}").removeprefix(f"{_MIDNIGHT}, ")


@lru_cache(maxsize=10_000)
def _described(expr: str) -> str:
    from cron_descriptor import CasingTypeEnum, ExpressionDescriptor, Options  # type: ignore[import-untyped]

    # Without a locale, the library would use that of the machine, and warn if it has none.
    options = Options(CasingTypeEnum.Sentence, use_24hour_time_format=True, locale_code="en_US")
    return str(ExpressionDescriptor(expr, options))
