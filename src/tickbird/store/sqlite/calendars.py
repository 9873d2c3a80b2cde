"""Calendars: put, list and delete, and the schedules that name one."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json, read_content
from tickbird.domain.calendars.definition import CalendarRecord, calendar_in_use, check_revision, no_such_calendar
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, dump, schedule_record

_MAX_NAMED = 11


def put(
    db: sqlite3.Connection,
    namespace: str,
    name: str,
    definition: Mapping[str, Any],
    closed: Calendar,
    source: Mapping[str, Any],
    actor: str,
    revision: int | None,
    now: int,
) -> CalendarRecord:
    """Insert or replace a calendar."""
    row = {
        "namespace": namespace,
        "name": name,
        "definition": dump(dict(definition)),
        "closed": dump(calendar_to_json(closed)),
        "source": dump(dict(source)),
        "actor": actor,
        "now": now,
    }
    [stored] = db.execute(SQL["put_calendar"], row).fetchall()
    record = _record(stored)
    # What was written here is undone where it is at another one.
    check_revision(name, record.revision - 1, revision)
    detail = {"calendar": name, "revision": record.revision, "definition": dict(definition)}
    write_audit(db, now, actor, "put_calendar", namespace, detail=detail)
    return record


def delete(db: sqlite3.Connection, namespace: str, name: str, actor: str, revision: int | None, now: int) -> None:
    """Delete a calendar that no schedule names."""
    gone = db.execute(SQL["delete_calendar"], {"namespace": namespace, "name": name}).fetchall()
    if gone:
        check_revision(name, gone[0][0], revision)
    if users := naming(db, namespace, name, "", _MAX_NAMED):
        raise calendar_in_use(name, [schedule.name for schedule in users])
    if not gone:
        raise no_such_calendar(name, (record.name for record in listed(db, namespace)))
    write_audit(db, now, actor, "delete_calendar", namespace, detail={"calendar": name})


def listed(
    db: sqlite3.Connection, namespace: str, name: str | None = None, after: str = "", limit: int | None = None
) -> list[CalendarRecord]:
    """The calendars by name."""
    bounds = {"namespace": namespace, "name": name, "after": after, "limit": -1 if limit is None else limit}
    return [_record(row) for row in db.execute(SQL["list_calendars"], bounds)]


def naming(db: sqlite3.Connection, namespace: str, name: str, after: str, limit: int) -> list[Schedule]:
    """Schedules that name a calendar, by name."""
    bounds = {"namespace": namespace, "name": name, "after": after, "limit": limit}
    return [schedule_record(row) for row in db.execute(SQL["schedules_with_calendar"], bounds)]


def contents(db: sqlite3.Connection, namespace: str, names: Sequence[str]) -> dict[str, Calendar | None]:
    """What these calendars say; all others by name only."""
    rows = db.execute(SQL["calendar_contents"], {"namespace": namespace, "names": dump(list(names))})
    return {name: None if closed is None else content_from_json(decode(closed)) for name, closed in rows}


def _record(row: Row) -> CalendarRecord:
    name, definition, closed, source, revision, created_at, changed_at, changed_by = row
    return CalendarRecord(
        name=name,
        definition=as_object(decode(definition)),
        closed=read_content(decode(closed)),
        source=as_object(decode(source)),
        revision=revision,
        created_at=to_instant(created_at),
        changed_at=to_instant(changed_at),
        changed_by=changed_by,
    )
