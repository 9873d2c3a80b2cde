"""Input forms of targets: `task=…` is short for `target={"task": …}`, and so is every other kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.definition import FIELDS
from tickbird.domain.targets.registry import as_target, find_kind, read_spec, read_target


def is_target_kind(field: str) -> bool:
    """Return whether the field is the name of a target kind."""
    return field not in FIELDS and find_kind(field) is not None


def with_target(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the target in its full form."""
    given = [name for name in fields if name == "target" or is_target_kind(name)]
    if len(given) > 1:
        raise InvalidError(
            f"{given[0]} and {given[1]}: a schedule has only one target. Give one of them.", field=given[1]
        )
    changed = dict(fields)
    if given == ["target"]:
        value = changed["target"]
        changed["target"] = read_target(value) if isinstance(value, Mapping) else as_target(value)
    elif given:
        changed["target"] = read_spec(given[0], changed.pop(given[0]))
    return changed
