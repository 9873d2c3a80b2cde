"""The lateness of runs: a histogram with logarithmic bins from 1 ms to 1 h."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import count, length, number, room_for, short_count
from tickbird.web.charts.scales import Linear, integer_steps, percentile
from tickbird.web.charts.svg import Svg, focusable, group, label, line, rect

# Edges of the bins in seconds; a value on an edge belongs to the later bin.
EDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0)
_ENDS = (
    "1 ms",
    "3 ms",
    "10 ms",
    "30 ms",
    "0.1 s",
    "0.3 s",
    "1 s",
    "3 s",
    "10 s",
    "30 s",
    "1 min",
    "5 min",
    "15 min",
    "1 h",
)
NAMES = (f"<{_ENDS[0]}", *(f"{low}–{high}" for low, high in pairwise(_ENDS)), f"≥{_ENDS[-1]}")
_HEADS = ("lateness", "runs", "share")


@dataclass(frozen=True, slots=True)
class Lateness:
    """Counts per bin, p50 and p99 in seconds, and the number of runs that started `early`."""

    counts: tuple[int, ...]
    p50: float
    p99: float
    early: int = 0

    @property
    def total(self) -> int:
        return sum(self.counts)


def measure(seconds: Iterable[float]) -> Lateness:
    """Count values in seconds; NaN is ignored, and early runs are in the first bin."""
    values = [float(value) for value in seconds if not math.isnan(value)]
    counts = [0] * (len(EDGES) + 1)
    for value in values:
        counts[bin_of(value)] += 1
    early = sum(1 for value in values if value < 0)
    return Lateness(tuple(counts), percentile(values, 0.5), percentile(values, 0.99), early)


def bin_of(seconds: float) -> int:
    return bisect_right(EDGES, seconds)


def lateness(measured: Lateness, *, width: float = 460, href: str | None = None) -> Chart:
    """Draw one column per bin, with lines at p50 and p99."""
    title, width = "Lateness", usable_width(width)
    counts = _padded(measured.counts)
    total = sum(counts)
    if not total:
        sentence = "No runs yet. This chart will show their lateness (start minus due)."
        return lesson("lateness", title, sentence, _HEADS, width, 120)
    frame = Frame(width, 196, 36, width - 8, 36, 160)
    steps = integer_steps(max(counts), 3)
    y = Linear(0, steps[-1], frame.bottom, frame.top)
    table = TableRows(*_HEADS)
    wide = frame.plot_width / len(counts)
    parts = [_grid(frame, steps, y)]
    for place, value in enumerate(counts):
        part = f"{number(round(100 * value / total, 1))} %"
        table.add(NAMES[place], f"{value:,}", part)
        left = frame.left + place * wide
        column = rect(left + 1.5, y(value), wide - 3, frame.bottom - y(value), "pic-column is-late", 1.5)
        if value:
            hit = rect(left, frame.top, wide, frame.bottom - frame.top, "pic-hit")
            parts.append(focusable(f"{NAMES[place]}: {count(value, 'run')}, {part}", href, hit, column))
    parts.append(_bounds(frame, wide))
    parts += _figures(frame, wide, measured)
    summary = (
        f"{count(total, 'run')}: half started within {length(max(0.0, measured.p50))}, "
        f"99% within {length(max(0.0, measured.p99))}"
    )
    summary += f"; {count(measured.early, 'was', 'were')} early, because clocks differ." if measured.early else "."
    svg = drawing("lateness", (frame.width, frame.height), title, summary, parts, has_marks=True)
    return Chart(svg, table.table(), title, summary)


def position(seconds: float) -> float:
    """Return the position on the axis in bins, logarithmic within each bin."""
    place = bin_of(seconds)
    if place == 0:
        return min(max(seconds / EDGES[0], 0.0), 1.0)
    low = EDGES[place - 1]
    high = EDGES[place] if place < len(EDGES) else 24 * low
    return place + min(1.0, math.log(min(seconds, high) / low) / math.log(high / low))


def _padded(counts: Sequence[int]) -> tuple[int, ...]:
    """Pad or truncate counts to the number of bins, and replace negative ones by 0."""
    padded = (*counts[: len(NAMES)], *([0] * (len(NAMES) - len(counts))))
    return tuple(max(0, number) for number in padded)


def _grid(frame: Frame, steps: Sequence[float], y: Linear) -> Svg:
    parts = []
    for step in steps:
        parts.append(line(frame.left, y(step), frame.right, y(step), "pic-grid" if step else "pic-base"))
        parts.append(label(short_count(step), frame.left - 6, y(step) + 4, "pic-axis", "end"))
    return group("pic-counts", *parts)


def _bounds(frame: Frame, wide: float) -> Svg:
    """Draw the labels of the edges that fit."""
    every = max(1, math.ceil(46 / wide))
    # If not all fit, prefer round values.
    shown = [
        place
        for place, end in enumerate(_ENDS)
        if every <= 1 or end in ("1 ms", "10 ms", "0.1 s", "1 s", "10 s", "1 min", "15 min")
    ]
    if every > 2:
        shown = [place for place in shown if _ENDS[place] in ("1 ms", "0.1 s", "10 s", "15 min")]
    parts = []
    for place in shown:
        x = frame.left + (place + 1) * wide
        parts.append(line(x, frame.bottom, x, frame.bottom + 4, "pic-base"))
        parts.append(label(_ENDS[place], x, frame.bottom + 17, "pic-axis", "middle"))
    return group("pic-bounds", *parts)


def _figures(frame: Frame, wide: float, measured: Lateness) -> list[Svg]:
    texts = (("p50", measured.p50), ("p99", measured.p99))
    xs = [frame.left + position(value) * wide for _, value in texts]
    parts = []
    for (name, value), x, row in zip(texts, xs, (0, 1), strict=True):
        text = f"{name} {length(max(0.0, value))}"
        top = 12.0 + 14 * row
        is_right = x + 8 + room_for(text, bold=True) > frame.width
        parts.append(line(x, top - 8, x, frame.bottom, f"pic-figure is-{name}"))
        parts.append(label(text, x - 5 if is_right else x + 5, top, "pic-figure-text", "end" if is_right else None))
    return parts
