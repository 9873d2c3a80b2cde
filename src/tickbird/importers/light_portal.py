"""Importer of light-portal: rows of its table schedule_t become schedules of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tickbird.domain.schedules.event_schedule import FIELDS, REQUIRED, read_event_schedule
from tickbird.files.writer import fields_of
from tickbird.importers.databases import fetch, read_rows
from tickbird.importers.entries import Imported, ImportedSchedule, name_of, short
from tickbird.store.shared.sql import load_statements

_FLAGS: Final = {"t": True, "true": True, "f": False, "false": False}
_DUMP_HINT: Final = (
    "Write it with `psql -c '\\copy schedule_t TO schedules.csv CSV HEADER'`, or as JSON: a list of the rows."
)
_NOTES: Final = (
    "The ticks are start_ts and the intervals after it, next_run_ts is ignored.",
    "The key of the events is the name of the schedule; their tenant is host_id.",
)


def read_database(url: str, source: str) -> Imported:
    """Read the table schedule_t."""
    statement = load_statements("tickbird.importers", "light_portal")["schedules"]
    return _import([row["schedule"] for row in fetch(url, statement)], source)


def read_dump(text: str, source: str) -> Imported:
    """Read the rows of schedule_t as a list of JSON objects, or as CSV with a header."""
    return _import(read_rows(text, source, REQUIRED, _DUMP_HINT), source)


def _import(rows: Sequence[Mapping[str, Any]], source: str) -> Imported:
    imported = Imported("light-portal", source, notes=list(_NOTES))
    for row in rows:
        title = str(row.get("schedule_name"))
        origin = short(f"{title}: {row.get('frequency_time')} {row.get('frequency_unit')}")
        # The table may have several schedules of a name, and names that are not allowed here.
        entry = ImportedSchedule(title, {}, origin)
        try:
            read = read_event_schedule({name: _value(name, row.get(name)) for name in FIELDS})
        except ValueError as error:
            imported.leave(origin, str(error).rstrip("."))
            continue
        imported.add(entry)
        entry.fields |= fields_of(read.definition)
        entry.fields["event"]["key"] = entry.name
        if read.is_active is False:
            entry.off = "it is not active"
    return imported


def _value(name: str, value: Any) -> Any:
    """Return the value of a column; those of CSV are texts."""
    if name == "schedule_name":
        return name_of(str(value))
    if isinstance(value, str) and name == "frequency_time" and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, str) and name == "active":
        return _FLAGS.get(value.lower(), value)
    return None if value == "" else value
