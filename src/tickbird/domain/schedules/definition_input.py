"""Definitions as JSON, as clients send them; durations may also be texts such as "10m"."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.schedules.codec import FORMAT, decode_field, is_supported_format
from tickbird.domain.schedules.definition import FIELDS, check_payload
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.policy_input import check_fields

# A document contains them, and clients cannot set them.
_READ_ONLY = ("v", "closed")
_REQUIRED = ("trigger", "target")


def read_definition(
    definition: Mapping[str, Any], none: Collection[str] = ()
) -> tuple[dict[str, Any], Collection[str]]:
    """The fields of a complete definition, and the names of fields that it leaves to the task or to defaults.

    Fields in `none` are explicitly None.
    """
    if not is_supported_format(definition.get("v", FORMAT)):
        raise DefinitionError(f"v: this tickbird supports formats up to {FORMAT}.", field="v", hint="Leave it out.")
    stated = {name: value for name, value in definition.items() if name not in _READ_ONLY and value is not None}
    for name in _REQUIRED:
        if name not in stated:
            raise DefinitionError(
                f"{name} is missing.",
                field=name,
                hint='Give "trigger": {"cron": "0 9 * * *"} and "target": {"task": "digest"}.',
            )
    check_fields(none)
    if twice := next((name for name in none if name in stated), None):
        raise DefinitionError(f"{twice} is set and also listed in `none`.", field=twice, hint="Remove one of them.")
    fields = {**_read(stated), **dict.fromkeys(none)}
    return fields, [name for name in FIELDS if name not in fields]


def read_draft(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a definition that needs only a trigger."""
    return read_definition({"target": {"task": "preview"}, **definition})[0]


def read_changes(definition: Mapping[str, Any]) -> tuple[dict[str, Any], Collection[str]]:
    """The fields to set, and the names of fields that are null: they are reset."""
    check_fields(definition)
    unset = [name for name, value in definition.items() if value is None]
    for name in _REQUIRED:
        if name in unset:
            raise DefinitionError(
                f"{name} cannot be removed: every schedule has one.", field=name, hint="Leave it out to keep it."
            )
    return _read({name: value for name, value in definition.items() if value is not None}), unset


def _read(stated: Mapping[str, Any]) -> dict[str, Any]:
    check_fields(stated)
    fields: dict[str, Any] = {}
    for name, value in stated.items():
        if name == "payload":
            check_payload(value)
        try:
            read = decode_field(name, value)
            fields[name] = POLICIES[name].read(read) if name in POLICIES else read
        except InvalidError:
            raise
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            raise DefinitionError(
                f"{name} has the wrong type.", field=name, hint="Compare it with `tickbird show NAME --json`."
            ) from None
    return fields
