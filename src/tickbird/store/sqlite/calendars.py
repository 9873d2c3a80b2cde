"""Calendars on SQLite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json, read_content
from tickbird.domain.calendars.definition import CalendarRecord, calendar_in_use, check_revision, no_such_calendar
from tickbird.domain.planning.changes import CalendarUpdate
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.calendars import CalendarStore
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.rows import Row, dump, to_schedule

_MAX_NAMED = 11


class SqliteCalendars(NounStore, CalendarStore):
    @write_transaction
    def put(
        self,
        db: Session,
        namespace: str,
        name: str,
        definition: Mapping[str, Any],
        closed: Calendar,
        source: Mapping[str, Any],
        actor: str,
        *,
        revision: int | None = None,
        now: datetime | None = None,
    ) -> CalendarRecord:
        update = CalendarUpdate(name, definition, closed, source, revision)
        return put_calendar(db, namespace, update, actor, read_clock(now))

    @write_transaction
    def delete(
        self,
        db: Session,
        namespace: str,
        name: str,
        actor: str,
        *,
        revision: int | None = None,
        now: datetime | None = None,
    ) -> None:
        deleted = db.execute(SQL["delete_calendar"], {"namespace": namespace, "name": name}).fetchall()
        if deleted:
            check_revision(name, deleted[0][0], revision)
        if users := _read_schedules(db, namespace, name, "", _MAX_NAMED):
            raise calendar_in_use(name, [schedule.name for schedule in users])
        if not deleted:
            calendars = _read_calendars(db, namespace, None, "", None)
            raise no_such_calendar(name, [calendar.name for calendar in calendars])
        write_audit(db, read_clock(now), actor, "delete_calendar", namespace, detail={"calendar": name})

    @read_transaction
    def list(
        self, db: Session, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        return _read_calendars(db, namespace, name, after, limit)

    @read_transaction
    def list_schedules(
        self, db: Session, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        return _read_schedules(db, namespace, name, after, limit)


def put_calendar(db: Session, namespace: str, update: CalendarUpdate, actor: str, now: datetime) -> CalendarRecord:
    row = {
        "namespace": namespace,
        "name": update.name,
        "definition": dump(dict(update.definition)),
        "closed": dump(calendar_to_json(update.closed)),
        "source": dump(dict(update.source)),
        "actor": actor,
        "now": to_micros(now),
    }
    [stored] = db.execute(SQL["put_calendar"], row).fetchall()
    calendar = _record(stored)
    # If its revision is another one, the transaction is rolled back.
    check_revision(update.name, calendar.revision - 1, update.revision)
    detail = {"calendar": update.name, "revision": calendar.revision, "definition": dict(update.definition)}
    write_audit(db, now, actor, "put_calendar", namespace, detail=detail)
    return calendar


def calendar_contents(db: Session, namespace: str, names: Sequence[str]) -> dict[str, Calendar | None]:
    """The contents of these calendars; all others by name only."""
    rows = db.execute(SQL["calendar_contents"], {"namespace": namespace, "names": dump(list(names))})
    return {name: None if closed is None else content_from_json(decode(closed)) for name, closed in rows}


def _read_calendars(
    db: Session, namespace: str, name: str | None, after: str, limit: int | None
) -> list[CalendarRecord]:
    bounds = {"namespace": namespace, "name": name, "after": after, "limit": -1 if limit is None else limit}
    return [_record(row) for row in db.execute(SQL["list_calendars"], bounds)]


def _read_schedules(db: Session, namespace: str, name: str, after: str, limit: int) -> list[Schedule]:
    bounds = {"namespace": namespace, "name": name, "after": after, "limit": limit}
    return [to_schedule(row) for row in fetch_named(db, "schedules_with_calendar", bounds)]


def _record(row: Row) -> CalendarRecord:
    name, definition, closed, source, revision, created_at, changed_at, changed_by = row
    return CalendarRecord(
        name=name,
        definition=as_object(decode(definition)),
        closed=read_content(decode(closed)),
        source=as_object(decode(source)),
        revision=revision,
        created_at=from_micros(created_at),
        changed_at=from_micros(changed_at),
        changed_by=changed_by,
    )
