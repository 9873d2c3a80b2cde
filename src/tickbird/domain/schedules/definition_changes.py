"""Definitions and changes from Python arguments, as the JSON that clients send."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.policy_input import check_fields, policies
from tickbird.domain.schedules.target_input import is_target_kind, with_target


@dataclass(frozen=True, slots=True)
class EncodedFields:
    """Fields as JSON; `none` are fields that are explicitly None."""

    fields: Mapping[str, Any]
    none: Collection[str]


def encode_fields(values: Mapping[str, Any]) -> EncodedFields:
    return EncodedFields(
        {name: value for name, value in values.items() if value is not None},
        sorted(name for name, value in values.items() if value is None),
    )


def new_definition(
    fields: Mapping[str, Any], payload: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> Definition:
    """A definition with settings of the task, and policies as people write them; records which fields are stated."""
    stated = frozenset(TASK_SETTINGS).intersection(fields)
    return Definition(payload=payload, stated=stated, **{**(settings or {}), **policies(fields)})


def encode_patch(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {field: encode_field(field, value) for field, value in policies(fields).items()}


def read_update(fields: Mapping[str, Any], unset: Collection[str]) -> tuple[dict[str, Any], Collection[str]]:
    """Arguments of `update` with targets of all forms as `target`; InvalidError if a field is both set and unset."""
    unset = {"target" if is_target_kind(field) else field for field in unset}
    fields = with_target(dict(fields))
    check_unset(fields, unset)
    return fields, unset


def check_unset(fields: Mapping[str, Any], unset: Collection[str]) -> None:
    check_fields(unset)
    if twice := set(unset) & {*fields}:
        raise InvalidError(f"{min(twice)}: it is both set and unset.", field=min(twice), hint="Do one of the two.")
