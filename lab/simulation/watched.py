"""A schedule as the checker follows it, through acknowledged and unacknowledged changes."""

from __future__ import annotations

from dataclasses import dataclass

from lab.oracle.schedule import Schedule, TickDecision


@dataclass
class Watched(Schedule):
    id: int = 0
    paused_by: str | None = None

    def turn_of(self, tick: int, due_at: int, decisions: list[TickDecision]) -> int:
        """The instant at which a tick can be decided: in the order of the grid, so not before earlier ticks.

        Moves preserve that order, unless a later edit of `spread` breaks it.
        """
        before = (decision for decision in decisions if decision.tick < tick and decision.outcome != "operator")
        return max([due_at, *(decision.due_at or decision.tick + self.offset for decision in before)])
