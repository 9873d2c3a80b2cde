"""Schedules written with the sqlite3 shell."""

from __future__ import annotations

import sqlite3

import pytest

from tests.store.sqlite.steps import TEXT, create
from tickbird.store.sqlite import SqliteStore


async def test_a_plain_insert_makes_cursor_and_revision(store: SqliteStore, shell: sqlite3.Connection) -> None:
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
    pending = shell.execute("SELECT revision, prior_revision, changed_at IS NOT NULL FROM cursors").fetchone()
    assert pending == (3, 1, 1)
    await store.planning.plan_due()
    assert shell.execute("SELECT revision, prior_revision, changed_at FROM cursors").fetchone() == (3, None, None)
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
