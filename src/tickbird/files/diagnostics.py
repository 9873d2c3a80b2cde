"""What is wrong with files: each thing where it stands, and all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.files.parse.nodes import SourceLocation


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something that is wrong, where it stands, and what to do about it."""

    location: SourceLocation
    text: str

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"


class DocumentError(InvalidError):
    """Files, or a document, with mistakes: all of them, in the order in which they stand."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        shown = " ".join(map(str, self.diagnostics[:3])) + (" …" if len(self.diagnostics) > 3 else "")
        many = f"{len(self.diagnostics):,} errors: " if len(self.diagnostics) > 1 else ""
        super().__init__(f"{many}{shown}", field="document")


class OwnedError(ConflictError):
    """A document with schedules that are somebody else's: all of them, each with whose it is."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        more = f" And {len(diagnostics) - 3:,} more." if len(diagnostics) > 3 else ""
        super().__init__(f"{' '.join(map(str, diagnostics[:3]))}{more}")
