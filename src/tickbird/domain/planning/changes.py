"""Sets of changes, and the result of one change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """A schedule after a command, and the runs that the command made; `run` of one that asked for a run alone."""

    schedule: Schedule
    run_ids: Sequence[int] = ()
    run: RunRecord | None = None


@dataclass(frozen=True, slots=True)
class CalendarUpdate:
    """A calendar that is put, with what it closes and where that comes from; only at this revision, 0: it is new."""

    name: str
    definition: Mapping[str, Any]
    closed: Calendar
    source: Mapping[str, Any]
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Changes that are made together, in this order: calendars, limits, rates of queues, and commands to schedules."""

    calendars: Sequence[CalendarUpdate] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
    commands: Sequence[tuple[str, Command]] = ()


# Called now and then with the number of commands so far, maybe in another thread.
ProgressCallback = Callable[[int], None]
