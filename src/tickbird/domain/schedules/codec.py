"""Definitions as versioned JSON: what the store keeps and what a person may edit by SQL.

Version 1 is an object with `v`, `trigger`, `target` and only those policies that differ from their defaults. What has
another target than a task is version 2, a shadow is version 3, and forms of triggers state the first version that has
them, so that code which does not know of them leaves them alone and runs nothing by mistake.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json
from tickbird.domain.errors import DefinitionError, InvalidError, TriggerError
from tickbird.domain.schedules.definition import FIELDS, TASK_SETTINGS, Definition, Target, command_target
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.targets.command import program_from_json
from tickbird.domain.triggers.trigger import (
    FORM_NAMES,
    FORMS,
    Trigger,
    custom_names,
    first_format,
    trigger_from_json,
    unregistered_customs,
)

_TASKS, _COMMANDS, _SHADOWS = 1, 2, 3
FORMAT = max(_SHADOWS, *(form.format for form in FORMS.values()))
# From this one on, a definition may have triggers that only some processes know.
CUSTOM_TRIGGERS = FORMS["custom"].format
_STORED = frozenset(("v", "closed", *FIELDS))
_SETTINGS = frozenset(TASK_SETTINGS)


def encode_definition(definition: Definition) -> dict[str, Any]:
    """The JSON object of a definition; equal definitions give equal objects."""
    trigger = encode_field("trigger", definition.trigger)
    encoded: dict[str, Any] = {
        "v": _version(definition.target.kind == "task", definition.shadow, trigger),
        "trigger": trigger,
        "target": encode_field("target", definition.target),
    }
    for name, policy in POLICIES.items():
        value = getattr(definition, name)
        if value is not policy.default and value != policy.default:
            encoded[name] = policy.encode(value)
    if definition.closed:
        encoded["closed"] = _encode_closed(definition.closed)
    return encoded


def encode_stated(definition: Definition) -> dict[str, Any]:
    """The same, with the task settings that are stated at their defaults: without them, they would be the task's."""
    stated = {
        name: encode_field(name, getattr(definition, name)) for name in TASK_SETTINGS if name in definition.stated
    }
    return {**encode_definition(definition), **stated}


def encode_field(name: str, value: Any) -> Any:
    """One field of a definition as JSON."""
    if name not in FIELDS:
        raise DefinitionError(
            f"{str(name)[:60]!r} is not a field of a schedule; it has {', '.join(FIELDS)}.", field=name
        )
    if name == "trigger":
        if not hasattr(value, "to_json"):
            raise DefinitionError(f"trigger: use {'(...), '.join(FORM_NAMES)}(...).", field="trigger")
        return value.to_json()
    if isinstance(value, Target):
        return {value.kind: value.name if value.program is None else value.program.to_json()}
    return POLICIES[name].encode(value)


def default_field(name: str) -> Any:
    """What a field is where a definition does not state it, as JSON; None where every definition states it."""
    return POLICIES[name].encode(POLICIES[name].default) if name in POLICIES else None


def _encode_closed(closed: Mapping[str, Calendar]) -> dict[str, list[str]]:
    return {name: calendar_to_json(calendar) for name, calendar in sorted(closed.items())}


def decode_definition(encoded: Any) -> Definition:
    """The definition of such an object; anything unreadable raises an InvalidError that names the field."""
    if not isinstance(encoded, Mapping):
        raise DefinitionError("definition: must be a JSON object.", field="definition")
    version = encoded.get("v")
    if not is_supported_format(version):
        raise DefinitionError(
            f"v: format {str(version)[:20]!r} is not known; this version reads {_TASKS} to {FORMAT}.", field="v"
        )
    for name in encoded:
        if name not in _STORED:
            raise DefinitionError(f"{str(name)[:60]!r} is not a field of a definition.", field=str(name)[:60])
    for name in ("trigger", "target"):
        if name not in encoded:
            raise DefinitionError(f"{name}: is missing.", field=name)
    if isinstance(version, int) and version < CUSTOM_TRIGGERS and custom_names(encoded["trigger"]):
        # Else a planner that does not know the trigger would not leave the schedule to others.
        raise DefinitionError(f"v: a custom trigger needs format {CUSTOM_TRIGGERS}.", field="v")
    try:
        given = {name: decode_field(name, encoded[name]) for name in encoded if name != "v"}
        return Definition(**given, stated=_SETTINGS.intersection(given))
    except InvalidError:
        raise
    except (TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise DefinitionError(f"definition: {error}.", field="definition") from error


def decode_field(name: str, value: Any) -> Any:
    """One field of a definition from JSON; whether it fits the others is looked at when they are put together."""
    if name == "trigger":
        return _trigger(value)
    if name == "target":
        return _target(value)
    if name == "closed":
        if not isinstance(value, Mapping):
            raise DefinitionError("closed: must be an object of calendars.", field="closed")
        return {str(calendar): content_from_json(days) for calendar, days in value.items()}
    return POLICIES[name].decode(value)


def is_supported_format(version: object) -> bool:
    """Is this a format that this code reads?"""
    return isinstance(version, int) and not isinstance(version, bool) and _TASKS <= version <= FORMAT


def left_alone_reason(encoded: Mapping[str, Any]) -> str:
    """Why this process neither plans nor changes a schedule with this definition; empty if it does. Others may."""
    version = encoded.get("v")
    if not isinstance(version, int) or version < CUSTOM_TRIGGERS:
        return ""
    if version > FORMAT:
        return f"its definition has format {version}, newer than this version of tickbird reads ({FORMAT})"
    if unknown := unregistered_customs(encoded.get("trigger")):
        return f"custom trigger {unknown[0][:60]!r} is not known here"
    return ""


def in_its_format(encoded: Mapping[str, Any]) -> dict[str, Any]:
    """A definition's JSON after one field or another was changed, with the version that it asks for."""
    target, version = encoded.get("target"), encoded.get("v")
    if is_supported_format(version) and isinstance(target, Mapping):
        version = _version("task" in target, bool(encoded.get("shadow")), encoded.get("trigger"))
    # Not even by its name, where it is none: code that does not know of shadows could not read that.
    told = {name: value for name, value in encoded.items() if name != "shadow" or value is not False}
    return {**told, "v": version}


def _version(is_task: bool, shadow: bool, trigger: Any) -> int:
    """The oldest format that says all of it."""
    return max(_TASKS if is_task else _COMMANDS, _SHADOWS if shadow else _TASKS, first_format(trigger))


def _target(value: Any) -> Target:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise DefinitionError(
            'target: must be an object such as {"task": "digest"} or {"command": {…}}.', field="target"
        )
    [(kind, target)] = value.items()
    if kind == "command":
        return command_target(program_from_json(target))
    if kind != "task":
        raise DefinitionError(f"target: kind {str(kind)[:40]!r} is not known here.", field="target")
    if not isinstance(target, str):
        raise DefinitionError('target: must be an object such as {"task": "digest"}.', field="target")
    return Target(target)


def _trigger(value: Any) -> Trigger:
    if not isinstance(value, Mapping):
        raise TriggerError("trigger: must be a JSON object.", field="trigger")
    return trigger_from_json(dict(value))


def definition_text(encoded: Mapping[str, Any]) -> str:
    """The one canonical text of a definition's JSON."""
    return json.dumps(encoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(definition: Definition) -> str:
    """A short, stable name for exactly this definition, whatever its calendars say at the moment."""
    text = definition_text({name: value for name, value in encode_definition(definition).items() if name != "closed"})
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
