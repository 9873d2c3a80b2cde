"""The planning step: decide what is due, and say when something will be."""

from __future__ import annotations

import logging
from collections.abc import Callable

from tickbird.engine.clock import Clock, ClockWatch
from tickbird.store.protocol import Planned, Store

log = logging.getLogger("tickbird.engine")


class Planning:
    """Plans due schedules in batches until none is left."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        on_runs: Callable[[], None],
        batch: int = 500,
        watch: ClockWatch | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._on_runs = on_runs
        self._batch = batch
        self._watch = watch or ClockWatch(clock)

    async def step(self) -> float | None:
        """Plan one batch; the seconds until the next schedule is due."""
        began = self._clock.monotonic()
        expected = self._watch.expected()
        planned = await self._store.plan_due(self._batch, expected=expected, now=self._clock.now())
        if planned.runs:
            self._on_runs()
        _tell(planned)
        if not self._watch.believes(planned.now, began, expected):
            return self._watch.patience
        if planned.more:
            return 0.0
        if planned.next_at is None:
            return None
        # The store looked at its clock when the step began, so what the step took is already part of the wait.
        return (planned.next_at - planned.now).total_seconds() - (self._clock.monotonic() - began)


def _tell(planned: Planned) -> None:
    for name in planned.parked:
        log.error("schedule %s is parked: `tickbird show %s` tells why", name, name)
    if planned.schedules:
        log.debug("planned %d schedules: %d runs, %d skips", planned.schedules, planned.runs, planned.skips)
