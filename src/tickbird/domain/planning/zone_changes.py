"""What changed zone rules do to the cursor of a schedule."""

from __future__ import annotations

from dataclasses import replace

from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import Plan
from tickbird.domain.planning.skip_ranges import pass_over
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride, Void
from tickbird.domain.time.zones import REPAIR_LIMIT

# So many ticks behind the last decided one are looked at for one that changed zone rules repeat.
_MAX_REPEATED = 64


def apply_zone_change(schedule: Schedule) -> Plan:
    """The rules of its zone have changed: look again by the new ones, for nothing that the old ones had decided.

    A tick whose time on the wall clock comes a second time, since the rules moved it behind what was decided, is a
    skip. What a person moved or skipped stays so, under the tick's new instant.
    """
    cursor, decided = schedule.cursor, schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or schedule.definition is None or decided is None:
        return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
    if cursor.skip_until is not None and not schedule.grid.contains(cursor.skip_until):
        again = schedule.grid.next(cursor.skip_until)
        if again is not None and again - cursor.skip_until <= REPAIR_LIMIT:
            cursor = replace(cursor, skip_until=again)
    # Where the next look is that of a moved tick, it tells nothing of the grid before.
    moves = (each for each in cursor.tick_overrides if each.due_at is not None)
    awaited = next((each for each in moves if each.due_at == cursor.next_run_at), None)
    until = None if awaited else _repeated(schedule, decided)
    reached = max(decided, until or decided, cursor.skip_until or decided)
    cursor, void = _follow_overrides(schedule, cursor, reached, awaited)
    schedule = replace(schedule, cursor=cursor)
    if until is None:
        return replace(settle(schedule, cursor), void=void)
    note = "its time on the wall clock had come already, by the zone rules before"
    repeated = pass_over(schedule, "zone_data", until, note=note)
    return replace(repeated, void=void + repeated.void)


def _follow_overrides(
    schedule: Schedule, cursor: Cursor, reached: int, awaited: TickOverride | None
) -> tuple[Cursor, tuple[Void, ...]]:
    """Overrides under the new instants of their ticks: the nearest ones within a jump of the clock."""
    if not cursor.tick_overrides:
        return cursor, ()
    # What was decided ahead of its time was decided for that instant.
    followed = {each.tick: each for each in cursor.tick_overrides if each.done}
    void: list[Void] = []
    for each in cursor.tick_overrides:
        if each.done:
            continue
        tick = each.tick if schedule.grid.contains(each.tick) else _moved_by_rules(schedule, each.tick, reached)
        if tick is None and each is awaited:
            tick = schedule.grid.next(reached)
        if tick is None or tick in followed:
            void.append((each, "zone_data"))
        else:
            followed[tick] = replace(each, tick=tick)
    ordered = tuple(followed[tick] for tick in sorted(followed))
    return replace(cursor, tick_overrides=ordered), tuple(void)


def _moved_by_rules(schedule: Schedule, tick: int, reached: int) -> int | None:
    around = (schedule.grid.previous(tick), schedule.grid.next(tick))
    near = [each for each in around if each is not None and each > reached and abs(each - tick) <= REPAIR_LIMIT]
    return min(near, key=lambda each: abs(each - tick), default=None)


def _repeated(schedule: Schedule, decided: int) -> int | None:
    """The last of the ticks that the new rules put behind `decided`, though they stand for what it stood for.

    That is so where ticks within a jump of the clock behind it come before the one that was next by the old rules, and
    that next one has moved by as much, or not at all.
    """
    grid, looked, ahead = schedule.grid, schedule.cursor.next_run_at, PendingTicks(schedule)
    if looked is None or grid.contains(decided):
        return None
    following = looked - schedule.offset
    first = tick = ahead.next(decided)
    for _ in range(_MAX_REPEATED):
        if tick is None or tick >= following or tick - decided > REPAIR_LIMIT:
            break
        if grid.contains(following + tick - decided):
            return tick
        tick = ahead.next(tick)
    if first is None or first >= following or first - decided > REPAIR_LIMIT:
        return None
    return first if grid.contains(following) else None
