"""The last outcomes of a schedule as a sparkline; the height of a bar is the duration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.web.charts.chart import Chart, TableRows, drawing
from tickbird.web.charts.labels import clean, length, listing
from tickbird.web.charts.scales import Log
from tickbird.web.charts.svg import Svg, focusable, path, rect
from tickbird.web.charts.symbols import LABELS, Kind
from tickbird.web.charts.time_scale import moment

MAX_COUNT = 60
WIDTH, HEIGHT = 180, 20
_STEP = WIDTH // MAX_COUNT
_BASE, _LOWEST, _HIGHEST = 17, 3, 14
_SHORT = {"succeeded": "ok"}
# Start, direction and length of a line.
Stroke = tuple[int, int, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a run or tick, and its duration if it ran."""

    at: datetime
    kind: Kind
    seconds: float | None = None
    href: str | None = None


def outcomes(latest: Sequence[Outcome], tz: str, *, has_marks: bool = True) -> Chart:
    """Draw the last 60 outcomes, oldest first, each with a tooltip and a link.

    For lists, `has_marks=False` draws one small image with one path per kind.
    """
    title = "Last outcomes"
    latest = latest[-MAX_COUNT:]
    table = TableRows("time", "status", "duration")
    lasting = [outcome.seconds for outcome in latest if outcome.seconds is not None and outcome.seconds > 0]
    # The scale covers at least a factor of ten, so that similar durations look similar.
    low, high = (min(lasting), max(lasting)) if lasting else (1.0, 1.0)
    scale = Log(min(low, high / 10), high, _LOWEST, _HIGHEST)
    strokes: dict[Kind, list[Stroke]] = {}
    tally: dict[Kind, int] = {}
    parts = [rect(0, _BASE, WIDTH, 0.5, "pic-floor")]
    # The newest is always at the right end.
    for place, outcome in enumerate(latest, MAX_COUNT - len(latest)):
        tally[outcome.kind] = tally.get(outcome.kind, 0) + 1
        bar = _bar(outcome.kind, place * _STEP, _LOWEST if outcome.seconds is None else round(scale(outcome.seconds)))
        if not has_marks:
            strokes.setdefault(outcome.kind, []).extend(bar)
            continue
        took = "" if outcome.seconds is None else length(max(0.0, outcome.seconds))
        at = moment(outcome.at, tz)
        table.add(at, LABELS[outcome.kind], took, href=outcome.href)
        description = f"{at}: {LABELS[outcome.kind]}" + (f", {took}" if took else "")
        hit = rect(place * _STEP, 0, _STEP, HEIGHT, "pic-hit")
        parts.append(focusable(description, outcome.href, hit, _drawn(outcome.kind, bar)))
    parts += [_drawn(kind, bars) for kind, bars in strokes.items()]
    summary = listing({_SHORT.get(kind, LABELS[kind]): tally.get(kind, 0) for kind in LABELS}) or "no runs yet"
    if has_marks:
        svg = drawing("outcomes", (WIDTH, HEIGHT), title, clean(summary), parts, has_marks=bool(latest))
    else:
        summary = _with_last_failure(summary, latest, tz)
        svg = drawing("outcomes", (WIDTH, HEIGHT), f"{title}: {summary}", "", parts, has_marks=False)
    return Chart(svg, table.table(), title, summary)


def _with_last_failure(summary: str, latest: Sequence[Outcome], tz: str) -> str:
    """Append the time of the last failure."""
    failed = next((outcome for outcome in reversed(latest) if outcome.kind == "failed"), None)
    return summary if failed is None else f"{summary}; last failed {moment(failed.at, tz)}"


def _bar(kind: Kind, x: int, height: int) -> Sequence[Stroke]:
    """Return the lines of an outcome: a bar for a success, full height with a foot for a failure, a dash for a skip."""
    middle = x + 1
    match kind:
        case "failed":
            return (middle, _BASE + 1, "v", -_BASE), (x, _BASE + 2, "h", _STEP)
        case "skipped" | "will_skip" | "coming" | "moved":
            return ((middle, _BASE - 4, "v", 2),)
        case "cancelled":
            below = (height - 1) // 2
            return (middle, _BASE, "v", -below), (middle, _BASE - below - 1, "v", below + 1 - height)
        case "queued" | "waiting":
            return ((middle, _BASE, "v", -2),)
        case _:
            return ((middle, _BASE, "v", -height),)


def _drawn(kind: Kind, bars: Sequence[Stroke]) -> Svg:
    """Draw the lines with relative moves, which makes the path short."""
    steps, (x, y) = [], (0, 0)
    for left, top, way, far in bars:
        steps.append(f"m{left - x} {top - y}{way}{far}")
        x, y = (left + far, top) if way == "h" else (left, top + far)
    return path("".join(steps), f"pic-stick is-{kind}")
