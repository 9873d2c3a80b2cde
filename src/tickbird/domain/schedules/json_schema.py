"""JSON Schema of definitions, for editors and API clients.

Rules that a schema cannot express, such as a cron expression that never ticks, are checked by `Definition`.
"""

from __future__ import annotations

from typing import Final

from tickbird.domain.schedules.codec import FORMAT, own_formats
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schema_parts import NAME as NAME
from tickbird.domain.schema_parts import Schema
from tickbird.domain.schema_parts import object_schema as _object
from tickbird.domain.targets.registry import kind_schema, target_kinds
from tickbird.domain.triggers.trigger import ANY_OF, FORMS, MAX_MEMBERS

ZONE: Final[Schema] = {
    "type": "string",
    "format": "time-zone",
    "minLength": 1,
    "description": "An IANA time zone, such as Europe/Rome.",
}
_NEVER_NULL: Final = ("trigger", "target")


def definition_schema() -> Schema:
    """Return the schema of a definition: trigger and target are required, all other fields have defaults."""
    fields = {name: field if name in _NEVER_NULL else _or_null(field) for name, field in field_schemas().items()}
    # The JSON of a stored schedule has these too, so that it can be sent back unchanged.
    closed = {"type": "object", "description": "Closed days of the calendars; ignored in requests."}
    ours = {"v": {"enum": [*range(1, FORMAT + 1), *sorted(own_formats())]}, "closed": closed}
    return {
        "type": "object",
        "properties": {**fields, **ours},
        "required": list(_NEVER_NULL),
        "additionalProperties": False,
    }


def changes_schema() -> Schema:
    """Return the schema of changed fields; null resets a field to its declared value or default."""
    fields = {name: field if name in _NEVER_NULL else _or_null(field) for name, field in field_schemas().items()}
    return {"type": "object", "properties": fields, "additionalProperties": False}


def field_schemas() -> dict[str, Schema]:
    policies = {name: policy.schema() for name, policy in POLICIES.items()}
    return {"trigger": trigger_schema(), "target": target_schema(), **policies}


def trigger_schema() -> Schema:
    plain = []
    for form in FORMS.values():
        fields = {form.name: form.schema}
        fields |= {option.name: {**option.schema, "description": option.about} for option in form.options}
        plain.append(_object(fields | ({"tz": ZONE} if form.has_zone else {}), form.summary, needed=(form.name,)))
    several = {"type": "array", "items": {"anyOf": plain}, "minItems": 1, "maxItems": MAX_MEMBERS}
    return {
        "anyOf": [*plain, _object({ANY_OF: several}, "The ticks of several triggers; equal instants are one tick.")]
    }


def target_schema() -> Schema:
    kinds = target_kinds().items()
    return {"anyOf": [_object({kind: kind_schema(spec)}, spec.about) for kind, spec in kinds]}


def _or_null(field: Schema) -> Schema:
    return {"anyOf": [field, {"type": "null"}]}
