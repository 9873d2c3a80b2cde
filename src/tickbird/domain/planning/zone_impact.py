"""Impact of other time zone data on a schedule's ticks, within a horizon."""

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

# At most this many ticks of a schedule are compared, earliest first.
MAX_TICKS: Final = 20_000
SHOWN: Final = 5
MAX_DAYS: Final = 36_500


@dataclass(frozen=True, slots=True)
class ZoneImpact:
    """Ticks that only the old or only the new data has: their numbers, and the first few."""

    schedule: str
    zone: str
    removed: int
    added: int
    first_removed: tuple[datetime, ...]
    first_added: tuple[datetime, ...]
    # Ticks up to this instant were compared.
    until: datetime


def zone_impact(name: str, before: Definition, after: Definition, since: int, until: int) -> ZoneImpact | None:
    """Compare the ticks of a definition under two sets of time zone data; None if they are equal."""
    old, new = list(_ticks(before, since, until)), list(_ticks(after, since, until))
    if len(old) == MAX_TICKS or len(new) == MAX_TICKS:
        until = min(ticks[-1] for ticks in (old, new) if len(ticks) == MAX_TICKS)
    kept = set(old) & set(new)
    removed = [tick for tick in old if tick not in kept and tick <= until]
    added = [tick for tick in new if tick not in kept and tick <= until]
    if not removed and not added:
        return None
    return ZoneImpact(
        name,
        after.trigger.tz,
        len(removed),
        len(added),
        tuple(map(to_datetime, removed[:SHOWN])),
        tuple(map(to_datetime, added[:SHOWN])),
        to_datetime(until),
    )


def is_zoned(schedule: Schedule) -> bool:
    """Return whether it has upcoming ticks in a zone other than UTC."""
    if schedule.definition is None or schedule.state not in ("active", "paused"):
        return False
    return _names_zone(schedule.definition.trigger.to_json())


def _names_zone(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_names_zone, value))
    return isinstance(value, dict) and (value.get("tz", "UTC") != "UTC" or any(map(_names_zone, value.values())))


def iter_zone_impacts(
    schedules: Iterable[Schedule], folder: str | Path, since: int, until: int
) -> Iterator[ZoneImpact | None]:
    """Compare these schedules under the time zone files of a folder; yield None for one without a change."""
    if not Path(folder).is_dir():
        raise InvalidError(
            f"against: {folder} is not a folder of time zone data.",
            field="against",
            hint="Give a folder with compiled zones, such as .../zoneinfo.",
        )
    with zones_of(folder):
        for schedule in schedules:
            if schedule.definition is not None:
                other = decode_definition(schedule.definition_json)
                yield zone_impact(schedule.name, schedule.definition, other, since, until)


def sort_by_instant(impacts: Iterable[ZoneImpact | None]) -> list[ZoneImpact]:
    """Return the impacts without None, earliest first."""
    changed = [impact for impact in impacts if impact is not None]
    return sorted(changed, key=lambda impact: min(impact.first_removed + impact.first_added))


def next_zone_impact(schedule: Schedule) -> ZoneImpact | None:
    """Compare the stored wake-up of a schedule with the one under this process's data; None if they are equal."""
    before, after = schedule.cursor.next_run_at, apply_zone_change(schedule).cursor.next_run_at
    if before == after or schedule.definition is None:
        return None
    removed = () if before is None else (to_datetime(before),)
    added = () if after is None else (to_datetime(after),)
    until = max(removed + added)
    return ZoneImpact(schedule.name, schedule.definition.trigger.tz, len(removed), len(added), removed, added, until)


def _ticks(definition: Definition, since: int, until: int) -> Iterator[int]:
    tick = definition.grid.next(since)
    for _ in range(MAX_TICKS):
        if tick is None or tick > until:
            return
        yield tick
        tick = definition.grid.next(tick)


def check_days(days: int) -> None:
    if not 1 <= days <= MAX_DAYS:
        raise InvalidError(f"days must be from 1 to {MAX_DAYS}.", field="days")
