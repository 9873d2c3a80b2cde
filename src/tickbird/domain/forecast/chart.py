"""Forecast chart as a self-contained SVG: ticks and busy slots per hour, with the available slots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from tickbird.domain.forecast.forecast import Forecast, ForecastComparison, HourStats
from tickbird.domain.time.instants import DAY, to_datetime

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 960, 150, 64, 58, 56
# Above this number of columns, several hours share one column.
_COLUMNS: Final = 400
_STYLE: Final = """
    svg { color: #1b1f24; background: #ffffff; font: 12px system-ui, sans-serif; }
    .ticks { fill: #3b6ea8; } .busy { fill: #6b8f3c; } .slots { stroke: #b3261e; stroke-dasharray: 6 4; }
    .axis { stroke: currentColor; opacity: .35; } text { fill: currentColor; } .head { font-weight: 600; }
    .limit { fill: #b3261e; }
    @media (prefers-color-scheme: dark) {
      svg { color: #e6e6e6; background: #14171a; } .ticks { fill: #7fb0e6; } .busy { fill: #a8cf72; }
      .slots { stroke: #ff8a80; } .limit { fill: #ff8a80; }
    }
"""


def forecast_chart(comparison: ForecastComparison, title: str = "Simulation") -> str:
    """Return the chart of the forecast, or of both forecasts, one below the other."""
    panels = [("", comparison.baseline)]
    if comparison.changed is not None:
        panels = [("current: ", comparison.baseline), ("changed: ", comparison.changed)]
    parts, y = [], 40
    for prefix, forecast in panels:
        columns = _columns(forecast.hours)
        slots = forecast.slots
        hours = "hour" if len(columns) == len(forecast.hours) else f"{-(-len(forecast.hours) // len(columns))} hours"
        parts.append(_panel(f"{prefix}ticks per {hours}", "ticks", columns, [hour.ticks for hour in columns], None, y))
        y += _HEIGHT + _GAP
        parts.append(_panel(f"{prefix}most slots busy at once", "busy", columns, [h.busy for h in columns], slots, y))
        y += _HEIGHT + _GAP
    description = " ".join(_title(prefix, forecast) for prefix, forecast in panels)
    width = _LEFT + _WIDTH + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img" '
        f'aria-labelledby="title desc">\n'
        f'  <title id="title">{_escape(title)}</title>\n  <desc id="desc">{_escape(description)}</desc>\n'
        f"  <style>{_STYLE}  </style>\n"
        f'  <text class="head" x="{_LEFT}" y="22">{_escape(title)}</text>\n' + "".join(parts) + "</svg>\n"
    )


def _title(prefix: str, forecast: Forecast) -> str:
    slots = "any number of" if forecast.slots is None else f"{forecast.slots:,}"
    return (
        f"From {to_datetime(forecast.start):%Y-%m-%d %H:%M} to {to_datetime(forecast.end):%Y-%m-%d %H:%M} UTC, "
        f"{prefix}{forecast.ticks:,} ticks, {forecast.runs:,} runs, at most {forecast.peak:,} of {slots} slots busy."
    )


def _escape(text: str) -> str:
    """Escape text for XML, without control characters."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text)[:300])


def _columns(hours: Sequence[HourStats]) -> list[HourStats]:
    """Group the hours into columns: ticks and runs are summed, busy slots are the maximum."""
    width = max(1, -(-len(hours) // _COLUMNS))
    columns = []
    for index in range(0, len(hours), width):
        group = hours[index : index + width]
        ticks, runs = sum(hour.ticks for hour in group), sum(hour.runs for hour in group)
        columns.append(HourStats(group[0].at, ticks, runs, max(hour.busy for hour in group)))
    return columns


def _panel(
    title: str, style: str, columns: Sequence[HourStats], values: Sequence[int], slots: int | None, top: int
) -> str:
    """Draw bars over time, with a line for the slots."""
    maximum = max([1, *values, slots or 0])
    base, wide = top + _HEIGHT, _WIDTH / max(1, len(columns))
    parts = [f'  <text class="head" x="{_LEFT}" y="{top - 8}">{_escape(title)}</text>\n']
    for index, value in enumerate(values):
        if value:
            height = _HEIGHT * value / maximum
            at = f"{to_datetime(columns[index].at):%Y-%m-%d %H:%M}"
            parts.append(
                f'  <rect class="{style}" x="{_LEFT + index * wide:.1f}" y="{base - height:.1f}" '
                f'width="{max(0.5, wide - 0.5):.1f}" height="{height:.1f}"><title>{at}Z: {value:,}</title></rect>\n'
            )
    parts.append(f'  <line class="axis" x1="{_LEFT}" y1="{base}" x2="{_LEFT + _WIDTH}" y2="{base}"/>\n')
    parts.append(f'  <text x="{_LEFT - 6}" y="{top + 10}" text-anchor="end">{maximum:,}</text>\n')
    parts.append(f'  <text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>\n')
    if slots is not None:
        y = base - _HEIGHT * slots / maximum
        parts.append(f'  <line class="slots" x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDTH}" y2="{y:.1f}"/>\n')
        parts.append(
            f'  <text class="limit" x="{_LEFT + _WIDTH}" y="{y - 4:.1f}" text-anchor="end">{slots:,} slots</text>\n'
        )
    return "".join([*parts, *_days(columns, wide, base)])


def _days(columns: Sequence[HourStats], wide: float, base: int) -> list[str]:
    """Label the starts of days, as many as fit."""
    starts = [index for index, hour in enumerate(columns) if hour.at % DAY < 3_600 or not index]
    every = max(1, -(-len(starts) // 12))
    return [
        f'  <text x="{_LEFT + index * wide:.1f}" y="{base + 16}">{to_datetime(columns[index].at):%m-%d}</text>\n'
        for index in starts[::every]
    ]
