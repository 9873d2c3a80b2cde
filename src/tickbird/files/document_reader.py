"""Reader of all parts of a document: schedules, calendars, limits, queues and state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Final

from tickbird.domain.calendars.definition import check_calendar_name, read_calendar
from tickbird.domain.errors import InvalidError, name_field
from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH, MAX_LIMIT
from tickbird.domain.limits.rate_limits import RateLimit, read_rate
from tickbird.domain.schedules.definition import FIELDS as STORED_FIELDS
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.schedules.schedule import PauseState
from tickbird.domain.targets.registry import kind_file_schema, read_spec, target_kinds, written_parts
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_new_name, check_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import At
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.event_schedule_reader import EventSchedules
from tickbird.files.fields import IGNORED, PARTS, schedule_names, target_names
from tickbird.files.loader import Source
from tickbird.files.parse.nodes import Node, Position, SourceLocation, kind_of
from tickbird.files.policy_reader import Policies
from tickbird.files.schedule_state import FIELDS as STATE
from tickbird.files.schedule_state import PAUSE_FIELDS as PAUSE
from tickbird.files.schedule_state import ExportedState
from tickbird.files.trigger_reader import Triggers
from tickbird.files.value_reader import WRONG

MAX_SCHEDULES: Final = 100_000
_SETTINGS: Final = frozenset(TASK_SETTINGS)
_ANY: Final = Definition(trigger=At(datetime(1970, 1, 1, tzinfo=UTC)), target=Target("any"))
# Field of an error → field of `read`.
_FIELD_OF: Final = {"task": "target"}


class DocumentReader(Triggers, Policies, EventSchedules):
    """Collects the content of files, and diagnostics of all errors."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.shared: dict[str, str] = {}
        self.schedules: dict[str, Definition] = {}
        self.calendars: dict[str, Mapping[str, Any]] = {}
        self.limits: dict[str, int] = {}
        self.queues: dict[str, RateLimit] = {}
        self.states: dict[str, ExportedState] = {}
        self.active: dict[str, bool | None] = {}
        self.places: dict[tuple[str, ...], SourceLocation] = {}

    def take(self, source: Source) -> None:
        """Add one file."""
        self.source, self.where = source, ""
        if not isinstance(source.root.value, dict):
            self.wrong(
                source.root.at, f"the file must be an object with {', '.join(PARTS)}, not {kind_of(source.root.value)}."
            )
            return
        for name, node in source.root.value.items():
            self.where = ""
            if name in ("app", "namespace"):
                self.set_shared(name, node)
            elif name == "event_schedules":
                self.read_event_schedules(node)
            elif name in PARTS:
                self.part(name, node)
            elif name not in IGNORED:
                self.unknown(name, node, PARTS, "a schedule file")

    def set_shared(self, name: str, node: Node) -> None:
        """Set `app` or `namespace`, which all files share. Files that set it must agree."""
        value = self.name(node, name)
        if value is WRONG:
            return
        first = self.shared.setdefault(name, value)
        if first != value:
            self.wrong(
                node.at,
                f"{name}: {value!r} here differs from {first!r} at {self.places[(name,)]}. Use one for all files.",
            )
        self.places.setdefault((name,), self.source.location(node.at))

    def part(self, part: str, node: Node) -> None:
        """Read one part of the document, by name."""
        if not isinstance(node.value, dict):
            self.expected(node, f"an object of {part} by name", part)
            return
        for name, item in node.value.items():
            self.where = f"{part.removesuffix('s')} {name[:60]}: "
            self.add_location(part, name, item.key or item.at)
            readers = {"schedules": self.schedule, "calendars": self.calendar, "limits": self.limit}
            {**readers, "queues": self.queue, "state": self.state}[part](name, item)

    def add_location(self, part: str, name: str, at: Position | None) -> None:
        """Record the location of an item, or report that it is defined twice."""
        here = self.source.location(at)
        first = self.places.setdefault((part, name), here)
        if first is not here:
            self.wrong(at, f"{name[:60]!r} is defined twice, here and at {first}. Remove one of them.")

    def state(self, name: str, node: Node) -> None:
        """Read the owner, the operator overrides and the pause of a schedule."""
        if not isinstance(node.value, dict):
            self.expected(node, f"an object with {', '.join(STATE)}", "state")
            return
        before = len(self.diagnostics)
        fields: dict[str, Node] = node.value
        for field, value in fields.items():
            if field not in STATE:
                self.unknown(field, value, STATE, "the state of a schedule")
        app = self.name(fields["app"], "app") if "app" in fields else None
        overrides = self.overrides(fields["overrides"]) if "overrides" in fields else {}
        pause = self.pause(fields["paused"]) if "paused" in fields else None
        if len(self.diagnostics) == before:
            self.states[name] = ExportedState(app=app, overrides=overrides, pause=pause)

    def overrides(self, node: Node) -> Any:
        """Read overrides in their stored form: an object, or a string that contains one as JSON."""
        overrides = node.plain
        if isinstance(overrides, str):
            with suppress(ValueError, RecursionError):
                overrides = json.loads(overrides)
        if not isinstance(overrides, dict):
            return self.expected(node, "an object, or a string that contains one as JSON", "overrides")
        for field in overrides:
            if field not in STORED_FIELDS:
                self.unknown(field, node, STORED_FIELDS, "a definition")
        return overrides

    def pause(self, node: Node) -> Any:
        if not isinstance(node.value, dict):
            return self.expected(node, f"an object with {', '.join(PAUSE)}", "paused")
        for field, value in node.value.items():
            if field not in PAUSE:
                self.unknown(field, value, PAUSE, "a pause")
        by, note = (self.text(node.value.get(field, Node("", node.at)), field) for field in ("by", "note"))
        until = self.moment(node.value["until"], "until") if "until" in node.value else None
        if WRONG in (by, note, until):
            return WRONG
        if until is not None and until.tzinfo is None:
            return self.expected(
                node.value["until"], "an instant with an offset, such as 2026-12-24T18:00:00Z", "until"
            )

        def build() -> PauseState:
            check_text(by, "by", minimum=1, maximum=200)
            return PauseState(by, check_text(note, "note"), None if until is None else to_seconds(until))

        return self.checked(node, build)

    def check_states(self) -> None:
        """Refuse the state of schedules that the document does not define."""
        for name in self.states:
            if ("schedules", name) not in self.places:
                location = self.places["state", name]
                text = f"state {name[:60]}: the document has no schedule with this name."
                self.diagnostics.append(Diagnostic(location, f"{text} Add the schedule, or remove its state."))

    def read_event_schedules(self, node: Node) -> None:
        """Read rows; each becomes a schedule."""
        if not isinstance(node.value, list):
            self.expected(node, "a list of objects", "event_schedules")
            return
        for item in node.value:
            self.where = "event schedule: "
            name, schedule = self.event_schedule(item)
            if name is not None:
                self.where = f"event schedule {name[:60]}: "
                self.add_location("schedules", name, item.at)
            if schedule is not None:
                self.add(schedule.name, schedule.definition, item)
                self.active[schedule.name] = schedule.is_active

    def limit(self, key: str, node: Node) -> None:
        """Read the concurrency limit of a key."""
        usable = self.named(node, lambda: check_text(key, "key", minimum=1, maximum=MAX_KEY_LENGTH))
        maximum = node.value
        if isinstance(maximum, bool) or not isinstance(maximum, int) or not 1 <= maximum <= MAX_LIMIT:
            self.wrong(
                node.at, f"the limit must be a whole number from 1 to {MAX_LIMIT:,}, not {str(node.plain)[:60]!r}."
            )
        elif usable:
            self.limits[key] = maximum

    def queue(self, name: str, node: Node) -> None:
        """Read the rate limit of a queue."""
        usable = self.named(node, lambda: check_new_name(name, "queue"))
        if isinstance(node.value, dict):
            for field, value in node.value.items():
                if field != "rate":
                    self.unknown(field, value, ("rate",), "a queue")
            if "rate" not in node.value:
                self.wrong(node.at, 'the rate is missing. Write, for example, { rate = "100/min" }.')
                return
            node = node.value["rate"]
        rate = self.checked(node, lambda: read_rate(node.plain))
        if usable and rate is not WRONG:
            self.queues[name] = rate

    def calendar(self, name: str, node: Node) -> None:
        usable = self.named(node, lambda: check_calendar_name(check_new_name(name, "calendar")))
        if not isinstance(node.value, dict):
            self.expected(node, "an object with weekdays, dates, holidays, include or description", "calendar")
            return
        given = {field: _days_as_text(value.plain) for field, value in node.value.items()}
        while given or not node.value:
            try:
                read = read_calendar(given)
            except InvalidError as error:
                usable, at = False, node.value.get(error.field)
                self.wrong(node.at if at is None else at.at, str(error))
                if given.pop(error.field, None) is None:
                    return
                # Try again without this field, because others may be wrong too.
            else:
                if usable:
                    self.calendars[name] = read.to_json()
                return

    def schedule(self, name: str, node: Node) -> None:
        """Read a definition, or report all of its errors."""
        before = len(self.diagnostics)
        self.named(node, lambda: check_new_name(name, "schedule"))
        if not isinstance(node.value, dict):
            self.expected(node, "an object with a trigger and a target", "schedule")
            return
        fields: dict[str, Node] = node.value
        names = schedule_names()
        for field, value in fields.items():
            self.places["schedules", name, field] = self.source.location(value.at)
            if field not in names:
                self.unknown(field, value, names, "a schedule")
        tz = self.zone(fields)
        read: dict[str, Any] = {"trigger": self.trigger(fields, node, tz), "target": self.target(fields, node)}
        for field, value in fields.items():
            if field in POLICIES:
                read[field] = self.policy(field, value, tz)
        definition = self.build_definition(read, fields, node)
        if definition is not None and len(self.diagnostics) == before:
            self.add(name, definition, node)

    def add(self, name: str, definition: Definition, node: Node) -> None:
        if len(self.schedules) == MAX_SCHEDULES:
            self.wrong(
                node.key or node.at, f"there are more than {MAX_SCHEDULES:,} schedules. Split them into several apps."
            )
        self.schedules[name] = definition

    def build_definition(self, read: dict[str, Any], fields: Mapping[str, Node], node: Node) -> Definition | None:
        """Return the definition. On an error, report the field, then try without it to report the other errors too."""
        wrong = {name for name, value in read.items() if value is WRONG}
        while True:
            # A field that depends on a wrong field cannot be checked.
            wrong |= {name for name in read if name in POLICIES and wrong & {*POLICIES[name].relies_on}}
            values = {name: value for name, value in read.items() if name not in wrong}
            values = {"trigger": _ANY.trigger, "target": _ANY.target, **values}
            try:
                definition = Definition(**policies(values), stated=_SETTINGS.intersection(values))
            except InvalidError as error:
                name = _FIELD_OF.get(error.field, error.field)
                at = fields.get(name)
                self.wrong(node.key if at is None else at.at, str(error))
                if name not in read or name in wrong:
                    return None
                wrong.add(name)
            else:
                return None if wrong else definition

    def target(self, fields: Mapping[str, Node], node: Node) -> Any:
        """Read the target: exactly one kind."""
        kinds = target_names()
        given = [name for name in kinds if name in fields]
        if len(given) != 1:
            fault = (
                f"has {' and '.join(given)}, but needs exactly one"
                if given
                else f"is missing. Give {' or '.join(filter(None, (', '.join(kinds[:-1]), kinds[-1])))}"
            )
            self.wrong(fields[given[1]].key if given else node.key or node.at, name_field("target", fault))
            return WRONG
        [kind] = given
        if kind != TASK:
            return self.spec(kind, fields[kind])
        name = self.name(fields[kind], kind)
        return name if name is WRONG else Target(name)

    def spec(self, kind: str, node: Node) -> Any:
        """Read the spec of a target. Its parts are checked one by one first, so that each error has its location."""
        target = target_kinds()[kind]
        schemas = _alternatives(kind_file_schema(target))
        fields = next((schema.get("properties") for schema in schemas if schema.get("type") == "object"), None)
        if schemas and not any(isinstance(node.value, _TYPES.get(schema.get("type"), object)) for schema in schemas):
            return self.expected(node, target.expects, kind)
        before = len(self.diagnostics)
        if isinstance(node.value, dict) and fields is not None:
            for name, part in node.value.items():
                if name not in fields:
                    self.unknown(name, part, fields, f"a {kind}")
        for path, value in written_parts(target, node.plain):
            if fields is None or path[0] in fields:
                self.checked(_part(node, path), partial(read_spec, kind, value))
        if len(self.diagnostics) > before:
            return WRONG
        return self.checked(node, lambda: read_spec(kind, node.plain))


# The Python types of JSON types.
_TYPES: Final[Mapping[Any, Any]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def _alternatives(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(schema.get("anyOf", [schema]))


def _part(node: Node, path: Iterable[str | int]) -> Node:
    for step in path:
        node = node.value[step]
    return node


def _days_as_text(value: Any) -> Any:
    """Convert native dates of TOML to text, because calendars are defined by text."""
    if isinstance(value, list):
        return [_days_as_text(item) for item in value]
    return value.isoformat() if type(value) is date else value
