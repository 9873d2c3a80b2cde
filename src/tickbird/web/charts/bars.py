"""Ticks per interval as columns: runs below, skips hatched on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.charts.axis import time_axis, zone_label
from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import count, length, short_count
from tickbird.web.charts.scales import Linear, integer_steps
from tickbird.web.charts.svg import Svg, focusable, group, label, line, path, rect
from tickbird.web.charts.symbols import hatch
from tickbird.web.charts.time_scale import epoch, moment

_HEADS = ("from", "run", "skipped")
_MIN_WIDTH = 5.0  # minimum width of a column in pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class TickBar:
    """The numbers of runs and skips in the interval that starts at `at`."""

    at: datetime
    runs: int
    skips: int = 0
    href: str | None = None


def tick_bars(
    bars: Sequence[TickBar], tz: str, *, span: float = 3_600, width: float = 960, title: str = "Ticks per hour"
) -> Chart:
    """Draw one column per interval of `span` seconds; neighbours are merged if there is not enough room."""
    width = usable_width(width)
    if not bars:
        sentence = "No ticks in this range. Choose a longer range, or active schedules."
        return lesson("bars", title, sentence, _HEADS, width, 120)
    frame = Frame(width, 200, 44, width - 44, 14, 154)
    given = len(bars)
    joined = max(1, -(-given // max(1, int(frame.plot_width / _MIN_WIDTH))))
    bars = _joined(sorted(bars, key=lambda bar: epoch(bar.at)), joined)
    span = max(1.0, span) * joined
    start, end = epoch(bars[0].at), epoch(bars[-1].at) + span
    highest = max(max(0, bar.runs) + max(0, bar.skips) for bar in bars)
    steps = integer_steps(highest, 3)
    x, y = Linear(start, end, frame.left, frame.right), Linear(0, steps[-1], frame.bottom, frame.top)
    table = TableRows(*_HEADS)
    parts = [time_axis(frame, start, end, tz), zone_label(frame, start, tz)]
    for step in steps:
        parts.append(line(frame.left, y(step), frame.right, y(step), "pic-grid"))
        parts.append(label(short_count(step), frame.left - 6, y(step) + 4, "pic-axis", "end"))
    parts += [_column(bar, span, frame, x, y, tz, table) for bar in bars]
    runs, skips = sum(bar.runs for bar in bars), sum(bar.skips for bar in bars)
    parts.append(_key(frame, has_skips=skips > 0))
    peak = max(bars, key=lambda bar: bar.runs + bar.skips)
    summary = (
        f"{count(runs, 'run')} and {count(skips, 'skip')}; most from {moment(peak.at, tz)}: {peak.runs + peak.skips:,}."
    )
    if joined > 1:
        summary += f" Each column covers {length(span)}."
    svg = drawing("bars", (frame.width, frame.height), title, summary, parts, has_marks=True)
    return Chart(svg, table.table(), title, summary)


def _joined(bars: Sequence[TickBar], number: int) -> list[TickBar]:
    return [
        TickBar(
            at=bars[place].at,
            runs=sum(bar.runs for bar in bars[place : place + number]),
            skips=sum(bar.skips for bar in bars[place : place + number]),
            href=bars[place].href,
        )
        for place in range(0, len(bars), number)
    ]


def _column(bar: TickBar, span: float, frame: Frame, x: Linear, y: Linear, tz: str, table: TableRows) -> Svg:
    runs, skips = max(0, bar.runs), max(0, bar.skips)
    at = moment(bar.at, tz)
    table.add(at, f"{runs:,}", f"{skips:,}", href=bar.href)
    left, right = x(epoch(bar.at)), x(epoch(bar.at) + span)
    gap = min(3.0, (right - left) * 0.2)
    left, wide = left + gap / 2, max(0.5, right - left - gap)
    parts = [rect(left - gap / 2, frame.top, wide + gap, frame.bottom - frame.top, "pic-hit")]
    if runs:
        parts.append(rect(left, y(runs), wide, frame.bottom - y(runs), "pic-column is-run", 1))
    if skips:
        box = (left, y(runs + skips), wide, y(runs) - y(runs + skips))
        parts += [rect(*box, "pic-range", 1), path(hatch(*box, 4), "pic-hatch")]
    description = f"{at}: {count(runs, 'run')}" + (f", {skips:,} skipped" if skips else "")
    return focusable(description, bar.href, *parts, is_stop=runs + skips > 0)


def _key(frame: Frame, *, has_skips: bool) -> Svg:
    y = frame.bottom + 30
    parts = [rect(frame.left, y, 12, 12, "pic-column is-run", 2), label("run", frame.left + 17, y + 10, "pic-legend")]
    if has_skips:
        left = frame.left + 54
        parts += [rect(left, y, 12, 12, "pic-range", 2), path(hatch(left, y, 12, 12, 4), "pic-hatch")]
        parts.append(label("skipped", left + 17, y + 10, "pic-legend"))
    return group("pic-key", *parts)
