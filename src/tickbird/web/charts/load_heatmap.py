"""The load of the next days: one cell per local hour, darker with more ticks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND, to_datetime
from tickbird.domain.time.zones import zone
from tickbird.web.charts.chart import Chart, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import count, number, room_for, short_count
from tickbird.web.charts.svg import Svg, focusable, group, joined, label, path, rect
from tickbird.web.charts.symbols import hatch
from tickbird.web.charts.time_scale import abbreviation, epoch, time_text, wall, weekday_text

MAX_DAYS = 14
SHADES = 5
_ROW, _TOP, _HOUR = 28.0, 24.0, 3_600
_HEADS = ("hour", "ticks", "busy slots", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCell:
    """One hour: due ticks, estimated busy slots, and available slots."""

    at: datetime
    ticks: int
    busy: float | None = None
    slots: int | None = None
    href: str | None = None


def local_hours(first: datetime, tz: str, days: int = 7) -> list[datetime]:
    """Return the starts of the hours of local days: 24 per day, 23 or 25 at DST changes."""
    place = zone(tz)
    wall_start = place.to_wall(int(epoch(first))) // DAY * DAY
    days = min(max(1, days), MAX_DAYS)
    start, end = max(place.to_epoch(wall_start), FIRST_SECOND), place.to_epoch(wall_start + days * DAY)
    hours = []
    for span in place.spans(start, min(end, LAST_SECOND)):
        low, high = max(start, span.start), min(end, span.end)
        at = -(-(low + span.offset) // _HOUR) * _HOUR - span.offset
        hours += [to_datetime(second) for second in range(at, min(high, LAST_SECOND), _HOUR)]
    return hours


def load_map(cells: Sequence[LoadCell], tz: str, *, width: float = 960) -> Chart:
    """Draw days as rows and hours as columns. A repeated hour shares its column; a skipped hour is hatched."""
    title, width = "Load by hour", usable_width(width)
    days: dict[date, dict[int, list[LoadCell]]] = {}
    for cell in sorted(cells, key=lambda cell: epoch(cell.at)):
        local = wall(epoch(cell.at), tz)
        if local.date() in days or len(days) < MAX_DAYS:
            days.setdefault(local.date(), {}).setdefault(local.hour, []).append(cell)
    if not days:
        sentence = "No future ticks. When schedules are active, this chart shows the busiest hours."
        return lesson("load", title, sentence, _HEADS, width, 120)
    shown = [cell for hours in days.values() for group_ in hours.values() for cell in group_]
    peak = max(shown, key=lambda cell: cell.ticks)
    gutter = 84.0 if width >= 600 else 50.0
    wide = (width - gutter - 2) / 24
    table = TableRows(*_HEADS)
    parts = [_hours(gutter, wide)]
    for row, (day, hours) in enumerate(sorted(days.items())):
        top = _TOP + row * _ROW
        text = weekday_text(day) if width >= 600 else weekday_text(day)[:6]
        parts.append(label(text, 0, top + _ROW / 2 + 4, "pic-name"))
        for hour in range(24):
            box = (gutter + hour * wide, top, wide, _ROW)
            parts += _hour(hours.get(hour, []), box, peak, tz, table, is_lost=_is_lost(day, hour, tz))
    bottom = _TOP + _ROW * len(days)
    explained, lines = _legend(peak.ticks, gutter, bottom + 12, width)
    parts.append(explained)
    over = [cell for cell in shown if _is_over(cell)]
    at = epoch(peak.at)
    summary = (
        f"Peak {weekday_text(wall(at, tz))} {time_text(at, tz)} {abbreviation(at, tz)}: "
        + count(max(0, peak.ticks), "tick")
        + (f", about {_busy(peak)}" if peak.busy is not None else "")
        + (f". {count(len(over), 'hour needs', 'hours need')} more slots than available." if over else ".")
    )
    if peak.ticks <= 0:
        summary = "No ticks are due in these days."
    height = bottom + 12 + 18 * lines
    svg = drawing("load", (width, height), title, summary, parts, has_marks=any(cell.ticks > 0 for cell in shown))
    return Chart(svg, table.table(), title, summary)


def shade(ticks: int, peak: int) -> int:
    """Return 0 (no ticks) to 4 (peak), logarithmic because hours differ by orders of magnitude."""
    if ticks <= 0 or peak <= 0:
        return 0
    return min(SHADES - 1, max(1, math.ceil((SHADES - 1) * math.log1p(ticks) / math.log1p(peak) - 1e-9)))


def _hour(
    cells: Sequence[LoadCell],
    box: tuple[float, float, float, float],
    peak: LoadCell,
    tz: str,
    table: TableRows,
    *,
    is_lost: bool,
) -> list[Svg]:
    """Draw one position of the grid: empty, skipped by a DST change, or one or two cells."""
    x, y, wide, high = box
    if not cells:
        inner = (x + 1, y + 1, wide - 2, high - 2)
        return [group("pic-lost", rect(*inner, "pic-range", 2), path(hatch(*inner), "pic-hatch"))] if is_lost else []
    part = wide / len(cells)
    return [
        _cell(cell, (x + place * part, y, part, high), peak, tz, table, is_repeated=len(cells) > 1)
        for place, cell in enumerate(cells)
    ]


def _cell(
    cell: LoadCell,
    box: tuple[float, float, float, float],
    peak: LoadCell,
    tz: str,
    table: TableRows,
    *,
    is_repeated: bool,
) -> Svg:
    x, y, wide, high = box
    at, is_peak = epoch(cell.at), cell is peak and cell.ticks > 0
    until = min(at + _HOUR, LAST_SECOND)
    hour = f"{weekday_text(wall(at, tz))} {time_text(at, tz)}–{time_text(until, tz)} {abbreviation(at, tz)}"
    notes = ["peak"] * is_peak + ["too few slots"] * _is_over(cell)
    notes += ["this hour occurs twice (DST)"] * is_repeated
    table.add(hour, f"{cell.ticks:,}", _busy(cell), ", ".join(notes), href=cell.href)
    parts = [rect(x + 1, y + 1, wide - 2, high - 2, f"pic-heat is-shade-{shade(cell.ticks, peak.ticks)}", 3)]
    if _is_over(cell):
        corner = f"M{number(x + wide - 9)} {number(y + 1)}h8v8z"
        parts.append(path(corner, "pic-over"))
    if is_peak:
        parts.append(rect(x + 1, y + 1, wide - 2, high - 2, "pic-peak", 3))
    description = [f"{hour}: {count(max(0, cell.ticks), 'tick')}"]
    description += [f"about {_busy(cell)}"] if cell.busy is not None else []
    drawn = [focusable(", ".join(description + notes), cell.href, *parts, is_stop=cell.ticks > 0)]
    if cell.ticks > 0 and wide >= 22:
        # Outside of the symbol, because the symbol's label already has the number.
        bold = " is-dark" if shade(cell.ticks, peak.ticks) >= 3 else ""
        drawn.append(label(short_count(cell.ticks), x + wide / 2, y + high / 2 + 4, f"pic-heat-text{bold}", "middle"))
    return joined(*drawn)


def _is_over(cell: LoadCell) -> bool:
    return cell.busy is not None and cell.slots is not None and cell.busy > cell.slots


def _busy(cell: LoadCell) -> str:
    """Format busy slots: "96 busy of 40 slots"."""
    if cell.busy is None or not math.isfinite(cell.busy):
        return ""
    return f"{number(round(cell.busy, 1))} busy" + (
        f" of {count(cell.slots, 'slot')}" if cell.slots is not None else ""
    )


def _is_lost(day: date, hour: int, tz: str) -> bool:
    """True if a DST change skips this hour."""
    wall_start = (day.toordinal() - date(1970, 1, 1).toordinal()) * DAY + hour * _HOUR
    at = zone(tz).to_epoch(wall_start)
    return zone(tz).to_wall(at) >= wall_start + _HOUR


def _hours(gutter: float, wide: float) -> Svg:
    every = 1 if wide >= 30 else 3 if wide >= 12 else 6
    return group(
        "pic-hours",
        *(label(f"{hour:02d}", gutter + (hour + 0.5) * wide, 15, "pic-axis", "middle") for hour in range(0, 24, every)),
    )


def _legend(peak: int, left: float, y: float, right: float) -> tuple[Svg, int]:
    """Draw the legend; return it and its number of lines (18 px each)."""
    entries = [(f"is-shade-{level}", text) for level, text in _shades(peak)]
    entries += [("pic-peak", "peak"), ("pic-over", "too few slots")]
    parts, x, lines = [], left, 1
    for name, text in entries:
        room = 17 + room_for(text)
        if x > left and x + room > right:
            x, y, lines = left, y + 18, lines + 1
        if name == "pic-over":
            parts.append(path(f"M{number(x + 2)} {number(y + 2)}h9v9z", name))
        else:
            parts.append(rect(x + 0.5, y + 0.5, 11, 11, name if name == "pic-peak" else f"pic-heat {name}", 2))
        parts.append(label(text, x + 17, y + 10, "pic-legend"))
        x += room + 12
    return group("pic-key", *parts), lines


def _shades(peak: int) -> Iterator[tuple[int, str]]:
    """Yield the shades in use and their ranges."""
    yield 0, "0"
    low = 1
    for level in range(1, SHADES):
        high = math.floor(math.expm1(level / (SHADES - 1) * math.log1p(max(0, peak))) + 1e-6)
        high = max(0, peak) if level == SHADES - 1 else high
        if low <= high:
            yield level, short_count(low) if low == high else f"{short_count(low)}–{short_count(high)}"
            low = high + 1
