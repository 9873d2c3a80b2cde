"""What a stretch of time is played with: schedules, slots, limits, and what goes on when it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import DependencyWait
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TargetKey

MICROS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class SlotPool:
    """Slots that serve the same: None stands for any number of slots, every queue, every target."""

    slots: int | None = None
    queues: frozenset[str] | None = None
    targets: frozenset[TargetKey] | None = None

    def serves(self, definition: Definition) -> bool:
        """May runs of this definition begin here?"""
        if self.queues is not None and definition.queue not in self.queues:
            return False
        return self.targets is None or definition.target.key in self.targets


@dataclass(frozen=True, slots=True)
class RunningRun:
    """A run that is not final when the stretch begins: of which schedule, how it stands, and since when it runs."""

    schedule: str
    status: Status
    origin: Origin
    due_at: int
    started_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """All that is known beforehand; `durations` are in microseconds, one for each schedule, other instants seconds."""

    schedules: Sequence[Schedule]
    durations: Sequence[int]
    start: int
    end: int
    pools: Sequence[SlotPool] = (SlotPool(),)
    limits: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, RateLimit] = field(default_factory=dict)
    successes: Mapping[str, int] = field(default_factory=dict)
    going: Sequence[RunningRun] = ()
    # In order and apart: nothing plans, starts or ends from the first instant to before the second.
    outages: Sequence[tuple[int, int]] = ()


class SimulatedRun:
    """A run that is not final, and has not begun or must be found again."""

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
        # How often it began; an end counts only if it is that of the last time.
        self.tries = 0
