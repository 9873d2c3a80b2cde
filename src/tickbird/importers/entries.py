"""What was read of another system: schedules as a file has them, and what could not be carried over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# The instants, in seconds since the epoch, at which the original would fire in (after, until].
Fires = Callable[[int, int], Iterable[int]]
_UNUSABLE = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)
_MAX_LENGTH = 60


@dataclass(slots=True)
class ImportedSchedule:
    """A schedule: its fields as a file has them, and the original's own words."""

    name: str
    fields: dict[str, Any]
    origin: str
    line: int | None = None
    # What is not quite the same, or must be seen to.
    notes: list[str] = field(default_factory=list)
    # Why it is written as a remark and not as a schedule; nothing where it is one.
    off: str = ""
    # Where clock changes may tell them apart.
    fires: Fires | None = None
    # When that is known of; where nothing is said, around all clock changes.
    stretches: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NotImported:
    """What could not be carried over, and why."""

    origin: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        return f"{where}{self.origin}: {self.reason}"


@dataclass(slots=True)
class Imported:
    """All that was read of one source; `system` is what it calls itself."""

    system: str
    source: str
    entries: list[ImportedSchedule] = field(default_factory=list)
    not_imported: list[NotImported] = field(default_factory=list)
    # What holds for all of them.
    notes: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict, repr=False)

    def add(self, entry: ImportedSchedule) -> None:
        """Add a schedule under a name that no other has."""
        wanted = entry.name = name_of(entry.name)
        while entry.name in self._numbers:
            self._numbers[wanted] += 1
            entry.name = f"{wanted}-{self._numbers[wanted]}"
        self._numbers[entry.name] = 1
        self.entries.append(entry)

    def cast_shadows(self) -> None:
        """Have each planned and recorded only, while the other system goes on."""
        for entry in self.entries:
            entry.fields["shadow"] = True
        self.notes.append(
            "All are shadows: nothing runs. See `tickbird shadow report`. For real runs, remove `shadow`."
        )

    def leave(self, origin: str, reason: str, line: int | None = None) -> None:
        """Leave something out."""
        self.not_imported.append(NotImported(short(origin), reason, line))


def name_of(text: str) -> str:
    """A name that a schedule can have, like the text."""
    return _UNUSABLE.sub("-", text).strip("-.")[:_MAX_LENGTH].strip("-.") or "schedule"


def short(text: str) -> str:
    """A text on one line, for a remark."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"


def without(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The values but those, and but those that are not there."""
    return {name: value for name, value in values.items() if name not in names and value is not None}
