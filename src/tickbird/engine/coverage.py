"""Coverage: log the work that no live worker does."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from tickbird.domain.doctor.snapshot import WaitingRuns
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count
from tickbird.domain.targets.registry import describe_target, target_worker_command
from tickbird.domain.targets.target import Target
from tickbird.domain.workers import HeartbeatResult
from tickbird.engine.clock import Clock
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# In heartbeats: between two checks, and how long work waits before it is logged, because a worker may be starting.
_INTERVAL: Final = 2
_MIN_WAIT: Final = 1
# In heartbeats: between two checks of an idle worker.
IDLE_INTERVAL: Final = 20
_MAX_LOGGED: Final = 10


class CoverageStep:
    """Logs that no live worker plans, and runs that none would claim: once when it begins, and once when it ends."""

    def __init__(self, store: Store, clock: Clock, namespace: str, heartbeat: float) -> None:
        self._store = store
        self._clock = clock
        self._namespace = namespace
        self._heartbeat = heartbeat
        # A worker that has just started waits for others that start with it.
        self._checked_at = clock.monotonic()
        self._logged: dict[tuple[str, Target], None] = {}
        self._unplanned_since: datetime | None = None
        self._unplanned_logged = False

    def observe(self, result: HeartbeatResult) -> None:
        """Log that no live worker plans if two heartbeats in a row say so."""
        if result.planners or result.outdated_reason:
            if self._unplanned_logged:
                log.warning("a live worker plans again")
            self._unplanned_since, self._unplanned_logged = None, False
            return
        if self._unplanned_since is None:
            self._unplanned_since = result.now
        elif not self._unplanned_logged:
            log.warning(
                "no live worker plans since %s: due ticks wait for one. Start a worker that plans, and check "
                "TICKBIRD_ROLE and TICKBIRD_PLANNING",
                _text(self._unplanned_since),
            )
            self._unplanned_logged = True

    async def step(self) -> float | None:
        """Check the runs that wait; called again after wake-ups, but it reads the store only after an interval."""
        remaining = self._checked_at + _INTERVAL * self._heartbeat - self._clock.monotonic()
        if remaining > 0:
            return remaining
        self._checked_at = self._clock.monotonic()
        now, workers = await self._store.workers.snapshot(self._namespace, now=self._clock.now())
        waiting = await self._store.runs.list_waiting(self._namespace, now=self._clock.now())
        unserved = {
            (runs.queue, runs.target): (runs, reason)
            for runs in waiting
            # Others drain, and are probably being replaced, or are busy.
            if (reason := unserved_reason(runs.queue, runs.target, workers)).startswith("no live worker")
        }
        for queue, target in [key for key in self._logged if key not in unserved]:
            log.info("no run of %s waits in queue %r for a worker that serves it", describe_target(target), queue)
            del self._logged[queue, target]
        late = {
            key: found
            for key, found in unserved.items()
            if (now - found[0].since).total_seconds() >= _MIN_WAIT * self._heartbeat
        }
        self._log([found for key, found in late.items() if key not in self._logged])
        self._logged.update(dict.fromkeys(late))
        return _INTERVAL * self._heartbeat if len(late) < len(unserved) else None

    def _log(self, unserved: list[tuple[WaitingRuns, str]]) -> None:
        for runs, reason in unserved[:_MAX_LOGGED]:
            log.warning(
                "%s: %s of %s in queue %r cannot start, the oldest since %s. Start: %s",
                reason,
                count(runs.count, "run"),
                describe_target(runs.target),
                runs.queue,
                _text(runs.since),
                target_worker_command(runs.queue, runs.target),
            )
        if len(unserved) > _MAX_LOGGED:
            log.warning("runs of %d more targets cannot start: see `tickbird doctor`", len(unserved) - _MAX_LOGGED)


def _text(at: datetime) -> str:
    return at.isoformat(sep=" ", timespec="seconds")
