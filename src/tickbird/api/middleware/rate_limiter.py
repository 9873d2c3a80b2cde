"""Rate limits of requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_MAX_KEYS: Final = 10_000


class RateLimiter:
    """Allows each key `per_second` requests on average, and `burst` at once (GCRA)."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1 / per_second
        self._slack = burst * self._gap
        self._clock = clock
        # The theoretical arrival time of the next request of each key.
        self._arrivals: dict[str, float] = {}

    def take(self, key: str) -> float:
        """Count a request; returns 0, or the seconds to wait if it is refused."""
        now = self._clock()
        arrival = max(now, self._arrivals.get(key, now)) + self._gap
        wait = arrival - now - self._slack
        if wait > 1e-9:
            return wait
        if len(self._arrivals) >= _MAX_KEYS:
            self._arrivals = {other: at for other, at in self._arrivals.items() if at > now}
        self._arrivals[key] = arrival
        return 0.0
