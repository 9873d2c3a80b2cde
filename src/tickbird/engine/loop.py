"""The only loop: call a step, then sleep until its next call is due or a wake-up arrives."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from tickbird.domain.errors import StoreError

log = logging.getLogger("tickbird.engine")

Step = Callable[[], Awaitable[float | None]]


def _always() -> bool:
    return True


_MAX_BACKOFF = 10.0


class StepLoop:
    """Calls one step repeatedly. A step returns the seconds to sleep; None means the maximum."""

    def __init__(self, name: str, step: Step, safety_poll: float, may_step: Callable[[], bool] = _always) -> None:
        self.name = name
        self._step = step
        self._may_step = may_step
        self._safety_poll = safety_poll
        self._wake = asyncio.Event()
        self._stopping = False
        self.failures = 0

    def wake(self) -> None:
        """Call the step again soon; several calls before that count as one."""
        self._wake.set()

    def stop(self) -> None:
        """End after the current step."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Run until stopped. A failing step is logged and retried, with growing delays."""
        while not self._stopping:
            # Cleared before the step reads the store, so that later work wakes it again.
            self._wake.clear()
            delay = await self._try()
            if delay > 0 and not self._stopping:
                try:
                    async with asyncio.timeout(delay):
                        await self._wake.wait()
                except TimeoutError:
                    pass

    async def _try(self) -> float:
        try:
            delay = await self._step() if self._may_step() else None
        except StoreError as error:
            self.failures += 1
            log.warning("%s failed, retrying: %s", self.name, error)
        except Exception:
            self.failures += 1
            log.exception("%s failed, retrying", self.name)
        else:
            if self.failures:
                log.info("%s works again after %d failures", self.name, self.failures)
            self.failures = 0
            return self._safety_poll if delay is None else min(max(delay, 0.0), self._safety_poll)
        return random.uniform(0.5, 1.0) * min(_MAX_BACKOFF, 0.1 * float(2 ** min(self.failures, 10)))  # noqa: S311
