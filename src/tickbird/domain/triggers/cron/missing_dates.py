"""Days in a cron expression that some months do not have."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.triggers.base import DateWarning
from tickbird.domain.triggers.cron.parser import MACROS, parse
from tickbird.domain.triggers.month_lengths import fifth_weekday, missing_day, nth

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def missing_dates(expr: str) -> Iterator[DateWarning]:
    """Yield warnings about missing days; days of a range or a step are not reported."""
    fields = parse(expr)
    day = MACROS.get(expr.lower(), expr).split(" ")[-3]
    months = [month for month in range(1, 13) if fields.months >> month & 1]
    for number in sorted({int(item.rstrip("Ww")) for item in day.split(",") if item.rstrip("Ww").isdigit()}):
        yield from missing_day(number, nth(number), months)
    before_last = fields.days.before_last | fields.days.nearest_before_last
    for number in range(29, 32):
        if before_last >> (number - 1) & 1:
            yield from missing_day(number, f"day L-{number - 1}", months)
    for number, name in enumerate(_WEEKDAYS):
        if fields.days.nth >> (28 + number) & 1:
            yield fifth_weekday(name)
