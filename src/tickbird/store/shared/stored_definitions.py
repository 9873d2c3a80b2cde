"""Stored definitions: an error in one row must not affect another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tickbird.domain.doctor.snapshot import ScheduledByTarget, UnplannedSchedule
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import CUSTOM_TRIGGERS, FORMAT, decode_definition, own_formats, planner_requirement
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets import registry as targets
from tickbird.domain.targets.target import Target, TargetKey
from tickbird.domain.triggers import custom as triggers
from tickbird.store.shared.json_columns import Undecodable, decode, error_text

# Errors of the process, not of a row: it cannot open a file, or has no memory left.
PROCESS_ERRORS = (OSError, MemoryError)


def read_definition(stored: str | None, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a stored JSON text, or None and the error; see decoded_definition."""
    if stored is None:
        return None, "its revision does not exist"
    return decoded_definition(decode(stored), to_plan=to_plan)


def decoded_definition(value: Any, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a decoded JSON value, or None and the error.

    With `to_plan`, errors of the process are raised, because a schedule must not be parked for them.
    """
    if isinstance(value, Undecodable):
        return None, value.error
    try:
        return decode_definition(value), None
    except Exception as error:
        # An error in one row must not affect another.
        if to_plan and isinstance(error, PROCESS_ERRORS):
            raise
        return None, error_text(error)


def readable_bounds() -> dict[str, Any]:
    """The parameters of the SQL condition that this process can read a definition."""
    return {
        "format": FORMAT,
        "own_formats": json.dumps(sorted(own_formats())),
        "custom": CUSTOM_TRIGGERS,
        "triggers": json.dumps(triggers.registered_customs()),
    }


def scheduled_targets(rows: Iterable[Sequence[Any]]) -> list[ScheduledByTarget]:
    """Active schedules by queue and target, from rows with the target as JSON; omits unreadable targets."""
    totals: dict[tuple[str, TargetKey], ScheduledByTarget] = {}
    for queue, value, count, next_at in rows:
        try:
            target = targets.read_target(value)
        except InvalidError:
            continue
        before = totals.get((queue, target.key))
        if before is None:
            totals[queue, target.key] = ScheduledByTarget(queue, Target(target.name, target.kind), count, next_at)
        else:
            # Rows are ordered by `next_at`, so the first one has the earliest.
            totals[queue, target.key] = replace(before, count=before.count + count)
    return list(totals.values())


def unplanned_schedules(rows: Iterable[Sequence[Any]]) -> list[UnplannedSchedule]:
    """Due schedules that need a plug-in or a newer format, from rows with a part of the definition as JSON."""
    schedules = (
        UnplannedSchedule(namespace, name, since, planner_requirement(part)) for namespace, name, since, part in rows
    )
    return [schedule for schedule in schedules if schedule.requirement]
