"""What the engine asks of a kind of target, and what a run's code sees of its run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from tickbird.domain.definition import Backoff
from tickbird.domain.runs import ClaimedRun, Covers, Origin

if TYPE_CHECKING:
    RunLog = logging.LoggerAdapter[logging.Logger]


class Run:
    """The run that a function is executing; ask for it by annotating a parameter with `Run`."""

    __slots__ = ("_cancelled", "_claimed", "_log")

    def __init__(self, claimed: ClaimedRun) -> None:
        self._claimed = claimed
        self._log: RunLog | None = None
        self._cancelled = False

    @property
    def log(self) -> RunLog:
        """A logger whose lines carry the run's id and attempt."""
        if self._log is None:
            logger = logging.getLogger(f"tickbird.run.{self._claimed.target}")
            self._log = logging.LoggerAdapter(logger, {"run_id": self.id, "attempt": self.attempt})
        return self._log

    @property
    def id(self) -> int:
        """The run's id, the same in every attempt."""
        return self._claimed.id

    @property
    def schedule(self) -> str | None:
        """The schedule's name; None for a run that was enqueued without one."""
        return self._claimed.schedule

    @property
    def scheduled_for(self) -> datetime | None:
        """The tick, from the grid and never from a clock; None for a manual run."""
        return self._claimed.scheduled_for

    @property
    def due_at(self) -> datetime:
        """When the run became due: the tick plus its spread, or the instant it was moved to."""
        return self._claimed.due_at

    @property
    def covers(self) -> Covers | None:
        """The missed ticks that this run stands for, its own included; None when it stands for itself."""
        return self._claimed.covers

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._claimed.attempt

    @property
    def origin(self) -> Origin:
        """What made the run: a schedule, a catch-up, a person."""
        return self._claimed.origin

    @property
    def payload(self) -> Mapping[str, Any]:
        """The payload as it was sent, as JSON."""
        return self._claimed.payload

    @property
    def cancelled(self) -> bool:
        """Has the run been asked to stop? A function in a thread should look at this now and then."""
        return self._cancelled

    def ask_to_stop(self) -> None:
        """Set `cancelled`."""
        self._cancelled = True

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.schedule or self._claimed.target}, attempt {self.attempt}>"


class Executable(Protocol):
    """One thing that a run can start, with the policies of runs that have no schedule."""

    @property
    def name(self) -> str:
        """The name that runs ask for."""
        ...

    @property
    def blocking(self) -> bool:
        """Does it block the thread that calls it?"""
        ...

    @property
    def retries(self) -> int:
        """How often a raised error or a time-out is tried again."""
        ...

    @property
    def backoff(self) -> Backoff:
        """How long to wait before trying again."""
        ...

    @property
    def timeout(self) -> int | None:
        """Seconds that an attempt may take."""
        ...

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """The arguments of a call, validated; raises PayloadError."""
        ...

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Start it: the result, or an awaitable of it unless it blocks."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """What workers publish of it: its queue and the JSON Schema of its payload."""
        ...
