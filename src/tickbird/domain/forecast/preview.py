"""Preview of a definition: its next ticks, a description, and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.tick_load import TickLoad
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.warnings import DefinitionWarning, definition_warnings
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import DAY, LAST_SECOND, to_datetime
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.triggers.dst_notes import notes

MAX_TICKS = 10_000
# Closer to the maximum date, a spread or a zone offset would overflow.
_LATEST = LAST_SECOND - 8 * DAY


@dataclass(frozen=True, slots=True)
class PreviewedTick:
    """A coming tick: its instant, local time, due time, and the reason if it would be skipped."""

    scheduled_for: datetime
    local: datetime
    due_at: datetime
    skipped: str | None
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The next ticks of a definition after an instant, with warnings and the load of other schedules."""

    definition: Definition
    after: datetime
    ticks: Sequence[PreviewedTick]
    warnings: Sequence[DefinitionWarning]
    load: TickLoad | None = None

    @property
    def trigger_description(self) -> str:
        """A description of the trigger."""
        return self.definition.trigger.describe()

    @property
    def zone(self) -> str:
        """The time zone of `local`."""
        return self.definition.trigger.tz


def preview(
    definition: Definition, after: int, count: int = 10, *, namespace: str = "default", name: str | None = None
) -> Preview:
    """Preview the next ticks of a definition for a schedule of this name."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_TICKS:
        raise InvalidError(f"count must be a whole number from 1 to {MAX_TICKS}.", field="count")
    trigger, grid = definition.trigger, definition.grid
    local = zone_info(trigger.tz)
    offset = 0 if name is None else spread_offset(namespace, name, definition.spread)
    left = definition.max_runs
    ticks: list[PreviewedTick] = []
    last = after
    while len(ticks) < count and left != 0 and (tick := grid.next(last)) is not None and tick <= _LATEST:
        skipped = "calendar" if grid.excludes(tick) else "shadow" if definition.shadow else None
        left = left if left is None or skipped else left - 1
        at = to_datetime(tick)
        texts = notes(trigger, last, tick)
        ticks.append(PreviewedTick(at, at.astimezone(local), to_datetime(tick + offset), skipped, texts))
        last = tick
    warnings = list(definition_warnings(definition, after))
    if definition.spread and name is None:
        width = duration_text(definition.spread)
        warnings.append(
            DefinitionWarning("spread", f"each tick is delayed by less than {width}; the delay depends on the name")
        )
    return Preview(definition=definition, after=to_datetime(after), ticks=ticks, warnings=warnings)
