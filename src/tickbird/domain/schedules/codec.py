"""Definitions as versioned JSON: the stored form, which users may edit with SQL.

Version 1 is an object with `v`, `trigger`, `target` and the policies that differ from their defaults. A shadow has
version 3, a schedule in memory version 6, `on_crash="ask"` version 7. Target kinds and trigger forms state the first
version that supports them.
Kinds of other packages have their own versions, greater than all others. Code that does not know a version ignores the
schedule, so it runs nothing wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json
from tickbird.domain.errors import DefinitionError, InvalidError, TriggerError
from tickbird.domain.schedules.definition import FIELDS, TASK_SETTINGS, Definition
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.targets.registry import (
    find_kind,
    first_kind_format,
    read_target,
    reserve_names,
    target_kinds,
    write_target,
)
from tickbird.domain.targets.target import Target
from tickbird.domain.triggers.trigger import (
    FORM_NAMES,
    FORMS,
    Trigger,
    custom_names,
    first_format,
    trigger_from_json,
    unregistered_customs,
)

_OLDEST, _SHADOWS, _IN_MEMORY, _ASKS = 1, 3, 6, 7
FORMAT = max(_SHADOWS, _IN_MEMORY, _ASKS, *(form.newest_format for form in FORMS.values()))
# From this format on, a definition may have triggers that only some processes know.
CUSTOM_TRIGGERS = FORMS["custom"].format
# The format in which kinds with their own format numbers were added.
_OWN_FORMATS = 3
# Fields that are not stored at these values.
_UNSTATED = (("shadow", False), ("durable", True))
_STORED = frozenset(("v", "closed", *FIELDS))
_SETTINGS = frozenset(TASK_SETTINGS)
# In files, the parts of a trigger are next to the kind.
reserve_names((*_STORED, *FORM_NAMES, *(key for form in FORMS.values() for key in form.keys)))


def encode_definition(definition: Definition) -> dict[str, Any]:
    """Return the JSON object of a definition; equal definitions give equal objects."""
    trigger = encode_field("trigger", definition.trigger)
    encoded: dict[str, Any] = {
        "v": _version(
            definition.target.kind,
            _policies_format(definition.shadow, definition.durable, definition.on_crash),
            trigger,
        ),
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
    """Like `encode_definition`, with settings stated at their defaults; without them, the task's would apply."""
    stated = {
        name: encode_field(name, getattr(definition, name)) for name in TASK_SETTINGS if name in definition.stated
    }
    return {**encode_definition(definition), **stated}


def encode_field(name: str, value: Any) -> Any:
    """Encode one field of a definition."""
    if name not in FIELDS:
        raise DefinitionError(
            f"{str(name)[:60]!r} is not a field of a schedule.", field=name, hint=f"Fields: {', '.join(FIELDS)}."
        )
    if name == "trigger":
        if not hasattr(value, "to_json"):
            raise DefinitionError(
                "trigger: this is not a trigger.", field="trigger", hint=f"Use {'(...), '.join(FORM_NAMES)}(...)."
            )
        return value.to_json()
    if isinstance(value, Target):
        return write_target(value)
    return POLICIES[name].encode(value)


def default_field(name: str) -> Any:
    """Return the default of a field as JSON; None for trigger and target, which have none."""
    return POLICIES[name].encode(POLICIES[name].default) if name in POLICIES else None


def _encode_closed(closed: Mapping[str, Calendar]) -> dict[str, list[str]]:
    return {name: calendar_to_json(calendar) for name, calendar in sorted(closed.items())}


def decode_definition(encoded: Any) -> Definition:
    """Decode a definition; raise InvalidError, with the field, if it is invalid."""
    if not isinstance(encoded, Mapping):
        raise DefinitionError("definition must be a JSON object.", field="definition")
    version = encoded.get("v")
    if not is_supported_format(version):
        if reason := ignored_reason(encoded):
            raise DefinitionError(
                f"v: {reason}.", field="v", reason=reason, hint="Upgrade tickbird here, or install the missing package."
            )
        raise DefinitionError(
            f"v: {str(version)[:20]!r} is not a format that this tickbird supports ({_OLDEST} to {FORMAT}).",
            field="v",
            hint="Upgrade tickbird, or write the definition again with `tickbird set`.",
        )
    _check_own_format(encoded)
    for name in encoded:
        if name not in _STORED:
            raise DefinitionError(
                f"{str(name)[:60]!r} is not a field of a definition.",
                field=str(name)[:60],
                hint="Remove it, or upgrade tickbird.",
            )
    for name in ("trigger", "target"):
        if name not in encoded:
            raise DefinitionError(
                f"{name} is missing.", field=name, hint="Every definition needs a trigger and a target."
            )
    if isinstance(version, int) and version < CUSTOM_TRIGGERS and custom_names(encoded["trigger"]):
        # With an older format, a planner that does not know the trigger would park the schedule.
        raise DefinitionError(
            f"v: a custom trigger needs format {CUSTOM_TRIGGERS}.", field="v", hint=f'Write "v": {CUSTOM_TRIGGERS}.'
        )
    try:
        given = {name: decode_field(name, encoded[name]) for name in encoded if name != "v"}
        return Definition(**given, stated=_SETTINGS.intersection(given))
    except InvalidError:
        raise
    except (TypeError, ValueError, AttributeError, RecursionError, OverflowError) as error:
        raise DefinitionError(f"definition: {error}.", field="definition") from error


def decode_field(name: str, value: Any) -> Any:
    """Decode one field of a definition; `Definition` checks combinations."""
    if name == "trigger":
        return _trigger(value)
    if name == "target":
        return read_target(value)
    if name == "closed":
        if not isinstance(value, Mapping):
            raise DefinitionError("closed must be an object with the closed days of each calendar.", field="closed")
        return {str(calendar): content_from_json(days) for calendar, days in value.items()}
    return POLICIES[name].decode(value)


@cache
def own_formats() -> frozenset[int]:
    """Return the formats above FORMAT that this process reads, those of target kinds from plug-ins."""
    firsts = [first_kind_format(kind) for kind, spec in target_kinds().items() if spec.format is None]
    return frozenset(first + number for first in firsts for number in range(_OLDEST, FORMAT + 1))


def is_supported_format(version: object) -> bool:
    if not isinstance(version, int) or isinstance(version, bool):
        return False
    return _OLDEST <= version <= FORMAT or is_own_format(version)


def is_own_format(version: int) -> bool:
    """Return whether it is the format of a target kind from a plug-in of this process."""
    return version > FORMAT and version in own_formats()


def is_unknown_format(version: object) -> bool:
    """Return whether only other processes read this format, so that this one ignores such schedules."""
    return isinstance(version, int) and version > FORMAT and not is_own_format(version)


def unknown_kind_of(encoded: Mapping[str, Any]) -> str | None:
    """Return the target kind that this process does not know; None if it knows the format."""
    target = encoded.get("target")
    kind = str(next(iter(target))) if isinstance(target, Mapping) and len(target) == 1 else ""
    if not kind or not is_unknown_format(encoded.get("v")) or find_kind(kind) is not None:
        return None
    return kind[:40]


def ignored_reason(encoded: Mapping[str, Any]) -> str:
    """Return why this process ignores a schedule with this definition; empty if it does not."""
    version = encoded.get("v")
    if not isinstance(version, int) or version < CUSTOM_TRIGGERS:
        return ""
    if plug_in := missing_plug_in(encoded):
        return f"{plug_in} is not available here"
    if is_unknown_format(version):
        return f"its definition has format {version}, newer than this version of tickbird reads ({FORMAT})"
    return ""


def missing_plug_in(encoded: Mapping[str, Any]) -> str:
    """Return the target kind or the custom trigger that this process lacks; empty if it has both."""
    if (kind := unknown_kind_of(encoded)) is not None:
        return f"target kind {kind!r}"
    if is_unknown_format(encoded.get("v")):
        return ""
    unknown = unregistered_customs(encoded.get("trigger"))
    return f"custom trigger {unknown[0][:60]!r}" if unknown else ""


def planner_requirement(encoded: Mapping[str, Any]) -> str:
    """The plug-ins or the format that a process needs to plan this definition; empty if every process can."""
    version, target = encoded.get("v"), encoded.get("target")
    kind = str(next(iter(target))) if isinstance(target, Mapping) and len(target) == 1 else ""
    needed = [f"target kind {kind[:40]!r}"] if kind and first_kind_format(kind) > FORMAT else []
    needed += [f"custom trigger {name[:60]!r}" for name in custom_names(encoded.get("trigger"))[:1]]
    return " and ".join(needed) or (f"format {version} of definitions" if is_unknown_format(version) else "")


def _check_own_format(encoded: Mapping[str, Any]) -> None:
    """Reject a kind in the format of another kind, because processes without the kind could not recognise it."""
    version, target = encoded.get("v"), encoded.get("target")
    if not isinstance(target, Mapping) or len(target) != 1:
        return
    kind = str(next(iter(target)))
    first, needed = first_kind_format(kind), _version_of(kind, encoded)
    if first > FORMAT and isinstance(version, int) and not first < version <= first + FORMAT:
        raise DefinitionError(
            f"v: target kind {kind[:40]!r} is not built in.",
            field="v",
            hint=f'If a package provides it, write "v": {needed}.',
        )


def in_its_format(encoded: Mapping[str, Any]) -> dict[str, Any]:
    """Return a changed definition's JSON with the version that it needs."""
    target, version = encoded.get("target"), encoded.get("v")
    if is_supported_format(version) and isinstance(target, Mapping) and len(target) == 1:
        version = _version_of(str(next(iter(target))), encoded)
    # Omit newer fields at their defaults, because code that does not know them could not read them.
    fields = {name: value for name, value in encoded.items() if (name, value) not in _UNSTATED}
    return {**fields, "v": version}


def _policies_format(shadow: bool, durable: bool, on_crash: object) -> int:
    """Return the oldest format that supports these policies."""
    if on_crash == "ask":
        return _ASKS
    return _SHADOWS if shadow else _OLDEST if durable else _IN_MEMORY


def _version_of(kind: str, encoded: Mapping[str, Any]) -> int:
    policies = _policies_format(
        bool(encoded.get("shadow")), encoded.get("durable") is not False, encoded.get("on_crash")
    )
    return _version(kind, policies, encoded.get("trigger"))


def _version(kind: str, policies: int, trigger: Any) -> int:
    """Return the oldest format that supports the policies and the trigger."""
    first, needed = first_kind_format(kind), max(policies, first_format(trigger))
    return max(first, needed) if first <= FORMAT else first + max(_OWN_FORMATS, needed)


def _trigger(value: Any) -> Trigger:
    if not isinstance(value, Mapping):
        raise TriggerError(
            "trigger must be a JSON object.", field="trigger", hint='Write, for example, {"cron": "0 9 * * *"}.'
        )
    return trigger_from_json(dict(value))


def definition_text(encoded: Mapping[str, Any]) -> str:
    """Return the canonical text of a definition's JSON."""
    return json.dumps(encoded, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(definition: Definition) -> str:
    """Return a stable hash of the definition, without the closed days of its calendars."""
    text = definition_text({name: value for name, value in encode_definition(definition).items() if name != "closed"})
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
