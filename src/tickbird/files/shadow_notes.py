"""What a plan says of schedules that become shadows, or really run from now on."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import iso


def shadow_notes(before: Schedule | None, after: Schedule, now: float) -> Iterator[str]:
    """From which tick on it is a shadow, or really runs; nothing where that is as it was."""
    was, is_ = (_is_shadow(each) for each in (before, after))
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
    """The first tick that is decided by the new definition: what is due is decided by the old one."""
    reached = schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or reached is None:
        return None
    return PendingTicks(schedule).next_runnable(max(reached, floor(now) - schedule.offset))
