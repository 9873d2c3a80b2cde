"""The symbols of a timeline: runs, skips and future ticks at their positions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import Status
from tickbird.web.charts.chart import TableRows
from tickbird.web.charts.labels import clean, count, length, offset, short_count
from tickbird.web.charts.scales import Linear
from tickbird.web.charts.svg import Svg, focusable, joined, label, line, path, rect
from tickbird.web.charts.symbols import LABELS, Kind, hatch, shape
from tickbird.web.charts.time_scale import epoch, moment

_HALF = 4.0  # half the height of a bar
_MIN_WIDTH = 14.0  # a shorter bar is drawn only as a symbol
_VISIBLE_DELAY = 7.0  # minimum pixels of lateness that get their own line


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSymbol:
    """A run with its instants; `note` is an additional detail, such as its error."""

    due_at: datetime
    status: Status
    started_at: datetime | None = None
    finished_at: datetime | None = None
    note: str = ""
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipSymbol:
    """A skipped tick or range of ticks, with the reason."""

    first_at: datetime
    reason: str
    last_at: datetime | None = None
    count: int = 1
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpcomingSymbol:
    """A future tick; `skipped` is the reason if it will not run, `moved_from` its original instant."""

    due_at: datetime
    skipped: str | None = None
    moved_from: datetime | None = None
    href: str | None = None


Symbol = RunSymbol | SkipSymbol | UpcomingSymbol


@dataclass(frozen=True, slots=True)
class Window:
    """The visible interval, the present, and the time scale."""

    start: float
    end: float
    now: float
    tz: str
    x: Linear


def begins(symbol: Symbol) -> float:
    """Return the start of a symbol in epoch seconds."""
    return epoch(symbol.first_at if isinstance(symbol, SkipSymbol) else symbol.due_at)


def ends(symbol: Symbol, window: Window) -> float:
    """Return the end of a symbol; an active run ends now."""
    match symbol:
        case RunSymbol(status="running", finished_at=None):
            return max(begins(symbol), window.now)
        case RunSymbol(started_at=started, finished_at=finished) if (last := finished or started) is not None:
            return max(begins(symbol), epoch(last))
        case SkipSymbol(last_at=last) if last is not None:
            return max(begins(symbol), epoch(last))
    return begins(symbol)


def kind_of(symbol: Symbol) -> Kind:
    if isinstance(symbol, RunSymbol):
        return symbol.status
    if isinstance(symbol, SkipSymbol):
        return "skipped"
    return "will_skip" if symbol.skipped is not None else "moved" if symbol.moved_from is not None else "coming"


def size_of(symbol: Symbol) -> int:
    return max(1, symbol.count) if isinstance(symbol, SkipSymbol) else 1


def draw(symbol: Symbol, name: str, y: float, window: Window, table: TableRows) -> Svg:
    """Draw a symbol with its tooltip, and add its table row."""
    facts = _facts(symbol, window)
    table.add(name, *facts, href=symbol.href)
    due, what, started, took, note = facts
    parts = [f"{clean(name, 120)}: {what}", f"due {due}"]
    parts += [f"started {started}"] if started else []
    parts += [f"took {took}"] if took else []
    parts += [clean(note)] if note else []
    if not isinstance(symbol, SkipSymbol):
        return focusable(", ".join(parts), symbol.href, _tick(symbol, y, window))
    # Outside of the symbol, because the symbol's label already has the number.
    return joined(focusable(", ".join(parts), symbol.href, _skip(symbol, y, window)), _number(symbol, y, window))


def _facts(symbol: Symbol, window: Window) -> tuple[str, str, str, str, str]:
    """Return due time, status, start, duration and details as texts."""
    tz, what = window.tz, LABELS[kind_of(symbol)]
    if isinstance(symbol, SkipSymbol):
        until = (
            "" if symbol.last_at is None or symbol.last_at == symbol.first_at else f" to {moment(symbol.last_at, tz)}"
        )
        ticks = f" ({count(symbol.count, 'tick')})" if symbol.count > 1 else ""
        return f"{moment(symbol.first_at, tz)}{until}", what + ticks, "", "", symbol.reason
    if isinstance(symbol, UpcomingSymbol):
        moved = "" if symbol.moved_from is None else f"moved from {moment(symbol.moved_from, tz)}"
        return moment(symbol.due_at, tz), what, "", "", "; ".join(filter(None, (symbol.skipped, moved)))
    if symbol.started_at is None:
        return moment(symbol.due_at, tz), what, "", "", symbol.note
    delay = epoch(symbol.started_at) - epoch(symbol.due_at)
    taken = (
        ends(symbol, window) - epoch(symbol.started_at) if symbol.finished_at or symbol.status == "running" else None
    )
    so_far = " so far" if symbol.status == "running" else ""
    took = "" if taken is None else length(max(0.0, taken)) + so_far
    return moment(symbol.due_at, tz), what, f"{offset(delay)} after it was due", took, symbol.note


def _tick(symbol: RunSymbol | UpcomingSymbol, y: float, window: Window) -> Svg:
    kind = kind_of(symbol)
    due = window.x(begins(symbol))
    if isinstance(symbol, UpcomingSymbol) or symbol.started_at is None:
        parts = [_hit(due, due, y), shape(kind, due, y)]
        if isinstance(symbol, UpcomingSymbol) and symbol.moved_from is not None:
            parts.insert(1, line(window.x(epoch(symbol.moved_from)), y, due, y, "pic-lead"))
        return joined(*parts)
    start, end = window.x(epoch(symbol.started_at)), window.x(ends(symbol, window))
    parts = [_hit(due, end, y)]
    if start - due >= _VISIBLE_DELAY:
        parts += [line(due, y, start, y, "pic-lead"), line(due, y - 4, due, y + 4, "pic-lead")]
    if end - start < _MIN_WIDTH:
        return joined(*parts, shape(kind, (start + end) / 2, y))
    parts.append(rect(start, y - _HALF, end - start, 2 * _HALF, f"pic-bar is-{kind}", 2))
    if kind == "running":
        parts.append(rect(end - 3, y - _HALF, 3, 2 * _HALF, "pic-growing", 1))
    else:
        parts.append(shape(kind, end - 4, y))
    return joined(*parts)


def _skip(symbol: SkipSymbol, y: float, window: Window) -> Svg:
    start, end = window.x(begins(symbol)), window.x(ends(symbol, window))
    if end - start < 2 * _MIN_WIDTH:
        return joined(_hit(start, end, y), shape("skipped", (start + end) / 2, y))
    box = (start, y - 5, end - start, 10.0)
    return joined(
        _hit(start, end, y),
        rect(*box, "pic-range", 2),
        path(hatch(*box), "pic-hatch"),
        shape("skipped", start + 5, y),
    )


def _number(symbol: SkipSymbol, y: float, window: Window) -> Svg:
    start, end = window.x(begins(symbol)), window.x(ends(symbol, window))
    if symbol.count > 1 and end - start < 2 * _MIN_WIDTH:
        return label(short_count(symbol.count), (start + end) / 2, y + 14, "pic-tiny", "middle")
    if symbol.count > 1 and end - start > 40:
        return label(f"{short_count(symbol.count)}×", (start + end) / 2 + 5, y + 4, "pic-on-hatch", "middle")
    return joined()


def _hit(start: float, end: float, y: float) -> Svg:
    """Draw an invisible target that is larger than the symbol."""
    return rect(start - 9, y - 12, end - start + 18, 24, "pic-hit")
