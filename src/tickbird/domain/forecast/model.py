"""Input of a simulation: schedules, slots, limits, and the runs that are active at its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import DependencyWait
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.registry import runs_in_store
from tickbird.domain.targets.target import TargetKey

MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SlotPool:
    """Slots with the same queues and targets; None means unlimited slots, every queue, every target."""

    slots: int | None = None
    queues: frozenset[str] | None = None
    targets: frozenset[TargetKey] | None = None

    def serves(self, definition: Definition) -> bool:
        """Return whether runs of this definition can start here."""
        if runs_in_store(definition.target):
            return True
        if self.queues is not None and definition.queue not in self.queues:
            return False
        return self.targets is None or definition.target.key in self.targets


@dataclass(frozen=True, slots=True)
class RunningRun:
    """A run that is active when the simulation starts."""

    schedule: str
    status: Status
    origin: Origin
    due_at: int
    started_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The input of a simulation; `durations` are in microseconds, one per schedule, instants in seconds."""

    schedules: Sequence[Schedule]
    durations: Sequence[int]
    start: int
    end: int
    pools: Sequence[SlotPool] = (SlotPool(),)
    limits: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, RateLimit] = field(default_factory=dict)
    successes: Mapping[str, int] = field(default_factory=dict)
    going: Sequence[RunningRun] = ()
    # Sorted and disjoint: nothing plans, starts or ends from the first instant (inclusive) to the second (exclusive).
    outages: Sequence[tuple[int, int]] = ()


class SimulatedRun:
    """A run that is not final and is tracked individually."""

    __slots__ = (
        "available",
        "awaits",
        "due",
        "id",
        "in_line",
        "index",
        "origin",
        "over",
        "pool",
        "start_by",
        "status",
        "tries",
    )

    def __init__(self, run_id: int, index: int, due: int, start_by: int | None, status: Status, origin: Origin) -> None:
        self.id = run_id
        self.index = index
        self.due = due
        self.start_by = start_by
        self.status = status
        self.origin = origin
        self.available = due * MICROS
        self.awaits: Sequence[DependencyWait] = ()
        self.over = False
        self.in_line = False
        self.pool = 0
        # Number of starts; an end event counts only if it belongs to the last start.
        self.tries = 0
