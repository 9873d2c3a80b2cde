"""Ticks per interval before and after a change: unchanged, added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.charts.axis import time_axis, zone_label
from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import count, short_count
from tickbird.web.charts.scales import Linear, integer_steps
from tickbird.web.charts.svg import Svg, focusable, group, label, line, path, rect
from tickbird.web.charts.symbols import hatch
from tickbird.web.charts.time_scale import epoch, moment

_HEADS = ("from", "before", "after")
# Maximum number of columns.
MAX_COUNT = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedBar:
    """The numbers of ticks before and after the change, in the interval that starts at `at`."""

    at: datetime
    before: int
    after: int


def changed_load(bars: Sequence[ChangedBar], tz: str, *, span: float = 60, width: float = 440) -> Chart:
    """Draw one column per interval of `span` seconds."""
    title, width = "Load before and after", usable_width(width)
    if not bars:
        return lesson("changed", title, "No ticks in this range.", _HEADS, width, 80)
    bars = sorted(bars, key=lambda bar: epoch(bar.at))[:MAX_COUNT]
    frame = Frame(width, 148, 34, width - 40, 10, 100)
    start, end = epoch(bars[0].at), epoch(bars[-1].at) + max(1.0, span)
    steps = integer_steps(max(max(0, bar.before, bar.after) for bar in bars), 2)
    x, y = Linear(start, end, frame.left, frame.right), Linear(0, steps[-1], frame.bottom, frame.top)
    table = TableRows(*_HEADS)
    parts = [time_axis(frame, start, end, tz), zone_label(frame, start, tz)]
    for step in steps:
        parts.append(line(frame.left, y(step), frame.right, y(step), "pic-grid"))
        parts.append(label(short_count(step), frame.left - 6, y(step) + 4, "pic-axis", "end"))
    parts += [_column(bar, max(1.0, span), frame, x, y, tz, table) for bar in bars]
    parts.append(_key(frame))
    svg = drawing("changed", (frame.width, frame.height), title, _summary(bars, tz), parts, has_marks=bool(table.rows))
    return Chart(svg, table.table(), title, _summary(bars, tz))


def _summary(bars: Sequence[ChangedBar], tz: str) -> str:
    before, after = sum(bar.before for bar in bars), sum(bar.after for bar in bars)
    fullest = max(bars, key=lambda bar: bar.after)
    total = f"From {moment(bars[0].at, tz)}: {count(before, 'tick')} before, {after:,} after"
    if fullest.after <= 0:
        return f"{total}."
    return f"{total}; most at {moment(fullest.at, tz)}: {fullest.before:,} before, {fullest.after:,} after."


def _column(bar: ChangedBar, span: float, frame: Frame, x: Linear, y: Linear, tz: str, table: TableRows) -> Svg:
    before, after = max(0, bar.before), max(0, bar.after)
    at = moment(bar.at, tz)
    if before or after:
        table.add(at, f"{before:,}", f"{after:,}")
    left, right = x(epoch(bar.at)), x(epoch(bar.at) + span)
    gap = min(2.0, (right - left) * 0.2)
    left, wide = left + gap / 2, max(0.5, right - left - gap)
    stays, maximum = min(before, after), max(before, after)
    parts = [rect(left - gap / 2, frame.top, wide + gap, frame.bottom - frame.top, "pic-hit")]
    if stays:
        parts.append(rect(left, y(stays), wide, frame.bottom - y(stays), "pic-column is-waiting", 1))
    box = (left, y(maximum), wide, y(stays) - y(maximum))
    if after > before:
        parts.append(rect(*box, "pic-column is-run", 1))
    elif before > after:
        parts += [rect(*box, "pic-range", 1), path(hatch(*box, 4), "pic-hatch")]
    return focusable(f"{at}: {count(before, 'tick')} before, {after:,} after", None, *parts, is_stop=maximum > 0)


def _key(frame: Frame) -> Svg:
    """Draw the legend; shade and hatching differ, not only the colour."""
    y, left = frame.bottom + 28, frame.left
    boxes = (
        (0, "pic-column is-waiting", "same"),
        (64, "pic-column is-run", "added"),
        (132, "pic-range", "removed"),
    )
    parts = []
    for away, class_, text in boxes:
        parts += [rect(left + away, y, 12, 12, class_, 2), label(text, left + away + 17, y + 10, "pic-legend")]
    parts.append(path(hatch(left + 132, y, 12, 12, 4), "pic-hatch"))
    return group("pic-key", *parts)
