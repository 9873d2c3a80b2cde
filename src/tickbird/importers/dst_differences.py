"""DST differences: days around DST changes on which the other system and Tickbird fire at different instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final

from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import zone
from tickbird.importers.entries import ImportedSchedule

# Ticks are compared this many seconds before and after a DST change.
_AROUND: Final = 36 * 3_600
# Maximum number of ticks per period. A DST change does not concern more.
_MAX_TICKS: Final = 500_000
_MAX_TIMES: Final = 3


@dataclass(frozen=True, slots=True)
class Horizon:
    """The period in which DST changes are compared, in epoch seconds."""

    after: int
    until: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A day, in the time zone of the schedule, with different instants."""

    day: date
    theirs: tuple[datetime, ...]
    ours: tuple[datetime, ...]

    def description(self, system: str) -> str:
        return f"{self.day}: {system} {_times(self.theirs)}, Tickbird {_times(self.ours)}"


def _times(at: tuple[datetime, ...]) -> str:
    if not at:
        return "does not"
    shown = ", ".join(f"{instant:%H:%M %Z}" for instant in at[:_MAX_TIMES])
    return f"at {shown}" + (f" and {len(at) - _MAX_TIMES} times more" if len(at) > _MAX_TIMES else "")


def differences(entry: ImportedSchedule, definition: Definition, horizon: Horizon) -> list[Difference]:
    """Return the days of the horizon that differ, in order."""
    if entry.fires is None:
        return []
    # `at` is an instant; the original may be on a wall clock.
    tz = entry.fields.get("tz", definition.trigger.tz)
    theirs, ours = set(), set()
    for start, end in entry.stretches or changes(tz, horizon):
        theirs |= {at for at in entry.fires(start, end) if start < at <= end}
        ours |= _ticks(definition, start, end)
    info = zone_info(tz)
    days: dict[date, tuple[list[datetime], list[datetime]]] = {}
    for side, found in enumerate((theirs - ours, ours - theirs)):
        for at in sorted(found):
            local = datetime.fromtimestamp(at, UTC).astimezone(info)
            days.setdefault(local.date(), ([], []))[side].append(local)
    return [Difference(day, tuple(one), tuple(other)) for day, (one, other) in sorted(days.items())]


def changes(tz: str, horizon: Horizon) -> list[tuple[int, int]]:
    """Return the periods around the clock changes of a zone, in epoch seconds."""
    found: list[tuple[int, int]] = []
    offset: int | None = None
    for span in zone(tz).spans(horizon.after, horizon.until):
        before, offset = offset, span.offset
        if before not in (None, offset) and horizon.after < span.start < horizon.until:
            start, end = span.start - _AROUND, span.start + _AROUND
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
    return found


def _ticks(definition: Definition, after: int, until: int) -> set[int]:
    grid = definition.grid
    found: set[int] = set()
    tick = grid.next(after)
    while tick is not None and tick <= until and len(found) < _MAX_TICKS:
        if not grid.excludes(tick):
            found.add(tick)
        tick = grid.next(tick)
    return found
