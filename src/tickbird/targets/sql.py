"""SQL functions in the store's database; their outcome is recorded in their own transaction."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

from tickbird.domain.runs.logs import MAX_LINES, fitting
from tickbird.domain.runs.sql_calls import SqlCall, SqlListener, SqlReport
from tickbird.domain.targets.sql import STORE, SqlSpec
from tickbird.domain.time.instants import utc_text
from tickbird.targets.protocol import Executable, LostRun, PostponedRun, RecordedOutcome, Run, RunFailure
from tickbird.targets.role_slots import RoleSlots
from tickbird.targets.spec_executable import SpecExecutable
from tickbird.targets.sql_statements import SqlStatement

MAX_SLICES: Final = 1_000
# Seconds until a run whose older attempt is still executed is tried again.
_BUSY_DELAY: Final = 2.0
_UNREACHABLE_DELAY: Final = 5.0


class SqlFunctions(Protocol):
    """The store's verbs of SQL functions."""

    async def call(self, call: SqlCall, listener: SqlListener) -> SqlReport: ...


class SqlApp(Protocol):
    """The part of an app that has SQL targets."""

    # Connections of a worker for the functions of one role.
    sql_connections: int
    sql_statements: dict[str, SqlStatement]

    @property
    def sql_functions(self) -> Callable[[], Awaitable[SqlFunctions]] | None:
        """Opens the functions of the store in the running event loop; None if the store has none."""


class SqlFunction(SpecExecutable):
    """Executes every function of the store's database."""

    def __init__(self, connect: Callable[[], Awaitable[SqlFunctions]], connections: int) -> None:
        super().__init__(SqlSpec, STORE)
        self._connect = connect
        self._slots = RoleSlots(connections)

    async def execute(self, spec: SqlSpec, run: Run) -> RecordedOutcome:
        """Call the function, slice by slice; its transaction records the outcome."""
        assert spec.function is not None
        functions = await self._connect()
        call = SqlCall(
            run_id=run.id,
            attempt=run.attempt,
            incarnation=run.incarnation,
            worker=run.worker,
            function=spec.function,
            role=spec.run_as,
            argument=_argument(run),
            timeout=run.timeout,
        )
        listener = _RunListener(run)
        async with self._slots.take(f"role {spec.run_as}" if spec.run_as else "the store's owner", run):
            for _ in range(MAX_SLICES):
                report = await functions.call(call, listener)
                if report.ending != "again":
                    return _end(report)
        raise RunFailure(
            f"the function returned again {MAX_SLICES:,} times, the maximum. Do more work in each slice.",
            kind="contract",
            may_retry=False,
        )


def _end(report: SqlReport) -> RecordedOutcome:
    """Translate a report into an outcome, or raise."""
    match report.ending:
        case "succeeded":
            return RecordedOutcome("succeeded")
        case "reported":
            return RecordedOutcome("failed", report.error)
        case "busy":
            raise PostponedRun("an older attempt of this run is still executed in the database", _BUSY_DELAY)
        case "unreachable":
            raise PostponedRun(f"no database connection: {report.error}", _UNREACHABLE_DELAY)
        case "contract" | "refused":
            raise RunFailure(report.error, kind="contract", may_retry=False)
        case "raised":
            raise RunFailure(report.error)
        case _:
            raise LostRun(report.error or "its lease was lost")


class _RunListener:
    """Sends the messages of a function to the log of its run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lines = 0

    def line(self, level: int, text: str) -> None:
        # The log of the run has its limit. A notice per row must not keep the worker from its other runs.
        self._lines += 1
        if self._lines <= MAX_LINES + 1:
            self._run.log.log(max(level, logging.INFO), "%s", fitting(text))

    def progress(self, value: float) -> None:
        self._run.heartbeat(value)

    async def before_finish(self) -> None:
        await self._run.flush_log()
        self._run.is_recording = True


def _argument(run: Run) -> Mapping[str, Any]:
    """The argument of a function; the store adds `last_success`."""
    covers = run.covers
    return {
        "payload": run.payload,
        "run_id": run.id,
        "scheduled_for": utc_text(run.scheduled_for),
        "covers": None
        if covers is None
        else {"first": utc_text(covers.first), "last": utc_text(covers.last), "count": covers.count},
        "attempt": run.attempt,
        "schedule": run.schedule,
    }


def registered(app: SqlApp) -> list[Executable]:
    """The SQL targets that the workers of an app execute."""
    connect = app.sql_functions
    functions = [] if connect is None else [SqlFunction(connect, app.sql_connections)]
    return [*functions, *app.sql_statements.values()]
