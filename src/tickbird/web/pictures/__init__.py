"""Pictures of the dashboard: pure functions from plain values to SVG, each with the same facts as a table.

A page shows `picture.svg` as it is, in a `<figure class="picture">`, and `picture.table` behind "show as table".
Nothing in them needs a script or an inline style; colours come from `static/pictures.css`.
"""

from tickbird.web.pictures.bars import TickBar, tick_bars
from tickbird.web.pictures.changed_load import ChangedBar, changed_load
from tickbird.web.pictures.durations import DurationPoint, durations
from tickbird.web.pictures.lateness import Lateness, lateness, measure
from tickbird.web.pictures.load_map import LoadCell, load_map, local_hours
from tickbird.web.pictures.markup import Svg
from tickbird.web.pictures.outcomes import Outcome, outcomes
from tickbird.web.pictures.picture import Picture, Table
from tickbird.web.pictures.run_line import AttemptLine, run_line
from tickbird.web.pictures.tick_strip import StripTick, tick_strip
from tickbird.web.pictures.timeline import TimelineRow, timeline
from tickbird.web.pictures.timeline_marks import ComingMark, RunMark, SkipMark

__all__ = [
    "AttemptLine",
    "ChangedBar",
    "ComingMark",
    "DurationPoint",
    "Lateness",
    "LoadCell",
    "Outcome",
    "Picture",
    "RunMark",
    "SkipMark",
    "StripTick",
    "Svg",
    "Table",
    "TickBar",
    "TimelineRow",
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
