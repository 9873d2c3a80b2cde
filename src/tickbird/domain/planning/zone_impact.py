"""Which ticks of a schedule other zone rules move, within a horizon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.zone_changes import apply_zone_change
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers.zone_override import zones_of

# So many ticks of a schedule are compared; of one that ticks more often, the nearest.
MAX_TICKS: Final = 20_000
SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class ZoneImpact:
    """Ticks that only one of two sets of rules has: how many of each, and the first of them."""

    schedule: str
    zone: str
    removed: int
    added: int
    first_removed: tuple[datetime, ...]
    first_added: tuple[datetime, ...]
    # Beyond this instant nothing was compared.
    until: datetime


def tick_moves(name: str, before: Definition, after: Definition, since: int, until: int) -> ZoneImpact | None:
    """What changes between two readings of one definition; None where nothing does."""
    old, new = list(_ticks(before, since, until)), list(_ticks(after, since, until))
    if len(old) == MAX_TICKS or len(new) == MAX_TICKS:
        until = min(ticks[-1] for ticks in (old, new) if len(ticks) == MAX_TICKS)
    kept = set(old) & set(new)
    gone = [tick for tick in old if tick not in kept and tick <= until]
    came = [tick for tick in new if tick not in kept and tick <= until]
    if not gone and not came:
        return None
    return ZoneImpact(
        name,
        after.trigger.tz,
        len(gone),
        len(came),
        tuple(map(to_datetime, gone[:SHOWN])),
        tuple(map(to_datetime, came[:SHOWN])),
        to_datetime(until),
    )


def is_zoned(schedule: Schedule) -> bool:
    """Has it ticks to come on a clock other than UTC's?"""
    if schedule.definition is None or schedule.state not in ("active", "paused"):
        return False
    return _names_zone(schedule.definition.trigger.to_json())


def _names_zone(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_names_zone, value))
    return isinstance(value, dict) and (value.get("tz", "UTC") != "UTC" or any(map(_names_zone, value.values())))


def all_moves(schedules: Iterable[Schedule], folder: str | Path, since: int, until: int) -> Iterator[ZoneImpact | None]:
    """What changes for these schedules by the rules of a folder."""
    if not Path(folder).is_dir():
        raise InvalidError(f"against: {folder} is not a folder of zone files.", field="against")
    with zones_of(folder):
        for schedule in schedules:
            if schedule.definition is not None:
                other = decode_definition(schedule.definition_json)
                yield tick_moves(schedule.name, schedule.definition, other, since, until)


def by_instant(moves: Iterable[ZoneImpact | None]) -> list[ZoneImpact]:
    """Those that there are, the nearest first."""
    found = [each for each in moves if each is not None]
    return sorted(found, key=lambda each: min(each.first_removed + each.first_added))


def next_moves(schedule: Schedule) -> ZoneImpact | None:
    """How the next look at a schedule, as stored, differs from what the rules of this process say."""
    followed = apply_zone_change(schedule)
    before, after = schedule.cursor.next_run_at, followed.cursor.next_run_at
    if before == after or schedule.definition is None:
        return None
    gone = () if before is None else (to_datetime(before),)
    came = () if after is None else (to_datetime(after),)
    until = max(gone + came)
    return ZoneImpact(schedule.name, schedule.definition.trigger.tz, len(gone), len(came), gone, came, until)


def _ticks(definition: Definition, since: int, until: int) -> Iterator[int]:
    tick = definition.grid.next(since)
    for _ in range(MAX_TICKS):
        if tick is None or tick > until:
            return
        yield tick
        tick = definition.grid.next(tick)
