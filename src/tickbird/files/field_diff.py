"""Comparison of stored and declared definitions, independent of how a store represents numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_definition, encode_definition, fingerprint
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.files.plan import FieldChange, KeptOverride

_BEYOND: Final = 2**53


def is_declared(schedule: Schedule, definition: Definition, encoded: Mapping[str, Any]) -> bool:
    """Return True if a schedule equals its declaration plus the operator overrides."""
    stored = schedule.definition
    if stored is None:
        return False
    if schedule.field_overrides:
        if schedule.fingerprint != fingerprint(definition):
            return False
        try:
            encoded = encode_definition(decode_definition({**encoded, **schedule.field_overrides}))
        except InvalidError:
            return False
    current = encode_definition(replace(stored, closed={}) if stored.closed else stored)
    return alike(current, encoded)


def alike(left: Any, right: Any) -> bool:
    """Compare JSON values. Large integers and floats may be equal, because some stores do not keep their type."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(value, right[name]) for name, value in left.items())
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    numbers = (int, float)
    if (
        isinstance(left, numbers)
        and isinstance(right, numbers)
        and not isinstance(left, bool) | isinstance(right, bool)
    ):
        if type(left) is type(right):
            return left == right
        return abs(left) >= _BEYOND and float(left) == float(right)
    return type(left) is type(right) and bool(left == right)


def changed_fields(before: Schedule, after: Schedule) -> tuple[FieldChange, ...]:
    """Return the changed fields, without the closed days of calendars."""
    names = [name for name in {**before.definition_json, **after.definition_json} if name not in ("v", "closed")]
    pairs = ((name, before.definition_json.get(name), after.definition_json.get(name)) for name in names)
    return tuple(FieldChange(name, old, new) for name, old, new in pairs if not alike(old, new))


def kept_overrides(schedule: Schedule | None, encoded: Mapping[str, Any]) -> tuple[KeptOverride, ...]:
    overrides = schedule.field_overrides if schedule else {}
    return tuple(KeptOverride(name, overrides[name], encoded.get(name)) for name in sorted(overrides))
