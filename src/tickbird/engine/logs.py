"""Keeps what runs say: gathered from any thread, written in batches, before their ends are recorded."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

from tickbird.domain.errors import StoreError
from tickbird.domain.logs import LogLine, Meter, Progress
from tickbird.engine.shown import as_json
from tickbird.store.protocol import Store
from tickbird.targets.protocol import CURRENT, Run

log = logging.getLogger("tickbird.engine")

# How long lines are gathered, how many are written at a time, and how many wait while the store cannot be reached.
_GATHER: Final = 0.2
_BATCH: Final = 1_000
_MOST_WAITING: Final = 50_000


class Logs:
    """A sink for all runs of a worker; its step writes to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._lines: list[LogLine] = []
        self._progress: dict[int, Progress] = {}
        self._meters: dict[tuple[int, int], Meter] = {}
        self._writing = asyncio.Lock()
        self._woken = False
        self.on_lines: Callable[[], None] = lambda: None

    def line(self, run: Run, level: int, text: str, at: datetime) -> None:
        """Keep a line, as far as its attempt has not said too much already."""
        with self._lock:
            kept = self._meters.setdefault((run.id, run.attempt), Meter()).take(text)
            if kept is None or len(self._lines) >= _MOST_WAITING:
                return
            number, text = kept
            self._lines.append(LogLine(run.id, run.attempt, number, at, level, text))
        self._wake()

    def progress(self, run: Run, value: Any) -> None:
        """Keep the newest progress of a run."""
        with self._lock:
            self._progress[run.id] = Progress(run.id, run.attempt, datetime.now(UTC), as_json(value))
        self._wake()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            # A loop that has ended writes nothing any more.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.on_lines)

    async def step(self) -> float | None:
        """Let lines gather for a moment, then write them."""
        if not self._lines and not self._progress:
            return None
        await asyncio.sleep(_GATHER)
        await self.write()
        return 0.0 if self._lines or self._progress else None

    async def write(self) -> None:
        """Write all that has been said so far; what cannot be written is tried again."""
        async with self._writing:
            self._woken = False
            while self._lines or self._progress:
                with self._lock:
                    lines, self._lines = self._lines[:_BATCH], self._lines[_BATCH:]
                    progress, self._progress = self._progress, {}
                try:
                    await self._store.write_logs(lines, list(progress.values()))
                except BaseException:
                    with self._lock:
                        self._lines = lines + self._lines
                        self._progress = {**progress, **self._progress}
                    raise

    async def flush(self) -> None:
        """Write what ends are about to follow; they do not wait for a log that cannot be written."""
        # A batch that is being written at this moment is waited for as well.
        if not self._lines and not self._progress and not self._writing.locked():
            return
        try:
            await self.write()
        except StoreError as error:
            log.warning("what runs logged could not be written yet: %s", error)

    def forget(self, run_id: int, attempt: int) -> None:
        """An attempt is over."""
        with self._lock:
            self._meters.pop((run_id, attempt), None)


class RunHandler(logging.Handler):
    """Gives to a run's log what anybody logs in its context with the standard library."""

    def __init__(self, logs: Logs) -> None:
        super().__init__(logging.INFO)
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record if a run is behind it; lines of `run.log` are kept already."""
        run = CURRENT.get()
        if run is None or record.name.startswith("tickbird.run."):
            return
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - a bad line must not fail its run
            text = str(record.msg)
        self._logs.line(run, record.levelno, text, datetime.fromtimestamp(record.created, UTC))
