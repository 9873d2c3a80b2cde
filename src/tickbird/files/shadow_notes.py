"""Notes of a plan on schedules that become shadows, or stop being shadows."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import iso


def shadow_notes(before: Schedule | None, after: Schedule, now: float) -> Iterator[str]:
    """Yield a note with the first tick under the new mode; nothing if the mode does not change."""
    was, is_ = _is_shadow(before), _is_shadow(after)
    if was == is_:
        return
    if before is None:
        yield "a shadow: ticks are recorded, nothing runs"
        return
    tick = _first(after, now)
    since = "it has no future tick" if tick is None else f"from its tick of {iso(tick)} on"
    if is_:
        yield f"it becomes a shadow: {since}{'' if tick is None else ' nothing runs'}; existing runs continue"
    else:
        yield f"switched to real runs: {since}{'' if tick is None else ' it runs'}; earlier ticks do not run"


def _is_shadow(schedule: Schedule | None) -> bool:
    return schedule is not None and schedule.definition is not None and schedule.definition.shadow


def _first(schedule: Schedule, now: float) -> int | None:
    """Return the first tick under the new definition. Overdue ticks are decided under the old one."""
    reached = schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or reached is None:
        return None
    return PendingTicks(schedule).next_runnable(max(reached, floor(now) - schedule.offset))
