"""The timeline of schedules: runs, skips and future ticks around the present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.charts.axis import now_line, time_axis, zone_label
from tickbird.web.charts.chart import Chart, Frame, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import clean, count, listing, short_count
from tickbird.web.charts.scales import Linear
from tickbird.web.charts.svg import Svg, focusable, group, label, line
from tickbird.web.charts.symbols import LABELS, Kind, legend
from tickbird.web.charts.time_scale import epoch, time_text
from tickbird.web.charts.timeline_bins import bins, draw_bin, is_crowded, rate
from tickbird.web.charts.timeline_symbols import (
    RunSymbol,
    SkipSymbol,
    Symbol,
    UpcomingSymbol,
    Window,
    begins,
    draw,
    ends,
    kind_of,
    size_of,
)

MAX_ROWS = 30
_ROW, _TOP, _AXIS = 30.0, 30.0, 30.0
_HEADS = ("schedule", "due", "status", "started", "duration", "details")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """The symbols of one schedule; `more` is the number of symbols that are not included."""

    name: str
    href: str | None = None
    runs: Sequence[RunSymbol] = ()
    skips: Sequence[SkipSymbol] = ()
    coming: Sequence[UpcomingSymbol] = ()
    more: int = 0


def timeline(
    rows: Sequence[TimelineRow],
    since: datetime,
    until: datetime,
    now: datetime,
    tz: str,
    *,
    width: float = 960,
    more: int = 0,
    title: str = "Timeline",
) -> Chart:
    """Draw rows over [since, until]; `more` is the number of schedules that are not included."""
    width = usable_width(width)
    if not rows:
        sentence = "No past runs and no future ticks in this range. Choose a longer range."
        return lesson("timeline", title, sentence, _HEADS, width)
    more += max(0, len(rows) - MAX_ROWS)
    rows = rows[:MAX_ROWS]
    single = len(rows) == 1
    gutter = 0.0 if single else min(max(width * 0.19, 84.0), 176.0)
    bottom = _TOP + _ROW * len(rows)
    frame = Frame(width, 0, gutter or 18.0, width - 44, _TOP, bottom)
    start, end = epoch(since), epoch(until)
    end = max(end, start + 1)
    window = Window(start, end, epoch(now), tz, Linear(start, end, frame.left, frame.right))
    table = TableRows(*_HEADS)
    tally: dict[Kind, int] = {}
    drawn = [_row(row, _TOP + _ROW * (place + 0.5), frame, window, table, tally) for place, row in enumerate(rows)]
    parts = [_stripes(frame, len(rows)), time_axis(frame, start, end, tz)]
    parts.append(zone_label(frame, min(max(window.now, start), end), tz))
    parts += [] if single else [_name(row, _TOP + _ROW * (place + 0.5), gutter) for place, row in enumerate(rows)]
    parts += drawn
    if start <= window.now <= end:
        parts.append(now_line(frame, window.x(window.now), f"now {time_text(window.now, tz)}"))
    explained, lines = legend(tally, frame.left, width, bottom + _AXIS + 16)
    height = bottom + _AXIS + 4 + 18 * lines if tally else bottom + _AXIS
    parts.append(explained)
    if more:
        height += 18
        parts.append(label(f"+{count(more, 'more schedule')}", 0, height - 4, "pic-note"))
    counts = listing({LABELS[kind]: tally[kind] for kind in LABELS if kind in tally}) or "nothing in this range"
    summary = f"{count(len(rows), 'schedule')}: {counts}" + (f"; +{count(more, 'more schedule')}." if more else ".")
    svg = drawing("timeline", (width, height), title, summary, parts, has_marks=bool(table.rows) or not single)
    return Chart(svg, table.table(), title, summary)


def _row(row: TimelineRow, y: float, frame: Frame, window: Window, table: TableRows, tally: dict[Kind, int]) -> Svg:
    """Draw the symbols of one schedule, binned if there are too many."""
    every: tuple[Symbol, ...] = (*row.skips, *row.runs, *row.coming)
    marks = [symbol for symbol in every if begins(symbol) <= window.end and ends(symbol, window) >= window.start]
    # Oldest first, for keyboard navigation.
    marks.sort(key=begins)
    for symbol in marks:
        tally[kind_of(symbol)] = tally.get(kind_of(symbol), 0) + size_of(symbol)
    if is_crowded(marks, frame.plot_width):
        spans = bins(marks, window, frame.plot_width)
        highest = max(span.total for span in spans)
        parts = [draw_bin(span, highest, row.name, row.href, y, window, table) for span in spans]
        parts.append(label(rate(marks, window), frame.width, y + 4, "pic-rate", "end"))
    else:
        parts = [draw(symbol, row.name, y, window, table) for symbol in marks]
    if row.more > 0:
        parts.append(label(f"+{short_count(row.more)}", frame.width, y + 14, "pic-tiny", "end"))
    return group("pic-row", *parts)


def _name(row: TimelineRow, y: float, gutter: float) -> Svg:
    text = label(clean(row.name, int((gutter - 16) / 6.6)), 0, y + 4, "pic-name")
    return focusable(row.name, row.href, text, class_="pic-row-name", is_stop=False)


def _stripes(frame: Frame, number: int) -> Svg:
    lines = [
        line(0, frame.top + _ROW * place, frame.right, frame.top + _ROW * place, "pic-rule")
        for place in range(1, number)
    ]
    return group("pic-rules", *lines)
