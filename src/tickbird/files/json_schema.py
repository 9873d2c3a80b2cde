"""The JSON Schema of schedule files, for editors. It is generated from the tables that the reader uses."""

from __future__ import annotations

from typing import Any, Final

from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH, MAX_LIMIT
from tickbird.domain.schedules.event_schedule import event_schedule_schema
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schema_parts import NAME as _NAME
from tickbird.domain.schema_parts import WRITTEN_DURATION as _LENGTH
from tickbird.domain.schema_parts import WRITTEN_INSTANT as _INSTANT
from tickbird.domain.schema_parts import Schema
from tickbird.domain.targets.registry import kind_file_schema, target_kinds
from tickbird.domain.triggers.every import UNITS
from tickbird.domain.triggers.rrule.rrule import MAX_DATES
from tickbird.domain.triggers.trigger import FORMS, MAX_MEMBERS
from tickbird.files.fields import BESIDE, PARTS, TRIGGERS, target_names

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> Schema:
    """Return the schema of a document."""
    return {
        "$schema": DIALECT,
        "title": "Tickbird schedules",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "$schema": {"type": "string"},
            "app": {**_NAME, "description": PARTS["app"]},
            "namespace": {**_NAME, "description": PARTS["namespace"]},
            "schedules": _by_name("schedules", {"$ref": "#/$defs/schedule"}),
            "event_schedules": {
                "type": "array",
                "description": PARTS["event_schedules"],
                "items": {"$ref": "#/$defs/event_schedule"},
            },
            "calendars": _by_name("calendars", {"$ref": "#/$defs/calendar"}),
            "limits": {
                "type": "object",
                "description": PARTS["limits"],
                "propertyNames": {"minLength": 1, "maxLength": MAX_KEY_LENGTH},
                "additionalProperties": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
            },
            "queues": _by_name("queues", {"anyOf": [_rate(), _object({"rate": _rate()}, ["rate"])]}),
            "state": _by_name("state", _state()),
        },
        "$defs": {
            "schedule": _schedule(),
            "event_schedule": event_schedule_schema(),
            "trigger": _member(),
            "calendar": _calendar(),
            **_targets(),
        },
    }


def _by_name(part: str, item: Schema) -> Schema:
    return {
        "type": "object",
        "description": PARTS[part],
        "propertyNames": {"pattern": _NAME["pattern"]},
        "additionalProperties": item,
    }


def _object(properties: Schema, required: list[str] | None = None) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | ({"required": required} if required else {})


def _exactly_one(names: Any) -> list[Schema]:
    return [{"required": [name]} for name in names]


def _triggers() -> Schema:
    step: Schema = {
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": _LENGTH["anyOf"][1]["pattern"]},
            _object({unit: {"type": "integer", "minimum": 1} for unit in UNITS}) | {"minProperties": 1},
        ]
    }
    values: Schema = {"text": {"type": "string"}, "step": step, "instant": _INSTANT}
    dates: Schema = {"type": "array", "items": _INSTANT, "maxItems": MAX_DATES}
    options: Schema = {"moment": _INSTANT, "moments": dates, "object": {"type": "object"}}
    properties = {form.name: {**values[form.kind], "description": form.about} for form in FORMS.values()}
    properties["tz"] = {"type": "string", "description": BESIDE["tz"]}
    return properties | {
        option.name: {**options[option.kind], "description": option.about}
        for form in FORMS.values()
        for option in form.options
    }


def _member() -> Schema:
    return _object(_triggers()) | {"oneOf": _exactly_one(FORMS)}


def _schedule() -> Schema:
    properties: Schema = _triggers()
    properties["any_of"] = {
        "type": "array",
        "items": {"$ref": "#/$defs/trigger"},
        "minItems": 1,
        "maxItems": MAX_MEMBERS,
        "description": TRIGGERS["any_of"],
    }
    kinds = {kind: target_kinds()[kind] for kind in target_names()}
    properties |= {
        kind: {
            **({"$ref": f"#/$defs/{kind}"} if kind in _targets() else kind_file_schema(spec)),
            "description": spec.about,
        }
        for kind, spec in kinds.items()
    }
    properties |= {name: policy.file_schema() for name, policy in POLICIES.items()}
    return _object(properties) | {
        "allOf": [{"oneOf": _exactly_one(TRIGGERS)}, {"oneOf": _exactly_one(kinds)}],
    }


def _state() -> Schema:
    text: Schema = {"type": "string"}
    paused = _object({"by": text, "note": text, "until": _INSTANT}, ["by"])
    return _object({"app": _NAME, "overrides": {"type": ["object", "string"]}, "paused": paused})


def _rate() -> Schema:
    return {"type": "string", "pattern": "^[0-9]+/[0-9]*[A-Za-z]+$"}


def _calendar() -> Schema:
    texts: Schema = {"type": "array", "items": {"type": "string"}}
    country: Schema = {
        "country": {"type": "string"},
        "subdivision": {"type": ["string", "null"]},
        "years": {"type": ["array", "null"], "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    }
    days = {"weekdays": texts, "dates": texts, "include": texts}
    return _object({**days, "holidays": _object(country, ["country"]), "description": {"type": "string"}})


def _targets() -> Schema:
    schemas = {kind: kind_file_schema(target_kinds()[kind]) for kind in target_names()}
    return {kind: schema for kind, schema in schemas.items() if schema.get("type") != "string"}
