"""A forecast as SVG: ticks and busy slots hour by hour, against the slots there are; readable by itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from tickbird.domain.forecast.forecast import Forecast, ForecastComparison, HourStats
from tickbird.domain.time.instants import DAY, to_datetime

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 960, 150, 64, 58, 56
# More columns than these could not be told apart: several hours share one.
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


def forecast_chart(found: ForecastComparison, title: str = "Simulation") -> str:
    """Both forecasts, one below the other, where there are two."""
    panels = [("", found.baseline)]
    if found.changed is not None:
        panels = [("as it is: ", found.baseline), ("as it would be: ", found.changed)]
    parts, y = [], 40
    for said, forecast in panels:
        columns = _columns(forecast.hours)
        slots = forecast.slots
        hours = "hour" if len(columns) == len(forecast.hours) else f"{-(-len(forecast.hours) // len(columns))} hours"
        parts.append(_panel(f"{said}ticks per {hours}", "ticks", columns, [hour.ticks for hour in columns], None, y))
        y += _HEIGHT + _GAP
        parts.append(_panel(f"{said}most slots busy at once", "busy", columns, [h.busy for h in columns], slots, y))
        y += _HEIGHT + _GAP
    told = " ".join(_title(said, forecast) for said, forecast in panels)
    width = _LEFT + _WIDTH + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img" '
        f'aria-labelledby="title desc">\n'
        f'  <title id="title">{_escape(title)}</title>\n  <desc id="desc">{_escape(told)}</desc>\n'
        f"  <style>{_STYLE}  </style>\n"
        f'  <text class="head" x="{_LEFT}" y="22">{_escape(title)}</text>\n' + "".join(parts) + "</svg>\n"
    )


def _title(said: str, forecast: Forecast) -> str:
    slots = "any number of" if forecast.slots is None else f"{forecast.slots:,}"
    return (
        f"From {to_datetime(forecast.start):%Y-%m-%d %H:%M} to {to_datetime(forecast.end):%Y-%m-%d %H:%M} UTC, "
        f"{said}{forecast.ticks:,} ticks, {forecast.runs:,} runs, at most {forecast.peak:,} of {slots} slots busy."
    )


def _escape(text: str) -> str:
    """Text between tags, without what XML cannot have."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text)[:300])


def _columns(hours: Sequence[HourStats]) -> list[HourStats]:
    """The hours, several to a column where there are too many: ticks and runs add up, busy slots do not."""
    width = max(1, -(-len(hours) // _COLUMNS))
    found = []
    for place in range(0, len(hours), width):
        some = hours[place : place + width]
        ticks, runs = sum(hour.ticks for hour in some), sum(hour.runs for hour in some)
        found.append(HourStats(some[0].at, ticks, runs, max(hour.busy for hour in some)))
    return found


def _panel(
    title: str, style: str, columns: Sequence[HourStats], values: Sequence[int], slots: int | None, top: int
) -> str:
    """Bars over time; with a line for the slots."""
    maximum = max([1, *values, slots or 0])
    base, wide = top + _HEIGHT, _WIDTH / max(1, len(columns))
    parts = [f'  <text class="head" x="{_LEFT}" y="{top - 8}">{_escape(title)}</text>\n']
    for place, value in enumerate(values):
        if value:
            height = _HEIGHT * value / maximum
            at = f"{to_datetime(columns[place].at):%Y-%m-%d %H:%M}"
            parts.append(
                f'  <rect class="{style}" x="{_LEFT + place * wide:.1f}" y="{base - height:.1f}" '
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
    """Where days begin, as many as there is room for."""
    starts = [place for place, hour in enumerate(columns) if hour.at % DAY < 3_600 or not place]
    every = max(1, -(-len(starts) // 12))
    return [
        f'  <text x="{_LEFT + place * wide:.1f}" y="{base + 16}">{to_datetime(columns[place].at):%m-%d}</text>\n'
        for place in starts[::every]
    ]
