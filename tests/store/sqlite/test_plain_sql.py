"""Schedules written with the sqlite3 shell."""

from __future__ import annotations

import sqlite3

import pytest

from tests.store.sqlite.steps import TEXT, create, later
from tickbird.store.sqlite import SqliteStore


async def test_a_plain_insert_creates_cursor_and_revision(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
    schedule = await store.schedules.get("default", "plain")
    assert schedule is not None
    assert (schedule.state, schedule.revision, schedule.cursor.next_run_at) == ("active", 1, None)
    [revision] = await store.schedules.list_revisions(schedule.id)
    assert (revision.actor, revision.action, revision.definition["target"]) == ("sql", "create", {"task": "work"})
    planned = await store.planning.plan_due()
    assert (planned.schedules, planned.runs, planned.more) == (1, 0, False)


async def test_plain_edits_keep_the_oldest_pending_revision(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
    for seconds in ("61", "62"):
        shell.execute("UPDATE schedules SET definition = ?", (TEXT.replace("60", seconds),))
    shell.execute("UPDATE schedules SET definition = definition, app = 'theirs'")
    pending = shell.execute("SELECT revision, prior_revision, edited_at IS NOT NULL FROM cursors").fetchone()
    assert pending == (3, 1, 1)
    await store.planning.plan_due()
    assert shell.execute("SELECT revision, prior_revision, edited_at FROM cursors").fetchone() == (3, None, None)
    assert shell.execute("SELECT revision, actor FROM revisions").fetchall() == [(1, "sql"), (2, "sql"), (3, "sql")]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO schedules (name, definition) VALUES ('broken', '{')",
        "UPDATE schedules SET definition = 'nonsense'",
        "DELETE FROM schedules",
    ],
)
async def test_plain_sql_that_would_do_harm_is_refused(
    store: SqliteStore, shell: sqlite3.Connection, statement: str
) -> None:
    await create(store, "clock")
    with pytest.raises(sqlite3.IntegrityError):
        shell.execute(statement)
    assert len(await store.schedules.list("default")) == 1


async def test_a_schedule_that_is_created_once_more_has_the_ticks_of_its_name(
    store: SqliteStore, shell: sqlite3.Connection
) -> None:
    schedule_id, other = await create(store, "clock"), await create(store, "other")
    assert (await store.planning.plan_due(now=later(60))).runs == 2
    shell.executescript("DROP TRIGGER schedules_refuse_delete; PRAGMA foreign_keys = off;")
    for table in ("revisions", "cursors", "schedules"):
        shell.execute(f"DELETE FROM {table}")
    # In any order and with any id.
    shell.execute("INSERT INTO schedules (id, name, definition) VALUES (?, 'new', ?)", (schedule_id, TEXT))
    assert (await create(store, "other"), await create(store, "clock")) == (other, schedule_id)
    start, due = (round(later(seconds).timestamp() * 1_000_000) for seconds in (0, 60))
    shell.execute("UPDATE cursors SET planned_until = ?, next_run_at = ?", (start, due))
    assert (await store.planning.plan_due(now=later(60))).schedules == 3
    ran = [run.schedule for run in await store.runs.list("default") if run.scheduled_for == later(60)]
    assert sorted(name for name in ran if name) == ["clock", "new", "other"]


async def test_a_renamed_schedule_keeps_its_id(store: SqliteStore, shell: sqlite3.Connection) -> None:
    before = await create(store, "before")
    shell.execute("UPDATE schedules SET name = 'after' WHERE name = 'before'")
    assert await create(store, "before") != before
    renamed = await store.schedules.get("default", "after")
    assert renamed is not None
    assert renamed.id == before


async def test_a_replaced_row_keeps_the_id_of_its_name(store: SqliteStore, shell: sqlite3.Connection) -> None:
    schedule_id, other = await create(store, "clock"), await create(store, "other")
    assert (await store.planning.plan_due(now=later(60))).runs == 2
    shell.execute("INSERT OR REPLACE INTO schedules (name, definition) VALUES ('clock', ?)", (TEXT,))
    assert shell.execute("SELECT id, name FROM schedules ORDER BY name").fetchall() == [
        (schedule_id, "clock"),
        (other, "other"),
    ]
    assert shell.execute("SELECT schedule_id FROM cursors ORDER BY 1").fetchall() == [(schedule_id,), (other,)]
    start, due = (round(later(seconds).timestamp() * 1_000_000) for seconds in (0, 60))
    shell.execute("UPDATE cursors SET planned_until = ?, next_run_at = ?", (start, due))
    await store.planning.plan_due(now=later(60))
    assert len([run for run in await store.runs.list("default") if run.scheduled_for == later(60)]) == 2
