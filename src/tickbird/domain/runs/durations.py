"""How long the runs of a schedule take, by its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# So many of the newest runs of a schedule are looked at, for so many that succeeded.
LOOKED_AT: Final = 50
MAX_MEASURED: Final = 20


@dataclass(frozen=True, slots=True)
class DurationStats:
    """How long the last successful runs of a schedule took, in seconds; of so many."""

    median: float
    p90: float
    runs: int


def run_length(seconds: Sequence[float]) -> DurationStats:
    """How long runs take of which these took so long, newest first; there must be one."""
    taken = sorted(seconds[:MAX_MEASURED])
    middle = len(taken) // 2
    median = taken[middle] if len(taken) % 2 else (taken[middle - 1] + taken[middle]) / 2
    return DurationStats(median, taken[min(len(taken) - 1, len(taken) * 9 // 10)], len(taken))
