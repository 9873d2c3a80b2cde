"""The interface between the engine and a target kind, and the Run object that user code receives."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, runtime_checkable

from tickbird.domain.errors import ConflictError
from tickbird.domain.runs.logs import MAX_LEVEL
from tickbird.domain.runs.run import ClaimedRun, Covers, FailureKind, Origin, Status
from tickbird.domain.schedules.definition import Backoff
from tickbird.domain.schedules.fields import OnCrash
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.text import describe, type_name
from tickbird.targets.run_transaction import RunTransaction

Isolation = Literal["process"]


class RunSink(Protocol):
    """Receives the log lines and the progress of runs. Called in any thread; must not block or raise."""

    def line(self, run: Run, level: int, text: str, at: datetime) -> None:
        """Store a line of `run.log`, or of a child's output; `level` as in the standard library."""
        ...

    def progress(self, run: Run, value: Any) -> None:
        """Store the progress of a run, as reported by its code."""
        ...

    async def flush(self) -> None:
        """Write all lines; returns after a few seconds if that fails."""
        ...


class RunFinisher(Protocol):
    """Finishes runs on connections of their tasks: the app."""

    def finish_run(self, run: Run, connection: Any, result: Any) -> Any:
        """Record a success in the transaction of a connection; returns an awaitable if the connection is async."""
        ...

    def transaction_of(self, connection: Any) -> Any:
        """A transaction of a connection, for a `with` or `async with` statement."""
        ...


class RunLog(logging.LoggerAdapter[logging.Logger]):
    """The logger of a run: lines carry its id and attempt; lines from INFO on also go to the sink."""

    def __init__(self, run: Run, target: str, sink: RunSink | None) -> None:
        super().__init__(logging.getLogger(f"tickbird.run.{target}"), {"run_id": run.id, "attempt": run.attempt})
        self._run, self._sink = run, sink

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Log a line; the stored log does not depend on the configuration of logging."""
        if isinstance(level, int):
            level = min(level, MAX_LEVEL)
        if self._sink is not None and level >= logging.INFO:
            self._sink.line(self._run, level, _text(level, msg, args, kwargs.get("exc_info")), datetime.now(UTC))
        # Attribute the line to the caller, not to this method.
        super().log(level, msg, *args, **{**kwargs, "stacklevel": kwargs.get("stacklevel", 1) + 1})

    def relay(self, level: int, text: str, at: datetime) -> None:
        """Log a line that was printed, or logged in a child process."""
        if self._sink is not None and level >= logging.INFO:
            self._sink.line(self._run, level, text, at)
        super().log(level, "%s", text)


def _text(level: int, msg: object, args: tuple[object, ...], exc_info: Any) -> str:
    """Format a line with its traceback; a line that cannot be formatted is returned unformatted."""
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


def _ignore() -> None:
    pass


class Run:
    """The run that a function is executing; annotate a parameter with `Run` to get it."""

    __slots__ = (
        "_cancelled",
        "_claimed",
        "_log",
        "_sink",
        "announce_commit",
        "finisher",
        "has_commit",
        "is_recording",
        "lease_checked_at",
        "pause_timeout",
        "restart_timeout",
        "worker",
    )

    def __init__(self, claimed: ClaimedRun, sink: RunSink | None = None, worker: str | None = None) -> None:
        self._claimed = claimed
        self._sink = sink
        # The id of the worker that executes it.
        self.worker = worker
        # Its own transaction is recording its outcome, so its lease may end at any moment.
        self.is_recording = False
        # Set by its task. None: it cannot be finished in a transaction.
        self.finisher: RunFinisher | None = None
        # `finish_in` was called: its transaction may have finished it, or may still do so.
        self.has_commit = False
        # Called before the statement of `finish_in`.
        self.announce_commit: Callable[[], None] = _ignore
        # The timeout does not run while the run waits for a connection.
        self.pause_timeout: Callable[[], None] = _ignore
        self.restart_timeout: Callable[[], None] = _ignore
        self._log: RunLog | None = None
        self._cancelled = False
        # The last lease check before the function started, by time.monotonic().
        self.lease_checked_at = 0.0

    @property
    def log(self) -> RunLog:
        """A logger whose lines carry the run's id and attempt."""
        if self._log is None:
            self._log = RunLog(self, self._claimed.target, self._sink)
        return self._log

    def heartbeat(self, progress: Any = None) -> None:
        """Report that the run is alive, and optionally its progress: a fraction from 0 to 1, or any JSON."""
        if self._sink is not None and progress is not None:
            self._sink.progress(self, progress)

    def transaction(self, connection: Any) -> RunTransaction:
        """Begin a transaction on your connection to the store's database, for a `with` or `async with` block.

        At the end of the block, the success of the run is recorded and everything is committed together. Raises
        LeaseLostError, and rolls back, if another attempt has the run by now.
        """
        finisher = self._require_finisher()
        return RunTransaction(
            lambda: finisher.transaction_of(connection), lambda result: self.finish_in(connection, result)
        )

    def finish_in(self, connection: Any, result: Any = None) -> Any:
        """Record the success of the run in the open transaction of your connection; call it directly before its commit.

        Returns an awaitable if the connection is async. Raises LeaseLostError if another attempt has the run by now:
        let it roll your transaction back.
        """
        finisher = self._require_finisher()
        self.has_commit = self.is_recording = True
        self.announce_commit()
        return finisher.finish_run(self, connection, result)

    def _require_finisher(self) -> RunFinisher:
        if self.finisher is None:
            raise ConflictError(
                f"run {self.id} cannot be finished in a transaction.",
                hint="Call this in a task that a worker runs.",
            )
        return self.finisher

    async def flush_log(self) -> None:
        """Write the lines that were logged, if there are any."""
        if self._sink is not None and self._log is not None:
            await self._sink.flush()

    @property
    def id(self) -> int:
        """The run's id, the same in every attempt."""
        return self._claimed.id

    @property
    def incarnation(self) -> int:
        """The incarnation of the store that leased it: with the attempt, the fencing token."""
        return self._claimed.incarnation

    @property
    def timeout(self) -> int | None:
        """Seconds that this attempt may take; None for no limit, and for a run without a schedule."""
        definition = self._claimed.definition
        return None if definition is None else definition.timeout

    @property
    def schedule(self) -> str | None:
        """The schedule's name; None for a run that was enqueued without one."""
        return self._claimed.schedule

    @property
    def scheduled_for(self) -> datetime | None:
        """The tick: a grid instant, never a clock time; None for a manual run."""
        return self._claimed.scheduled_for

    @property
    def due_at(self) -> datetime:
        """The instant at which the run became due: the tick plus its spread, or the instant of a reschedule."""
        return self._claimed.due_at

    @property
    def covers(self) -> Covers | None:
        """The missed ticks that this run represents, its own included; None if it represents only its own."""
        return self._claimed.covers

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 1."""
        return self._claimed.attempt

    @property
    def origin(self) -> Origin:
        """The cause of the run: schedule, catch_up, manual and so on."""
        return self._claimed.origin

    @property
    def payload(self) -> Mapping[str, Any]:
        """The payload as JSON, as it was sent."""
        return self._claimed.payload

    @property
    def spec(self) -> TargetSpec | None:
        """The spec of the target that the run was planned with; None for a task."""
        definition = self._claimed.definition
        return None if definition is None else definition.target.spec

    @property
    def cancelled(self) -> bool:
        """True after a stop request. A function in a thread should check this regularly."""
        return self._cancelled

    def request_stop(self) -> None:
        self._cancelled = True

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.schedule or self._claimed.target}, attempt {self.attempt}>"


# The run whose log receives the lines that are logged in this context.
CURRENT: ContextVar[Run | None] = ContextVar("tickbird run", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSpec:
    """A program to start, with its user, folder, environment and input."""

    argv: list[str]
    env: dict[str, str]
    folder: str
    # Exit codes that count as success.
    success: list[int]
    # Name, id, group and all groups of a user other than the worker's.
    user: tuple[str, int, int, list[int]] | None = None
    # Standard input; None means empty.
    input: str | None = None


class LaunchError(Exception):
    """The reason why this worker cannot start a program; another worker, or a later attempt, may be able to."""


class RunFailure(Exception):
    """A failure with a text that is stored as it is, and a kind."""

    def __init__(self, text: str, *, kind: FailureKind = "raised", may_retry: bool = True) -> None:
        super().__init__(text)
        self.text, self.kind, self.may_retry = text, kind, may_retry


class PostponedRun(Exception):
    """The run cannot start now; it is queued again after `delay` seconds, and uses up no attempt of its policy."""

    def __init__(self, reason: str, delay: float) -> None:
        super().__init__(reason)
        self.reason, self.delay = reason, delay


class LostRun(Exception):
    """The outcome is unknown, or belongs to another attempt: when the lease has expired, the run is rescued."""


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """The outcome of a run that its own transaction has recorded."""

    status: Status
    error: str | None = None


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """A result that is already JSON, within the size limit."""

    value: Any


class Executable(Protocol):
    """The code of one target, with the policies of runs that have no schedule."""

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def blocking(self) -> bool:
        """True if it blocks the thread that calls it."""
        ...

    @property
    def isolation(self) -> Isolation | None:
        """ "process": a child process executes it, if the worker has any."""
        ...

    @property
    def memory(self) -> int | None:
        """The memory limit of the child process and its descendants, in bytes."""
        ...

    @property
    def retries(self) -> int:
        """The number of retries after a raised error or a timeout."""
        ...

    @property
    def backoff(self) -> Backoff:
        """The delays between retries."""
        ...

    @property
    def timeout(self) -> int | None:
        """Seconds that an attempt may take."""
        ...

    @property
    def on_crash(self) -> OnCrash:
        """The policy for a run whose worker was lost."""
        ...

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """Validate the payload and return the arguments of a call; raises PayloadError."""
        ...

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Start it; returns the result, or an awaitable of it if it does not block."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """The published description: its queue and the JSON Schema of its payload."""
        ...


@runtime_checkable
class CommandTarget(Executable, Protocol):
    """A target that is a program, not a function."""

    def launch(self, run: Run) -> LaunchSpec:
        """The program to start for a run; raises LaunchError or PayloadError."""
        ...


class Reconciler(Protocol):
    """Answers whether a lost attempt had its effect: "yes", "no" or "unknown"."""

    @property
    def timeout(self) -> int:
        """Seconds that a call may take."""
        ...

    @property
    def blocking(self) -> bool:
        """True if it blocks the thread that calls it."""
        ...

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """The arguments of a call; raises PayloadError."""
        ...

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Start it; returns the answer, or an awaitable of it if it does not block."""
        ...


@runtime_checkable
class Reconcilable(Protocol):
    """A target that may have a reconcile function."""

    @property
    def reconciler(self) -> Reconciler | None: ...
