"""Schedule files from paths or stdin, and their diagnostics, one per line."""

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

# Further diagnostics are only counted. --json has all of them.
_MAX_DIAGNOSTICS = 200
format_option = click.option(
    "--format",
    "spelling",
    type=click.Choice(FORMATS),
    help="Format of stdin (files: by extension).",
)


def read_documents(files: Sequence[str], spelling: Format | None) -> Document:
    """Read all files as one document; print every diagnostic and raise ErrorsReported if there are any."""
    try:
        if "-" not in files:
            return read_files(files)
        if len(files) > 1:
            raise InvalidError(
                "file: stdin cannot be combined with other files.", field="file", hint="Give either - or paths."
            )
        data = sys.stdin.buffer.read(MAX_FILE + 1)
        chosen = spelling or ("json" if data.lstrip()[:1] == b"{" else None)
        if chosen is None:
            raise InvalidError(
                "format: the format of stdin is unknown.", field="format", hint="Give it, such as --format toml."
            )
        return read_bytes(data, "stdin", chosen)
    except DocumentError as error:
        print_diagnostics(error.diagnostics)
        raise ErrorsReported(error.diagnostics) from None


class ErrorsReported(InvalidError):
    """Files with errors. The diagnostics are already printed."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'error')}. Nothing was changed.", field="file")
        self.diagnostics = tuple(diagnostics)


class ConflictsReported(ConflictError):
    """Schedules that another owner has. The diagnostics are already printed."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{count(len(diagnostics), 'conflict')}. Nothing was changed.")
        self.diagnostics = tuple(diagnostics)


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    for diagnostic in diagnostics[:_MAX_DIAGNOSTICS]:
        click.echo(clean(str(diagnostic)), err=True)
    if len(diagnostics) > _MAX_DIAGNOSTICS:
        click.echo(f"… and {len(diagnostics) - _MAX_DIAGNOSTICS:,} more.", err=True)
