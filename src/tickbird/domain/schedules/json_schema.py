"""Definitions as JSON Schema, for editors and for those who write programs against the API.

It says what a schema can say; whether a cron expression ever ticks, or two fields fit each other, `Definition` tells.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from tickbird.domain.calendars.calendar import WEEKDAYS
from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH
from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.schedules.definition import (
    FIELDS,
    MAX_CALENDARS,
    MAX_DESCRIPTION_LENGTH,
    RANGES,
    CatchUp,
    OnCrash,
    Overlap,
    Roll,
)
from tickbird.domain.schedules.dependencies import MAX_DEPENDENCIES
from tickbird.domain.targets.command import MAX_ARGUMENTS, MAX_TEXT_LENGTH
from tickbird.domain.time.durations import MAX_DURATION
from tickbird.domain.triggers.cron.parser import MAX_LENGTH
from tickbird.domain.triggers.every import MAX_UNITS
from tickbird.domain.triggers.rrule.parser import MAX_LENGTH as MAX_RULE_LENGTH
from tickbird.domain.triggers.rrule.rrule import MAX_DATES
from tickbird.domain.triggers.trigger import MAX_MEMBERS

Schema = dict[str, Any]

VARIABLE: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,199}$"}
NAME: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,200}$"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time", "description": "An instant with its zone."}
ZONE: Final[Schema] = {
    "type": "string",
    "format": "time-zone",
    "minLength": 1,
    "description": "An IANA zone, such as Europe/Rome.",
}
_LENGTH_TEXT: Final[Schema] = {
    "type": "string",
    "format": "length-of-time",
    "pattern": r"^(?=.)(\d{1,9}w)?(\d{1,9}d)?(\d{1,9}h)?(\d{1,9}m)?(\d{1,9}s)?$",
    "description": 'A length of time, such as "90s" or "1h30m".',
}
# Numbers that are lengths of time, and may be written as such.
LENGTHS: Final = ("grace", "start_within", "spread", "timeout")
_NEVER_NULL: Final = ("trigger", "target")


def definition_schema() -> Schema:
    """A whole definition: trigger and target are needed, everything else has its default."""
    fields = {name: field if name in _NEVER_NULL else _or_null(field) for name, field in field_schemas().items()}
    # A document of a schedule has them too, and may be sent back as it is.
    closed = {"type": "object", "description": "What calendars say; not looked at."}
    ours = {"v": {"enum": list(range(1, FORMAT + 1))}, "closed": closed}
    return {
        "type": "object",
        "properties": {**fields, **ours},
        "required": list(_NEVER_NULL),
        "additionalProperties": False,
    }


def changes_schema() -> Schema:
    """Some fields of a definition; null takes one back to what code declares, or to its default."""
    fields = {name: field if name in _NEVER_NULL else _or_null(field) for name, field in field_schemas().items()}
    return {"type": "object", "properties": fields, "additionalProperties": False}


def field_schemas() -> dict[str, Schema]:
    """Each field of a definition by its name."""
    found: dict[str, Schema] = {
        "trigger": trigger_schema(),
        "target": target_schema(),
        "payload": {"type": "object", "description": "What the task is called with; at most 1 MB of JSON."},
        "description": {"type": "string", "maxLength": MAX_DESCRIPTION_LENGTH},
        "tags": {"type": "array", "items": NAME},
        "queue": NAME,
        "catch_up": _choice(CatchUp, "What becomes of ticks that are planned late."),
        "overlap": _choice(Overlap, "What becomes of a tick while a run of an earlier one is active."),
        "start_at": INSTANT,
        "end_at": INSTANT,
        "exclude": {"type": "array", "items": {"anyOf": [{"enum": list(WEEKDAYS)}, {"format": "date", **_text(10)}]}},
        "calendars": {"type": "array", "items": NAME, "maxItems": MAX_CALENDARS},
        "roll": _choice(Roll, "What becomes of a tick on an excluded day."),
        "backoff": _backoff(),
        "on_crash": _choice(OnCrash, "What becomes of a run whose worker was lost."),
        "concurrency_key": {"description": "{field} stands for a field of the payload.", **_text(MAX_KEY_LENGTH, 1)},
        "depends_on": {"type": "array", "items": _dependency(), "maxItems": MAX_DEPENDENCIES},
        "shadow": {"type": "boolean", "description": "Ticks are planned and recorded, and nothing runs."},
    }
    for name, minimum, maximum in RANGES:
        found[name] = _length(minimum, maximum) if name in LENGTHS else _number(minimum, maximum)
    return {name: found[name] for name in FIELDS}


def trigger_schema() -> Schema:
    """A trigger: cron, every, rrule, at, or any of several."""
    units = {unit: _number(1, maximum) for unit, maximum in MAX_UNITS.items()}
    text = {"format": "cron", "examples": ["0 9 * * 1-5", "*/15 * * * *", "@daily"], **_text(MAX_LENGTH, 1)}
    every = {"type": "object", "properties": units, "minProperties": 1, "additionalProperties": False}
    anchor = {"type": "string", "description": "An instant of the grid, on the zone's wall clock or with an offset."}
    rule = {"description": "RFC 5545.", "examples": ["FREQ=MONTHLY;BYDAY=-1FR"], **_text(MAX_RULE_LENGTH, 1)}
    start = {"type": "string", "description": "The first possible tick, on the zone's wall clock or with an offset."}
    dates = {
        name: {"type": "array", "items": {"type": "string"}, "maxItems": MAX_DATES, "description": about}
        for name, about in (("exdate", "Ticks to leave out."), ("rdate", "Ticks to add."))
    }
    plain = [
        _object({"cron": text, "tz": ZONE}, "Cron: five fields, or six with seconds first.", needed=("cron",)),
        _object({"every": every, "anchor": anchor, "tz": ZONE}, "Equal steps.", needed=("every",)),
        _object({"rrule": rule, "dtstart": start, "tz": ZONE, **dates}, "An iCalendar rule.", needed=("rrule",)),
        _object({"at": INSTANT}, "A single instant."),
    ]
    several = {"type": "array", "items": {"anyOf": plain}, "minItems": 1, "maxItems": MAX_MEMBERS}
    return {"anyOf": [*plain, _object({"any_of": several}, "The ticks of several, each instant once.")]}


def target_schema() -> Schema:
    """What a run does: a task by its name, or a command."""
    text = _text(MAX_TEXT_LENGTH)
    value = {"anyOf": [text, _object({"env": VARIABLE}, "What the worker has under this name.")]}
    fields: dict[str, Schema] = {
        "program": {"pattern": "^/", **_text(MAX_TEXT_LENGTH, 1), "description": "Its whole path."},
        "args": {"type": "array", "items": text, "maxItems": MAX_ARGUMENTS},
        "shell": {**_text(MAX_TEXT_LENGTH, 1), "description": "A line for a shell, without args."},
        "env": {"type": "object", "propertyNames": VARIABLE, "additionalProperties": value},
        "folder": {"pattern": "^/", **_text(MAX_TEXT_LENGTH, 1)},
        "user": _text(100, 1),
        "success": {"type": "array", "items": _number(0, 255), "minItems": 1, "uniqueItems": True},
        "input": text,
    }
    command = _object(fields, "A program and what it finds around it.", needed=("program",))
    return {
        "anyOf": [
            _object({"task": NAME}, "The task of this name."),
            _object({"command": command}, "A program, where a worker allows it; for admins."),
        ]
    }


def _backoff() -> Schema:
    seconds = _number(0, 10**9)
    described = "Seconds before another attempt: jitter below base * 2 ** failures, at most `max`."
    return _object({"base": seconds, "max": seconds}, described, needed=())


def _dependency() -> Schema:
    length = _number(0, MAX_DURATION)
    fields = {"after": NAME, "within": length, "wait": length}
    return _object(fields, "Another schedule that must have succeeded, in seconds.", needed=("after", "within"))


def _object(fields: dict[str, Schema], description: str, needed: tuple[str, ...] | None = None) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields if needed is None else needed),
        "additionalProperties": False,
    }


def _number(minimum: int, maximum: int) -> Schema:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def _length(minimum: int, maximum: int) -> Schema:
    return {"anyOf": [{**_number(minimum, maximum), "description": "Seconds."}, _LENGTH_TEXT]}


def _text(maximum: int, minimum: int = 0) -> Schema:
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def _choice(words: object, description: str) -> Schema:
    return {"enum": list(get_args(words)), "description": description}


def _or_null(field: Schema) -> Schema:
    return {"anyOf": [field, {"type": "null"}]}
