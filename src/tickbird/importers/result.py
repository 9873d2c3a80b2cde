"""What was imported as one document, and its text: remarks say what became of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets.command import CommandSpec
from tickbird.files.diagnostics import DocumentError
from tickbird.files.document import Document, read_document
from tickbird.files.loader import Format
from tickbird.files.writer import to_plain, write
from tickbird.importers.dst_differences import Difference, Horizon, differences
from tickbird.importers.entries import Imported, ImportedSchedule, NotImported, short


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The document, what it left out, and the days on which clock changes make a difference, by schedule."""

    document: Document
    imported: Imported
    off: Sequence[ImportedSchedule]
    not_imported: Sequence[NotImported]
    differences: dict[str, list[Difference]]


def make(imported: Imported, app: str, horizon: Horizon) -> ImportResult:
    """Read every entry as a file would be read; one that cannot be is left out, with the reason."""
    schedules: dict[str, Definition] = {}
    off, left = [], list(imported.not_imported)
    found: dict[str, list[Difference]] = {}
    for entry in imported.entries:
        try:
            read = read_document({"app": app, "schedules": {entry.name: entry.fields}})
        except DocumentError as error:
            reasons = "; ".join(diagnostic.text.rstrip(".") for diagnostic in error.diagnostics)
            left.append(NotImported(short(entry.origin), reasons, entry.line))
            continue
        if entry.off:
            off.append(entry)
            continue
        definition = schedules[entry.name] = read.schedules[entry.name]
        if days := differences(entry, definition, horizon):
            found[entry.name] = days
    document = Document(app=app, schedules=schedules)
    return ImportResult(document, imported, off, sorted(left, key=lambda each: each.line or 0), found)


def text_of(made: ImportResult, spelling: Format) -> str:
    """The file."""
    remarks = {entry.name: _remarks(made, entry) for entry in made.imported.entries}
    return write(made.document, spelling, head=_head(made), remarks=remarks)


def operator_notes_of(made: ImportResult) -> list[str]:
    """All that a text with remarks has, in lines for where there are none."""
    lines = [f"not imported: {each}" for each in made.not_imported]
    lines += [f"not written as a schedule, because {each.off}: {each.name}" for each in made.off]
    off = {each.name for each in made.off}
    for entry in made.imported.entries:
        if entry.name in made.document.schedules and entry.name not in off:
            lines += [f"{entry.name}: {note.strip()}" for note in _remarks(made, entry)[1:]]
    return lines


def _remarks(made: ImportResult, entry: ImportedSchedule) -> list[str]:
    lines = [entry.origin if entry.line is None else f"line {entry.line}: {entry.origin}", *entry.notes]
    if days := made.differences.get(entry.name):
        system = made.imported.system
        lines.append(f"{system} handles DST changes differently. Different instants:")
        lines += [f"  {each.description(system)}" for each in days]
    return lines


def _head(made: ImportResult) -> list[str]:
    imported = made.imported
    lines = [
        f"Imported from {imported.source} ({imported.system}). Review it with `tickbird diff`, then `tickbird apply`."
    ]
    lines += imported.notes
    programs = sorted({spec.program for spec in _commands(made)})
    if programs:
        allowed = " ".join(f"--allow-command {each}" for each in programs[:20])
        programs_more = " …" if len(programs) > 20 else ""
        lines.append(f"Workers must allow these programs: tickbird worker {allowed}{programs_more}")
        if variables := _variables(made):
            allowed = " ".join(f"--allow-env {each}" for each in variables[:20])
            lines.append(f"and these variables: {allowed}{' …' if len(variables) > 20 else ''}")
    if made.not_imported:
        lines += ["", "Not imported:", *(f"  {each}" for each in made.not_imported)]
    for entry in made.off:
        lines += ["", f"Not written as a schedule, because {entry.off}:", *_remarks(made, entry)]
        single = read_document({"app": made.document.app, "schedules": {entry.name: entry.fields}})
        lines += write(single, "toml").splitlines()[2:]
    return lines


def _variables(made: ImportResult) -> list[str]:
    return sorted({name for spec in _commands(made) for name, _ in spec.env})


def _commands(made: ImportResult) -> list[CommandSpec]:
    specs = (definition.target.spec for definition in made.document.schedules.values())
    return [spec for spec in specs if isinstance(spec, CommandSpec)]


def document_of(made: ImportResult) -> dict[str, Any]:
    """All of it for programs."""
    return {
        "system": made.imported.system,
        "source": made.imported.source,
        "document": to_plain(made.document),
        "notes": made.imported.notes,
        "schedules": [
            {"name": each.name, "origin": each.origin, "line": each.line, "notes": each.notes, "off": each.off or None}
            for each in made.imported.entries
        ],
        "left_out": [{"origin": each.origin, "line": each.line, "reason": each.reason} for each in made.not_imported],
        "differences": [
            {
                "schedule": name,
                "day": each.day.isoformat(),
                "theirs": [at.isoformat() for at in each.theirs],
                "ours": [at.isoformat() for at in each.ours],
            }
            for name, days in made.differences.items()
            for each in days
        ],
    }
