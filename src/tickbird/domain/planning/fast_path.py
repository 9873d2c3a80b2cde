"""The tick on time: the decision of nearly every pass, without the whole planner."""

from __future__ import annotations

from tickbird.domain.schedules.definition import Definition

# A tick that becomes a queued run: tick, `due_at`, `start_by`, and when to look again.
OnTime = tuple[int, int, int | None, int]


def on_time(definition: Definition, offset: int, planned_until: int, now: float) -> OnTime | None:
    """What `plan` decides for nearly every look, told without ceremony; None where it takes the long way.

    For an active schedule with nothing moved, skipped or running: one tick, on time, and another one to come.
    """
    if not definition.is_plain:
        return None
    grid = definition.grid
    tick = grid.next(planned_until)
    if tick is None:
        return None
    due_at, limit = tick + offset, definition.start_limit
    if not 0 <= now - due_at <= definition.grace or (limit is not None and now - due_at > limit):
        return None
    following = grid.next(tick)
    if following is None or following + offset <= now:
        return None
    return tick, due_at, None if limit is None else due_at + limit, following + offset
