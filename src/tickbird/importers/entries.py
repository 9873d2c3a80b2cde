"""Entries of an import: schedules in the form of a schedule file, and items that cannot be imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Returns the epoch seconds in (after, until] at which the other system would fire.
Fires = Callable[[int, int], Iterable[int]]
_UNUSABLE = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)
_MAX_LENGTH = 60


@dataclass(slots=True)
class ImportedSchedule:
    """A schedule with the fields of a schedule file; `origin` is the original text."""

    name: str
    fields: dict[str, Any]
    origin: str
    line: int | None = None
    # Differences, and things that the user must check.
    notes: list[str] = field(default_factory=list)
    # The reason why it is written as a comment; empty for a normal schedule.
    off: str = ""
    # None if DST changes cannot cause differences.
    fires: Fires | None = None
    # Periods that `fires` covers; empty means around all DST changes.
    stretches: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NotImported:
    """An item that cannot be imported, with the reason."""

    origin: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        return f"{where}{self.origin}: {self.reason}"


@dataclass(slots=True)
class Imported:
    """The content of one source; `system` is the name of the other system."""

    system: str
    source: str
    entries: list[ImportedSchedule] = field(default_factory=list)
    not_imported: list[NotImported] = field(default_factory=list)
    # Notes on all schedules.
    notes: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)

    def add(self, entry: ImportedSchedule) -> None:
        """Add a schedule; a number makes its name unique."""
        wanted = entry.name = name_of(entry.name)
        while entry.name in self._numbers:
            self._numbers[wanted] += 1
            entry.name = f"{wanted}-{self._numbers[wanted]}"
        self._numbers[entry.name] = 1
        self.entries.append(entry)

    def cast_shadows(self) -> None:
        """Turn all schedules into shadows, because the other system still runs the jobs."""
        for entry in self.entries:
            entry.fields["shadow"] = True
        self.notes.append(
            "All are shadows: nothing runs. See `tickbird shadow report`. For real runs, remove `shadow`."
        )

    def leave(self, origin: str, reason: str, line: int | None = None) -> None:
        """Record an item that is not imported."""
        self.not_imported.append(NotImported(short(origin), reason, line))


def name_of(text: str) -> str:
    """Convert a text to a valid schedule name."""
    return _UNUSABLE.sub("-", text).strip("-.")[:_MAX_LENGTH].strip("-.") or "schedule"


def short(text: str) -> str:
    """Convert a text to one line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the values without these names and without None."""
    return {name: value for name, value in values.items() if name not in names and value is not None}
