"""From nodes to definitions: every mistake is told, each where it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any, Final

from tickbird.domain.calendar_definition import check_calendar_name, read_calendar
from tickbird.domain.cron import cron
from tickbird.domain.definition import (
    Backoff,
    Definition,
    Target,
    check_name,
    check_payload,
    check_text,
    command_target,
)
from tickbird.domain.dependencies import After, after
from tickbird.domain.durations import seconds
from tickbird.domain.errors import InvalidError
from tickbird.domain.every import Every, read_step
from tickbird.domain.instants import parse_iso, to_datetime, wall_seconds
from tickbird.domain.limits import LARGEST_LIMIT, LONGEST_KEY
from tickbird.domain.policies import policies
from tickbird.domain.program import FIELDS as PROGRAM
from tickbird.domain.program import program_from_json
from tickbird.domain.rates import Rate, read_rate
from tickbird.domain.triggers import MAX_MEMBERS, AnyOf, At, at
from tickbird.domain.zones import zone
from tickbird.files.fields import BACKOFF, DEPENDENCY, IGNORED, MEMBER, NAMES, PARTS, POLICIES, TARGETS, TRIGGERS
from tickbird.files.mistakes import DocumentError, Mistake
from tickbird.files.nodes import Node, Place, Position, Unreadable, kind_of, nodes_of
from tickbird.files.reading import Format, Source, read_paths, read_text

DEFAULT_APP: Final = "files"
MOST_SCHEDULES: Final = 100_000
_WRONG: Final = object()
_ANY: Final = Definition(trigger=At(datetime(1970, 1, 1, tzinfo=UTC)), target=Target("any"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What one or several files say together; `places` has where each schedule and each of its fields stands."""

    app: str = DEFAULT_APP
    namespace: str | None = None
    schedules: Mapping[str, Definition] = field(default_factory=dict)
    calendars: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, Rate] = field(default_factory=dict)
    places: Mapping[tuple[str, ...], Place] = field(default_factory=dict, compare=False, repr=False)

    def place(self, *path: str) -> Place:
        """Where something stands; what it is part of, if that alone is known."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place("document"))


def read_files(paths: Iterable[str | Path]) -> Document:
    """The document of files and folders, or a DocumentError with all mistakes of all of them."""
    mistakes: list[Mistake] = []
    return _document(read_paths(paths, mistakes), mistakes)


def read_bytes(data: bytes, file: str, spelling: Format) -> Document:
    """The document of one text, which need not be a file."""
    mistakes: list[Mistake] = []
    source = read_text(data, file, spelling, mistakes)
    return _document([] if source is None else [source], mistakes)


def read_document(value: object) -> Document:
    """The document of plain values, as JSON has them."""
    if isinstance(value, Document):
        return value
    try:
        root = nodes_of(value)
    except Unreadable as error:
        raise DocumentError([Mistake(Place("document"), f"{error.reason}.")]) from None
    return _document([Source("document", root)], [])


def _document(sources: Sequence[Source], mistakes: list[Mistake]) -> Document:
    shape = _Shape(mistakes)
    for source in sources:
        shape.take(source)
    if mistakes:
        order = {source.file: number for number, source in enumerate(sources)}
        raise DocumentError(
            sorted(
                mistakes,
                key=lambda each: (order.get(each.place.file, -1), each.place.line or 0, each.place.column or 0),
            )
        )
    return shape.document()


class _Shape:
    """Gathers what files say, and all that is wrong with it."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        self.said: dict[str, str] = {}
        self.schedules: dict[str, Definition] = {}
        self.calendars: dict[str, Mapping[str, Any]] = {}
        self.limits: dict[str, int] = {}
        self.queues: dict[str, Rate] = {}
        self.places: dict[tuple[str, ...], Place] = {}
        self.source = Source("document", Node({}))
        self.where = ""

    def document(self) -> Document:
        """What was gathered, if nothing was wrong with it."""
        return Document(
            app=self.said.get("app", DEFAULT_APP),
            namespace=self.said.get("namespace"),
            schedules=self.schedules,
            calendars=self.calendars,
            limits=self.limits,
            queues=self.queues,
            places=self.places,
        )

    def take(self, source: Source) -> None:
        """One file."""
        self.source, self.where = source, ""
        if not isinstance(source.root.value, dict):
            self.wrong(source.root.at, f"expected an object with {', '.join(PARTS)}, not {kind_of(source.root.value)}.")
            return
        for name, node in source.root.value.items():
            self.where = ""
            if name in ("app", "namespace"):
                self.say(name, node)
            elif name in PARTS:
                self.part(name, node)
            elif name not in IGNORED:
                self.unknown(name, node, PARTS, "a file of schedules")

    def wrong(self, at: Position | None, text: str) -> None:
        """Note a mistake."""
        self.mistakes.append(Mistake(self.source.place(at), f"{self.where}{text}"))

    def unknown(self, name: str, node: Node, known: Iterable[str], what: str) -> None:
        """Note a name that nothing has, with the one that it is like."""
        close = get_close_matches(name, list(known), 1)
        hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(known)}."
        self.wrong(node.key or node.at, f"{name[:60]!r} is not a field of {what}; {hint}")

    def checked(self, node: Node, check: Callable[[], Any]) -> Any:
        """What a check gives, or a mistake in its words."""
        try:
            return check()
        except InvalidError as error:
            self.wrong(node.at, str(error))
            return _WRONG

    def expected(self, node: Node, what: str, name: str) -> Any:
        """Note that something else was expected."""
        self.wrong(node.at, f"{name}: expected {what}, not {kind_of(node.value)}.")
        return _WRONG

    # The document

    def say(self, name: str, node: Node) -> None:
        """What holds for all files: said once, or the same each time."""
        said = self.name(node, name)
        if said is _WRONG:
            return
        before = self.said.setdefault(name, said)
        if before != said:
            self.wrong(
                node.at,
                f"{name}: is {said!r} here and {before!r} at {self.places[(name,)]}; all files of one call share it.",
            )
        self.places.setdefault((name,), self.source.place(node.at))

    def part(self, part: str, node: Node) -> None:
        """Schedules, calendars, limits or queues by name."""
        if not isinstance(node.value, dict):
            self.expected(node, f"an object of {part} by name", part)
            return
        for name, each in node.value.items():
            self.where = f"{part.removesuffix('s')} {name[:60]}: "
            here = self.source.place(each.key or each.at)
            first = self.places.setdefault((part, name), here)
            if first is not here:
                self.wrong(each.key, f"{name[:60]!r} is defined twice, here and at {first}.")
            {"schedules": self.schedule, "calendars": self.calendar, "limits": self.limit, "queues": self.queue}[part](
                name, each
            )

    def named(self, node: Node, check: Callable[[], Any]) -> bool:
        """Is the name of something usable?"""
        try:
            check()
        except InvalidError as error:
            self.wrong(node.key or node.at, str(error))
            return False
        return True

    def limit(self, key: str, node: Node) -> None:
        """How many runs of a concurrency key may go on at once."""
        usable = self.named(node, lambda: check_text(key, "key", least=1, most=LONGEST_KEY))
        most = node.value
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= LARGEST_LIMIT:
            self.wrong(node.at, f"expected a whole number from 1 to {LARGEST_LIMIT:,}, not {str(node.plain)[:60]!r}.")
        elif usable:
            self.limits[key] = most

    def queue(self, name: str, node: Node) -> None:
        """At what rate the runs of a queue may begin."""
        usable = self.named(node, lambda: check_name(name, "queue"))
        if isinstance(node.value, dict):
            for field_name, each in node.value.items():
                if field_name != "rate":
                    self.unknown(field_name, each, ("rate",), "a queue")
            if "rate" not in node.value:
                self.wrong(node.at, 'expected a rate, such as { rate = "100/min" }.')
                return
            node = node.value["rate"]
        rate = self.checked(node, lambda: read_rate(node.plain))
        if usable and rate is not _WRONG:
            self.queues[name] = rate

    def calendar(self, name: str, node: Node) -> None:
        """Closed days."""
        usable = self.named(node, lambda: check_calendar_name(name))
        if not isinstance(node.value, dict):
            self.expected(node, "an object with weekdays, dates, holidays, include or description", "calendar")
            return
        given = {each: _days_as_text(value.plain) for each, value in node.value.items()}
        while given or not node.value:
            try:
                read = read_calendar(given)
            except InvalidError as error:
                usable, at = False, node.value.get(error.field)
                self.wrong(node.at if at is None else at.at, str(error))
                if given.pop(error.field, None) is None:
                    return
                # The others may be wrong as well.
            else:
                if usable:
                    self.calendars[name] = read.to_json()
                return

    # A schedule

    def schedule(self, name: str, node: Node) -> None:
        """A definition, or all that is wrong with it."""
        before = len(self.mistakes)
        self.named(node, lambda: check_name(name, "schedule"))
        if not isinstance(node.value, dict):
            self.expected(node, "an object with a trigger and a target", "schedule")
            return
        fields: dict[str, Node] = node.value
        for each, value in fields.items():
            self.places["schedules", name, each] = self.source.place(value.at)
            if each not in NAMES:
                self.unknown(each, value, NAMES, "a schedule")
        tz = self.zone(fields)
        read: dict[str, Any] = {"trigger": self.trigger(fields, node, tz), "target": self.target(fields, node)}
        for each, value in fields.items():
            if each in POLICIES:
                read[each] = self.policy(each, value, tz)
        definition = self.put_together(read, fields, node)
        if definition is not None and len(self.mistakes) == before:
            if len(self.schedules) == MOST_SCHEDULES:
                self.wrong(node.key, f"more than {MOST_SCHEDULES:,} schedules; split them into several apps.")
            self.schedules[name] = definition

    def put_together(self, read: dict[str, Any], fields: Mapping[str, Node], node: Node) -> Definition | None:
        """The definition; where fields do not fit, each is told, then left out to see what else does not."""
        wrong = {name for name, value in read.items() if value is _WRONG}
        while True:
            # Of what relies on something that is wrong nothing can be said.
            wrong |= {name for name in read if name in POLICIES and wrong & {*POLICIES[name].relies}}
            values = {name: value for name, value in read.items() if name not in wrong}
            values = {"trigger": _ANY.trigger, "target": _ANY.target, **values}
            try:
                made = Definition(**policies(values))
            except InvalidError as error:
                name = _FIELD_OF.get(error.field, error.field)
                at = fields.get(name)
                self.wrong(node.key if at is None else at.at, str(error))
                if name not in read or name in wrong:
                    return None
                wrong.add(name)
            else:
                return None if wrong else made

    def target(self, fields: Mapping[str, Node], node: Node) -> Any:
        """What it runs: exactly one."""
        given = [name for name in TARGETS if name in fields]
        if len(given) != 1:
            fault = f"has {' and '.join(given)}, and needs one" if given else f"is missing; give {' or '.join(TARGETS)}"
            self.wrong(fields[given[1]].key if given else node.key or node.at, f"target: {fault}.")
            return _WRONG
        if given == ["command"]:
            return self.command(fields["command"])
        name = self.name(fields["task"], "task")
        return name if name is _WRONG else Target(name)

    def command(self, node: Node) -> Any:
        """A program, as a list of its path and arguments or as an object."""
        if not isinstance(node.value, dict | list):
            return self.expected(node, 'a list such as ["/usr/bin/rsync", "-a"], or an object', "command")
        before = len(self.mistakes)
        for name, each in node.value.items() if isinstance(node.value, dict) else ():
            if name not in PROGRAM:
                self.unknown(name, each, PROGRAM, "a command")
        if len(self.mistakes) > before:
            return _WRONG
        return self.checked(node, lambda: command_target(program_from_json(node.plain)))

    # Triggers

    def zone(self, fields: Mapping[str, Node]) -> Any:
        """The zone beside a trigger; None where none is given."""
        if (node := fields.get("tz")) is None:
            return None
        name = self.text(node, "tz")
        return name if name is _WRONG else self.checked(node, lambda: zone(name).name)

    def trigger(self, fields: Mapping[str, Node], node: Node, tz: Any, depth: int = 0) -> Any:
        """When it ticks: exactly one of the triggers, with what may stand beside it."""
        given = [name for name in TRIGGERS if name in fields]
        if len(given) != 1:
            text = f"has {' and '.join(given)}" if given else "has none"
            at = fields[given[1]].key if given else node.key or node.at
            self.wrong(at, f"trigger: needs exactly one of {', '.join(TRIGGERS)}; it {text}.")
            return _WRONG
        [kind] = given
        if "anchor" in fields and kind != "every":
            self.wrong(fields["anchor"].key, f"anchor: belongs to every, not to {kind}.")
        value = fields[kind]
        if tz is _WRONG:
            # The rest of it is looked at all the same.
            self._trigger(kind, value, fields, "UTC", depth)
            return _WRONG
        return self._trigger(kind, value, fields, tz, depth)

    def _trigger(self, kind: str, node: Node, fields: Mapping[str, Node], tz: str | None, depth: int) -> Any:
        if kind == "cron":
            text = self.text(node, "cron")
            return text if text is _WRONG else self.checked(node, lambda: cron(text, tz or "UTC"))
        if kind == "every":
            return self.every(node, fields.get("anchor"), tz or "UTC")
        if kind == "at":
            instant = self.instant(node, "at", tz)
            return instant if instant is _WRONG else self.checked(node, lambda: at(instant))
        return self.any_of(node, tz, depth)

    def every(self, node: Node, anchor: Node | None, tz: str) -> Any:
        """Steps, as a text, in seconds, or by unit."""
        start: Any = None
        if anchor is not None:
            start = self.moment(anchor, "anchor")
        value, units = node.value, node.plain
        if isinstance(value, str):
            units = self.checked(node, lambda: read_step(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            units = {"seconds": value}
        elif not isinstance(value, dict):
            return self.expected(node, 'a text such as "10m", seconds, or an object such as { months = 1 }', "every")
        if units is _WRONG or start is _WRONG:
            return _WRONG
        return self.checked(node, lambda: Every(units, start, tz))

    def any_of(self, node: Node, tz: str | None, depth: int) -> Any:
        """Several triggers; those without a zone take that of the schedule."""
        if not isinstance(node.value, list) or not 1 <= len(node.value) <= MAX_MEMBERS or depth:
            words = f'a list of 1 to {MAX_MEMBERS} objects such as {{ cron = "0 3 * * *" }}'
            return self.expected(node, words if not depth else "no any_of within another", "any_of")
        members: list[Any] = []
        for each in node.value:
            if not isinstance(each.value, dict):
                members.append(self.expected(each, "an object with one trigger", "any_of"))
                continue
            for name, value in each.value.items():
                if name not in MEMBER:
                    self.unknown(name, value, MEMBER, "a trigger")
            own = self.zone(each.value)
            members.append(self.trigger(each.value, each, tz if own is None else own, depth + 1))
        if any(member is _WRONG for member in members):
            return _WRONG
        return self.checked(node, lambda: AnyOf(*members))

    # Values

    def text(self, node: Node, name: str) -> Any:
        """A text."""
        if isinstance(node.value, str):
            return node.value
        hint = "" if isinstance(node.value, dict | list) else "; put it in quotes"
        self.wrong(node.at, f"{name}: expected a text, not {kind_of(node.value)}{hint}.")
        return _WRONG

    def moment(self, node: Node, name: str) -> Any:
        """A date with a time, with or without an offset."""
        if isinstance(node.value, datetime):
            if node.value.microsecond:
                self.wrong(node.at, f"{name}: has parts of a second; ticks are whole seconds.")
                return _WRONG
            return node.value
        if not isinstance(node.value, str):
            return self.expected(node, "a date with a time, such as 2026-01-31T09:00:00Z", name)
        return self.checked(node, lambda: parse_iso(node.value, name))

    def instant(self, node: Node, name: str, tz: str | None) -> Any:
        """An instant; without an offset it is on the clock of the zone that stands beside it."""
        found = self.moment(node, name)
        if found is _WRONG or found.tzinfo is not None:
            return found
        if tz is None:
            self.wrong(
                node.at, f"{name}: {found.isoformat()} has no offset; write {found.isoformat()}Z, or put tz beside it."
            )
            return _WRONG
        return to_datetime(zone(tz).to_epoch(wall_seconds(found)))

    def policy(self, name: str, node: Node, tz: Any) -> Any:
        """The value of a policy, as far as it can be told without the others."""
        described = POLICIES[name]
        kind, value = described.kind, node.value
        if kind == "text":
            return self.text(node, name)
        if kind == "choice":
            if value in described.choices and isinstance(value, str):
                return value
            return self.expected_choice(node, name, described.choices)
        if kind == "whole":
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return value if is_whole else self.expected(node, "a whole number", name)
        if kind == "flag":
            return value if isinstance(value, bool) else self.expected(node, "true or false", name)
        if kind == "instant":
            return _WRONG if tz is _WRONG else self.instant(node, name, tz)
        if kind == "length":
            return self.length(node, name)
        if kind == "names":
            return self.names(node, name)
        if kind == "days":
            return self.days(node, name)
        return {"payload": self.payload, "backoff": self.backoff, "dependencies": self.dependencies}[kind](node, name)

    def expected_choice(self, node: Node, name: str, choices: Sequence[str]) -> Any:
        """Note that a word is none of a few, with the one that it is like."""
        close = get_close_matches(node.value, choices, 1) if isinstance(node.value, str) else []
        hint = f"did you mean {close[0]}?" if close else f"expected one of {', '.join(choices)}."
        shown = repr(node.value)[:60] if isinstance(node.value, str) else kind_of(node.value)
        self.wrong(node.at, f"{name}: {shown} is no choice; {hint}")
        return _WRONG

    def length(self, node: Node, name: str) -> Any:
        """A length of time, in seconds or as a text."""
        if isinstance(node.value, bool) or not isinstance(node.value, int | str):
            return self.expected(node, 'a length of time, such as "10m", or whole seconds', name)
        return self.checked(node, lambda: seconds(node.value, name))

    def name(self, node: Node, what: str) -> Any:
        """A text that may be a name."""
        text = self.text(node, what)
        return text if text is _WRONG else self.checked(node, lambda: check_name(text, what))

    def names(self, node: Node, name: str) -> Any:
        """One name, or a list of names."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.name(each, name) for each in items]
        return _WRONG if _WRONG in read else tuple(read)

    def days(self, node: Node, name: str) -> Any:
        """One day, or a list of days: weekdays and dates."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.day(each, name) for each in items]
        return _WRONG if _WRONG in read else read

    def day(self, node: Node, name: str) -> Any:
        """A weekday or a date."""
        if type(node.value) is date:
            return node.value.isoformat()
        if not isinstance(node.value, str):
            return self.expected(node, "a weekday or a date", name)
        return node.value if self.checked(node, lambda: policies({name: [node.value]})) is not _WRONG else _WRONG

    def payload(self, node: Node, name: str) -> Any:
        """An object of JSON values, or a text that holds one."""
        value = node.value
        if isinstance(value, str):
            try:
                found = json.loads(value)
            except (ValueError, RecursionError) as error:
                self.wrong(node.at, f"payload: is a text, and not one of JSON ({str(error)[:100]}).")
                return _WRONG
            if not isinstance(found, dict):
                return self.expected(Node(found, node.at), "an object", name)
            return _WRONG if self.checked(node, lambda: check_payload(found)) is _WRONG else found
        if not isinstance(value, dict):
            return self.expected(node, "an object, or a text that holds one as JSON", name)
        before = len(self.mistakes)
        self.only_json(node)
        if len(self.mistakes) > before:
            return _WRONG
        found = node.plain
        return _WRONG if self.checked(node, lambda: check_payload(found)) is _WRONG else found

    def only_json(self, node: Node) -> None:
        """Note each value that JSON does not have."""
        value = node.value
        if isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                self.only_json(each)
        elif isinstance(value, float) and not isfinite(value):
            self.wrong(node.at, f"payload: {value} is no number that can be stored.")
        elif not isinstance(value, bool | int | float | str | None):
            self.wrong(node.at, f"payload: {kind_of(value)} cannot be stored as such; put it in quotes.")

    def backoff(self, node: Node, name: str) -> Any:
        """The first wait, or the first and the longest."""
        if not isinstance(node.value, dict):
            base = self.length(node, name)
            return base if base is _WRONG else Backoff(base=base)
        read: dict[str, Any] = {}
        for each, value in node.value.items():
            if each in BACKOFF:
                read[each] = self.length(value, f"{name}: {each}")
            else:
                self.unknown(each, value, BACKOFF, name)
        if _WRONG in read.values() or len(read) < len(node.value):
            return _WRONG
        return Backoff(**read)

    def dependencies(self, node: Node, name: str) -> Any:
        """The schedules that must have succeeded."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.dependency(each, name) for each in items]
        return _WRONG if _WRONG in read else tuple(read)

    def dependency(self, node: Node, name: str) -> After | Any:
        """One schedule, how recently it must have succeeded, and how long to wait for it."""
        if not isinstance(node.value, dict):
            return self.expected(node, 'objects such as { after = "load", within = "24h" }', name)
        before = len(self.mistakes)
        for each, value in node.value.items():
            if each not in DEPENDENCY:
                self.unknown(each, value, DEPENDENCY, name)
        for needed in ("after", "within"):
            if needed not in node.value:
                self.wrong(node.at, f"{name}: {needed} is missing.")
        values = node.value
        other = self.text(values["after"], f"{name}: after") if "after" in values else _WRONG
        lengths = {each: self.length(values[each], f"{name}: {each}") for each in ("within", "wait") if each in values}
        if len(self.mistakes) > before:
            return _WRONG
        return self.checked(node, lambda: after(check_name(other, name), lengths["within"], lengths.get("wait")))


# Under which name a part of the definition stands in a file.
_FIELD_OF: Final = {"tag": "tags", "calendar": "calendars", "task": "target"}


def _days_as_text(value: Any) -> Any:
    """Dates that a format has itself, as the texts that calendars are defined by."""
    if isinstance(value, list):
        return [_days_as_text(each) for each in value]
    return value.isoformat() if type(value) is date else value
