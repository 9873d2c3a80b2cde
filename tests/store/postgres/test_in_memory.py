"""Schedules in memory cost planners nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tickbird.store.postgres.database.schema_name import statements
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.stores import open_store

COUNT = 5_000
INSERT = """
INSERT INTO tickbird.schedules (name, definition)
SELECT 'light-' || n, '{"v": 6, "trigger": {"cron": "* * * * *"}, "target": {"task": "work"}, "durable": false}'
FROM generate_series(1, %s) AS n
"""


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


@pytest.mark.parametrize("analyzed", [False, True])
async def test_planning_does_not_read_schedules_in_memory(migrated_url: str, analyzed: bool) -> None:
    with psycopg.connect(migrated_url.partition("?")[0], autocommit=True) as connection:
        connection.execute(INSERT, (COUNT,))
        if analyzed:
            connection.execute("ANALYZE tickbird.cursors")
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_bitmapscan = off")
        values = {"now": None, "zones": 1, "refused": "{}", "limit": 500, **readable_bounds()}
        for name in ("peek_due", "lock_due"):
            explain = "EXPLAIN (ANALYZE, FORMAT JSON) " + statements()[name].rstrip().rstrip(";")
            [([plan],)] = connection.execute(explain.encode(), values).fetchall()
            read = [
                (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
                for node in _nodes(plan["Plan"])
                if node.get("Relation Name") == "cursors"
            ]
            assert read
            assert sum(read) == 0, (name, plan)
    store = open_store(migrated_url)
    await store.open()
    try:
        planned = await store.planning.plan_due()
        assert (planned.schedules, planned.next_at, planned.more) == (0, None, False)
        assert len((await store.worker_ticks.read("default", None, {})).ids) == COUNT
    finally:
        await store.close()
