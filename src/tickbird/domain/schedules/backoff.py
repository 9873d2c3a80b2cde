"""Delay before a retry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before a retry: full jitter below `base * 2 ** failures`, at most `max`."""

    base: int = 1
    max: int = 300

    def delay(self, failures: int, chance: float) -> float:
        """Return the seconds before the next attempt after `failures` failures; `chance` is uniform in [0, 1)."""
        return chance * float(min(self.max, self.base * 2 ** min(failures - 1, 40)))
