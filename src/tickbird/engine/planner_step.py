"""The planning step: plan due schedules, and return when the next one is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tickbird.domain.errors import SchedulesUnusableError, StoreUnavailableError
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.dispatcher import Dispatcher
from tickbird.engine.fallback import Fallback
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")
_MAX_LOGGED = 20


# Seconds that a batch takes. Above the first value, the next batch is half as large, so that new ticks and other
# planners do not wait long. Below the second, batches are planned in parallel. Below the third, the next is doubled.
_SHRINK_ABOVE: Final = 0.1
_PARALLEL_BELOW: Final = 0.05
_GROW_BELOW: Final = 0.025
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
        clock_guard: ClockGuard | None = None,
        dispatcher: Dispatcher | None = None,
        fallback: Fallback | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._on_runs = on_runs
        self._batch = batch
        # The number of batches planned in parallel: this process decides one while the database writes another. And the
        # number after an idle time: many ticks that are due together now are probably due together again.
        self._parallel_batches = 1
        self._parallel_after_idle = 1
        self._was_idle = True
        self._clock_guard = clock_guard or ClockGuard(clock)
        # Starts the runs that are handed off to this worker.
        self._dispatcher = dispatcher
        self._fallback = fallback or Fallback(clock, max_age=None)
        # Called with the numbers of planned runs and skips.
        self.on_planned: Callable[[int, int], None] = lambda runs, skips: None
        # Called after a batch that may have published events.
        self.on_events: Callable[[], None] = lambda: None

    async def step(self, term: int | None = None) -> float | None:
        """Plan one or more batches; returns the seconds until the next schedule is due.

        In leader mode, `term` is the term of this worker.
        """
        began = self._clock.monotonic()
        expected = self._clock_guard.expected()
        try:
            return await self._step(began, expected, term)
        except StoreUnavailableError:
            # A batch that timed out would time out again.
            self._batch, self._parallel_after_idle = max(1, self._batch // 2), 1
            raise
        except SchedulesUnusableError as error:
            self._fallback.start(error)
            raise

    async def _step(self, began: float, expected: ClockBounds | None, term: int | None) -> float | None:
        was_idle, parallel_batches, self._parallel_batches = self._was_idle, self._parallel_batches, 1
        if parallel_batches == 1:
            plans = [await self._plan(expected, 1, term)]
        else:
            # Each batch is offered an equal share of the free slots.
            shares = range(parallel_batches, 0, -1)
            plans = await asyncio.gather(*(self._plan(expected, sharers, term) for sharers in shares))
        # The batch that was planned last has read the schedules that the others left.
        last = max(plans, key=lambda result: result.now)
        if not self._clock_guard.trusts(last.now, began, expected):
            return self._clock_guard.recheck_after
        seconds = self._clock.monotonic() - began
        more = any(result.more for result in plans)
        self._fallback.on_planned(last.now, complete=not more)
        if was_idle:
            self._parallel_after_idle = self._store.planners if more and seconds < _SHRINK_ABOVE else 1
        self._was_idle = not more
        if more:
            self._parallel_batches = self._adapt(seconds)
            return 0.0
        self._parallel_batches = self._parallel_after_idle
        if last.next_at is None:
            return None
        # The store read its clock at the start of the step, so the step's duration is part of the wait.
        return (last.next_at - last.now).total_seconds() - seconds

    async def _plan(self, expected: ClockBounds | None, sharers: int, term: int | None) -> PlanResult:
        offer = None if self._dispatcher is None else self._dispatcher.offer(sharers)
        hand_off = None if offer is None else offer.hand_off
        leased: Sequence[ClaimedRun] = ()
        try:
            result = await self._store.planning.plan_due(
                self._batch, hand_off=hand_off, expected=expected, term=term, now=self._clock.now()
            )
            leased = result.leased
        finally:
            if self._dispatcher is not None and offer is not None:
                self._dispatcher.accept(offer, leased)
        if result.runs > len(result.leased):
            self._on_runs()
        if result.events or result.runs > len(result.leased):
            self.on_events()
        self.on_planned(result.runs, result.skips)
        _log_result(result)
        return result

    def _adapt(self, seconds: float) -> int:
        """Adapt the size of the next batch to the duration of this one; returns how many to plan in parallel."""
        if seconds > _SHRINK_ABOVE:
            self._batch = max(min(_MIN_COUNT, self._batch), self._batch // 2)
        elif seconds < _GROW_BELOW or self._batch < _MIN_COUNT:
            self._batch = min(_MAX_COUNT, self._batch * 2)
        return self._store.planners if seconds < _PARALLEL_BELOW else 1


def _log_result(planned: PlanResult) -> None:
    for name in planned.parked:
        log.error("schedule %s is parked: `tickbird show %s` shows the error", name, name)
    for refused in planned.refused[:_MAX_LOGGED]:
        log.error(
            "schedule %s cannot be planned: %s; retrying at %s", refused.schedule, refused.error, refused.retry_at
        )
    if len(planned.refused) > _MAX_LOGGED:
        log.error("%d more schedules cannot be planned", len(planned.refused) - _MAX_LOGGED)
    if planned.schedules:
        log.debug("planned %d schedules: %d runs, %d skips", planned.schedules, planned.runs, planned.skips)
