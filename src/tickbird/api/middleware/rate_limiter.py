"""How often somebody may ask."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

_MAX_KEYS: Final = 10_000


class RateLimiter:
    """Lets each key pass so often a second in the long run, and `burst` times at once."""

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._gap = 1 / per_second
        self._slack = burst * self._gap
        self._clock = clock
        # When each key would have been through, had it come at an even pace.
        self._even: dict[str, float] = {}

    def take(self, key: str) -> float:
        """Pass once: 0, or the seconds to wait before that is possible."""
        now = self._clock()
        even = max(now, self._even.get(key, now)) + self._gap
        wait = even - now - self._slack
        if wait > 1e-9:
            return wait
        if len(self._even) >= _MAX_KEYS:
            self._even = {each: at for each, at in self._even.items() if at > now}
        self._even[key] = even
        return 0.0
