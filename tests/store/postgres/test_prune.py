"""The bounded search of a prune call."""

from __future__ import annotations

from tests.store.postgres.database import Database
from tests.store.postgres.steps import T0, create_many, later
from tickbird.store.postgres import PostgresStore


class TestPrune:
    async def test_old_runs_that_are_kept_do_not_hide_others(self, store: PostgresStore, database: Database) -> None:
        await create_many(database, 51)
        await database.execute(
            """INSERT INTO tickbird.runs
                (schedule_id, status, origin, namespace, target_kind, target, queue, priority, crash_limit,
                due_at, available_at, created_at, finished_at)
            SELECT s.id, 'succeeded', 'manual', namespace, 'task', 'work', 'default', 0, 3, %s, %s, %s, %s
            FROM tickbird.schedules AS s, generate_series(1, CASE s.name WHEN 's51' THEN 10 ELSE 2 END) AS n
            ORDER BY s.id""",
            *[T0] * 4,
        )
        # A call reads at most ten times its limit: here 20 of the 110.
        gone = [await store.runs.prune(older_than=1, keep=2, limit=2, now=later(60)) for _ in range(20)]
        assert sum(gone) == 8
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 102
