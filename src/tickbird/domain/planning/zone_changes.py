"""The cursor of a schedule after a change of the time zone data."""

from __future__ import annotations

from dataclasses import replace

from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import Plan
from tickbird.domain.planning.skip_ranges import skip_all
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride, Void
from tickbird.domain.time.zones import REPAIR_LIMIT

# At most this many ticks after the cursor are checked for one that the new data repeats.
_MAX_REPEATED = 64


def apply_zone_change(schedule: Schedule) -> Plan:
    """Recompute the cursor with the new time zone data; decided ticks stay decided.

    A decided tick that the new data moves to after the cursor becomes a skip. Overrides and operator skips move with
    their ticks.
    """
    cursor, decided = schedule.cursor, schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or schedule.definition is None or decided is None:
        return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
    if cursor.skip_until is not None and not schedule.grid.contains(cursor.skip_until):
        following = schedule.grid.next(cursor.skip_until)
        if following is not None and following - cursor.skip_until <= REPAIR_LIMIT:
            cursor = replace(cursor, skip_until=following)
    # If the next pass is for a moved tick, `next_run_at` says nothing about the old grid.
    moves = (override for override in cursor.tick_overrides if override.due_at is not None)
    awaited = next((override for override in moves if override.due_at == cursor.next_run_at), None)
    until = None if awaited else _repeated(schedule, decided)
    reached = max(decided, until or decided, cursor.skip_until or decided)
    cursor, void = _follow_overrides(schedule, cursor, reached, awaited)
    schedule = replace(schedule, cursor=cursor)
    if until is None:
        return replace(settle(schedule, cursor), void=void)
    note = "its wall-clock time had already passed under the previous time zone data"
    plan = skip_all(schedule, "zone_data", until, note=note)
    return replace(plan, void=void + plan.void)


def _follow_overrides(
    schedule: Schedule, cursor: Cursor, reached: int, awaited: TickOverride | None
) -> tuple[Cursor, tuple[Void, ...]]:
    """Move overrides to the new instants of their ticks: the nearest ticks within one change of the clock."""
    if not cursor.tick_overrides:
        return cursor, ()
    # A tick that was decided early was decided for its instant, so it does not move.
    by_tick = {override.tick: override for override in cursor.tick_overrides if override.decided_early}
    void: list[Void] = []
    for override in cursor.tick_overrides:
        if override.decided_early:
            continue
        on_grid = schedule.grid.contains(override.tick)
        tick = override.tick if on_grid else _moved_by_rules(schedule, override.tick, reached)
        if tick is None and override is awaited:
            tick = schedule.grid.next(reached)
        if tick is None or tick in by_tick:
            void.append((override, "zone_data"))
        else:
            by_tick[tick] = replace(override, tick=tick)
    ordered = tuple(by_tick[tick] for tick in sorted(by_tick))
    return replace(cursor, tick_overrides=ordered), tuple(void)


def _moved_by_rules(schedule: Schedule, tick: int, reached: int) -> int | None:
    around = (schedule.grid.previous(tick), schedule.grid.next(tick))
    near = [other for other in around if other is not None and other > reached and abs(other - tick) <= REPAIR_LIMIT]
    return min(near, key=lambda other: abs(other - tick), default=None)


def _repeated(schedule: Schedule, decided: int) -> int | None:
    """Return the last tick after `decided` that the new data repeats although it is decided; None if there is none.

    A tick is repeated if it is at most one DST change after `decided` and before the next tick of the old
    rules, and that next tick has moved by the same time, or not at all.
    """
    grid, wakeup, pending = schedule.grid, schedule.cursor.next_run_at, PendingTicks(schedule)
    if wakeup is None or grid.contains(decided):
        return None
    following = wakeup - schedule.offset
    first = tick = pending.next(decided)
    for _ in range(_MAX_REPEATED):
        if tick is None or tick >= following or tick - decided > REPAIR_LIMIT:
            break
        if grid.contains(following + tick - decided):
            return tick
        tick = pending.next(tick)
    if first is None or first >= following or first - decided > REPAIR_LIMIT:
        return None
    return first if grid.contains(following) else None
