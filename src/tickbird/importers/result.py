"""The result of an import: a document, and its text with comments about the parts that were not imported."""

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
    """The document, the items that are not in it, and the days with different instants by schedule."""

    document: Document
    imported: Imported
    off: Sequence[ImportedSchedule]
    not_imported: Sequence[NotImported]
    differences: dict[str, list[Difference]]


def make(imported: Imported, app: str, horizon: Horizon) -> ImportResult:
    """Read every entry like a schedule file. An invalid entry is not imported, and its reason is recorded."""
    schedules: dict[str, Definition] = {}
    off, left = [], list(imported.not_imported)
    changed_days: dict[str, list[Difference]] = {}
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
            changed_days[entry.name] = days
    document = Document(app=app, schedules=schedules)
    return ImportResult(document, imported, off, sorted(left, key=lambda item: item.line or 0), changed_days)


def text_of(result: ImportResult, spelling: Format) -> str:
    """Return the text of the file."""
    remarks = {entry.name: _remarks(result, entry) for entry in result.imported.entries}
    return write(result.document, spelling, head=_head(result), remarks=remarks)


def operator_notes_of(result: ImportResult) -> list[str]:
    """Return the comments as lines, for formats without comments."""
    lines = [f"not imported: {item}" for item in result.not_imported]
    for entry in result.off:
        lines.append(f"not written as a schedule, because {entry.off}: {entry.name}")
        lines += entry.notes
    off = {entry.name for entry in result.off}
    for entry in result.imported.entries:
        if entry.name in result.document.schedules and entry.name not in off:
            lines += [f"{entry.name}: {note.strip()}" for note in _remarks(result, entry)[1:]]
    return lines


def _remarks(result: ImportResult, entry: ImportedSchedule) -> list[str]:
    lines = [entry.origin if entry.line is None else f"line {entry.line}: {entry.origin}", *entry.notes]
    if days := result.differences.get(entry.name):
        system = result.imported.system
        lines.append(f"{system} handles DST changes differently. Different instants:")
        lines += [f"  {change.description(system)}" for change in days]
    return lines


def _head(result: ImportResult) -> list[str]:
    imported = result.imported
    lines = [
        f"Imported from {imported.source} ({imported.system}). Review it with `tickbird diff`, then `tickbird apply`."
    ]
    lines += imported.notes
    programs = sorted({spec.program for spec in _commands(result)})
    if programs:
        allowed = " ".join(f"--allow-command {program}" for program in programs[:20])
        programs_more = " …" if len(programs) > 20 else ""
        lines.append(f"Workers must allow these programs: tickbird worker {allowed}{programs_more}")
        if variables := _variables(result):
            allowed = " ".join(f"--allow-env {name}" for name in variables[:20])
            lines.append(f"and these variables: {allowed}{' …' if len(variables) > 20 else ''}")
    if result.not_imported:
        lines += ["", "Not imported:", *(f"  {item}" for item in result.not_imported)]
    for entry in result.off:
        lines += ["", f"Not written as a schedule, because {entry.off}:", *_remarks(result, entry)]
        single = read_document({"app": result.document.app, "schedules": {entry.name: entry.fields}})
        lines += write(single, "toml").splitlines()[2:]
    return lines


def _variables(result: ImportResult) -> list[str]:
    return sorted({name for spec in _commands(result) for name, _ in spec.env})


def _commands(result: ImportResult) -> list[CommandSpec]:
    specs = (definition.target.spec for definition in result.document.schedules.values())
    return [spec for spec in specs if isinstance(spec, CommandSpec)]


def document_of(result: ImportResult) -> dict[str, Any]:
    """Return the result as JSON values."""
    return {
        "system": result.imported.system,
        "source": result.imported.source,
        "document": to_plain(result.document),
        "notes": result.imported.notes,
        "schedules": [
            {
                "name": entry.name,
                "origin": entry.origin,
                "line": entry.line,
                "notes": entry.notes,
                "off": entry.off or None,
            }
            for entry in result.imported.entries
        ],
        "left_out": [{"origin": item.origin, "line": item.line, "reason": item.reason} for item in result.not_imported],
        "differences": [
            {
                "schedule": name,
                "day": change.day.isoformat(),
                "theirs": [at.isoformat() for at in change.theirs],
                "ours": [at.isoformat() for at in change.ours],
            }
            for name, days in result.differences.items()
            for change in days
        ],
    }
