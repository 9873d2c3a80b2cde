"""Definitions as they are sent: the fields of a schedule's document, lengths of time also as "10m"."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.schedules.codec import FORMAT, decode_field, is_supported_format
from tickbird.domain.schedules.definition import FIELDS, check_payload
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.policy_input import check_fields

# A document has them too, and they are not a person's to set.
_OURS = ("v", "closed")
_NEEDED = ("trigger", "target")


def read_definition(
    definition: Mapping[str, Any], none: Collection[str] = ()
) -> tuple[dict[str, Any], Collection[str]]:
    """The fields of a whole definition, such as that of a document, and those that it leaves to task and defaults.

    Those in `none` are stated to be nothing.
    """
    if not is_supported_format(definition.get("v", FORMAT)):
        raise DefinitionError(f"v: this version knows formats up to {FORMAT}.", field="v", hint="Leave it out.")
    stated = {name: value for name, value in definition.items() if name not in _OURS and value is not None}
    for name in _NEEDED:
        if name not in stated:
            raise DefinitionError(
                f"{name}: is missing;",
                field=name,
                hint='give "trigger": {"cron": "0 9 * * *"} and "target": {"task": "digest"}.',
            )
    check_fields(none)
    if twice := next((name for name in none if name in stated), None):
        raise DefinitionError(f"{twice}: is set, and listed in `none`;", field=twice, hint="leave out one of them.")
    fields = {**_read(stated), **dict.fromkeys(none)}
    return fields, [name for name in FIELDS if name not in fields]


def read_draft(definition: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a definition of which only the trigger is needed."""
    return read_definition({"target": {"task": "preview"}, **definition})[0]


def read_changes(definition: Mapping[str, Any]) -> tuple[dict[str, Any], Collection[str]]:
    """The fields that are to be set, and those that are null: they go back to code or to their defaults."""
    check_fields(definition)
    unset = [name for name, value in definition.items() if value is None]
    for name in _NEEDED:
        if name in unset:
            raise DefinitionError(f"{name}: every schedule has one;", field=name, hint="leave it out to keep it.")
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
                f"{name}: is not what a schedule has there;", field=name, hint="look at the document of one."
            ) from None
    return fields
