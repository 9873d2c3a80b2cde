"""Series of samples, and their growth: a robust slope over the later part, compared with thresholds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Word = Literal["flat", "growing", "too short"]

# Caches fill, pools open, tables get their free space: growth counts only after this share of the time.
WARM_UP: Final = 0.4
# With fewer samples there is no verdict.
MIN_COUNT: Final = 8
# In a shorter time many values have not reached their level: only growth above this multiple of the limit counts.
SHORT_SECONDS, SHORT_TIMES = 60.0, 10.0


@dataclass(frozen=True, slots=True)
class Threshold:
    """The maximum growth that counts as flat: a share of the level or an amount, the larger one."""

    share: float
    amount: float

    def allowed(self, level: float) -> float:
        """The maximum growth of a series with this level."""
        return max(self.share * abs(level), self.amount)


# By kind of series. Vacuum removes dead rows in bursts, so only many more of them count.
THRESHOLDS: Final = {
    "memory": Threshold(0.05, 4.0),
    "descriptors": Threshold(0.10, 3.0),
    "threads": Threshold(0.10, 3.0),
    "connections": Threshold(0.20, 4.0),
    "table size": Threshold(0.15, 0.5),
    "index size": Threshold(0.15, 0.5),
    "dead rows": Threshold(0.50, 5_000.0),
    "file size": Threshold(0.15, 0.5),
    "rows": Threshold(0.20, 200.0),
}
UNITS: Final = {"memory": "MB", "table size": "MB", "index size": "MB", "file size": "MB"}


@dataclass
class Series:
    """One value over time: `kind` selects the threshold, `name` identifies it within its kind."""

    kind: str
    name: str
    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, at: float, value: float) -> None:
        self.seconds.append(at)
        self.values.append(value)


@dataclass(frozen=True, slots=True)
class Judged:
    """A series with its verdict: its growth over the later part, and the allowed growth."""

    kind: str
    name: str
    level: float
    growth: float
    allowed: float
    word: Word


def slope(seconds: Sequence[float], values: Sequence[float]) -> float:
    """The median of the slopes between all pairs: a few outliers, as after a fault, do not change it."""
    pairs = [
        (values[late] - values[early]) / (seconds[late] - seconds[early])
        for early in range(len(values))
        for late in range(early + 1, len(values))
        if seconds[late] > seconds[early]
    ]
    return statistics.median(pairs) if pairs else 0.0


def judge(series: Series, end: float) -> Judged:
    """Judge the growth between the end of the warm-up and the end of the soak."""
    later = [(at, value) for at, value in zip(series.seconds, series.values, strict=True) if at >= WARM_UP * end]
    if len(later) > 400:
        # There are many pairs, and neighbours are similar.
        later = later[:: len(later) // 200]
    level = statistics.median(value for _, value in later) if later else 0.0
    allowed = THRESHOLDS[series.kind].allowed(level)
    if len(later) < MIN_COUNT:
        return Judged(series.kind, series.name, level, 0.0, allowed, "too short")
    times, values = [at for at, _ in later], [value for _, value in later]
    growth = slope(times, values) * (times[-1] - times[0])
    short = times[-1] - times[0] < SHORT_SECONDS
    word: Word = "too short" if short else "flat"
    if growth > allowed * (SHORT_TIMES if short else 1.0):
        word = "growing"
    return Judged(series.kind, series.name, level, growth, allowed, word)
