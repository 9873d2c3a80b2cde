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
    """A schedule after a command, and the created runs; `run` is set if the command only creates a run."""

    schedule: Schedule
    run_ids: Sequence[int] = ()
    run: RunRecord | None = None


@dataclass(frozen=True, slots=True)
class CalendarUpdate:
    """A calendar to put: definition, closed days and their source; `revision` is the expected one, 0: new."""

    name: str
    definition: Mapping[str, Any]
    closed: Calendar
    source: Mapping[str, Any]
    revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """Changes in one transaction, in this order: calendars, limits, rate limits of queues, schedule commands."""

    calendars: Sequence[CalendarUpdate] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
    commands: Sequence[tuple[str, Command]] = ()


# Called from time to time with the number of executed commands, possibly in another thread.
ProgressCallback = Callable[[int], None]
