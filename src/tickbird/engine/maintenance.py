"""Upkeep: say that this worker lives, take runs from lost ones, prune the past, keep definitions in step."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from tickbird.domain.workers import HeartbeatResult, Worker
from tickbird.engine.clock import ACCEPT_AFTER, Clock, ClockGuard
from tickbird.engine.code_sync import Declarations, sync
from tickbird.engine.readiness import WorkerReadiness
from tickbird.engine.worker_health import WorkerHealth
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# A worker that misses two heartbeats still counts as live.
_LIVE_HEARTBEATS = 3
# Definitions are looked at after so many heartbeats even if nothing calls for it: a person may have deleted one.
_SYNC_HEARTBEATS = 20
PRUNE_PAUSE = 3_600.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Final runs live this many seconds, and the newest `keep` of each schedule longer."""

    seconds: float = 30 * 86_400.0
    keep: int = 100


class Maintenance:
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
        on_schedules: Callable[[], None] = lambda: None,
        watch: ClockGuard | None = None,
        standing: WorkerReadiness | None = None,
        health: WorkerHealth | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self.worker = worker
        self._declarations = declarations
        self._lease = lease
        self._heartbeat = heartbeat
        self._live_for = _LIVE_HEARTBEATS * heartbeat
        self._retention = retention
        self._on_runs = on_runs
        self._on_schedules = on_schedules
        self._watch = watch or ClockGuard(clock)
        self._standing = standing or WorkerReadiness(store, clock, plans=True)
        self._health = health or WorkerHealth()
        self._reported: HeartbeatResult | None = None
        # When definitions were last brought in step; None: they must be.
        self._in_step: datetime | None = None

    async def begin(self) -> None:
        """Publish this worker, then bring the store to what its code declares, unless it is a copy."""
        await self._standing.begin()
        reported = await self._report()
        await self._check_clock(reported)
        if self._standing.may_work:
            await self._sync(reported)

    async def heartbeat(self) -> float | None:
        """Stay live; bring definitions in step again when some worker's code may count no more."""
        before, reported = self._reported, await self._report()
        if self._standing.doubt:
            await self._check_clock(reported)
        if before is None or self._has_lost(before, reported):
            self._in_step = None
        since = None if self._in_step is None else (reported.now - self._in_step).total_seconds()
        # By a clock that has jumped, live workers may seem long gone.
        may_sync = self._standing.may_work and not self._watch.alarmed
        # A clock that was set back must not put it off.
        if may_sync and (since is None or abs(since) >= _SYNC_HEARTBEATS * self._heartbeat):
            await self._sync(reported)
        return self._heartbeat

    async def _check_clock(self, reported: HeartbeatResult) -> None:
        before = self._standing.doubt
        await self._standing.check_clock(self.worker.namespace, reported.now)
        if bool(before) != bool(self._standing.doubt):
            # The clock that it has seen so far is not the one that counts.
            self._watch.forget()

    async def _report(self) -> HeartbeatResult:
        began, asked_at = self._clock.monotonic(), self._health.wall()
        held = "; ".join(filter(None, (self._standing.standby_reason, self._watch.standby_reason)))
        self.worker = replace(self.worker, standby_reason=held, health=self._health.snapshot())
        reported = await self._store.workers.heartbeat(self.worker, self._live_for, now=self._clock.now())
        if not self._standing.doubt:
            self._watch.see(reported.now, began)
        self._health.see(reported.now, asked_at)
        self._standing.see(reported)
        self._reported = reported
        return reported

    def _has_lost(self, before: HeartbeatResult, reported: HeartbeatResult) -> bool:
        """Has a worker of this app gone, or was this one taken for gone? One that comes looks for itself."""
        silent = (reported.now - before.now).total_seconds()
        return silent >= self._live_for or not before.peers <= reported.peers

    async def _sync(self, reported: HeartbeatResult) -> None:
        if await sync(self._store, self._declarations, self.worker, now=self._clock.now()):
            # Something may now be due before the planner means to look.
            self._on_schedules()
        self._in_step = reported.now

    async def rescue(self) -> float | None:
        """Take runs from lost workers; look again when the next lease ends, at the latest after two leases.

        A lease that begins after this look ends after one lease, and so is found at most one lease too late.
        """
        if not self._watch.alarmed and self._watch.minded_for < self._lease:
            # Leases that were renewed by the other clock seem to have ended long ago; whoever lives renews them again.
            return self._lease - self._watch.minded_for
        began, expected = self._clock.monotonic(), self._watch.expected()
        rescued = await self._store.leases.rescue(expected=expected, now=self._clock.now())
        if not self._watch.believes(rescued.now, began, expected):
            return self._watch.recheck_after
        for run in rescued.requeued:
            log.warning("run %d: its worker was lost, so it is tried again", run)
        for run in rescued.failed:
            log.error("run %d: its worker was lost, and it is not tried again", run)
        if rescued.requeued or rescued.released:
            self._on_runs()
        if rescued.next_at is None:
            return 2 * self._lease
        return min(2 * self._lease, max(0.05, (rescued.next_at - rescued.now).total_seconds()))

    async def prune(self) -> float | None:
        """Delete what is past its retention, a batch at a time."""
        if self._watch.alarmed:
            return ACCEPT_AFTER
        batch = 1_000
        gone = await self._store.runs.prune(
            older_than=self._retention.seconds, keep=self._retention.keep, limit=batch, now=self._clock.now()
        )
        return 0.1 if gone >= batch else PRUNE_PAUSE

    async def drain(self) -> None:
        """Tell that this worker takes nothing new."""
        self.worker = replace(self.worker, draining=True)
        await self._report()

    async def end(self) -> None:
        """Take this worker off the list."""
        await self._store.workers.remove(self.worker.id)
