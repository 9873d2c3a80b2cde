"""Fields of stored and declared definitions, compared as every store keeps them."""

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
    """Does a schedule stand as it is declared, with what an operator has set over it?"""
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
    found = encode_definition(replace(stored, closed={}) if stored.closed else stored)
    return alike(found, encoded)


def alike(one: Any, other: Any) -> bool:
    """Are two JSON values the same to every store? Some write large numbers without saying whether they are whole."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers) and not isinstance(one, bool) | isinstance(other, bool):
        if type(one) is type(other):
            return one == other
        return abs(one) >= _BEYOND and float(one) == float(other)
    return type(one) is type(other) and bool(one == other)


def changed_fields(before: Schedule, after: Schedule) -> tuple[FieldChange, ...]:
    """The fields that will be another; what calendars say is none of them."""
    names = [name for name in {**before.definition_json, **after.definition_json} if name not in ("v", "closed")]
    pairs = ((name, before.definition_json.get(name), after.definition_json.get(name)) for name in names)
    return tuple(FieldChange(*each) for each in pairs if not alike(each[1], each[2]))


def kept_overrides(schedule: Schedule | None, encoded: Mapping[str, Any]) -> tuple[KeptOverride, ...]:
    overrides = schedule.field_overrides if schedule else {}
    return tuple(KeptOverride(name, overrides[name], encoded.get(name)) for name in sorted(overrides))
