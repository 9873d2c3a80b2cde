"""Round trips of a planner: locking due schedules also returns the result of a peek."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.store.postgres.database import Database
from tests.store.postgres.steps import create, later
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Session

LOCK = "SELECT schedule_id FROM tickbird.cursors WHERE schedule_id = %s FOR UPDATE"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the statements that read due schedules."""
    names: list[str] = []
    real = Session.fetch_table

    async def noted(self: Session, name: str, /, **values: Any) -> Any:
        if name.endswith("_due"):
            names.append(name)
        return await real(self, name, **values)

    monkeypatch.setattr(Session, "fetch_table", noted)
    return names


async def test_a_batch_of_a_burst_is_one_round_trip(store: PostgresStore, asked: list[str]) -> None:
    for number in range(5):
        await create(store, f"job{number}")
    asked.clear()
    planned = [await store.planning.plan_due(2, now=later(60)) for _ in range(3)]
    assert [(result.runs, result.more) for result in planned] == [(2, True), (2, True), (1, False)]
    assert asked == ["peek_due", "lock_due", "lock_due", "lock_due"]
    assert planned[-1].next_at == later(120)


async def test_an_expected_due_schedule_is_locked_at_once(store: PostgresStore, asked: list[str]) -> None:
    await create(store)
    assert (await store.planning.plan_due(now=later(30))).next_at == later(60)
    asked.clear()
    assert (await store.planning.plan_due(now=later(60))).runs == 1
    assert asked == ["lock_due"]
    assert (await store.planning.plan_due(now=later(61))).next_at == later(120)
    assert asked == ["lock_due", "peek_due"]


async def test_a_schedule_locked_by_another_planner_is_checked_again(store: PostgresStore, database: Database) -> None:
    held, free = await create(store, "held"), await create(store, "free")
    async with await psycopg.AsyncConnection.connect(database.url) as connection:
        await connection.execute(LOCK, [held])
        planned = await store.planning.plan_due(now=later(60))
        assert (planned.schedules, planned.more) == (1, False)
        assert planned.next_at == planned.now + timedelta(seconds=1)
    assert [run.schedule_id for run in await store.runs.list("default")] == [free]
    assert (await store.planning.plan_due(now=planned.next_at)).runs == 1
