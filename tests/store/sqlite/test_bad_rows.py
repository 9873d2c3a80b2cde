"""Rows that the database refuses stop no others."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from tests.store.sqlite.steps import DEFINITION, T0, create, later
from tickbird.domain.schedules.definition import Target
from tickbird.store.sqlite import SqliteStore


async def test_a_refused_row_is_isolated(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(9):
        await create(store, f"s{index}", replace(DEFINITION, target=Target(f"task{index}")))
    shell.execute(
        "CREATE TRIGGER no BEFORE INSERT ON runs WHEN NEW.target = 'task4' BEGIN SELECT raise(ABORT, 'not this'); END"
    )
    planned = await store.planning.plan_due(now=later(60))
    assert (planned.schedules, planned.runs, planned.parked, planned.more) == (8, 8, (), False)
    assert [refused.schedule for refused in planned.refused] == ["s4"]
    refused = await store.schedules.get("default", "s4")
    assert refused is not None
    assert (refused.state, refused.error, refused.planned_until) == ("active", "not this", T0)
    assert (await store.planning.plan_due(now=later(120))).schedules == 8


async def test_a_row_that_cannot_even_be_parked_stops_no_other(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(5):
        await create(store, f"s{index}", replace(DEFINITION, overlap="allow"))
    shell.execute(
        """CREATE TRIGGER no BEFORE UPDATE ON cursors WHEN NEW.state = 'parked' OR NEW.refused_at IS NOT NULL
        BEGIN SELECT raise(ABORT, 'no parking'); END"""
    )
    shell.execute("""INSERT INTO schedules (name, definition) VALUES ('broken', '{"v": 1}')""")
    for minute in (1, 2, 3):
        planned = await store.planning.plan_due(now=later(60 * minute))
        assert (planned.runs, planned.parked) == (5, ())
        assert [refused.error for refused in planned.refused] == ["no parking"]
    shell.execute("DROP TRIGGER no")
    assert (await store.planning.plan_due(now=later(240))).parked == ("broken",)


async def test_a_trigger_that_fails_for_a_row_stops_no_other(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(5):
        await create(store, f"s{index}", replace(DEFINITION, target=Target(f"task{index}")))
    shell.execute(
        """CREATE TRIGGER no BEFORE INSERT ON runs WHEN NEW.target = 'task3'
        BEGIN SELECT json('nonsense'); END"""
    )
    planned = await store.planning.plan_due(now=later(60))
    assert (planned.runs, planned.parked) == (4, ())
    assert [(refused.schedule, refused.error) for refused in planned.refused] == [("s3", "malformed JSON")]
