"""The parts of a chart: drawing, table and summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.web.charts.labels import clean
from tickbird.web.charts.svg import Svg, element, label, local_address, text_node

# Widths in pixels; others are clamped.
NARROWEST, WIDEST = 240, 2_000
# Charts of at least this width are for desktops; phones scroll them.
WIDE = 600


@dataclass(frozen=True, slots=True)
class Table:
    """The data of a chart; `hrefs` has a URL or None per row."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    hrefs: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with its table, title and summary."""

    svg: Svg
    table: Table
    title: str
    summary: str


class TableRows:
    """Collects table rows; all texts are cleaned."""

    def __init__(self, *heads: str) -> None:
        self.heads = heads
        self.rows: list[tuple[str, ...]] = []
        self.hrefs: list[str | None] = []

    def add(self, *cells: str, href: str | None = None) -> None:
        self.rows.append(tuple(clean(cell) for cell in cells))
        self.hrefs.append(local_address(href))

    def table(self) -> Table:
        return Table(self.heads, tuple(self.rows), tuple(self.hrefs))


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a drawing and the bounds of its plot."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    @property
    def plot_width(self) -> float:
        return self.right - self.left


def usable_width(width: float) -> float:
    """Clamp a width to the range that can be drawn."""
    return float(min(max(width, NARROWEST), WIDEST))


def drawing(
    kind: str, frame: tuple[float, float], title: str, summary: str, parts: Sequence[Svg], *, has_marks: bool
) -> Svg:
    """Assemble the SVG. With symbols that can get the focus it has the role group, otherwise img.

    A small chart in a list has no summary, only a title.
    """
    width, height = frame
    title, summary = clean(title), clean(summary, 1_000)
    return element(
        "svg",
        element("title", text_node(title)),
        *([element("desc", text_node(summary))] if summary else []),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_=f"pic pic-{kind} is-wide" if width >= WIDE else f"pic pic-{kind}",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="group" if has_marks else "img",
        aria_label=f"{title}. {summary}" if summary else None,
    )


def lesson(kind: str, title: str, sentence: str, heads: tuple[str, ...], width: float, height: float = 72) -> Chart:
    """Draw an empty chart with a sentence about its future content."""
    width = usable_width(width)
    lines = _wrapped(sentence, int(width / 7))
    height = max(height, 40 + 18 * len(lines))
    top = height / 2 - 9 * (len(lines) - 1) + 4
    parts = [
        element("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=8, class_="pic-empty"),
        *(label(text, width / 2, top + 18 * place, "pic-lesson", "middle") for place, text in enumerate(lines)),
    ]
    svg = drawing(kind, (width, height), title, sentence, parts, has_marks=False)
    return Chart(svg, Table(heads, ()), title, sentence)


def _wrapped(sentence: str, columns: int) -> list[str]:
    lines = [""]
    for word in sentence.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > columns:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines[:6]
