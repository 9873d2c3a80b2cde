"""Maintenance: send heartbeats, rescue runs of lost workers, prune, and sync code-defined schedules."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.plan_result import UnknownSchedule
from tickbird.domain.workers import HeartbeatResult, Worker
from tickbird.engine.clock import ACCEPT_AFTER, Clock, ClockGuard
from tickbird.engine.code_sync import Declarations, sync
from tickbird.engine.fallback import Fallback
from tickbird.engine.readiness import WorkerReadiness
from tickbird.engine.worker_health import WorkerHealth
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# A worker that misses two heartbeats still counts as live.
_LIVE_HEARTBEATS = 3
# Definitions are synced at least once in this many heartbeats: a person may have deleted one.
_SYNC_HEARTBEATS = 20
PRUNE_PAUSE = 3_600.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Final runs are retained for this many seconds; the newest `keep` of each schedule longer.

    Events are retained for the same time, but at most the newest `max_events` of each namespace; None: no limit.
    """

    seconds: float = 30 * 86_400.0
    keep: int = 100
    max_events: int | None = None

    def __post_init__(self) -> None:
        if self.max_events is not None and self.max_events < 1:
            raise InvalidError("max_events must be at least 1.", field="max_events", hint="None: no limit.")


class Maintenance:
    """Steps that serve the whole store, not a single run."""

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
        clock_guard: ClockGuard | None = None,
        readiness: WorkerReadiness | None = None,
        fallback: Fallback | None = None,
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
        self._clock_guard = clock_guard or ClockGuard(clock)
        self._readiness = readiness or WorkerReadiness(store, clock, plans=True)
        self._fallback = fallback or Fallback(clock, max_age=None)
        self._health = health or WorkerHealth()
        self.on_lost_runs: Callable[[], None] = lambda: None
        self._reported: HeartbeatResult | None = None
        self.on_heartbeat: Callable[[HeartbeatResult], None] = lambda _: None
        # The instant of the last sync of definitions; None: a sync is due.
        self._synced_at: datetime | None = None
        # Schedules that this worker does not plan and has logged.
        self._unplanned: set[UnknownSchedule] = set()

    async def begin(self) -> None:
        """Publish this worker, then sync its code-defined schedules, unless the store is a copy."""
        await self._readiness.begin()
        reported = await self._report()
        await self._check_clock(reported)
        if self._readiness.may_work:
            await self._sync(reported)

    async def heartbeat(self) -> float | None:
        """Send a heartbeat; sync definitions again if a worker of this app was lost."""
        before, reported = self._reported, await self._report()
        if self._readiness.clock_alarm_by:
            await self._check_clock(reported)
        if before is None or self._has_lost(before, reported):
            self._synced_at = None
        since = None if self._synced_at is None else (reported.now - self._synced_at).total_seconds()
        # According to a clock that has jumped, live workers may look lost.
        may_sync = self._readiness.may_work and not self._clock_guard.alarmed and not self._fallback.is_active
        # A clock that was set back must not delay the sync.
        if may_sync and (since is None or abs(since) >= _SYNC_HEARTBEATS * self._heartbeat):
            await self._sync(reported)
        return self._heartbeat

    async def _check_clock(self, reported: HeartbeatResult) -> None:
        before = self._readiness.clock_alarm_by
        await self._readiness.check_clock(self.worker.namespace, reported.now)
        if bool(before) != bool(self._readiness.clock_alarm_by):
            # The clock that this worker has observed until now is wrong.
            self._clock_guard.forget()

    async def _report(self) -> HeartbeatResult:
        began, requested_at = self._clock.monotonic(), self._health.wall()
        reasons = (self._readiness.standby_reason, self._clock_guard.standby_reason, self._fallback.standby_reason)
        standby_reason = "; ".join(filter(None, reasons))
        self.worker = replace(self.worker, standby_reason=standby_reason, health=self._health.snapshot())
        reported = await self._store.workers.heartbeat(self.worker, self._live_for, now=self._clock.now())
        if not self._readiness.clock_alarm_by:
            self._clock_guard.observe(reported.now, began)
        self._health.observe(reported.now, requested_at)
        self._readiness.on_heartbeat(reported)
        self.on_heartbeat(reported)
        self._reported = reported
        return reported

    def _has_lost(self, before: HeartbeatResult, reported: HeartbeatResult) -> bool:
        """True if a worker of this app was lost, or this worker counted as lost. A new worker syncs itself."""
        silent = (reported.now - before.now).total_seconds()
        return silent >= self._live_for or not before.peers <= reported.peers

    async def _sync(self, reported: HeartbeatResult) -> None:
        if await sync(self._store, self._declarations, self.worker, now=self._clock.now()):
            # A schedule may now be due before the planner's next wake-up.
            self._on_schedules()
        self._synced_at = reported.now
        await self._log_unplanned()

    async def _log_unplanned(self) -> None:
        """Log each schedule that this worker does not plan, once."""
        for schedule in await self._store.planning.ignored():
            if schedule not in self._unplanned:
                log.warning("schedule %s is ignored: %s", schedule.name, schedule.reason)
                self._unplanned.add(schedule)

    async def rescue(self) -> float | None:
        """Rescue the runs of lost workers. Called again when the next lease ends, at the latest after two leases.

        A lease that starts after this step ends one lease later, so its rescue is at most one lease late.
        """
        if not self._clock_guard.alarmed and self._clock_guard.trusted_for < self._lease:
            # Leases that were renewed by the other clock look expired. Live workers renew them first.
            return self._lease - self._clock_guard.trusted_for
        began, expected = self._clock.monotonic(), self._clock_guard.expected()
        rescued = await self._store.leases.rescue(expected=expected, now=self._clock.now())
        if not self._clock_guard.trusts(rescued.now, began, expected):
            return self._clock_guard.recheck_after
        for run in rescued.requeued:
            log.warning("run %d lost its worker: requeued", run)
        for run in rescued.failed:
            log.error("run %d lost its worker: failed, no retry", run)
        for run in rescued.undecided:
            log.warning("run %d lost its worker: it waits for the answer whether it had its effect", run)
        if rescued.undecided:
            self.on_lost_runs()
        if rescued.requeued or rescued.released:
            self._on_runs()
        if rescued.next_at is None:
            return 2 * self._lease
        return min(2 * self._lease, max(0.05, (rescued.next_at - rescued.now).total_seconds()))

    async def prune(self) -> float | None:
        """Delete runs and events past their retention, one batch per step."""
        if self._clock_guard.alarmed:
            return ACCEPT_AFTER
        batch = 1_000
        deleted = await self._store.runs.prune(
            older_than=self._retention.seconds, keep=self._retention.keep, limit=batch, now=self._clock.now()
        )
        if "events" in self._store.capabilities:
            deleted = max(
                deleted,
                await self._store.events.prune(
                    older_than=self._retention.seconds,
                    max_events=self._retention.max_events,
                    limit=batch,
                    now=self._clock.now(),
                ),
            )
        if "consumers" in self._store.capabilities:
            seconds = self._retention.seconds
            deleted = max(
                deleted,
                await self._store.consumers.prune(
                    idle_for=seconds, letters_older_than=seconds, limit=batch, now=self._clock.now()
                ),
            )
        return 0.1 if deleted >= batch else PRUNE_PAUSE

    async def drain(self) -> None:
        self.worker = replace(self.worker, draining=True)
        await self._report()

    async def end(self) -> None:
        await self._store.workers.remove(self.worker.id)
