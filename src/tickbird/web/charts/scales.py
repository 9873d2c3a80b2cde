"""Scales from values to positions, linear or logarithmic. Values outside are clamped."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Linear:
    """Maps [low, high] linearly to [start, end]; an empty range maps to start."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if not self.low < self.high or math.isnan(value):
            return self.start
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Log:
    """Maps [low, high] logarithmically to [start, end]; values up to zero map to start."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if not 0 < self.low < self.high or math.isnan(value):
            return self.start
        part = math.log(min(max(value, self.low), self.high) / self.low) / math.log(self.high / self.low)
        return self.start + part * (self.end - self.start)


def nice_steps(highest: float, maximum: int = 4) -> tuple[float, ...]:
    """Return round values from 0 to at least `highest`, at most `maximum` above 0: (0, 50, 100, 150, 200)."""
    highest = min(max(highest, 1e-6), 1e15) if math.isfinite(highest) else 1.0
    power = 10.0 ** math.floor(math.log10(highest / maximum))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power * maximum >= highest * 0.999_999)
    return tuple(step * place for place in range(math.ceil(highest / step - 1e-6) + 1))


def integer_steps(highest: float, maximum: int = 4) -> tuple[float, ...]:
    """Like `nice_steps`, but no step below 1."""
    return (0.0, 1.0) if highest <= 1 else tuple(step for step in nice_steps(highest, maximum) if step == int(step))


def time_steps(highest: float, maximum: int = 4) -> tuple[float, ...]:
    """Like `nice_steps`, for durations: 0, 30 s, 1 min, 1 min 30 s."""
    for step in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400):
        if 1.5 < highest <= step * maximum:
            return tuple(float(step * place) for place in range(math.ceil(highest / step - 1e-6) + 1))
    return (
        tuple(86_400 * days for days in nice_steps(highest / 86_400, maximum))
        if highest > 2
        else nice_steps(highest, maximum)
    )


def nice_powers(low: float, high: float) -> tuple[float, ...]:
    """Return round durations within a range: 10 ms, 1 s, 1 min, 1 h."""
    powers = (0.001, 0.01, 0.1, 1, 10, 60, 600, 3_600, 36_000, 86_400, 864_000, 8_640_000)
    return tuple(float(power) for power in powers if low <= power <= high)


def percentile(values: list[float], part: float) -> float:
    """Return the smallest value that at least this share of values does not exceed; 0 without values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered), max(1, math.ceil(part * len(ordered)))) - 1]
