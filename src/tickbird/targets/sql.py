"""SQL functions in the store's database; their outcome is recorded in their own transaction."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

from tickbird.domain.runs.sql_calls import SqlCall, SqlListener, SqlReport
from tickbird.domain.targets.sql import STORE, SqlSpec
from tickbird.domain.time.instants import utc_text
from tickbird.targets.protocol import Executable, LostRun, PostponedRun, RecordedOutcome, Run, RunFailure
from tickbird.targets.spec_executable import SpecExecutable

MAX_SLICES: Final = 1_000
# Seconds until a run whose older attempt is still executed is tried again.
_BUSY_DELAY: Final = 2.0
# Seconds: a longer wait for a connection is shown in the log of the run.
_SHORT_WAIT: Final = 0.5
_UNREACHABLE_DELAY: Final = 5.0


class SqlFunctions(Protocol):
    """The store's verbs of SQL functions."""

    async def call(self, call: SqlCall, listener: SqlListener) -> SqlReport: ...


class SqlApp(Protocol):
    """The part of an app that has SQL targets."""

    # Connections of a worker for the functions of one role.
    sql_connections: int

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
        for _ in range(MAX_SLICES):
            async with self._slots.take(spec.run_as, run):
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


class RoleSlots:
    """Limits the connections of each role. Waiting is visible in the run's log and progress."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._used: Counter[str | None] = Counter()
        self._waiting: dict[str | None, list[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def take(self, role: str | None, run: Run) -> AsyncIterator[None]:
        """Wait for a free connection of the role, first come, first served."""
        if self._used[role] < self._maximum:
            self._used[role] += 1
        else:
            await self._wait(role, run)
        try:
            yield
        finally:
            self._release(role)

    async def _wait(self, role: str | None, run: Run) -> None:
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(role, [])
        waiting.append(slot)
        try:
            await asyncio.wait({slot}, timeout=_SHORT_WAIT)
            if not slot.done():
                self._report(role, run)
                await slot
                run.heartbeat("has a database connection")
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._release(role)
            elif slot in waiting:
                waiting.remove(slot)
            raise

    def _report(self, role: str | None, run: Run) -> None:
        owner = "the store's owner" if role is None else f"role {role}"
        text = f"waits for a database connection: {self._used[role]} of {self._maximum} of {owner} are in use"
        run.log.info(text)
        run.heartbeat(text)

    def _release(self, role: str | None) -> None:
        """Hand the connection to the first that waits."""
        waiting = self._waiting.get(role)
        while waiting:
            slot = waiting.pop(0)
            if not slot.done():
                slot.set_result(None)
                return
        self._used[role] -= 1


class _RunListener:
    """Sends the messages of a function to the log of its run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def line(self, level: int, text: str) -> None:
        self._run.log.log(max(level, logging.INFO), "%s", text)

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
    return [] if connect is None else [SqlFunction(connect, app.sql_connections)]
