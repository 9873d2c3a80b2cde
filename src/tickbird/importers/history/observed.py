"""Observed firings of another system, by schedule, and lines that cannot be read."""

from __future__ import annotations

import shlex
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from heapq import merge
from math import isfinite
from typing import Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.ledger.shadow_report import Firing
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND
from tickbird.domain.time.zones import zone
from tickbird.importers.entries import name_of, short

# Limits of firings in memory, of names, and of reported lines.
MAX_FIRINGS: Final = 10_000_000
_MAX_NAMES: Final = 1_000
_MAX_REPORTED: Final = 5
# The schedules that a firing may belong to; several if they share a task or a command.
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    """A line that cannot be read; `place` is its location."""

    place: str
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.text}"


@dataclass(slots=True)
class ObservedFirings:
    """The firings of one source in epoch seconds, by the schedules that they may belong to."""

    firings: defaultdict[Group, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    count: int = 0
    # The first and the last instant in the source.
    first: float | None = None
    last: float | None = None
    bad: list[UnreadableLine] = field(default_factory=list)
    bad_count: int = 0
    # Names that fired but match no requested schedule.
    others: Counter[str] = field(default_factory=Counter)
    other_count: int = 0

    def fired(self, group: Group, at: float) -> None:
        self.count += 1
        if self.count > MAX_FIRINGS:
            raise InvalidError(
                f"there are more than {MAX_FIRINGS:,} firings.",
                field="source",
                hint="Use a smaller part of the source, such as one log file.",
            )
        self.firings[group].append(at)

    def note_instant(self, at: float) -> None:
        """Extend the period that the source covers."""
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    def other(self, name: str) -> None:
        """Record a firing with an unknown name."""
        self.other_count += 1
        name = short(name)
        if name in self.others or len(self.others) < _MAX_NAMES:
            self.others[name] += 1

    def wrong(self, place: str, reason: str, text: str) -> None:
        """Count an unreadable line; the first ones are stored."""
        self.bad_count += 1
        if len(self.bad) < _MAX_REPORTED:
            self.bad.append(UnreadableLine(place, reason, short(text)[:120]))

    def groups(self, names: Iterable[str]) -> list[list[str]]:
        """Group the schedules: two are in one group if a firing may belong to either."""
        groups = [[name] for name in names]
        for shared in self.firings:
            joined = [group for group in groups if not set(group).isdisjoint(shared)]
            groups = [group for group in groups if group not in joined]
            groups.append([name for group in joined for name in group])
        return [group for group in groups if group]

    def in_order(self, names: Sequence[str]) -> Iterator[Firing]:
        """Merge the firings of the named schedules by time, each with the indexes of its schedules in `names`."""
        indexes = {name: index for index, name in enumerate(names)}
        groups = [group for group in self.firings if not indexes.keys().isdisjoint(group)]
        return merge(*(_with_indexes(self.firings[group], [indexes[name] for name in group]) for group in groups))


def _with_indexes(firings: Iterable[float], indexes: Sequence[int]) -> Iterator[Firing]:
    return ((at, indexes) for at in sorted(firings))


class Names:
    """Maps names of the other system to schedules: by --map, then by schedule name, then by task."""

    def __init__(self, schedules: Sequence[Schedule], mapping: Mapping[str, str]) -> None:
        self._mapping = mapping
        self._names = {schedule.name for schedule in schedules}
        tasks: defaultdict[str, list[str]] = defaultdict(list)
        for schedule in schedules:
            definition = schedule.definition
            if definition is not None and definition.target.kind == "task":
                tasks[definition.target.name].append(schedule.name)
        self._tasks = {task: tuple(names) for task, names in tasks.items()}

    def group(self, *names: str | None) -> Group | None:
        """Return the schedules of the first name that is known."""
        for name in filter(None, names):
            if name in self._mapping:
                new = self._mapping[name]
                return (new,) if new in self._names else None
            if (schedule := next((form for form in (name, name_of(name)) if form in self._names), None)) is not None:
                return (schedule,)
            if name in self._tasks:
                return self._tasks[name]
        return None


class Commands:
    """Maps command lines of cron to the schedules that start them, also by user if a schedule has one."""

    def __init__(self, schedules: Sequence[Schedule], mapping: Mapping[str, str]) -> None:
        self._known: defaultdict[str, list[tuple[str | None, str]]] = defaultdict(list)
        names = {schedule.name for schedule in schedules}
        for text, name in mapping.items():
            if name in names:
                self._learn(text, None, name)
        mapped = set(mapping.values())
        for schedule in schedules:
            program = None if schedule.definition is None else schedule.definition.target.spec
            if isinstance(program, CommandSpec) and schedule.name not in mapped:
                for line in _lines(program):
                    self._learn(line, program.user, schedule.name)
        self.known = {name for owners in self._known.values() for _, name in owners}

    def _learn(self, line: str, user: str | None, name: str) -> None:
        for text in {_plain(line), _plain(_printed(line))}:
            if (user, name) not in self._known[text]:
                self._known[text].append((user, name))

    def group(self, user: str, command: str) -> Group | None:
        owners = self._known.get(_plain(command), ())
        return tuple(name for owner, name in owners if owner in (None, user)) or None


def _lines(program: CommandSpec) -> set[str]:
    return {program.line} if program.shell is not None else {" ".join(program.argv), shlex.join(program.argv)}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _printed(text: str) -> str:
    """Convert a text to the form in cron's log: control characters as ^I, non-ASCII bytes as octal numbers."""
    shown = []
    for byte in text.encode():
        if byte < 0x20:
            shown.append(f"^{chr(byte + 0x40)}")
        elif byte < 0x7F:
            shown.append(chr(byte))
        else:
            shown.append("^?" if byte == 0x7F else f"\\{byte:03o}")
    return "".join(shown)


def read_time(value: object, tz: str) -> float:
    """Parse a time of a table to epoch seconds; raise ValueError if it is not a time."""
    if isinstance(value, bool) or value in (None, ""):
        raise ValueError("it has no time")
    if isinstance(value, datetime):
        return _within(on_clock(value, tz))
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        try:
            return _within(on_clock(datetime.fromisoformat(text.replace(" UTC", "Z").replace(",", ".")), tz))
        except ValueError:
            raise ValueError(f"{short(text)[:40]!r} is not a time") from None
    if not isfinite(number):
        raise ValueError(f"{short(text)[:40]!r} is not a time")
    # Seconds, milliseconds or microseconds: the unit that gives a plausible year.
    for unit in (1, 1_000, 1_000_000):
        if abs(number / unit) < 1e11:
            return _within(number / unit)
    raise ValueError(f"{short(text)[:40]!r} is not a time")


def on_clock(at: datetime, tz: str) -> float:
    """Return epoch seconds. A datetime without an offset is local time in `tz`."""
    if at.tzinfo is not None:
        return at.timestamp()
    wall = at.replace(tzinfo=UTC)
    return zone(tz).to_epoch(int(wall.timestamp() // 1)) + at.microsecond / 1e6


def _within(seconds: float) -> float:
    if not FIRST_SECOND < seconds < LAST_SECOND:
        raise ValueError("it is outside the years 1 to 9999")
    return seconds
