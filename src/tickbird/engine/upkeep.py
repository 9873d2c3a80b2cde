"""Upkeep: say that this worker lives, take runs from lost ones, prune the past, keep definitions in step."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from tickbird.engine.clock import Clock, ClockWatch
from tickbird.engine.sync import Declarations, sync
from tickbird.store.protocol import Store, Worker

log = logging.getLogger("tickbird.engine")


@dataclass(frozen=True, slots=True)
class Retention:
    """Final runs live this many seconds, and the newest `keep` of each schedule longer."""

    seconds: float = 30 * 86_400.0
    keep: int = 100


class Upkeep:
    """Steps that no single run depends on."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        declarations: Declarations,
        *,
        lease: float,
        heartbeat: float,
        retention: Retention,
        on_runs: Callable[[], None],
        watch: ClockWatch | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self.worker = worker
        self._declarations = declarations
        self._lease = lease
        self._heartbeat = heartbeat
        self._retention = retention
        self._on_runs = on_runs
        self._watch = watch or ClockWatch(clock)
        self._removed_checked = 0.0

    async def begin(self) -> None:
        """Publish this worker, then bring the store to what its code declares."""
        await self._report()
        await sync(self._store, self._declarations, self.worker, now=self._clock.now())

    async def heartbeat(self) -> float | None:
        """Stay live; now and then look for schedules that no live worker's code has any more."""
        await self._report()
        # By a clock that has jumped, live workers may seem long gone.
        due = self._clock.monotonic() - self._removed_checked > 4 * self._heartbeat
        if due and not self._watch.alarmed:
            await sync(self._store, self._declarations, self.worker, now=self._clock.now())
            self._removed_checked = self._clock.monotonic()
        return self._heartbeat

    async def _report(self) -> None:
        began = self._clock.monotonic()
        self._watch.see(await self._store.report_worker(self.worker, 3 * self._heartbeat, now=self._clock.now()), began)

    async def rescue(self) -> float | None:
        """Take runs from lost workers; look again when the next lease ends, at the latest after one lease."""
        began, expected = self._clock.monotonic(), self._watch.expected()
        rescued = await self._store.rescue(expected=expected, now=self._clock.now())
        if not self._watch.believes(rescued.now, began, expected):
            return self._watch.patience
        for run in rescued.requeued:
            log.warning("run %d: its worker was lost, so it is tried again", run)
        for run in rescued.failed:
            log.error("run %d: its worker was lost, and it is not tried again", run)
        if rescued.requeued or rescued.released:
            self._on_runs()
        if rescued.next_at is None:
            return self._lease
        return min(self._lease, max(0.05, (rescued.next_at - rescued.now).total_seconds()))

    async def prune(self) -> float | None:
        """Delete what is past its retention, a batch at a time."""
        if self._watch.alarmed:
            return self._watch.patience
        batch = 1_000
        gone = await self._store.prune(
            older_than=self._retention.seconds, keep=self._retention.keep, limit=batch, now=self._clock.now()
        )
        return 0.1 if gone >= batch else 600.0

    async def drain(self) -> None:
        """Tell that this worker takes nothing new."""
        self.worker = replace(self.worker, draining=True)
        await self._report()

    async def end(self) -> None:
        """Take this worker off the list."""
        await self._store.retire_worker(self.worker.id)
