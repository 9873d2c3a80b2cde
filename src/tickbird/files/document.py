"""From nodes to definitions: every mistake is told, each where it stands."""

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
    """What one or several files say together; `places` has where each schedule and each of its fields stands."""

    app: str = DEFAULT_APP
    namespace: str | None = None
    schedules: Mapping[str, Definition] = field(default_factory=dict)
    calendars: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
    # Owners, overrides and pauses of schedules that were exported from another store.
    state: Mapping[str, ExportedState] = field(default_factory=dict)
    places: Mapping[tuple[str, ...], SourceLocation] = field(default_factory=dict, compare=False, repr=False)

    def location(self, *path: str) -> SourceLocation:
        """Where something stands; what it is part of, if that alone is known."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, SourceLocation("document"))


def read_files(paths: Iterable[str | Path]) -> Document:
    """The document of files and folders, or a DocumentError with all mistakes of all of them."""
    diagnostics: list[Diagnostic] = []
    return _document(read_paths(paths, diagnostics), diagnostics)


def read_bytes(data: bytes, file: str, spelling: Format) -> Document:
    """The document of one text, which need not be a file."""
    diagnostics: list[Diagnostic] = []
    source = read_text(data, file, spelling, diagnostics)
    return _document([] if source is None else [source], diagnostics)


def read_document(value: object) -> Document:
    """The document of plain values, as JSON has them."""
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
                key=lambda each: (
                    order.get(each.location.file, -1),
                    each.location.line or 0,
                    each.location.column or 0,
                ),
            )
        )
    return Document(
        app=parts.said.get("app", DEFAULT_APP),
        namespace=parts.said.get("namespace"),
        schedules=parts.schedules,
        calendars=parts.calendars,
        limits=parts.limits,
        queues=parts.queues,
        state=parts.states,
        places=parts.places,
    )
