"""Series as one SVG picture: a panel for each kind, faults as thin lines; for light and dark backgrounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from bench.soak.series import UNITS, WARM_UP, Series

WIDTH, HEIGHT, COLUMNS = 430.0, 190.0, 2
LEFT, RIGHT, TOP, BOTTOM = 52.0, 118.0, 34.0, 26.0
# Light and dark variants of each colour have the same hue, and at least 3:1 contrast with their background.
COLOURS: Final = (
    ("#1f6feb", "#6cb0ff"),
    ("#c2410c", "#ff9a5c"),
    ("#15803d", "#5fd38a"),
    ("#9333ea", "#cb9bff"),
    ("#b91c5c", "#ff8ab8"),
    ("#0e7490", "#5ad0e6"),
    ("#854d0e", "#e0b050"),
    ("#475569", "#a9b8cc"),
)


def draw(series: Sequence[Series], faults: Sequence[tuple[float, str]], title: str) -> str:
    kinds = list(dict.fromkeys(each.kind for each in series))
    end = max((each.seconds[-1] for each in series if each.seconds), default=1.0) or 1.0
    rows = math.ceil(len(kinds) / COLUMNS) or 1
    width, height = COLUMNS * WIDTH, 40 + rows * HEIGHT
    panels = []
    for number, kind in enumerate(kinds):
        x, y = (number % COLUMNS) * WIDTH, 40 + (number // COLUMNS) * HEIGHT
        inner = _panel(kind, [each for each in series if each.kind == kind], faults, end)
        panels.append(f'<g transform="translate({x:.0f} {y:.0f})">{inner}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{escape(title)}">{_style()}'
        f'<rect class="ground" width="100%" height="100%"/><text class="title" x="12" y="24">{escape(title)}</text>'
        f"{''.join(panels)}</svg>\n"
    )


def _style() -> str:
    light = "".join(
        f".c{number}{{stroke:{colour}}}.t{number}{{fill:{colour}}}" for number, (colour, _) in enumerate(COLOURS)
    )
    dark = "".join(
        f".c{number}{{stroke:{colour}}}.t{number}{{fill:{colour}}}" for number, (_, colour) in enumerate(COLOURS)
    )
    return (
        "<style>text{font:11px system-ui,sans-serif;fill:#24292f}.title{font-size:15px;font-weight:600}"
        ".head{font-size:12px;font-weight:600}.ground{fill:#fff}.axis{stroke:#c9d1d9}.warm{fill:#000;opacity:.04}"
        ".fault{stroke:#000;opacity:.10}.line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
        f"{light}@media (prefers-color-scheme:dark){{text{{fill:#e6edf3}}.ground{{fill:#0d1117}}.axis{{stroke:#3d444d}}"
        f".warm{{fill:#fff;opacity:.06}}.fault{{stroke:#fff;opacity:.16}}{dark}}}</style>"
    )


def _panel(kind: str, series: Sequence[Series], faults: Sequence[tuple[float, str]], end: float) -> str:
    maximum = _round_up(max((value for each in series for value in each.values), default=1.0))
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(at: float, value: float) -> tuple[float, float]:
        return LEFT + (right - LEFT) * at / end, floor - (floor - TOP) * value / maximum

    warm = place(WARM_UP * end, 0)[0]
    unit = f", {UNITS[kind]}" if kind in UNITS else ""
    parts = [
        f'<text class="head" x="{LEFT}" y="18">{escape(kind + unit)}</text>',
        f'<rect class="warm" x="{LEFT}" y="{TOP}" width="{warm - LEFT:.1f}" height="{floor - TOP:.1f}"/>',
    ]
    for share in (0.0, 0.5, 1.0):
        y = place(0, share * maximum)[1]
        parts.append(f'<line class="axis" x1="{LEFT}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_figure(share * maximum)}</text>')
    parts += [
        f'<line class="fault" x1="{place(at, 0)[0]:.1f}" x2="{place(at, 0)[0]:.1f}" y1="{TOP}" y2="{floor}">'
        f"<title>{escape(what)}</title></line>"
        for at, what in faults
    ]
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">0</text>')
    parts.append(f'<text x="{right:.1f}" y="{HEIGHT - 8}" text-anchor="end">{_duration(end)}</text>')
    names = []
    for number, each in enumerate(series):
        colour = number % len(COLOURS)
        line = " ".join(
            f"{x:.1f},{y:.1f}" for x, y in (place(*pair) for pair in zip(each.seconds, each.values, strict=True))
        )
        parts.append(f'<polyline class="line c{colour}" points="{line}"/>')
        names.append((place(end, each.values[-1])[1] if each.values else floor, colour, each.name))
    # Names are next to the ends of their lines, without overlap.
    y = TOP - 8
    for end_y, colour, name in sorted(names):
        y = max(y + 13, min(end_y + 4, floor - 13 * (len(names) - 1)))
        parts.append(f'<text class="t{colour}" x="{right + 6:.1f}" y="{y:.1f}">{escape(name)}</text>')
    return "".join(parts)


def _round_up(value: float) -> float:
    """The next round number, so that the axis has simple labels."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"
