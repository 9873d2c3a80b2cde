"""Documents: schedule files read into definitions. One DocumentError reports all errors with their locations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import FILES_APP
from tickbird.files.diagnostics import Diagnostic, DocumentError
from tickbird.files.document_reader import DocumentReader
from tickbird.files.loader import Format, Source, read_paths, read_text
from tickbird.files.parse.nodes import SourceLocation, Unreadable, nodes_of
from tickbird.files.schedule_state import ExportedState

DEFAULT_APP: Final = FILES_APP


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The content of one or several files; `places` has the location of each schedule and field."""

    app: str = DEFAULT_APP
    namespace: str | None = None
    schedules: Mapping[str, Definition] = field(default_factory=dict)
    calendars: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
    # Owners, overrides and pauses of schedules that were exported from another store.
    state: Mapping[str, ExportedState] = field(default_factory=dict)
    # `active` of schedules that are written as event schedules; None if it is not stated.
    active: Mapping[str, bool | None] = field(default_factory=dict)
    places: Mapping[tuple[str, ...], SourceLocation] = field(default_factory=dict, compare=False, repr=False)

    def location(self, *path: str) -> SourceLocation:
        """Return the location of an item, or of the nearest parent that has one."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, SourceLocation("document"))


def read_files(paths: Iterable[str | Path]) -> Document:
    """Read files and folders; raise DocumentError with the errors of all files."""
    diagnostics: list[Diagnostic] = []
    return _document(read_paths(paths, diagnostics), diagnostics)


def read_bytes(data: bytes, file: str, spelling: Format) -> Document:
    """Read one document that need not be a file; `file` is its name in diagnostics."""
    diagnostics: list[Diagnostic] = []
    source = read_text(data, file, spelling, diagnostics)
    return _document([] if source is None else [source], diagnostics)


def read_document(value: object) -> Document:
    """Read a document from plain JSON values."""
    if isinstance(value, Document):
        return value
    try:
        root = nodes_of(value)
    except Unreadable as error:
        raise DocumentError([Diagnostic(SourceLocation("document"), f"{error.reason}.")]) from None
    return _document([Source("document", root)], [])


def _document(sources: Sequence[Source], diagnostics: list[Diagnostic]) -> Document:
    parts = DocumentReader(diagnostics)
    for source in sources:
        parts.take(source)
    parts.check_states()
    if diagnostics:
        order = {source.file: number for number, source in enumerate(sources)}
        raise DocumentError(
            sorted(
                diagnostics,
                key=lambda diagnostic: (
                    order.get(diagnostic.location.file, -1),
                    diagnostic.location.line or 0,
                    diagnostic.location.column or 0,
                ),
            )
        )
    return Document(
        app=parts.shared.get("app", DEFAULT_APP),
        namespace=parts.shared.get("namespace"),
        schedules=parts.schedules,
        calendars=parts.calendars,
        limits=parts.limits,
        queues=parts.queues,
        state=parts.states,
        active=parts.active,
        places=parts.places,
    )
