"""The durations of runs over time, with p50, p99 and the timeout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.charts.axis import time_axis, zone_label
from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import count, length, listing, number
from tickbird.web.charts.scales import Linear, Log, nice_powers, percentile, time_steps
from tickbird.web.charts.svg import Svg, focusable, group, label, line, path, rect
from tickbird.web.charts.symbols import LABELS, Kind, shape
from tickbird.web.charts.time_scale import epoch, moment

_HEADS = ("started", "status", "duration")
_POINT_SPACING = 7.0  # pixels per point
_WIDE_RANGE = 50.0  # ratio of longest to shortest above which the scale is logarithmic


@dataclass(frozen=True, slots=True, kw_only=True)
class DurationPoint:
    """A finished run: start, duration and outcome."""

    at: datetime
    seconds: float
    kind: Kind = "succeeded"
    href: str | None = None


@dataclass(frozen=True, slots=True)
class _Bin:
    points: tuple[DurationPoint, ...]

    @property
    def middle(self) -> DurationPoint:
        return sorted(self.points, key=lambda point: point.seconds)[len(self.points) // 2]


def durations(points: Sequence[DurationPoint], tz: str, *, timeout: float | None = None, width: float = 460) -> Chart:
    """Draw durations over time. Too many points are binned: the median, and a line from minimum to maximum."""
    title, width = "Duration", usable_width(width)
    if not points:
        sentence = "No finished runs yet. This chart will show the duration of each run."
        return lesson("durations", title, sentence, _HEADS, width, 120)
    ordered = sorted(points, key=lambda point: epoch(point.at))
    values = [min(max(0.0, point.seconds), 1e9) if point.seconds == point.seconds else 0.0 for point in ordered]
    p50, p99 = percentile(values, 0.5), percentile(values, 0.99)
    highest = max(1e-3, *values)
    is_near = timeout is not None and 0 < timeout <= 3 * highest
    if timeout is not None and is_near:
        highest = max(highest, timeout)
    frame = Frame(width, 196, 74, width - 44, 30, 160)
    y, levels = _vertical(values, highest, frame)
    start, end = epoch(ordered[0].at), epoch(ordered[-1].at)
    # A single instant is centred in one minute.
    start, end = (start, end) if end > start else (start - 30, start + 30)
    x = Linear(start, end, frame.left + 6, frame.right - 6)
    table = TableRows(*_HEADS)

    parts = [time_axis(Frame(width, 196, frame.left + 6, frame.right - 6, frame.top, frame.bottom), start, end, tz)]
    parts += [_level(frame, y(level), length(level)) for level in levels]
    parts.append(zone_label(frame, end, tz))
    parts.append(rect(frame.left, y(p99), frame.plot_width, y(p50) - y(p99), "pic-band"))
    parts += _named_lines(frame, y, p50, p99)
    if timeout is not None and is_near:
        parts.append(line(frame.left, y(timeout), frame.right, y(timeout), "pic-limit"))
        parts.append(label(f"timeout {length(timeout)}", frame.left + 4, y(timeout) - 4, "pic-limit-text"))
    parts += [_drawn(points_bin, x, y, tz, table) for points_bin in _bins(ordered, frame.plot_width, start, end)]
    tally: dict[str, int] = {LABELS[kind]: sum(1 for point in ordered if point.kind == kind) for kind in LABELS}
    summary = (
        f"{count(len(ordered), 'run')} ({listing(tally)}): half took at most {length(p50)}, 99% at most {length(p99)}"
    )
    summary += f"; timeout {length(timeout)}." if timeout is not None and timeout > 0 else "."
    svg = drawing("durations", (frame.width, frame.height), title, summary, parts, has_marks=True)
    return Chart(svg, table.table(), title, summary)


def _vertical(values: Sequence[float], highest: float, frame: Frame) -> tuple[Linear | Log, tuple[float, ...]]:
    """Return the scale and its labels: linear from zero, or logarithmic for a wide range."""
    lowest = min((seconds for seconds in values if seconds > 0), default=highest)
    if highest / max(lowest, 1e-6) <= _WIDE_RANGE:
        steps = time_steps(highest, 3)
        return Linear(0, steps[-1], frame.bottom, frame.top), steps
    low = max(lowest, 1e-4) / 1.5
    levels = nice_powers(low, highest * 1.2)
    return Log(low, highest * 1.2, frame.bottom, frame.top), levels[:: max(1, -(-len(levels) // 5))]


def _level(frame: Frame, y: float, text: str) -> Svg:
    across = line(frame.left, y, frame.right, y, "pic-grid")
    return group("pic-level", across, label(text, frame.left - 6, y + 4, "pic-axis", "end"))


def _named_lines(frame: Frame, y: Linear | Log, p50: float, p99: float) -> list[Svg]:
    """Draw the lines of p50 and p99, with labels that do not overlap."""
    low, high = y(p50), y(p99)
    texts = [(high, "p99", high), (low, "p50", max(low, high + 13))]
    parts = []
    for at, name, base in texts:
        parts.append(line(frame.left, at, frame.right, at, f"pic-figure is-{name}"))
        parts.append(label(name, frame.right + 6, min(base + 4, frame.bottom + 4), "pic-figure-text"))
    return parts


def _bins(ordered: Sequence[DurationPoint], width: float, start: float, end: float) -> list[_Bin]:
    maximum = max(1, int(width / _POINT_SPACING))
    if len(ordered) <= maximum:
        return [_Bin((point,)) for point in ordered]
    # Failures have their own bins, so that they stay visible.
    by_bin: dict[tuple[int, bool], list[DurationPoint]] = {}
    number_of = max(1, maximum // 2)
    step = (end - start) / number_of
    for point in ordered:
        place = min(int((epoch(point.at) - start) / step), number_of - 1)
        by_bin.setdefault((place, point.kind == "failed"), []).append(point)
    return [_Bin(tuple(by_bin[key])) for key in sorted(by_bin)]


def _drawn(points_bin: _Bin, x: Linear, y: Linear | Log, tz: str, table: TableRows) -> Svg:
    point = points_bin.middle
    at, took, what = moment(point.at, tz), length(max(0.0, point.seconds)), LABELS[point.kind]
    place, height = x(epoch(point.at)), y(max(0.0, point.seconds))
    hit = rect(place - 6, height - 8, 12, 16, "pic-hit")
    if len(points_bin.points) == 1:
        table.add(at, what, took, href=point.href)
        return focusable(f"{at}: {what}, {took}", point.href, hit, shape(point.kind, place, height, 3.5))
    lengths = [max(0.0, run.seconds) for run in points_bin.points]
    shortest, longest = min(lengths), max(lengths)
    tally = listing({LABELS[kind]: sum(1 for run in points_bin.points if run.kind == kind) for kind in LABELS})
    span = f"{moment(points_bin.points[0].at, tz)} to {moment(points_bin.points[-1].at, tz)}"
    description = f"{length(shortest)} to {length(longest)}, median {took}"
    table.add(span, tally, description, href=point.href)
    reach = path(f"M{number(place)} {number(y(shortest))}V{number(y(longest))}", f"pic-reach is-{point.kind}")
    return focusable(f"{span}: {tally}, {description}", point.href, hit, reach, shape(point.kind, place, height, 3.5))
