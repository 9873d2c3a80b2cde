"""What was heard of another system: when each of its jobs fired, and what could not be made sense of."""

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

# So many firings are kept in memory, and so many names and lines are told.
MAX_FIRINGS: Final = 10_000_000
_MAX_NAMES: Final = 1_000
_MAX_REPORTED: Final = 5
# Schedules by whose name, task or command a firing is recognised; several where they share it.
Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    """What could not be read: where, and why."""

    place: str
    reason: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.text}"


@dataclass(slots=True)
class ObservedFirings:
    """The firings of one source, by the schedules they may be of, in seconds since the epoch."""

    firings: defaultdict[Group, array[float]] = field(default_factory=lambda: defaultdict(lambda: array("d")))
    count: int = 0
    # From the first to the last thing that it tells of anything.
    first: float | None = None
    last: float | None = None
    bad: list[UnreadableLine] = field(default_factory=list)
    bad_count: int = 0
    # What fired and is none of the schedules that were asked for.
    others: Counter[str] = field(default_factory=Counter)
    other_count: int = 0

    def fired(self, group: Group, at: float) -> None:
        """Note a firing."""
        self.count += 1
        if self.count > MAX_FIRINGS:
            raise InvalidError(
                f"there are more than {MAX_FIRINGS:,} firings.",
                field="source",
                hint="Use a shorter part of the source.",
            )
        self.firings[group].append(at)

    def note_instant(self, at: float) -> None:
        """Note that the source tells of this instant."""
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)

    def other(self, name: str) -> None:
        """Note what fired under a name that says nothing here."""
        self.other_count += 1
        name = short(name)
        if name in self.others or len(self.others) < _MAX_NAMES:
            self.others[name] += 1

    def wrong(self, place: str, reason: str, text: str) -> None:
        """Note what cannot be read; it is counted, and the first ones are shown."""
        self.bad_count += 1
        if len(self.bad) < _MAX_REPORTED:
            self.bad.append(UnreadableLine(place, reason, short(text)[:120]))

    def groups(self, names: Iterable[str]) -> list[list[str]]:
        """The schedules, those together of which a firing may be of either."""
        found = [[name] for name in names]
        for group in self.firings:
            touched = [each for each in found if not set(each).isdisjoint(group)]
            found = [each for each in found if each not in touched]
            found.append([name for each in touched for name in each])
        return [each for each in found if each]

    def in_order(self, names: Sequence[str]) -> Iterator[Firing]:
        """The firings of schedules that are compared together, with their places."""
        places = {name: place for place, name in enumerate(names)}
        mine = [group for group in self.firings if not places.keys().isdisjoint(group)]
        return merge(*(_with_positions(self.firings[group], [places[name] for name in group]) for group in mine))


def _with_positions(firings: Iterable[float], places: Sequence[int]) -> Iterator[Firing]:
    return ((at, places) for at in sorted(firings))


class Names:
    """Which schedules another system's names mean: what was said, else the schedule's name, else its task."""

    def __init__(self, schedules: Sequence[Schedule], said: Mapping[str, str]) -> None:
        self._said = said
        self._names = {schedule.name for schedule in schedules}
        tasks: defaultdict[str, list[str]] = defaultdict(list)
        for schedule in schedules:
            definition = schedule.definition
            if definition is not None and definition.target.kind == "task":
                tasks[definition.target.name].append(schedule.name)
        self._tasks = {task: tuple(names) for task, names in tasks.items()}

    def group(self, *names: str | None) -> Group | None:
        """The schedules that the first of these names to say anything stands for."""
        for name in filter(None, names):
            if name in self._said:
                new = self._said[name]
                return (new,) if new in self._names else None
            if (found := next((each for each in (name, name_of(name)) if each in self._names), None)) is not None:
                return (found,)
            if name in self._tasks:
                return self._tasks[name]
        return None


class Commands:
    """Which schedules a command line of cron means: those that start it, as that user where they name one."""

    def __init__(self, schedules: Sequence[Schedule], said: Mapping[str, str]) -> None:
        self._known: defaultdict[str, list[tuple[str | None, str]]] = defaultdict(list)
        names = {schedule.name for schedule in schedules}
        for text, name in said.items():
            if name in names:
                self._learn(text, None, name)
        mapped = set(said.values())
        for schedule in schedules:
            program = None if schedule.definition is None else schedule.definition.target.spec
            if isinstance(program, CommandSpec) and schedule.name not in mapped:
                for line in _lines(program):
                    self._learn(line, program.user, schedule.name)
        self.known = {name for each in self._known.values() for _, name in each}

    def _learn(self, line: str, user: str | None, name: str) -> None:
        for text in {_plain(line), _plain(_printed(line))}:
            if (user, name) not in self._known[text]:
                self._known[text].append((user, name))

    def group(self, user: str, command: str) -> Group | None:
        """The schedules that a line is of."""
        known = self._known.get(_plain(command), ())
        return tuple(name for theirs, name in known if theirs in (None, user)) or None


def _lines(program: CommandSpec) -> set[str]:
    return {program.line} if program.shell is not None else {" ".join(program.argv), shlex.join(program.argv)}


def _plain(text: str) -> str:
    return " ".join(text.split())


def _printed(text: str) -> str:
    """As cron writes it to its log: control characters as ^I, and what is not ASCII as octal numbers."""
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
    """Seconds since the epoch of a text or number as tables have it; ValueError where it is none."""
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
    # Milliseconds, and microseconds: no scheduler has been running for three thousand years.
    for unit in (1, 1_000, 1_000_000):
        if abs(number / unit) < 1e11:
            return _within(number / unit)
    raise ValueError(f"{short(text)[:40]!r} is not a time")


def on_clock(at: datetime, tz: str) -> float:
    """Seconds since the epoch of an instant; one without an offset is read on the clock of a zone."""
    if at.tzinfo is not None:
        return at.timestamp()
    wall = at.replace(tzinfo=UTC)
    return zone(tz).to_epoch(int(wall.timestamp() // 1)) + at.microsecond / 1e6


def _within(seconds: float) -> float:
    if not FIRST_SECOND < seconds < LAST_SECOND:
        raise ValueError("it is outside the years 1 to 9999")
    return seconds
