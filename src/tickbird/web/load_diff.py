"""The effect of a schedule change on the load: the hour of its first tick by minute, before and after."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from tickbird.domain.forecast.preview import Preview
from tickbird.domain.forecast.tick_load import HOUR, MINUTE, count_by_slot
from tickbird.domain.forecast.week_load import WeekLoad
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_seconds
from tickbird.web.charts import ChangedBar, Chart, changed_load
from tickbird.web.page_request import PageRequest
from tickbird.web.pages.load import week_of

# Seconds. Counting many schedules can take longer; it then continues in the background for the next preview.
_TIMEOUT: Final = 0.5
_MINUTES: Final = 60


async def load_change(visit: PageRequest, before: Schedule | None, preview: Preview, name: str | None) -> Chart | None:
    """Draw the change; None without a tick in the next week, or while the load is being counted."""
    first = next((tick.due_at for tick in preview.ticks if tick.skipped is None), None)
    if first is None or (before is not None and before.pause is not None):
        return None
    week = await week_of(visit, _TIMEOUT)
    index = None if week is None or not week.hours else int((first - week.hours[0].at).total_seconds() // 3_600)
    if week is None or index is None or not 0 <= index < len(week.hours):
        return None
    offset = spread_offset(visit.namespace, name, preview.definition.spread) if name else 0
    gone = before.definition if before is not None and before.state == "active" else None
    bars = hour_of(week, index, (preview.definition, offset), (gone, before.offset if before is not None else 0))
    return changed_load(bars, visit.clock.zone(preview.zone))


def hour_of(
    week: WeekLoad, index: int, comes: tuple[Definition, int], goes: tuple[Definition | None, int]
) -> list[ChangedBar]:
    """Count the ticks by minute, now and with the ticks of `comes` instead of those of `goes`."""
    start = week.hours[index].at
    ticks = week.minutes[index * _MINUTES : (index + 1) * _MINUTES]
    counts = zip(ticks, _by_minute(goes, start), _by_minute(comes, start), strict=True)
    return [
        ChangedBar(at=start + timedelta(minutes=minute), before=before, after=max(0, before - gone) + new)
        for minute, (before, gone, new) in enumerate(counts)
    ]


def _by_minute(of: tuple[Definition | None, int], start: datetime) -> list[int]:
    definition, offset = of
    if definition is None:
        return [0] * _MINUTES
    # The load of the week rounds the spread to whole minutes too.
    first = to_seconds(start) - offset // MINUTE * MINUTE
    return count_by_slot(definition, range(first, first + HOUR + 1, MINUTE))
