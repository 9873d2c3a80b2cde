"""A tick that was moved before overrides existed stays moved through the migration that brings them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest

from conformance.steps import NAME, NAMESPACE, define, epoch, later, plan, runs_of
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database import schema as postgres_schema
from tickbird.store.protocol.store import Store
from tickbird.store.shared.migrations import Migration
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database import schema as sqlite_schema

MOVE = TickOverride(epoch(60), "ada", epoch(10), due_at=epoch(90), note="later")
DETAIL = json.dumps({"tick": epoch(60), "to": epoch(90), "note": "later"})


def before(migrations: tuple[Migration, ...]) -> tuple[Migration, ...]:
    """Those that came before overrides."""
    return tuple(
        each for each in migrations if each.number < next(m.number for m in migrations if m.name == "override")
    )


async def still_moved(store: Store) -> None:
    """The tick is due when it was moved to, and nothing else is decided for any other."""
    await store.open()
    try:
        schedule = await store.schedules.get(NAMESPACE, NAME)
        assert schedule is not None
        assert schedule.cursor.tick_overrides == (MOVE,)
        await plan(store, 89)
        assert await runs_of(store) == []
        await plan(store, 90)
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.due_at) == (later(60), later(90))
    finally:
        await store.close()


async def test_sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "tickbird.db")
    with monkeypatch.context() as past:
        past.setattr(sqlite_schema, "MIGRATIONS", before(sqlite_schema.MIGRATIONS))
        await SqliteStore(path).migrate()
    micros = {
        name: epoch(second) * 1_000_000 for name, second in (("now", 10), ("tick", 60), ("due", 90), ("start", 0))
    }
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(
        "INSERT INTO schedules (name, definition) VALUES (?, ?)", (NAME, json.dumps(encode_definition(define())))
    )
    db.execute(
        "UPDATE cursors SET planned_until = :start, next_run_at = :due, moved_tick = :tick, moved_due_at = :due", micros
    )
    db.execute(
        "INSERT INTO revisions (schedule_id, revision, definition, action, actor, detail, at) "
        "SELECT schedule_id, 2, definition, 'reschedule', 'ada', :detail, :now FROM revisions",
        {**micros, "detail": DETAIL},
    )
    db.close()
    await still_moved(SqliteStore(path))


async def test_postgres(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as past:
        past.setattr(postgres_schema, "MIGRATIONS", before(postgres_schema.MIGRATIONS))
        await PostgresStore(postgres_url).migrate()
    instants = {"now": later(10), "tick": later(60), "due": later(90), "start": later(0), "detail": DETAIL}
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as db:
        definition = json.dumps(encode_definition(define()))
        await db.execute("INSERT INTO tickbird.schedules (name, definition) VALUES (%s, %s)", (NAME, definition))
        await db.execute(
            "UPDATE tickbird.cursors SET planned_until = %(start)s, next_run_at = %(due)s, moved_tick = %(tick)s, "
            "moved_due_at = %(due)s",
            instants,
        )
        await db.execute(
            "INSERT INTO tickbird.revisions (schedule_id, revision, definition, action, actor, detail, at) "
            "SELECT schedule_id, 2, definition, 'reschedule', 'ada', %(detail)s, %(now)s FROM tickbird.revisions",
            instants,
        )
    store = PostgresStore(postgres_url)
    await store.migrate()
    await still_moved(store)
