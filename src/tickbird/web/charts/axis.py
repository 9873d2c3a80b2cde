"""The time axis of charts: grid lines at round local times, and the time zone."""

from __future__ import annotations

from tickbird.web.charts.chart import Frame
from tickbird.web.charts.labels import room_for
from tickbird.web.charts.scales import Linear
from tickbird.web.charts.svg import Svg, group, joined, label, line
from tickbird.web.charts.time_scale import abbreviation, time_ticks

_LABEL_SPACING = 76  # pixels from label to label


def time_axis(frame: Frame, start: float, end: float, tz: str) -> Svg:
    """Draw grid lines and labels; labels that would touch their neighbour are omitted."""
    scale = Linear(start, end, frame.left, frame.right)
    lines, labels = [], []
    free_from = -1.0
    for tick in time_ticks(start, end, tz, int(frame.plot_width / _LABEL_SPACING)):
        x = scale(tick.at)
        lines.append(line(x, frame.top, x, frame.bottom, "pic-grid is-strong" if tick.is_strong else "pic-grid"))
        half = room_for(tick.text, bold=tick.is_strong) / 2
        middle = min(max(x, half), frame.right + 2 - half)
        if middle - half >= free_from:
            name = "pic-axis is-strong" if tick.is_strong else "pic-axis"
            labels.append(label(tick.text, middle, frame.bottom + 16, name, "middle"))
            free_from = middle + half + 6
    base = line(frame.left, frame.bottom, frame.right, frame.bottom, "pic-base")
    return group("pic-time", joined(*lines), base, joined(*labels))


def zone_label(frame: Frame, at: float, tz: str) -> Svg:
    """Draw the zone abbreviation at an instant, in the right margin."""
    return label(abbreviation(at, tz), frame.width, frame.bottom + 16, "pic-axis is-zone", "end")


def now_line(frame: Frame, x: float, text: str) -> Svg:
    """Draw the line of the present with its label; draw it last."""
    half = room_for(text, bold=True) / 2
    middle = min(max(x, half), frame.width - half)
    return group(
        "pic-now",
        line(x, frame.top - 4, x, frame.bottom, "pic-now-line"),
        label(text, middle, frame.top - 10, "pic-now-text", "middle"),
    )
