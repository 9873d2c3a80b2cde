"""Calendars: put, list and delete, and the schedules that name one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Jsonb

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json, read_content
from tickbird.domain.calendars.definition import CalendarRecord, calendar_in_use, check_revision, no_such_calendar
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import texts, to_schedules
from tickbird.store.shared.json_columns import as_object

_MAX_NAMED: Final = 11


async def put(
    db: Session,
    namespace: str,
    name: str,
    definition: Mapping[str, Any],
    closed: Calendar,
    source: Mapping[str, Any],
    actor: str,
    revision: int | None,
    now: datetime | None,
) -> CalendarRecord:
    """Insert or replace a calendar."""
    [row] = await db.fetch_named(
        "put_calendar",
        namespace=namespace,
        name=name,
        definition=Jsonb(dict(definition)),
        closed=Jsonb(calendar_to_json(closed)),
        source=Jsonb(dict(source)),
        actor=actor,
        now=now,
    )
    record = _record(row)
    # Whoever was first has it; what was written here is then undone.
    check_revision(name, record.revision - 1, revision)
    detail = {"calendar": name, "revision": record.revision, "definition": dict(definition)}
    await _audit(db, namespace, "put_calendar", actor, record.changed_at, detail)
    return record


async def delete(
    db: Session, namespace: str, name: str, actor: str, revision: int | None, now: datetime | None
) -> None:
    """Delete a calendar that no schedule names."""
    gone = await db.fetch("delete_calendar", namespace=namespace, name=name, now=now)
    if gone:
        check_revision(name, gone[0][1], revision)
    # Asked once its row is held: whoever has read it before has committed, and nobody can read it any more.
    if users := await naming(db, namespace, name, "", _MAX_NAMED):
        raise calendar_in_use(name, [schedule.name for schedule in users])
    if not gone:
        raise no_such_calendar(name, [record.name for record in await listed(db, namespace)])
    await _audit(db, namespace, "delete_calendar", actor, gone[0][0], {"calendar": name})


async def listed(
    db: Session, namespace: str, name: str | None = None, after: str = "", limit: int | None = None
) -> list[CalendarRecord]:
    """The calendars by name."""
    rows = await db.fetch_named("list_calendars", namespace=namespace, name=name, after=after, limit=limit)
    return [_record(row) for row in rows]


async def naming(db: Session, namespace: str, name: str, after: str, limit: int) -> list[Schedule]:
    """Schedules that name a calendar, by name."""
    rows = await db.fetch_named("schedules_with_calendar", namespace=namespace, name=name, after=after, limit=limit)
    return await to_schedules(rows)


async def contents(db: Session, namespace: str, names: Sequence[str]) -> dict[str, Calendar | None]:
    """What these calendars say; all others by name only."""
    rows = await db.fetch("calendar_contents", namespace=namespace, names=texts(list(names)))
    return {name: None if closed is None else content_from_json(closed) for name, closed in rows}


async def _audit(
    db: Session, namespace: str, action: str, actor: str, now: datetime, detail: Mapping[str, Any]
) -> None:
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action=action,
        namespace=namespace,
        schedule_id=None,
        schedule=None,
        run_id=None,
        detail=Jsonb(dict(detail)),
    )


def _record(row: dict[str, Any]) -> CalendarRecord:
    objects = {name: as_object(row[name]) for name in ("definition", "source")}
    return CalendarRecord(**{**row, **objects, "closed": read_content(row["closed"])})
