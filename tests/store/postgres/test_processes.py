"""Ten planners in separate processes share a database."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.store.contenders import Contenders, contenders
from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, create, create_many, later
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore


@pytest.fixture(scope="module")
def ten(migrated: str) -> Iterator[Contenders]:
    """Ten planning processes, half of them with clocks six hours wrong."""
    with contenders(migrated, [0, 21_600, -21_600, 0, 21_600, -21_600, 0, 0, 0, 0]) as processes:
        yield processes


class TestProcesses:
    async def test_only_one_of_ten_processes_plans_a_tick(
        self, ten: Contenders, store: PostgresStore, database: Database
    ) -> None:
        await create(store, definition=replace(MINUTELY, overlap="allow"))
        for number in range(1, 101):
            hands = await asyncio.to_thread(ten.plan, 500, later(60 * number))
            assert Counter(tuple(hand) for hand in hands) == {((1, 1),): 1, ((0, 0),): 9}
        assert await database.one("SELECT count(DISTINCT scheduled_for) FROM tickbird.runs") == 100
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 100
        assert await database.one("SELECT count(*) FROM tickbird.skips") == 0

    async def test_ten_processes_share_a_thousand(self, ten: Contenders, database: Database) -> None:
        await create_many(database, 1_000)
        hands = await asyncio.to_thread(ten.plan, 20, later(60))
        assert sum(made for hand in hands for _, made in hand) == 1_000
        assert sum(1 for hand in hands if any(made for _, made in hand)) > 1
        assert await database.one("SELECT count(DISTINCT schedule_id) FROM tickbird.runs") == 1_000
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 1_000

    async def test_a_wrong_clock_changes_nothing(self, ten: Contenders, database: Database) -> None:
        await create_many(database, 20, replace(MINUTELY, trigger=every(hours=24), catch_up="all"))
        await database.execute("UPDATE tickbird.cursors SET planned_until = now(), next_run_at = now() + '3 h'")
        await database.execute(
            """UPDATE tickbird.cursors SET planned_until = date_trunc('day', now()) - interval '1 day',
                next_run_at = date_trunc('day', now()) WHERE schedule_id %% 2 = 0"""
        )
        hands = await asyncio.to_thread(ten.plan)
        assert sum(made for hand in hands for _, made in hand) == 10
        told = await database.execute(
            """SELECT bool_and(scheduled_for = date_trunc('day', now())), max(now() - created_at) < '1 min'
            FROM tickbird.runs"""
        )
        assert told == [(True, True)]
