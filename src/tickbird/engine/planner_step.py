"""The planning step: decide what is due, and say when something will be."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.dispatcher import Dispatcher
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")
_MAX_LOGGED = 20


# Seconds that a batch may take before the next one is half as large: what is due meanwhile, and other planners, wait no
# longer. Below the second figure two are planned at once, below the third the next one is twice as large.
_LONG: Final = 0.1
_BRISK: Final = 0.05
_SHORT: Final = 0.025
_MIN_COUNT: Final = 100
_MAX_COUNT: Final = 500


class PlannerStep:
    """Plans due schedules in batches until none is left."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        on_runs: Callable[[], None],
        batch: int = _MAX_COUNT,
        watch: ClockGuard | None = None,
        dispatcher: Dispatcher | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._on_runs = on_runs
        self._batch = batch
        # How many batches at once: of two, one is decided here while the database writes the other. And how many when
        # something comes due after a rest: what ticks together now most likely did so before.
        self._at_once = 1
        self._at_first = 1
        self._rested = True
        self._watch = watch or ClockGuard(clock)
        # Starts those runs that are leased to this worker as they are made.
        self._dispatcher = dispatcher

    async def step(self) -> float | None:
        """Plan a batch or two; the seconds until the next schedule is due."""
        began = self._clock.monotonic()
        expected = self._watch.expected()
        rested, at_once, self._at_once = self._rested, self._at_once, 1
        if at_once == 1:
            plans = [await self._plan(expected, 1)]
        else:
            # What is free is shared out, since nobody knows who finds more.
            plans = await asyncio.gather(*(self._plan(expected, at_once - place) for place in range(at_once)))
        # Batches at once are answered at nearly the same instant; what one left, the last to look has seen.
        last = max(plans, key=lambda planned: planned.now)
        if not self._watch.believes(last.now, began, expected):
            return self._watch.recheck_after
        took = self._clock.monotonic() - began
        more = any(planned.more for planned in plans)
        if rested:
            self._at_first = self._store.planners if more and took < _LONG else 1
        self._rested = not more
        if more:
            self._at_once = self._adapt(took)
            return 0.0
        self._at_once = self._at_first
        if last.next_at is None:
            return None
        # The store looked at its clock when the step began, so what the step took is already part of the wait.
        return (last.next_at - last.now).total_seconds() - took

    async def _plan(self, expected: ClockBounds | None, sharers: int) -> PlanResult:
        offer = None if self._dispatcher is None else self._dispatcher.offer(sharers)
        hand_off = None if offer is None else offer.hand_off
        leased: Sequence[ClaimedRun] = ()
        try:
            planned = await self._store.planning.plan_due(
                self._batch, hand_off=hand_off, expected=expected, now=self._clock.now()
            )
            leased = planned.leased
        finally:
            if self._dispatcher is not None and offer is not None:
                self._dispatcher.accept(offer, leased)
        if planned.runs > len(planned.leased):
            self._on_runs()
        _log_result(planned)
        return planned

    def _adapt(self, took: float) -> int:
        """More is due than one batch: take more or less of it at a time; how many at once."""
        if took > _LONG:
            self._batch = max(_MIN_COUNT, self._batch // 2)
        if took < _SHORT:
            self._batch = min(_MAX_COUNT, self._batch * 2)
        return self._store.planners if took < _BRISK else 1


def _log_result(planned: PlanResult) -> None:
    for name in planned.parked:
        log.error("schedule %s is parked: `tickbird show %s` tells why", name, name)
    for refused in planned.refused[:_MAX_LOGGED]:
        log.error(
            "schedule %s cannot be planned: %s; trying again at %s", refused.schedule, refused.error, refused.retry_at
        )
    if len(planned.refused) > _MAX_LOGGED:
        log.error("%d other schedules cannot be planned either", len(planned.refused) - _MAX_LOGGED)
    if planned.schedules:
        log.debug("planned %d schedules: %d runs, %d skips", planned.schedules, planned.runs, planned.skips)
