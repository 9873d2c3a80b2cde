"""Calendars on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Jsonb

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json, read_content
from tickbird.domain.calendars.definition import CalendarRecord, calendar_in_use, check_revision, no_such_calendar
from tickbird.domain.planning.changes import CalendarUpdate
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.rows import texts, to_schedules
from tickbird.store.protocol.calendars import CalendarStore
from tickbird.store.shared.json_columns import as_object

_MAX_NAMED: Final = 11


class PostgresCalendars(NounStore, CalendarStore):
    @transaction
    async def put(
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
        return await put_calendar(db, namespace, update, actor, now)

    @transaction
    async def delete(
        self,
        db: Session,
        namespace: str,
        name: str,
        actor: str,
        *,
        revision: int | None = None,
        now: datetime | None = None,
    ) -> None:
        deleted = await db.fetch("delete_calendar", namespace=namespace, name=name, now=now)
        if deleted:
            check_revision(name, deleted[0][1], revision)
        # Read while its row is locked: earlier readers have committed, and there are no new ones.
        bounds = {"namespace": namespace, "name": name, "after": "", "limit": _MAX_NAMED}
        if users := await db.fetch_named("schedules_with_calendar", **bounds):
            raise calendar_in_use(name, [row["name"] for row in users])
        if not deleted:
            rows = await db.fetch_named("list_calendars", namespace=namespace, name=None, after="", limit=None)
            raise no_such_calendar(name, [row["name"] for row in rows])
        await write_audit(db, deleted[0][0], actor, "delete_calendar", namespace, detail={"calendar": name})

    async def list(
        self, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        bounds = {"namespace": namespace, "name": name, "after": after, "limit": limit}
        return [_record(row) for row in await self._db.fetch_named("list_calendars", **bounds)]

    async def list_schedules(
        self, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        bounds = {"namespace": namespace, "name": name, "after": after, "limit": limit}
        return await to_schedules(await self._db.fetch_named("schedules_with_calendar", **bounds))


async def put_calendar(
    db: Session, namespace: str, update: CalendarUpdate, actor: str, now: datetime | None
) -> CalendarRecord:
    [row] = await db.fetch_named(
        "put_calendar",
        namespace=namespace,
        name=update.name,
        definition=Jsonb(dict(update.definition)),
        closed=Jsonb(calendar_to_json(update.closed)),
        source=Jsonb(dict(update.source)),
        actor=actor,
        now=now,
    )
    calendar = _record(row)
    # The row is locked now; if its revision is another one, the transaction is rolled back.
    check_revision(update.name, calendar.revision - 1, update.revision)
    detail = {"calendar": update.name, "revision": calendar.revision, "definition": dict(update.definition)}
    await write_audit(db, calendar.changed_at, actor, "put_calendar", namespace, detail=detail)
    return calendar


async def calendar_contents(db: Session, namespace: str, names: Sequence[str]) -> dict[str, Calendar | None]:
    """The contents of these calendars; all others by name only."""
    rows = await db.fetch("calendar_contents", namespace=namespace, names=texts(list(names)))
    return {name: None if closed is None else content_from_json(closed) for name, closed in rows}


def _record(row: dict[str, Any]) -> CalendarRecord:
    objects = {name: as_object(row[name]) for name in ("definition", "source")}
    return CalendarRecord(**{**row, **objects, "closed": read_content(row["closed"])})
