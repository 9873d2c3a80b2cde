"""Charts of the dashboard: pure functions from plain values to SVG, each with the same data as a table.

The template macro `figure` shows the SVG and, under "Show as table", the table. Charts need no script and no inline
style; colours come from `static/charts.css`.
"""

from tickbird.web.charts.bars import TickBar, tick_bars
from tickbird.web.charts.chart import Chart, Table
from tickbird.web.charts.durations import DurationPoint, durations
from tickbird.web.charts.lateness import Lateness, lateness, measure
from tickbird.web.charts.load_diff import ChangedBar, changed_load
from tickbird.web.charts.load_heatmap import LoadCell, load_map, local_hours
from tickbird.web.charts.outcome_sparkline import Outcome, outcomes
from tickbird.web.charts.run_gantt import AttemptLine, run_line
from tickbird.web.charts.svg import Svg
from tickbird.web.charts.tick_strip import StripTick, tick_strip
from tickbird.web.charts.timeline import TimelineRow, timeline
from tickbird.web.charts.timeline_symbols import RunSymbol, SkipSymbol, UpcomingSymbol

__all__ = [
    "AttemptLine",
    "ChangedBar",
    "Chart",
    "DurationPoint",
    "Lateness",
    "LoadCell",
    "Outcome",
    "RunSymbol",
    "SkipSymbol",
    "StripTick",
    "Svg",
    "Table",
    "TickBar",
    "TimelineRow",
    "UpcomingSymbol",
    "changed_load",
    "durations",
    "lateness",
    "load_map",
    "local_hours",
    "measure",
    "outcomes",
    "run_line",
    "tick_bars",
    "tick_strip",
    "timeline",
]
