"""Event schedules: an interval and an event as the columns of one row, translated to a definition in one place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn

from tickbird.domain.errors import DefinitionError, name_field
from tickbird.domain.events.event import MAX_TENANT, MAX_TYPE, check_data
from tickbird.domain.events.topics import TOPIC_SCHEMA, check_topic
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schema_parts import NAME, Schema, object_schema
from tickbird.domain.targets.event import event
from tickbird.domain.targets.registry import as_target
from tickbird.domain.text import check_new_name, check_text
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND, to_datetime, to_seconds_ceil
from tickbird.domain.triggers.every import MAX_UNITS, Every

# The note of the pause that `active = false` stands for.
INACTIVE: Final = "active is false"
# Every late tick publishes its event, up to the maximum of `catch_up_limit`.
MAX_CATCH_UP: Final = 10_000
UNITS: Final = tuple(unit.upper() for unit in reversed(MAX_UNITS))
_EXAMPLE_START: Final = "2026-01-31T09:00:00Z"


def _any_case(word: str) -> str:
    return "".join(f"[{letter.upper()}{letter.lower()}]" for letter in word)


FIELDS: Final[Mapping[str, Schema]] = {
    "schedule_name": {**NAME, "description": "The name of the schedule, and the key of its events."},
    "frequency_unit": {
        "type": "string",
        "pattern": f"^({'|'.join(map(_any_case, UNITS))})$",
        "description": f"{', '.join(UNITS[:-1])} or {UNITS[-1]}, in any case.",
    },
    "frequency_time": {
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_UNITS["seconds"],
        "description": "The number of units between two events.",
    },
    "start_ts": {
        "type": "string",
        "format": "date-time",
        "description": "The first tick, from which all others are counted; a fraction of a second is rounded up.",
    },
    "event_topic": {**TOPIC_SCHEMA, "description": "The topic of the events."},
    "event_type": {"type": "string", "minLength": 1, "maxLength": MAX_TYPE, "description": "The type of the events."},
    "event_data": {"description": "The data of the events: an object, or a text that is JSON (default: {})."},
    "host_id": {
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": MAX_TENANT,
        "description": "The tenant of the events.",
    },
    "active": {"type": ["boolean", "null"], "description": "false: the schedule is paused."},
}
REQUIRED: Final = ("schedule_name", "frequency_unit", "frequency_time", "start_ts", "event_topic", "event_type")
# A row of the view has them too, so that it can be sent back unchanged.
READ_ONLY: Final = ("schedule_id", "next_run_ts", "aggregate_version")


@dataclass(frozen=True, slots=True)
class EventSchedule:
    """The translation of a row. `is_active` is None if the row does not state it."""

    name: str
    definition: Definition
    is_active: bool | None = None


def read_event_schedule(row: Mapping[str, Any]) -> EventSchedule:
    """Translate a row; raises InvalidError that names the wrong field."""
    for name in row:
        if name not in FIELDS and name not in READ_ONLY:
            hint = f"Fields: {', '.join(FIELDS)}."
            raise DefinitionError(f"{str(name)[:60]} is not a field of an event schedule.", field=str(name), hint=hint)
    for name in REQUIRED:
        if row.get(name) is None:
            raise missing(name)
    return translate({name: read_field(name, value) for name, value in row.items() if name in FIELDS})


def missing(name: str) -> DefinitionError:
    return DefinitionError(f"{name} is missing.", field=name, hint=FIELDS[name]["description"])


def read_field(name: str, value: Any) -> Any:
    """Return the value of one field; raises InvalidError that names the field."""
    if value is None and name not in REQUIRED:
        return None
    match name:
        case "schedule_name":
            return check_new_name(value, name)
        case "frequency_unit":
            if not isinstance(value, str) or value.upper() not in UNITS:
                _refuse(name, f"{str(value)[:60]!r} is not a unit", f"Use {', '.join(UNITS)}.")
            return value.lower()
        case "frequency_time":
            if type(value) is not int or value < 1:
                _refuse(name, f"must be a whole number, 1 or more, not {str(value)[:60]}", "Write 5 for every 5 units.")
            return value
        case "start_ts":
            return _read_start(value)
        case "event_topic":
            return check_topic(value, name)
        case "event_type":
            return check_text(value, name, minimum=1, maximum=MAX_TYPE)
        case "event_data":
            return _read_data(value)
        case "host_id":
            return check_text(value, name, minimum=1, maximum=MAX_TENANT)
        case "active":
            if not isinstance(value, bool):
                _refuse(name, "must be true or false", "Write false to pause the schedule.")
            return value
    raise AssertionError(name)


def translate(fields: Mapping[str, Any]) -> EventSchedule:
    """Translate fields that `read_field` returned."""
    unit, amount, start = fields["frequency_unit"], fields["frequency_time"], fields["start_ts"]
    if amount > MAX_UNITS[unit]:
        _refuse("frequency_time", f"{amount:,} {unit} are longer than 1,000 years", "Choose a shorter interval.")
    name = fields["schedule_name"]
    target = event(
        fields["event_topic"],
        fields["event_type"],
        key=name,
        data=fields.get("event_data"),
        tenant=fields.get("host_id"),
    )
    definition = Definition(
        trigger=Every({unit: amount}, start),
        target=as_target(target),
        start_at=start,
        catch_up="all",
        catch_up_limit=MAX_CATCH_UP,
        # Nothing is executed; so each plan publishes its events, in order.
        overlap="allow",
    )
    return EventSchedule(name, definition, fields.get("active"))


def event_schedule_schema() -> Schema:
    read_only: Schema = {name: {"description": "Ignored: the store assigns it."} for name in READ_ONLY}
    return object_schema({**FIELDS, **read_only}, "An interval and an event.", needed=REQUIRED)


def _read_start(value: Any) -> datetime:
    """Return the first tick, in whole seconds and not before the instant."""
    at = value
    if isinstance(value, str) and len(value) <= 40:
        try:
            at = datetime.fromisoformat(value.strip().upper())
        except ValueError:
            at = None
    if not isinstance(at, datetime):
        _refuse("start_ts", f"{str(value)[:60]!r} is not an instant", f"Write it like {_EXAMPLE_START}.")
    if at.utcoffset() is None:
        _refuse("start_ts", f"{at.isoformat()} has no offset from UTC", f"Write {at.isoformat()}Z.")
    second = to_seconds_ceil(at)
    if not FIRST_SECOND <= second <= LAST_SECOND:
        _refuse("start_ts", "is outside the years 1 to 9999", "Choose an instant in this range.")
    return to_datetime(second)


def _read_data(value: Any) -> Any:
    """Return the data; a text must be JSON."""
    data = value
    if isinstance(value, str):
        try:
            data = json.loads(value)
        except (ValueError, RecursionError):
            hint = 'Write an object, or a JSON text such as "{\\"limit\\": 5}".'
            _refuse("event_data", f"{value[:60]!r} is not JSON", hint)
    check_data(data, "event_data")
    return data


def _refuse(field: str, reason: str, hint: str) -> NoReturn:
    raise DefinitionError(name_field(field, reason), field=field, hint=hint)
