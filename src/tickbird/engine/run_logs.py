"""Stores the logs of runs: collected from any thread, written in batches, before the outcomes are recorded."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from tickbird.domain.runs.logs import LogLine, Meter, Progress, fit_level
from tickbird.domain.text import describe
from tickbird.engine.outbox import Outbox
from tickbird.engine.result_encoding import encode_value
from tickbird.store.protocol.store import Store
from tickbird.targets.protocol import CURRENT, Run

log = logging.getLogger("tickbird.engine")

# Seconds that lines are collected, lines per write, and lines that wait while the store cannot be reached.
_COLLECT_SECONDS: Final = 0.2
_BATCH: Final = 1_000
# Seconds that a run's own transaction waits for its log.
_FLUSH_SECONDS: Final = 3.0
_MAX_WAITING: Final = 50_000


class RunLogBuffer:
    """A sink for all runs of a worker; its step writes to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._lines: list[LogLine] = []
        self._progress: dict[int, Progress] = {}
        self._outbox = Outbox("log", self._write_records, _without_content, time.monotonic, _BATCH)
        # Run → the last progress in the outbox. An older one that the store has refused is not retried.
        self._newest: dict[int, Progress] = {}
        self._meters: dict[tuple[int, int], Meter] = {}
        self._writing = asyncio.Lock()
        self._woken = False
        self.on_lines: Callable[[], None] = lambda: None

    def line(self, run: Run, level: int, text: str, at: datetime) -> None:
        """Store a line, unless its attempt has exceeded its limits."""
        with self._lock:
            accepted = self._meters.setdefault((run.id, run.attempt), Meter()).take(text)
            if accepted is None or len(self._lines) + len(self._outbox) >= _MAX_WAITING:
                return
            number, text = accepted
            self._lines.append(LogLine(run.id, run.attempt, number, at, fit_level(level), text))
        self._wake()

    def progress(self, run: Run, value: Any) -> None:
        """Store the latest progress of a run."""
        # Encode before taking the lock: this calls user code, which may log.
        record = Progress(run.id, run.attempt, datetime.now(UTC), encode_value(value))
        with self._lock:
            self._progress[run.id] = record
        self._wake()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            # A loop that has ended writes nothing.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.on_lines)

    async def step(self) -> float | None:
        """Collect lines for a moment, then write them."""
        if self._lines or self._progress:
            await asyncio.sleep(_COLLECT_SECONDS)
        await self.write()
        return 0.0 if self._lines or self._progress else self._outbox.wait

    async def write(self) -> None:
        """Write all collected lines; lines that cannot be written are retried."""
        async with self._writing:
            self._woken = False
            with self._lock:
                lines, self._lines = self._lines, []
                progress, self._progress = self._progress, {}
            self._newest.update(progress)
            self._outbox.add([*lines, *progress.values()])
            await self._outbox.write()

    async def _write_records(self, records: Sequence[LogLine | Progress]) -> None:
        lines = [record for record in records if isinstance(record, LogLine)]
        progress = [record for record in records if isinstance(record, Progress)]
        newest = [record for record in progress if self._newest.get(record.run_id, record) is record]
        await self._store.logs.write(lines, newest)

    async def flush(self) -> None:
        """Write the lines of attempts whose outcomes follow; callable from any event loop.

        Outcomes do not wait for a log that cannot be written.
        """
        if asyncio.get_running_loop() is not self._loop:
            # A loop that has ended writes nothing.
            with suppress(RuntimeError, TimeoutError):
                writing = asyncio.run_coroutine_threadsafe(self.flush(), self._loop)
                await asyncio.wait_for(asyncio.wrap_future(writing), _FLUSH_SECONDS)
            return
        # Wait for a batch that is being written, too.
        if not self._lines and not self._progress and not self._writing.locked():
            return
        try:
            await self.write()
        except Exception as error:  # noqa: BLE001 - outcomes are recorded in any case
            log.warning("log lines of runs could not be written, retrying: %s", describe(error))

    def forget(self, run_id: int, attempt: int) -> None:
        """Drop the limits of an attempt that is over."""
        with self._lock:
            self._meters.pop((run_id, attempt), None)
        self._newest.pop(run_id, None)


class RunHandler(logging.Handler):
    """Adds records of other loggers to the log of the run in whose context they were logged."""

    def __init__(self, logs: RunLogBuffer) -> None:
        super().__init__(logging.INFO)
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        """Store the record if it belongs to a run; lines of `run.log` are stored already."""
        run = CURRENT.get()
        if run is None or record.name.startswith("tickbird.run."):
            return
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - a bad line must not fail its run
            text = describe(record.msg)
        try:
            at = datetime.fromtimestamp(record.created, UTC)
        except (ValueError, TypeError, OverflowError, OSError):
            # A record may have been created by hand.
            at = datetime.now(UTC)
        self._logs.line(run, record.levelno, text, at)


def _without_content(record: LogLine | Progress, note: str) -> LogLine | Progress:
    """Return a line or progress without the content that the store cannot store."""
    if isinstance(record, LogLine):
        return replace(record, level=fit_level(record.level), text=note)
    return replace(record, value={"unreadable": note})
