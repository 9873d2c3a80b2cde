"""Documents from files or standard input, and their errors, each on a line of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tickbird.cli.output import clean
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.messages import count
from tickbird.files.diagnostics import Diagnostic, DocumentError
from tickbird.files.document import Document, read_bytes, read_files
from tickbird.files.loader import FORMATS, MAX_FILE, Format

# More are only counted; --json has all.
_MAX_DIAGNOSTICS = 200
format_option = click.option(
    "--format",
    "spelling",
    type=click.Choice(FORMATS),
    help="How standard input is written; files tell by their name.",
)


def read_documents(files: Sequence[str], spelling: Format | None) -> Document:
    """The document of all files, or every mistake in them on a line of its own."""
    try:
        if "-" not in files:
            return read_files(files)
        if len(files) > 1:
            raise InvalidError("file: standard input is a whole document and goes with no other file.", field="file")
        data = sys.stdin.buffer.read(MAX_FILE + 1)
        found = spelling or ("json" if data.lstrip()[:1] == b"{" else None)
        if found is None:
            raise InvalidError(
                "format: say how standard input is written,", field="format", hint="such as --format toml."
            )
        return read_bytes(data, "stdin", found)
    except DocumentError as error:
        print_diagnostics(error.diagnostics)
        raise Mistaken(error.diagnostics) from None


class Mistaken(InvalidError):
    """Files with mistakes, of which a person has been told each on a line of its own."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'error')}; nothing was changed.", field="file")
        self.diagnostics = tuple(diagnostics)


class Conflicts(ConflictError):
    """Schedules that are somebody else's, of which a person has been told each on a line of its own."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'conflict')}; nothing was changed.")
        self.diagnostics = tuple(diagnostics)


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    for diagnostic in diagnostics[:_MAX_DIAGNOSTICS]:
        click.echo(clean(str(diagnostic)), err=True)
    if len(diagnostics) > _MAX_DIAGNOSTICS:
        click.echo(f"… and {len(diagnostics) - _MAX_DIAGNOSTICS:,} more.", err=True)
