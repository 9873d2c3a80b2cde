"""What the engine asks of a kind of target, and what a run's code sees of its run."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, runtime_checkable

from tickbird.domain.runs.logs import MAX_LEVEL
from tickbird.domain.runs.run import ClaimedRun, Covers, Origin
from tickbird.domain.schedules.definition import Backoff
from tickbird.domain.schedules.fields import OnCrash
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.text import describe, type_name

Isolation = Literal["process"]


class RunSink(Protocol):
    """Where the lines and the progress of runs are kept. Called in any thread: it neither blocks nor raises."""

    def line(self, run: Run, level: int, text: str, at: datetime) -> None:
        """A line of `run.log`, or of what a child process printed; `level` as in the standard library."""
        ...

    def progress(self, run: Run, value: Any) -> None:
        """How far a run is, as its code says."""
        ...


class RunLog(logging.LoggerAdapter[logging.Logger]):
    """The logger of a run: lines carry its id and attempt, and from INFO on also go to the sink."""

    def __init__(self, run: Run, target: str, sink: RunSink | None) -> None:
        super().__init__(logging.getLogger(f"tickbird.run.{target}"), {"run_id": run.id, "attempt": run.attempt})
        self._run, self._sink = run, sink

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a line; what is kept of it does not depend on how logging is set up."""
        if isinstance(level, int):
            level = min(level, MAX_LEVEL)
        if self._sink is not None and level >= logging.INFO:
            self._sink.line(self._run, level, _text(level, msg, args, kwargs.get("exc_info")), datetime.now(UTC))
        # The line is its caller's, not this method's.
        super().log(level, msg, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    def relay(self, level: int, text: str, at: datetime) -> None:
        """Log a line that was written elsewhere: printed, or logged in a child process."""
        if self._sink is not None and level >= logging.INFO:
            self._sink.line(self._run, level, text, at)
        super().log(level, "%s", text)


def _text(level: int, msg: object, args: tuple[object, ...], exc_info: Any) -> str:
    """A line as it reads, with its traceback; one that cannot be formatted is shown as it was given."""
    if isinstance(exc_info, BaseException):
        exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
    elif exc_info and not isinstance(exc_info, tuple):
        exc_info = sys.exc_info()
    try:
        record = logging.LogRecord("", level, "", 0, msg, args, exc_info or None)
        return _FORM.format(record)
    except Exception:  # noqa: BLE001 - a bad line must not fail its run
        return f"{describe(msg)[:1000]} {_arguments(args)}"


def _arguments(args: tuple[object, ...]) -> str:
    try:
        return repr(args)[:1000]
    except Exception:  # noqa: BLE001 - arguments may raise in their `__repr__`
        return ", ".join(f"<{type_name(arg)}>" for arg in args[:10])


_FORM = logging.Formatter("%(message)s")


class Run:
    """The run that a function is executing; ask for it by annotating a parameter with `Run`."""

    __slots__ = ("_cancelled", "_claimed", "_log", "_sink", "lease_checked_at")

    def __init__(self, claimed: ClaimedRun, sink: RunSink | None = None) -> None:
        self._claimed = claimed
        self._sink = sink
        self._log: RunLog | None = None
        self._cancelled = False
        # When the worker last made sure of its lease before the function began, by time.monotonic().
        self.lease_checked_at = 0.0

    @property
    def log(self) -> RunLog:
        """A logger whose lines carry the run's id and attempt."""
        if self._log is None:
            self._log = RunLog(self, self._claimed.target, self._sink)
        return self._log

    def heartbeat(self, progress: Any = None) -> None:
        """Say that the run is alive and, if you like, how far it is: a share from 0 to 1, or any JSON."""
        if self._sink is not None and progress is not None:
            self._sink.progress(self, progress)

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
    def spec(self) -> TargetSpec | None:
        """The spec of its target, as the run was planned with it; None for a task."""
        definition = self._claimed.definition
        return None if definition is None else definition.target.spec

    @property
    def cancelled(self) -> bool:
        """Has the run been asked to stop? A function in a thread should look at this now and then."""
        return self._cancelled

    def request_stop(self) -> None:
        """Set `cancelled`."""
        self._cancelled = True

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.schedule or self._claimed.target}, attempt {self.attempt}>"


# The run to whose log belongs what is logged in this context.
CURRENT: ContextVar[Run | None] = ContextVar("tickbird run", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSpec:
    """A program to start: what, as whom, where, and what it finds around it."""

    argv: list[str]
    env: dict[str, str]
    folder: str
    # Exit codes that are a success.
    success: list[int]
    # Name, id, group and all groups of another user than the worker's.
    user: tuple[str, int, int, list[int]] | None = None
    # Standard input; nothing where it is None.
    input: str | None = None


class LaunchError(Exception):
    """Why something cannot be started by this worker; at another time, or by another one, it may be."""


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """A result that is JSON already, of a size that can be kept."""

    value: Any


class Executable(Protocol):
    """One thing that a run can start, with the policies of runs that have no schedule."""

    @property
    def kind(self) -> str:
        """The kind of the targets that it executes."""
        ...

    @property
    def name(self) -> str:
        """The name of the targets that it executes."""
        ...

    @property
    def blocking(self) -> bool:
        """Does it block the thread that calls it?"""
        ...

    @property
    def isolation(self) -> Isolation | None:
        """ "process": it is executed in a child process, where the worker has any."""
        ...

    @property
    def memory(self) -> int | None:
        """Bytes that the child process and all that it starts may take."""
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

    @property
    def on_crash(self) -> OnCrash:
        """What becomes of a run whose worker was lost."""
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


@runtime_checkable
class CommandTarget(Executable, Protocol):
    """One that is a program, and not a function."""

    def launch(self, run: Run) -> LaunchSpec:
        """What to start for a run; raises LaunchError or PayloadError."""
        ...
