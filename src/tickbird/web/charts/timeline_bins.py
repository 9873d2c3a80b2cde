"""Bins for rows with too many ticks: equal intervals with counts by kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.web.charts.chart import TableRows
from tickbird.web.charts.labels import clean, count, listing, short_count
from tickbird.web.charts.svg import Svg, focusable, joined, rect
from tickbird.web.charts.symbols import LABELS, Kind, shape
from tickbird.web.charts.time_scale import abbreviation, time_text, wall, weekday_text
from tickbird.web.charts.timeline_symbols import Symbol, Window, begins, kind_of, size_of

_SYMBOL_SPACING = 11.0  # average distance in pixels at which symbols can be distinguished
_BIN = 16.0  # minimum width of a bin in pixels
_SPANS = (1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800)
_RATES = (("s", 1), ("min", 60), ("h", 3_600), ("d", 86_400), ("week", 604_800))
# A symbol above the bin shows these kinds.
_NOTABLE: tuple[Kind, ...] = ("failed", "skipped", "will_skip", "cancelled")


@dataclass(frozen=True, slots=True)
class Bin:
    """An interval with the number of ticks per kind."""

    start: float
    end: float
    kinds: dict[Kind, int]

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


def is_crowded(marks: Sequence[Symbol], width: float) -> bool:
    """True if there are too many symbols to draw each."""
    return len(marks) * _SYMBOL_SPACING > width


def bins(marks: Sequence[Symbol], window: Window, width: float) -> list[Bin]:
    """Return the bins with ticks, in order; a range of skips counts at its start."""
    maximum = max(1, int(width / _BIN))
    span = next((seconds for seconds in _SPANS if (window.end - window.start) / seconds <= maximum), None)
    step = float(span) if span is not None else (window.end - window.start) / maximum
    by_bin: dict[int, dict[Kind, int]] = {}
    for symbol in marks:
        place = int(min(max(begins(symbol), window.start), window.end) // step)
        kinds = by_bin.setdefault(place, {})
        kinds[kind_of(symbol)] = kinds.get(kind_of(symbol), 0) + size_of(symbol)
    return [
        Bin(max(place * step, window.start), min((place + 1) * step, window.end), by_bin[place])
        for place in sorted(by_bin)
    ]


def rate(marks: Sequence[Symbol], window: Window) -> str:
    """Format a rate in a convenient unit: "60/h"."""
    ticks_a_second = sum(map(size_of, marks)) / max(1.0, window.end - window.start)
    unit, seconds = next((rate for rate in _RATES if ticks_a_second * rate[1] >= 2), _RATES[-1])
    return f"{short_count(max(1, round(ticks_a_second * seconds)))}/{unit}"


def draw_bin(
    tick_bin: Bin, highest: int, name: str, href: str | None, y: float, window: Window, table: TableRows
) -> Svg:
    """Draw a column stacked by kind, with a symbol above for notable kinds."""
    right = window.x(tick_bin.end)
    left = min(window.x(tick_bin.start), right - 2)
    counts = listing({LABELS[kind]: tick_bin.kinds.get(kind, 0) for kind in LABELS})
    tz = window.tz
    span = (
        f"{weekday_text(wall(tick_bin.start, tz))} {time_text(tick_bin.start, tz)}"
        f"–{time_text(tick_bin.end, tz)} {abbreviation(tick_bin.start, tz)}"
    )
    table.add(name, span, counts, "", "", count(tick_bin.total, "tick"), href=href)
    full = 20.0 * (0.35 + 0.65 * tick_bin.total / highest)
    bottom, parts = y + 11.0, []
    for kind in (kind for kind in LABELS if kind in tick_bin.kinds):
        part = full * tick_bin.kinds[kind] / tick_bin.total
        bottom -= part
        parts.append(rect(left + 0.5, bottom, right - left - 1, part, f"pic-column is-{kind}"))
    notable = next((kind for kind in _NOTABLE if kind in tick_bin.kinds), None)
    if notable is not None:
        parts.append(shape(notable, (left + right) / 2, y, 4))
    hit = rect(left, y - 13, right - left, 26, "pic-hit")
    return focusable(f"{clean(name, 120)}: {span}: {counts}", href, hit, joined(*parts))
