"""What is printed: tables and fields for people, one JSON document for programs."""

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
# Longer ones, such as names and addresses, are broken where there is no room for them.
_LONG_WORD = 16


def clean(text: str, *, lines: bool = False) -> str:
    """The text with control characters shown as escapes, so that no stored text can drive a terminal."""
    return "".join(c if _harmless(c) or (lines and c == "\n") else _escaped(c) for c in text)


def _harmless(character: str) -> bool:
    # Cc: control; Cf: invisible, such as those that turn the direction of writing; Cs: half a character.
    # The joiner within emoji is invisible too, and harmless.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or character == "\u200d"


def _escaped(character: str) -> str:
    return {"\n": "\\n", "\t": " ", "\r": "\\r"}.get(character) or character.encode("unicode_escape").decode()


def print_result(settings: GlobalOptions, document: Callable[[], Any], show: Callable[[Printer], None]) -> None:
    """Print a document as JSON, or show it to a person; only the one that is wanted is made."""
    if settings.as_json:
        # ASCII, so that no locale can break it.
        click.echo(json.dumps(document(), indent=2, allow_nan=False))
        settings.answered = True
        return
    screen = Printer()
    show(screen)
    screen.flush()


def warn(text: str) -> None:
    """A remark beside the result, on stderr."""
    click.echo(f"tickbird: {clean(text)}", err=True)


class Printer:
    """Text for a person: with colours and folded columns on a terminal, plain and never cut elsewhere."""

    def __init__(self) -> None:
        self._plain: list[str] = []
        self._console: Console | None = None
        if sys.stdout.isatty():
            from rich.console import Console

            self._console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)

    def line(self, text: Text = "", *, lines: bool = False) -> None:
        """One line; with `lines`, line breaks within the text are kept."""
        cell = _cell(text, lines=lines)
        if self._console is not None:
            self._console.print(cell.text, style=cell.style or None)
        else:
            self._plain.append(cell.text)

    def title(self, text: str) -> None:
        """A heading with room above it."""
        self.line()
        self.line(Cell(text, "bold"))

    def fields(self, pairs: Iterable[tuple[str, Text]], indent: int = 0) -> None:
        """Names and values, one pair a line."""
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
        """Rows under heads; columns that are empty throughout are left out."""
        cells = [[_cell(value) for value in row] for row in rows]
        kept = [place for place in range(len(heads)) if any(row[place].text for row in cells)]
        heads = [heads[place] for place in kept]
        cells = [[row[place] for place in kept] for row in cells]
        if self._console is not None:
            if _room(heads, cells) > self._console.width:
                self._stack(heads, cells)
            else:
                self._console.print(_rich_table(heads, cells), soft_wrap=False)
            return
        widths = [max(_width(row[place].text) for row in ([*map(Cell, heads)], *cells)) for place in range(len(heads))]
        for row in ([*map(Cell, heads)], *cells):
            padded = (cell.text + " " * (width - _width(cell.text)) for cell, width in zip(row, widths, strict=True))
            self._plain.append("  ".join(padded).rstrip())

    def _stack(self, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Row by row, for a terminal that is too narrow to read columns on."""
        for place, row in enumerate(rows):
            if place:
                self.line()
            self.fields((head.lower(), cell) for head, cell in zip(heads, row, strict=True) if cell.text)

    def flush(self) -> None:
        """Print what was gathered."""
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
    """How wide a table must be so that no word is broken in it, but for such as are very long."""
    columns = [(head, *(row[place].text for row in rows)) for place, head in enumerate(heads)]
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
    for place, head in enumerate(heads):
        # Folded where there is no room, never cut: a name must stay usable.
        table.add_column(head, overflow="fold", ratio=None, no_wrap=place == 0 and _fits(rows))
    for row in rows:
        table.add_row(*(RichText(cell.text, style=cell.style) for cell in row))
    return table


def _fits(rows: Sequence[Sequence[Cell]]) -> bool:
    return max((_width(row[0].text) for row in rows), default=0) <= 40


# Times

# For programs, and on the clock of a zone.
iso = utc_text
clock = clock_text


def both(at: datetime | None, now: datetime, tz: str = "UTC") -> str:
    """Relative and absolute."""
    return "" if at is None else f"{relative(at, now)} · {clock(at, tz)}"
