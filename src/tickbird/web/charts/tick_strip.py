"""The ticks of one schedule as equal steps: past decisions, the present and future ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from tickbird.web.charts.chart import Chart, TableRows, drawing, lesson, usable_width
from tickbird.web.charts.labels import clean, listing, room_for, short_count
from tickbird.web.charts.svg import Svg, focusable, group, joined, label, line, rect
from tickbird.web.charts.symbols import LABELS, Kind, legend, shape
from tickbird.web.charts.time_scale import abbreviation, day_text, epoch, moment, time_text, wall

_STEP, _MARGIN, _Y = 30.0, 44.0, 42.0
_UPCOMING = ("coming", "will_skip", "moved")
_HEADS = ("tick", "status", "details")
_DAILY = 20 * 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class StripTick:
    """A tick with its decision and the URL of its explanation."""

    at: datetime
    kind: Kind
    note: str = ""
    href: str | None = None


def tick_strip(
    ticks: Sequence[StripTick], now: datetime, tz: str, *, width: float = 960, more_past: int = 0, more_coming: int = 0
) -> Chart:
    """Draw the ticks nearest to the present that fit; the ends show the numbers of the others."""
    title, width = "Ticks", usable_width(width)
    if not ticks:
        sentence = "No ticks yet. Each decided tick gets a mark here: a run, or a skip with its reason."
        return lesson("strip", title, sentence, _HEADS, width)
    ordered = sorted(ticks, key=lambda tick: epoch(tick.at))
    past = [tick for tick in ordered if tick.kind not in _UPCOMING]
    coming = [tick for tick in ordered if tick.kind in _UPCOMING]
    room = max(4, int((width - 2 * _MARGIN) / _STEP))
    # The past gets two thirds of the room, or more if there are few future ticks, and vice versa.
    kept_coming = min(len(coming), max(room // 3, room - len(past)))
    kept_past = min(len(past), room - kept_coming)
    more_past += len(past) - kept_past
    more_coming += len(coming) - kept_coming
    shown = past[len(past) - kept_past :] + coming[:kept_coming]

    table = TableRows(*_HEADS)
    step = min(_STEP * 1.5, (width - 2 * _MARGIN) / (len(shown) or 1))
    left = _MARGIN
    centres = [left + step * (place + 0.5) for place in range(len(shown))]
    border = left + step * kept_past
    parts = [line(left, _Y, left + step * len(shown), _Y, "pic-base")]
    parts += [_tick(tick, x, step, tz, table) for tick, x in zip(shown, centres, strict=True)]
    parts.append(_labels(shown, centres, step, tz))
    parts.append(_now(border, width, epoch(now), tz))
    if more_past:
        parts.append(label(f"+{short_count(more_past)}", left - 4, _Y + 4, "pic-note", "end"))
    if more_coming:
        parts.append(label(f"+{short_count(more_coming)}", left + step * len(shown) + 4, _Y + 4, "pic-note"))
    tally: dict[Kind, int] = {}
    for tick in shown:
        tally[tick.kind] = tally.get(tick.kind, 0) + 1
    explained, lines = legend(tally, left, width, _Y + 58)
    parts.append(explained)
    description = listing({LABELS[kind]: tally.get(kind, 0) for kind in LABELS})
    beyond = [f"+{more_past:,} earlier"] * bool(more_past) + [f"+{more_coming:,} later"] * bool(more_coming)
    summary = "; ".join([description, *beyond]) + "."
    svg = drawing("strip", (width, _Y + 46 + 18 * lines), title, summary, parts, has_marks=True)
    return Chart(svg, table.table(), title, summary)


def _tick(tick: StripTick, x: float, step: float, tz: str, table: TableRows) -> Svg:
    at = moment(tick.at, tz)
    table.add(at, LABELS[tick.kind], tick.note, href=tick.href)
    description = f"{at}: {LABELS[tick.kind]}" + (f", {clean(tick.note)}" if tick.note else "")
    return focusable(
        description, tick.href, rect(x - step / 2, _Y - 14, step, 28, "pic-hit", 4), shape(tick.kind, x, _Y, 6)
    )


def _labels(shown: Sequence[StripTick], centres: Sequence[float], step: float, tz: str) -> Svg:
    """Draw the times that fit, and the date of each new day; only dates if ticks are days apart."""
    instants = [epoch(tick.at) for tick in shown]
    gaps = [after - before for before, after in pairwise(instants)]
    is_daily = bool(gaps) and min(gaps) >= _DAILY
    texts = [day_text(wall(at, tz)) if is_daily else time_text(at, tz) for at in instants]
    widest = max(map(room_for, texts)) + 8
    every = max(1, -(-int(widest) // int(step)))
    parts, day_free = [], 0.0
    last_day = ""
    for place, (at, x, text) in enumerate(zip(instants, centres, texts, strict=True)):
        if place % every == 0:
            parts.append(label(text, x, _Y + 26, "pic-axis", "middle"))
        day = day_text(wall(at, tz))
        if not is_daily and day != last_day and x >= day_free:
            parts.append(label(day, x, _Y + 39, "pic-axis is-strong", "middle"))
            last_day, day_free = day, x + 46
    return joined(*parts)


def _now(x: float, width: float, now: float, tz: str) -> Svg:
    text = f"now {time_text(now, tz)} {abbreviation(now, tz)}"
    half = room_for(text, bold=True) / 2
    middle = min(max(x, half), width - half)
    return group(
        "pic-now",
        line(x, 20, x, _Y + 14, "pic-now-line"),
        label(text, middle, 13, "pic-now-text", "middle"),
    )
