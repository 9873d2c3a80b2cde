"""Specs of the oracle as triggers, options and definitions of the product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lab.oracle.spec import ClosedDays, Spec
from lab.oracle.triggers import At, Cron, Interval, TriggerSpec, utc
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every
from tickbird.domain.triggers.trigger import Trigger, any_of, at

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def to_trigger(form: TriggerSpec) -> Trigger:
    match form:
        case Interval(unit, step, tz, anchor):
            return Every({unit: step}, anchor, tz)
        case Cron(text, tz):
            return cron(text, tz)
        case At(instant):
            return at(utc(instant))
    return any_of(*(to_trigger(member) for member in form.members))


def to_options(spec: Spec, *names: str) -> dict[str, Any]:
    """These fields, or all, as options of the client."""
    options: dict[str, Any] = {}
    for name in names or [field.name for field in fields(spec)]:
        value = getattr(spec, name)
        if name == "form":
            options["trigger"] = to_trigger(value)
        elif name != "task":
            options[name] = _option(name, value)
    return options


def _option(name: str, value: Any) -> Any:
    if isinstance(value, ClosedDays):
        return [WEEKDAYS[day] for day in value.weekdays] + list(value.dates)
    return utc(value) if name in ("start_at", "end_at") and value is not None else value


def to_definition(spec: Spec, payload: Mapping[str, Any] | None = None) -> Definition:
    options = to_options(spec)
    trigger = options.pop("trigger")
    return Definition(trigger=trigger, target=Target(spec.task), payload=payload or {}, **policies(options))
