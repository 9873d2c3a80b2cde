"""The tick on time: the decision of nearly every look, without the whole planner."""

from __future__ import annotations

from typing import NamedTuple

from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.sized_cache import size_of

_ORDINARY_BYTES = 1_500


class RunTemplate(NamedTuple):
    """What all runs of a revision have in common."""

    namespace: str
    target_kind: str
    target: str
    queue: str
    priority: int
    crash_limit: int


class RevisionInfo:
    """What never changes about one revision of a schedule."""

    __slots__ = ("definition", "heeds_runs", "name", "namespace", "offset", "size", "template")

    def __init__(self, namespace: str, name: str, definition: Definition) -> None:
        self.namespace = namespace
        self.name = name
        self.definition = definition
        self.offset = spread_offset(namespace, name, definition.spread)
        # Bytes in memory.
        self.size = _ORDINARY_BYTES + size_of(definition.payload) + size_of(definition.closed)
        # Does it matter for the next tick which runs are active?
        self.heeds_runs = definition.overlap != "allow"
        target = definition.target
        self.template = RunTemplate(
            namespace, target.kind, target.name, definition.queue, definition.priority, definition.crash_limit
        )


class OnTimeRun(NamedTuple):
    """A tick that becomes a queued run and moves its cursor by one; all other columns follow from the revision."""

    schedule_id: int
    revision: int
    tick: int
    due_at: int
    start_by: int | None
    # When to look again.
    next_run_at: int
    known: RevisionInfo

    @property
    def template(self) -> RunTemplate:
        """What all runs of its revision have in common."""
        return self.known.template


def on_time(schedule_id: int, revision: int, known: RevisionInfo, planned_until: int, now: float) -> OnTimeRun | None:
    """What `plan` decides for nearly every look, told without ceremony; None where it takes the long way.

    For an active schedule with nothing moved, skipped or running: one tick, on time, and another one to come.
    """
    definition, offset = known.definition, known.offset
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
    start_by = None if limit is None else due_at + limit
    return OnTimeRun(schedule_id, revision, tick, due_at, start_by, following + offset, known)
