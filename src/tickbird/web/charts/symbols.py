"""Symbols of ticks and runs. Each kind has its own shape and word, because colour must not be the only sign."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from tickbird.web.charts.labels import number, room_for
from tickbird.web.charts.svg import Svg, element, joined, label, path

Kind = Literal[
    "succeeded", "failed", "cancelled", "running", "queued", "waiting", "skipped", "coming", "will_skip", "moved"
]

# In display order, starting with kinds that need attention.
LABELS: dict[Kind, str] = {
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "cancelled",
    "running": "running",
    "queued": "queued",
    "waiting": "waiting",
    "skipped": "skipped",
    "coming": "upcoming",
    "will_skip": "will be skipped",
    "moved": "moved",
}


def shape(kind: Kind, x: float, y: float, radius: float = 5) -> Svg:
    """Draw the symbol of a kind around a point."""
    r, name = radius, f"pic-shape is-{kind}"
    match kind:
        case "succeeded":
            return element("circle", cx=x, cy=y, r=r, class_=f"{name} pic-solid")
        case "failed":
            a = r * 0.8
            return path(_lines((x - a, y - a, x + a, y + a), (x - a, y + a, x + a, y - a)), f"{name} pic-cross")
        case "running":
            return element(
                "rect", x=x - r, y=y - r * 0.55, width=2 * r, height=r * 1.1, rx=1, class_=f"{name} pic-solid"
            )
        case "queued" | "waiting":
            a, b = r * 0.75, r * 0.95
            glass = f"M{_at(x - a, y - b)}H{number(x + a)}L{_at(x - a, y + b)}H{number(x + a)}Z"
            return path(glass, f"{name} {'pic-solid' if kind == 'queued' else 'pic-open'}")
        case "skipped" | "will_skip":
            a = r * 0.62
            ring = element("circle", cx=x, cy=y, r=r - 0.75, class_=f"{name} pic-open")
            return joined(ring, path(_lines((x - a, y + a, x + a, y - a)), f"{name} pic-open"))
        case "moved":
            a = r * 1.05
            arc = f"M{_at(x - a, y + a * 0.6)}A{_at(a, a)} 0 0 1 {_at(x + a * 0.8, y + a * 0.3)}"
            head = f"M{_at(x + a * 0.1, y + a * 0.15)}L{_at(x + a * 0.8, y + a * 0.5)}L{_at(x + a * 1.1, y - a * 0.35)}"
            return path(arc + head, f"{name} pic-open")
        case "cancelled" | "coming":
            return element("circle", cx=x, cy=y, r=r - 0.75, class_=f"{name} pic-open")


def hatch(x: float, y: float, width: float, height: float, gap: float = 6) -> str:
    """Return a path of slanted lines that fill a box."""
    lines = []
    steps = min(400, int((width + height) / gap))
    gap = max(gap, (width + height) / 400)
    for step in range(1, steps + 1):
        reach = step * gap
        x1, y1 = (x + reach, y) if reach <= width else (x + width, y + reach - width)
        x2, y2 = (x, y + reach) if reach <= height else (x + reach - height, y + height)
        lines.append((x1, y1, x2, y2))
    return _lines(*lines)


def legend(kinds: Collection[Kind], left: float, right: float, y: float) -> tuple[Svg, int]:
    """Draw the legend of the used kinds; return it and its number of lines (18 px each)."""
    parts, x, lines = [], left, 1
    for kind in (name for name in LABELS if name in kinds):
        text = LABELS[kind]
        room = 15 + room_for(text)
        if x > left and x + room > right:
            x, lines = left, lines + 1
        base = y + 18 * (lines - 1)
        parts += [shape(kind, x + 5, base - 4, 4.5), label(text, x + 15, base, "pic-legend")]
        x += room + 14
    return joined(*parts), lines


def _at(x: float, y: float) -> str:
    return f"{number(x)} {number(y)}"


def _lines(*ends: tuple[float, float, float, float]) -> str:
    return "".join(f"M{_at(x1, y1)}L{_at(x2, y2)}" for x1, y1, x2, y2 in ends)
