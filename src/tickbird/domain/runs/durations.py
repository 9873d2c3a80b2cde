"""Statistics of run durations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Of the newest MAX_RUNS_READ runs of a schedule, at most MAX_MEASURED that succeeded count.
MAX_RUNS_READ: Final = 50
MAX_MEASURED: Final = 20


@dataclass(frozen=True, slots=True)
class DurationStats:
    """Durations of the last `runs` successful runs of a schedule, in seconds."""

    median: float
    p90: float
    runs: int


def duration_stats(seconds: Sequence[float]) -> DurationStats:
    """Return the statistics of at least one duration, newest first."""
    durations = sorted(seconds[:MAX_MEASURED])
    middle = len(durations) // 2
    median = durations[middle] if len(durations) % 2 else (durations[middle - 1] + durations[middle]) / 2
    return DurationStats(median, durations[min(len(durations) - 1, len(durations) * 9 // 10)], len(durations))
