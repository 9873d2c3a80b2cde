"""Conversion of Celery beat schedules, shared by the importers of settings files and databases."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from math import ceil, isfinite
from typing import Any, Final

from tickbird.importers.cron_sets import MONTHS, WEEKDAYS, CronSets, all_values, number_of
from tickbird.importers.entries import Fires, ImportedSchedule

_FIELDS: Final = ("minute", "hour", "weekday", "day", "month")
# The parameters of `crontab`, in order.
CRONTAB: Final = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
_NAMES: Final = {
    "month": {name: number for number, name in enumerate(MONTHS, 1)},
    "weekday": {name: number for number, name in enumerate(WEEKDAYS)},
}
NOWFUN: Final = "It has its own clock (nowfun) in Celery. Tickbird uses tz: check that it is the same."
INTERVAL: Final = "Beat counts an interval from its last run, so it drifts. Tickbird has a fixed grid."
NOTES: Final = (
    "A worker's app must register the tasks with these names. Arguments become the payload, by name.",
    "Beat sends a task even if others are running, and sends a missed one once: therefore overlap = allow.",
)


def crontab(values: Iterable[Any], tz: str) -> tuple[dict[str, Any], Fires]:
    """Convert the arguments of `crontab` to fields and firings; raise ValueError if one is invalid."""
    given = dict(zip(_FIELDS, values, strict=True))
    sets = {name: _field(value, name) for name, value in given.items()}
    clock = CronSets(
        minutes=sets["minute"],
        hours=sets["hour"],
        days=sets["day"],
        months=sets["month"],
        weekdays=sets["weekday"],
        starred=(_starred(given["minute"]), _starred(given["hour"])),
    )
    return {**clock.fields(), "tz": tz}, clock.fires_by_wall(tz)


def _starred(value: Any) -> str:
    text = str(value).strip()
    return text if re.fullmatch(r"\*(/\d+)?", text) else ""


def _field(value: Any, name: str) -> frozenset[int]:
    everything = all_values(name)
    low, high = min(everything), max(everything)
    if isinstance(value, bool) or value is None:
        raise ValueError(f"{name}: {value!r} is not valid in a crontab")
    if isinstance(value, int):
        numbers = {value}
    elif isinstance(value, str):
        numbers = {number for part in value.split(",") for number in _part(part.strip(), name, low, high)}
    else:
        numbers = {int(number) for number in value}
    if not numbers or not numbers <= everything:
        raise ValueError(f"{name}: {value!r} is not from {low} to {high}")
    return frozenset(numbers)


def _part(text: str, name: str, low: int, high: int) -> list[int]:
    span, slash, step = text.partition("/")
    if slash and (not step.isdigit() or int(step) < 1):
        raise ValueError(f"{name}: {text!r} is not a step")
    if span == "*":
        values = list(range(low, high + 1))
    else:
        begin, dash, end = span.partition("-")
        first = number_of(begin, _NAMES.get(name, {}))
        last = number_of(end, _NAMES.get(name, {})) if dash else first
        if slash and not dash and begin.isdigit():
            raise ValueError(f"{name}: {text!r} has a step after a single number, which Celery refuses")
        if not low <= min(first, last) <= max(first, last) <= high:
            raise ValueError(f"{name}: {text!r} is not from {low} to {high}")
        # A range may wrap around, such as 22-2.
        values = list(range(first, last + 1)) if first <= last else [*range(first, high + 1), *range(low, last + 1)]
    return values[:: int(step) if slash else 1]


def interval(length: timedelta, last: datetime | None, entry: ImportedSchedule) -> None:
    """Set an interval, anchored at the last run if that is known."""
    seconds = length.total_seconds()
    if seconds < 1 or seconds != int(seconds):
        raise ValueError(f"every {seconds:g} s: ticks are whole seconds, at least one second apart")
    entry.fields["every"] = f"{int(seconds)}s"
    entry.notes.append(INTERVAL)
    if last is not None:
        # The interval is in seconds, because a day here is 24 hours of elapsed time.
        entry.fields["anchor"] = last.replace(microsecond=0).isoformat()


def arguments(args: Any, kwargs: Any, entry: ImportedSchedule) -> None:
    """Set the payload. Positional arguments become the field `args`."""
    payload = dict(kwargs or {})
    if args:
        payload["args"] = list(args)
        entry.notes.append("Positional args have no names: use the parameter names in the payload.")
    if payload:
        entry.fields["payload"] = payload


def _seconds(value: Any) -> float | None:
    """Return a duration in seconds; None if the value is not a duration."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def options(given: Any, entry: ImportedSchedule) -> None:
    """Import the queue and the expiry of a task; note other options."""
    for name, value in dict(given or {}).items():
        if value in (None, "", {}):
            continue
        if name == "queue" and isinstance(value, str):
            entry.fields["queue"] = value
        elif name in ("expires", "expire_seconds") and (length := _seconds(value)) is not None:
            entry.fields["start_within"] = max(1, ceil(length))
        elif name == "priority":
            entry.notes.append(f"priority = {value!r} is not imported: the order of priorities depends on the broker.")
        else:
            entry.notes.append(f"{name} = {value!r} is not imported.")
