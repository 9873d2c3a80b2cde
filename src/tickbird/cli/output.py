"""Output: tables and fields as text, or one JSON document."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tickbird.cli.options import GlobalOptions
from tickbird.domain.time.durations import relative as relative
from tickbird.domain.time.instants import utc_text
from tickbird.domain.time.zone_data import clock_text

if TYPE_CHECKING:
    from rich.console import Console


class Cell(NamedTuple):
    """A text with a colour for terminals."""

    text: str
    style: str = ""


Text = str | Cell
# Longer words, such as names and URLs, may be broken in a narrow table.
_LONG_WORD = 16


def clean(text: str, *, lines: bool = False) -> str:
    """Escape control characters, so that stored text cannot control the terminal."""
    return "".join(c if _harmless(c) or (lines and c == "\n") else _escaped(c) for c in text)


def _harmless(character: str) -> bool:
    # Cc: control; Cf: invisible, such as direction marks; Cs: surrogates. The emoji joiner is harmless.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or character == "\u200d"


def _escaped(character: str) -> str:
    return {"\n": "\\n", "\t": " ", "\r": "\\r"}.get(character) or character.encode("unicode_escape").decode()


def print_result(settings: GlobalOptions, document: Callable[[], Any], show: Callable[[Printer], None]) -> None:
    """Print the JSON document or the text. Only the requested one is built."""
    if settings.as_json:
        # ASCII, so that no locale can break it.
        click.echo(json.dumps(document(), indent=2, allow_nan=False))
        settings.answered = True
        return
    screen = Printer()
    show(screen)
    screen.flush()


def warn(text: str) -> None:
    """Print a warning or note to stderr."""
    click.echo(f"tickbird: {clean(text)}", err=True)


class Printer:
    """Text output: colours and folded columns on a terminal; plain and never cut in a pipe."""

    def __init__(self) -> None:
        self._plain: list[str] = []
        self._console: Console | None = None
        if sys.stdout.isatty():
            from rich.console import Console

            self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    def line(self, text: Text = "", *, lines: bool = False) -> None:
        """Print one line; with `lines`, keep line breaks in the text."""
        cell = _cell(text, lines=lines)
        if self._console is not None:
            self._console.print(cell.text, style=cell.style or None)
        else:
            self._plain.append(cell.text)

    def title(self, text: str) -> None:
        self.line()
        self.line(Cell(text, "bold"))

    def fields(self, pairs: Iterable[tuple[str, Text]], indent: int = 0) -> None:
        shown = [(clean(name), _cell(value)) for name, value in pairs]
        width = max((len(name) for name, _ in shown), default=0)
        for name, cell in shown:
            start = f"{' ' * indent}{name:<{width}}  "
            if self._console is not None:
                from rich.text import Text as RichText

                self._console.print(RichText.assemble((start, "dim"), (cell.text, cell.style)))
            else:
                self._plain.append(f"{start}{cell.text}".rstrip())

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[Text]]) -> None:
        """Print a table. Empty columns are hidden."""
        cells = [[_cell(value) for value in row] for row in rows]
        columns = [index for index in range(len(heads)) if any(row[index].text for row in cells)]
        heads = [heads[index] for index in columns]
        cells = [[row[index] for index in columns] for row in cells]
        if self._console is not None:
            if _room(heads, cells) > self._console.width:
                self._stack(heads, cells)
            else:
                self._console.print(_rich_table(heads, cells), soft_wrap=False)
            return
        widths = [max(_width(row[index].text) for row in ([*map(Cell, heads)], *cells)) for index in range(len(heads))]
        for row in ([*map(Cell, heads)], *cells):
            padded = (cell.text + " " * (width - _width(cell.text)) for cell, width in zip(row, widths, strict=True))
            self._plain.append("  ".join(padded).rstrip())

    def _stack(self, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Print one field per line, for a terminal that is too narrow for columns."""
        for index, row in enumerate(rows):
            if index:
                self.line()
            self.fields((head.lower(), cell) for head, cell in zip(heads, row, strict=True) if cell.text)

    def flush(self) -> None:
        """Print the buffered plain text."""
        if self._plain:
            click.echo("\n".join(self._plain))


def _cell(value: Text, *, lines: bool = False) -> Cell:
    text, style = (value, "") if isinstance(value, str) else value
    return Cell(clean(text, lines=lines), style)


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _room(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> int:
    """Return the minimum table width at which no word is broken, except very long ones."""
    columns = [(head, *(row[index].text for row in rows)) for index, head in enumerate(heads)]
    widest = [min(max(map(_word_width, column)), _LONG_WORD) for column in columns]
    if columns and _fits(rows):
        widest[0] = max(map(_width, columns[0]))
    return sum(widest) + 2 * (len(widest) - 1)


def _word_width(text: str) -> int:
    return max(map(_width, text.split()), default=0)


def _rich_table(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Any:
    from rich.table import Table
    from rich.text import Text as RichText

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, head in enumerate(heads):
        # Folded, never cut: a name must stay usable.
        table.add_column(head, overflow="fold", ratio=None, no_wrap=index == 0 and _fits(rows))
    for row in rows:
        table.add_row(*(RichText(cell.text, style=cell.style) for cell in row))
    return table


def _fits(rows: Sequence[Sequence[Cell]]) -> bool:
    return max((_width(row[0].text) for row in rows), default=0) <= 40


# Times

# ISO 8601 in UTC for JSON, and wall-clock time in a time zone for text.
iso = utc_text
clock = clock_text


def both(at: datetime | None, now: datetime, tz: str = "UTC") -> str:
    """Format an instant as relative and absolute time; "" for None."""
    return "" if at is None else f"{relative(at, now)} · {clock(at, tz)}"
