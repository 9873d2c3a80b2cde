"""What this worker may do as things stand.

Is the store a copy, has it the zone rules that the store goes by, and is its code new enough for the schema?
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from tickbird.domain.time.zone_data import MovedSchedule, Zones
from tickbird.domain.workers import CLOCK_JUMPED, HeartbeatResult, Worker, worker_with_clock_alarm
from tickbird.engine.clock import ACCEPT_AFTER, Clock
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# Moves that are told one by one; `tickbird zones` and the audit have them all.
_MAX_LOGGED: Final = 50


class WorkerReadiness:
    """Compared when the worker begins, and again when a heartbeat shows that something has changed."""

    def __init__(self, store: Store, clock: Clock, *, plans: bool, off: str = "") -> None:
        self._store = store
        self._clock = clock
        self._plans = plans
        # Why it plans nothing though it could.
        self._off = off
        self._zones: Zones | None = None
        self._copied = ""
        # The worker that has seen the store's clock jump before this one began.
        self.doubt = ""
        # When each such worker was last seen, by the store's clock, and since when that is known, by the steady one.
        self._alarms: dict[str, tuple[datetime | None, float]] = {}
        # Why its code may not go on with this store.
        self.outdated = ""
        # Where computing cursors anew has come to; None: there is nothing to compute.
        self._reached: int | None = None
        self._moved = 0
        self.on_change: Callable[[], None] = lambda: None
        self.on_outdated: Callable[[], None] = lambda: None
        # Somebody wants it to end.
        self.on_drained: Callable[[], None] = lambda: None
        self._drained = False

    @property
    def may_work(self) -> bool:
        """May it plan and execute? A copy of a store does neither until somebody accepts it, nor does code too old."""
        return not self._copied and not self.outdated and not self.doubt

    @property
    def standby_reason(self) -> str:
        """What holds this worker back, in words; empty when nothing does."""
        doubt = self.doubt and f"waits: worker {self.doubt} has seen the store's clock jump"
        reasons = [self._copied and f"does nothing: {self._copied}", doubt, self._off, self._other_zones()]
        return "; ".join(filter(None, reasons))

    async def begin(self) -> None:
        """Compare before anything is planned or claimed."""
        self._see_copy((await self._store.identity.check()).copy_reason)
        if self._off:
            log.warning("this worker %s", self._off)
        await self._compare()

    async def check_clock(self, namespace: str, now: datetime) -> None:
        """A new worker cannot know by itself that the store's clock has jumped, so it asks those who do."""
        workers = await self._store.workers.list(namespace, now=self._clock.now())
        found = worker_with_clock_alarm([worker for worker in workers if not self._is_silent(worker)], now)
        before, self.doubt = self.doubt, "" if found is None else found.id
        if self.doubt and not before:
            log.error(
                "this worker plans and executes nothing yet: worker %s has seen the store's clock jump", self.doubt
            )
        elif before and not self.doubt:
            log.warning("the store's clock is believed again: this worker goes on")
            self.on_change()

    def _is_silent(self, worker: Worker) -> bool:
        """Has it told nothing more for as long as an alarm lasts? Then it was lost before it believed the clock."""
        if CLOCK_JUMPED not in worker.standby_reason:
            return False
        last_heartbeat_at, since = self._alarms.get(worker.id, (None, 0.0))
        if last_heartbeat_at != worker.last_heartbeat_at or last_heartbeat_at is None:
            self._alarms[worker.id] = worker.last_heartbeat_at, self._clock.monotonic()
            return False
        return self._clock.monotonic() - since >= ACCEPT_AFTER

    def see(self, reported: HeartbeatResult) -> None:
        """What a heartbeat tells: somebody may drain it, accept a copy, adopt zone rules, or migrate the store."""
        if reported.drain_requested_by and not self._drained:
            log.warning("this worker takes nothing more and ends: %s drains it", reported.drain_requested_by)
            self._drained = True
            self.on_drained()
        if reported.outdated_reason and not self.outdated:
            log.error("this worker takes nothing more and ends: %s", reported.outdated_reason)
            self.outdated = reported.outdated_reason
            self.on_outdated()
        self._see_copy(reported.copy_reason)
        known = self._zones.stored.generation if self._zones is not None and self._zones.stored is not None else 0
        if self._plans and reported.zones != known:
            self._zones = None
            self.on_change()

    async def step(self) -> float | None:
        """Compare zone rules where that is called for, then compute cursors anew, a batch at a time."""
        if not self.may_work:
            return None
        await self._compare()
        if self._reached is None:
            return None
        followed = await self._store.zone_data.recompute(self._reached, now=self._clock.now())
        self._log_moves(followed.moved)
        self._reached = followed.reached
        if self._reached is not None:
            return 0.0
        if self._moved:
            log.warning("zone data: the next ticks of %d schedules moved; `tickbird zones` tells more", self._moved)
        return None

    async def _compare(self) -> None:
        if not self._plans or self._copied or self._zones is not None:
            return
        zones = self._zones = await self._store.zone_data.check(adopt=True, now=self._clock.now())
        if zones.adopted:
            # Of a new store it is no news.
            level = logging.INFO if zones.generation == 1 else logging.WARNING
            log.log(level, "zone data: the store now goes by %s", zones.here)
        if why := self._other_zones():
            log.error("this worker %s", why)
        elif zones.stored is not None and zones.stored.recomputed_at is None:
            # Also when another worker began and did not come to the end of it.
            self._reached, self._moved = 0, 0

    def _other_zones(self) -> str:
        zones = self._zones
        if zones is None or zones.same or zones.stored is None:
            return ""
        stored, here = zones.stored, zones.here
        older = here.version < stored.version
        return (
            f"plans only schedules in UTC: its zone data {here} is {'older than' if older else 'not'} the store's "
            f"{stored.version} ({stored.digest[:8]}); install that tzdata here, or let the store go by this one with "
            "`tickbird zones --adopt`"
        )

    def _see_copy(self, copied: str) -> None:
        if copied and copied != self._copied:
            log.error("this worker plans and executes nothing: %s", copied)
        elif self._copied and not copied:
            log.warning("the copy was accepted: this worker goes on")
        changed, self._copied = bool(self._copied) != bool(copied), copied
        if changed:
            self.on_change()

    def _log_moves(self, moved: Sequence[MovedSchedule]) -> None:
        for each in moved:
            if self._moved < _MAX_LOGGED:
                log.warning(
                    "zone data: the next look at %s moved from %s to %s", each.schedule, each.before, each.after
                )
            self._moved += 1
