"""A stored definition in the words of the simulation's oracle, which shares no code with the planner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from tickbird.testing.simulation.grids import Cron, Days, Form, Interval, Once, Several
from tickbird.testing.simulation.specs import Spec

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# What the oracle has no words for.
_UNKNOWN = frozenset(("calendars", "roll", "hold_above", "concurrency_key"))


class Unreadable(ValueError):
    """A definition that is broken, or that the oracle cannot judge."""


def read_spec(raw: Mapping[str, Any]) -> Spec:
    """The spec of a definition's JSON."""
    try:
        if unknown := _UNKNOWN & raw.keys():
            raise Unreadable(f"it has {', '.join(sorted(unknown))}")
        names = ("catch_up", "catch_up_limit", "grace", "start_within", "overlap", "max_concurrent", "spread")
        more = ("max_runs", "retries", "timeout", "on_crash", "priority")
        given = {name: raw[name] for name in (*names, *more) if name in raw}
        window = [name for name in ("start_at", "end_at") if raw.get(name) is not None]
        given |= {name: _instant(raw[name]) for name in window}
        days = _days(raw.get("exclude", ()))
        return Spec(_form(raw["trigger"]), raw["target"]["task"], exclude=days, **given)
    except Unreadable:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(str(error)) from error


def _form(raw: Mapping[str, Any]) -> Form:
    if "any_of" in raw:
        return Several(tuple(_simple(member) for member in raw["any_of"]))
    return _simple(raw)


def _simple(raw: Mapping[str, Any]) -> Interval | Cron | Once:
    zone = raw.get("tz", "UTC")
    if "at" in raw:
        return Once(_instant(raw["at"]))
    if "cron" in raw:
        if len(raw["cron"].split()) != 5:
            raise Unreadable("the oracle reads five fields of cron")
        return Cron(raw["cron"], zone)
    [(unit, step)] = raw["every"].items()
    anchor = raw.get("anchor")
    return Interval(unit, step, zone, None if anchor is None else datetime.fromisoformat(anchor))


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def _days(words: Any) -> Days:
    weekdays = tuple(_WEEKDAYS.index(word) for word in words if word in _WEEKDAYS)
    return Days(weekdays, tuple(date.fromisoformat(word) for word in words if word not in _WEEKDAYS))
