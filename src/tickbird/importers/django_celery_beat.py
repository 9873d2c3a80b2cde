"""Importer of the database tables of django-celery-beat. Django is not needed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tickbird.importers import celery
from tickbird.importers.databases import Row, fetch
from tickbird.importers.entries import Imported, ImportedSchedule, short
from tickbird.store.shared.sql import load_statements

# Celery adds this task itself.
_OWN = "celery.backend_cleanup"


def read_database(url: str, source: str) -> Imported:
    imported = Imported("Celery", source, notes=list(celery.NOTES))
    for row in fetch(url, load_statements("tickbird.importers", "django_celery_beat")["periodic_tasks"]):
        origin = f"{row['name']}: {row['task']}"
        if row["task"] == _OWN:
            imported.leave(origin, "it cleans up Celery's own tables and is not needed")
            continue
        try:
            imported.add(_entry(row, origin))
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            imported.leave(origin, str(error))
    return imported


def _entry(row: Row, origin: str) -> ImportedSchedule:
    entry = ImportedSchedule(row["name"], {}, origin)
    _when(row, entry)
    entry.fields |= {"task": row["task"], "overlap": "allow"}
    celery.arguments(_json(row, "args", list), _json(row, "kwargs", dict), entry)
    sent = {name: row[name] for name in ("queue", "exchange", "routing_key", "priority", "expire_seconds")}
    celery.options({**sent, "headers": _json(row, "headers", dict)}, entry)
    if row["description"]:
        entry.fields["description"] = row["description"]
    if row["start_time"]:
        entry.fields["start_at"] = _instant(row["start_time"]).isoformat()
    if row["expires"]:
        entry.fields["end_at"] = _instant(row["expires"]).isoformat()
    if row["one_off"] and row["clocked_time"] is None:
        entry.fields["max_runs"] = 1
    if not row["enabled"]:
        entry.off = "it is disabled"
    return entry


def _when(row: Row, entry: ImportedSchedule) -> None:
    if row["minute"] is not None:
        values = [row[name] for name in celery.CRONTAB]
        fields, entry.fires = celery.crontab(values, row["timezone"] or "UTC")
        entry.fields |= fields
    elif row["every"] is not None:
        if row["period"] == "microseconds":
            raise ValueError("ticks are whole seconds, at least one second apart")
        # A task that has never run starts at start_time.
        last = row["last_run_at"] or row["start_time"] or row["date_changed"]
        celery.interval(timedelta(**{row["period"]: row["every"]}), None if last is None else _instant(last), entry)
    elif row["clocked_time"] is not None:
        entry.fields["at"] = _instant(row["clocked_time"]).isoformat()
    elif row["event"] is not None:
        raise ValueError("solar schedules are not supported")
    else:
        raise ValueError("it has no schedule")


def _json(row: Row, name: str, kind: type) -> Any:
    """Parse a JSON column."""
    try:
        value = json.loads(row[name] or ("[]" if kind is list else "{}"))
    except ValueError:
        raise ValueError(f"its {name} are not JSON: {short(str(row[name]))}") from None
    if not isinstance(value, kind):
        raise ValueError(f"its {name} are not a JSON {'list' if kind is list else 'object'}: {short(str(row[name]))}")
    return value


def _instant(value: Any) -> datetime:
    """Parse a timestamp: a datetime in PostgreSQL, text in UTC in SQLite."""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return (at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)).replace(microsecond=0)
