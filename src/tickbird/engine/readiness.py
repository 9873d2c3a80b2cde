"""Readiness: may this worker plan and execute, and if not, why?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from tickbird.domain.time.zone_data import MovedSchedule, Zones
from tickbird.domain.workers import CLOCK_JUMPED, HeartbeatResult, Worker, find_clock_alarm
from tickbird.engine.clock import ACCEPT_AFTER, Clock
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# At most this many moved ticks are logged; `tickbird zones` and the audit log have all.
_MAX_LOGGED: Final = 50


class WorkerReadiness:
    """Checks for a copied store, different time zone data, and a schema that is too new for this code.

    Checked when the worker starts, and again when a heartbeat reports a change.
    """

    def __init__(self, store: Store, clock: Clock, *, plans: bool, off: str = "") -> None:
        self._store = store
        self._clock = clock
        self._plans = plans
        # Why planning is switched off; empty if it is not.
        self._off = off
        self._zones: Zones | None = None
        self._copied = ""
        # The id of a worker that reports a jump of the store's clock from before this worker started.
        self.clock_alarm_by = ""
        # Per such worker: its last heartbeat by the store's clock, and the monotonic instant at which we first read it.
        self._alarms: dict[str, tuple[datetime | None, float]] = {}
        # The reason why this code may no longer use the store.
        self.outdated_reason = ""
        # The last schedule id whose cursor is recomputed; None: there is nothing to recompute.
        self._reached: int | None = None
        self._moved = 0
        self.on_change: Callable[[], None] = lambda: None
        self.on_outdated: Callable[[], None] = lambda: None
        # Called when a person has requested a drain.
        self.on_drained: Callable[[], None] = lambda: None
        self._drained = False

    @property
    def may_work(self) -> bool:
        """May it plan and execute? Not in a copy that is not accepted, with old code, or with a wrong clock."""
        return not self._copied and not self.outdated_reason and not self.clock_alarm_by

    @property
    def plans_all_zones(self) -> bool:
        """False if it plans only schedules in UTC, because its time zone data is not the store's."""
        return not self._other_zones()

    @property
    def standby_reason(self) -> str:
        """The reason for standby, as text; empty if the worker is ready."""
        alarm = self.clock_alarm_by and f"waits: worker {self.clock_alarm_by} detected a jump of the store's clock"
        reasons = [self._copied and f"does nothing: {self._copied}", alarm, self._off, self._other_zones()]
        return "; ".join(filter(None, reasons))

    async def begin(self) -> None:
        """Check everything before the first plan and claim."""
        self._update_copy((await self._store.identity.check()).copy_reason)
        if self._off:
            log.warning("this worker %s", self._off)
        await self._compare()

    async def check_clock(self, namespace: str, now: datetime) -> None:
        """Read alarms of other workers: a new worker cannot detect an earlier jump."""
        workers = await self._store.workers.list(namespace, now=self._clock.now())
        alarmed = find_clock_alarm([worker for worker in workers if not self._is_silent(worker)], now)
        before, self.clock_alarm_by = self.clock_alarm_by, "" if alarmed is None else alarmed.id
        if self.clock_alarm_by and not before:
            log.error(
                "this worker is on standby: worker %s detected a jump of the store's clock",
                self.clock_alarm_by,
            )
        elif before and not self.clock_alarm_by:
            log.warning("the store's clock is trusted again: this worker continues")
            self.on_change()

    def _is_silent(self, worker: Worker) -> bool:
        """True if it sent no heartbeat for as long as an alarm lasts: it was lost during the alarm."""
        if CLOCK_JUMPED not in worker.standby_reason:
            return False
        last_heartbeat_at, since = self._alarms.get(worker.id, (None, 0.0))
        if last_heartbeat_at != worker.last_heartbeat_at or last_heartbeat_at is None:
            self._alarms[worker.id] = worker.last_heartbeat_at, self._clock.monotonic()
            return False
        return self._clock.monotonic() - since >= ACCEPT_AFTER

    def on_heartbeat(self, result: HeartbeatResult) -> None:
        """Handle the result of a heartbeat: a drain, an accepted copy, adopted time zone data, or a migrated store."""
        if result.drain_requested_by and not self._drained:
            log.warning("draining: requested by %s", result.drain_requested_by)
            self._drained = True
            self.on_drained()
        if result.outdated_reason and not self.outdated_reason:
            log.error("draining: %s", result.outdated_reason)
            self.outdated_reason = result.outdated_reason
            self.on_outdated()
        self._update_copy(result.copy_reason)
        generation = self._zones.stored.generation if self._zones is not None and self._zones.stored is not None else 0
        if self._plans and result.zones != generation:
            self._zones = None
            self.on_change()

    async def step(self) -> float | None:
        """Compare time zone data if necessary, then recompute cursors, one batch per step."""
        if not self.may_work:
            return None
        await self._compare()
        if self._reached is None:
            return None
        recomputed = await self._store.zone_data.recompute(self._reached, now=self._clock.now())
        self._log_moves(recomputed.moved)
        self._reached = recomputed.reached
        if self._reached is not None:
            return 0.0
        if self._moved:
            log.warning(
                "time zone data: the next ticks of %d schedules moved; `tickbird zones` shows details", self._moved
            )
        return None

    async def _compare(self) -> None:
        if not self._plans or self._copied or self._zones is not None:
            return
        zones = self._zones = await self._store.zone_data.check(adopt=True, now=self._clock.now())
        if zones.adopted:
            # A new store does not deserve a warning.
            level = logging.INFO if zones.generation == 1 else logging.WARNING
            log.log(level, "time zone data: the store now uses %s", zones.here)
        if reason := self._other_zones():
            log.error("this worker %s", reason)
        elif zones.stored is not None and zones.stored.recomputed_at is None:
            # Necessary also if another worker started to recompute and did not finish.
            self._reached, self._moved = 0, 0

    def _other_zones(self) -> str:
        zones = self._zones
        if zones is None or zones.same or zones.stored is None:
            return ""
        stored, here = zones.stored, zones.here
        older = here.version < stored.version
        return (
            f"plans only schedules in UTC: its time zone data {here} is {'older than' if older else 'not'} the store's "
            f"{stored.version} ({stored.digest[:8]}); install that tzdata here, or switch the store to this one with "
            "`tickbird zones --adopt`"
        )

    def _update_copy(self, copied: str) -> None:
        if copied and copied != self._copied:
            log.error("this worker is on standby: %s", copied)
        elif self._copied and not copied:
            log.warning("the copy was accepted: this worker continues")
        changed, self._copied = bool(self._copied) != bool(copied), copied
        if changed:
            self.on_change()

    def _log_moves(self, moved: Sequence[MovedSchedule]) -> None:
        for schedule in moved:
            if self._moved < _MAX_LOGGED:
                log.warning(
                    "time zone data: next_run_at of %s moved from %s to %s",
                    schedule.schedule,
                    schedule.before,
                    schedule.after,
                )
            self._moved += 1
