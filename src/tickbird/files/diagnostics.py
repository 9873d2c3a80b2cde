"""Diagnostics: errors in schedule files with their locations, and exceptions that carry all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.files.parse.nodes import SourceLocation


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """An error in a file, with its location and the next step."""

    location: SourceLocation
    text: str

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"


class DocumentError(InvalidError):
    """A document with errors: all of them, in file order."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        shown = " ".join(map(str, self.diagnostics[:3])) + (" …" if len(self.diagnostics) > 3 else "")
        many = f"{len(self.diagnostics):,} errors: " if len(self.diagnostics) > 1 else ""
        super().__init__(f"{many}{shown}", field="document")


class OwnedError(ConflictError):
    """A document with schedules of other owners: all of them, each with its owner."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        more = f" And {len(diagnostics) - 3:,} more." if len(diagnostics) > 3 else ""
        super().__init__(f"{' '.join(map(str, diagnostics[:3]))}{more}")
