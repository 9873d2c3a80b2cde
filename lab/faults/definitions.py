"""Stored definitions as specs of the oracle, which shares no code with the planner."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from lab.definitions import WEEKDAYS
from lab.oracle.spec import ClosedDays, Spec
from lab.oracle.triggers import AnyOf, At, Cron, Interval, TriggerSpec
from tickbird.proof.specs import UnsupportedDefinition

# Fields that specs do not have.
_UNSUPPORTED = frozenset(("calendars", "roll", "hold_above", "concurrency_key"))


def read_spec(raw: Mapping[str, Any]) -> Spec:
    """The spec of a stored definition; UnsupportedDefinition."""
    try:
        if unsupported := _UNSUPPORTED & raw.keys():
            raise UnsupportedDefinition(f"unknown fields: {', '.join(sorted(unsupported))}")
        names = ("catch_up", "catch_up_limit", "grace", "start_within", "overlap", "max_concurrent", "spread")
        more = ("max_runs", "retries", "timeout", "on_crash", "priority")
        policies = {name: raw[name] for name in (*names, *more) if name in raw}
        window = [name for name in ("start_at", "end_at") if raw.get(name) is not None]
        policies |= {name: _instant(raw[name]) for name in window}
        days = _days(raw.get("exclude", ()))
        return Spec(_form(raw["trigger"]), raw["target"]["task"], exclude=days, **policies)
    except UnsupportedDefinition:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedDefinition(str(error)) from error


def _form(raw: Mapping[str, Any]) -> TriggerSpec:
    if "any_of" in raw:
        return AnyOf(tuple(_simple(member) for member in raw["any_of"]))
    return _simple(raw)


def _simple(raw: Mapping[str, Any]) -> Interval | Cron | At:
    zone = raw.get("tz", "UTC")
    if "at" in raw:
        return At(_instant(raw["at"]))
    if "cron" in raw:
        if len(raw["cron"].split()) != 5:
            raise UnsupportedDefinition("only cron expressions with five fields are supported")
        return Cron(raw["cron"], zone)
    [(unit, step)] = raw["every"].items()
    anchor = raw.get("anchor")
    return Interval(unit, step, zone, None if anchor is None else datetime.fromisoformat(anchor))


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


def _days(texts: Any) -> ClosedDays:
    weekdays = tuple(WEEKDAYS.index(text) for text in texts if text in WEEKDAYS)
    return ClosedDays(weekdays, tuple(date.fromisoformat(text) for text in texts if text not in WEEKDAYS))
