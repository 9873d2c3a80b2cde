"""The cost of frequent verbs does not grow with unrelated rows: of other namespaces, tasks and days.

It is measured in blocks that PostgreSQL reads, and in steps of SQLite's virtual machine, so that load does not matter.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conformance.steps import NAMESPACE, claim, enqueue, later
from tests.store.postgres.database import Database, opened
from tickbird.domain.dashboard_rows import RunFilter
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.store.postgres import PostgresStore
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore

DAY = 86_400
SIZES = (1_000, 8_000)
# A few more levels of an index, pages that are half full, hints that are set once.
GROWTH, SLACK = 2.0, 60
COLUMNS = "namespace, target, queue, priority, status, origin, due_at, available_at, created_at, finished_at"
# The rows of each size: runs of another namespace, queued and finished; of tasks without a worker; and for tomorrow.
CROWDS = (
    ("other", "work", "default", "queued", 0),
    ("other", "work", "default", "succeeded", 0),
    (NAMESPACE, "foreign", "default", "queued", 0),
    (NAMESPACE, "foreign", "bulk", "queued", 0),
    (NAMESPACE, "work", "default", "queued", DAY),
)

EMPTY = (
    "TRUNCATE tickbird.schedules, tickbird.schedule_search, tickbird.cursors, tickbird.revisions, tickbird.runs, "
    "tickbird.audit_log, tickbird.queue_rates"
)

Verb = Callable[[Store], Awaitable[Any]]


async def _claim_one(store: Store) -> None:
    run_id = await enqueue(store, 1)
    assert [run.id for run in (await claim(store, 2, 1)).runs] == [run_id]


async def _claim_nothing(store: Store) -> None:
    found = await claim(store, 2, 10, queues=("default", "bulk"))
    assert (list(found.runs), found.next_at) == ([], later(DAY))


async def _claim_by_rate(store: Store) -> None:
    run_id = await enqueue(store, 1)
    assert [run.id for run in (await claim(store, 2, 1)).runs] == [run_id]


async def _list_runs(store: Store) -> None:
    assert len(await store.runs.list("third", limit=10)) == 1


async def _read_runs(store: Store) -> None:
    assert len((await store.dashboard.runs("third", RunFilter(), limit=10)).rows) == 1


VERBS: dict[str, Verb] = {
    "claim one": _claim_one,
    "claim nothing": _claim_nothing,
    "claim by a rate": _claim_by_rate,
    "list runs": _list_runs,
    "read runs": _read_runs,
    "timeline": lambda store: store.dashboard.timeline("third", later(-DAY), later(DAY)),
    "timings": lambda store: store.dashboard.timings("third", since=later(-DAY)),
    "streaks": lambda store: store.dashboard.streaks("third"),
    "late runs": lambda store: store.dashboard.late_runs("third", later(1)),
    "recent": lambda store: store.ledger.recent_outcomes("third", later(-DAY)),
    "measure": lambda store: store.statistics.read_metrics("third", now=later(1)),
    "queues": lambda store: store.queues.list("third", now=later(1)),
    "examine": lambda store: store.inspect("third", now=later(1)),
    "late runs of many": lambda store: store.dashboard.late_runs(NAMESPACE, later(1)),
    "rescue": lambda store: store.leases.rescue(now=later(1)),
    "plan": lambda store: store.planning.plan_due(now=later(1)),
}


async def _prepare(store: Store, name: str) -> None:
    await enqueue(store, namespace="third")
    if name == "claim by a rate":
        await store.queues.set_rate(NAMESPACE, "default", RateLimit(1_000, 60), "ada", now=later(0))


def _postgres_rows(size: int) -> str:
    start = f"'{later(0).isoformat()}'::timestamptz"
    values = ", ".join(
        f"('{namespace}', '{target}', '{queue}', '{status}', {seconds})"
        for namespace, target, queue, status, seconds in CROWDS
    )
    return f"""INSERT INTO tickbird.runs (target_kind, crash_limit, {COLUMNS})
        SELECT 'task', 1, v.namespace, v.target, v.queue, n %% 3, v.status, 'manual', t.at, t.at, t.at,
            CASE WHEN v.status = 'succeeded' THEN t.at END
        FROM generate_series(1, {size}) AS n
        CROSS JOIN (VALUES {values}) AS v(namespace, target, queue, status, seconds)
        CROSS JOIN LATERAL (SELECT {start} + make_interval(secs => v.seconds) AS at) AS t"""


async def _postgres_blocks(database: Database, verb: Verb) -> Counter[str]:
    """How many blocks of each table and index a verb touches."""

    async def blocks() -> Counter[str]:
        return Counter(
            dict(
                await database.execute(
                    """SELECT relname, heap_blks_hit + heap_blks_read
                    FROM pg_statio_user_tables WHERE schemaname = 'tickbird'
                    UNION ALL
                    SELECT indexrelname, idx_blks_hit + idx_blks_read
                    FROM pg_statio_user_indexes WHERE schemaname = 'tickbird'"""
                )
            )
        )

    before = await blocks()
    async with opened(database.url) as store:
        await verb(store)
        await _report_counts(store)
    return await blocks() - before


async def _report_counts(store: PostgresStore) -> None:
    """Let each session of the pool report its counts now; otherwise it reports later, or when it ends."""
    pool = store._connections._pool
    assert pool is not None
    for connection in list(pool._pool):
        await connection.execute("SELECT pg_stat_force_next_flush()")


@pytest.mark.parametrize("name", VERBS)
async def test_blocks_that_postgresql_touches(name: str, migrated_url: str) -> None:
    database = Database(migrated_url)
    # Its own reads would count too.
    for table in ("runs", "run_payloads", "audit_log"):
        await database.execute(f"ALTER TABLE tickbird.{table} SET (autovacuum_enabled = false)")
    counts = []
    for size in SIZES:
        await database.execute(EMPTY)
        async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as connection:
            await connection.execute(_postgres_rows(size).encode(), [])
            await connection.execute("SELECT pg_stat_force_next_flush()")
        async with opened(database.url) as store:
            await _prepare(store, name)
            await _report_counts(store)
        async with await psycopg.AsyncConnection.connect(database.url, autocommit=True) as connection:
            await connection.execute("VACUUM ANALYZE tickbird.runs")
            await connection.execute("SELECT pg_stat_force_next_flush()")
        counts.append(await _postgres_blocks(database, VERBS[name]))
    # On failure, also show the scan and vacuum counts, which distinguish a bad plan from a vacuum.
    scans = await database.execute(
        """SELECT seq_scan, idx_scan, vacuum_count, autovacuum_count, analyze_count, autoanalyze_count
        FROM pg_stat_user_tables WHERE schemaname = 'tickbird' AND relname = 'runs'"""
    )
    assert counts[1].total() <= GROWTH * counts[0].total() + SLACK, f"{counts[0]}\n{counts[1]}\n{scans}"


def _sqlite_rows(size: int) -> str:
    start = int(later(0).timestamp()) * 1_000_000
    values = ", ".join(
        f"('{namespace}', '{target}', '{queue}', '{status}', {start + seconds * 1_000_000})"
        for namespace, target, queue, status, seconds in CROWDS
    )
    return f"""WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {size}),
        crowds (namespace, target, queue, status, at) AS (VALUES {values})
        INSERT INTO runs (id, target_kind, crash_limit, {COLUMNS})
        SELECT row_number() OVER (), 'task', 1, c.namespace, c.target, c.queue, n % 3, c.status, 'manual',
            c.at, c.at, c.at, iif(c.status = 'succeeded', c.at, NULL)
        FROM numbers CROSS JOIN crowds AS c"""


async def _sqlite_steps(store: SqliteStore, verb: Verb) -> int:
    """The hundreds of steps of SQLite's virtual machine that a verb takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    connections = [connection._db for connection in (store._writer, store._reader)]
    for connection in connections:
        assert connection is not None
        connection.set_progress_handler(count, 100)
    await verb(store)
    for connection in connections:
        assert connection is not None
        connection.set_progress_handler(None, 0)
    return steps


# The doctor checks the whole file, and searches late runs among the first ten thousand queued ones.
@pytest.mark.parametrize("name", sorted(VERBS.keys() - {"examine", "late runs of many"}))
async def test_steps_on_sqlite(name: str, tmp_path: Path) -> None:
    counts = []
    for size in SIZES:
        store = SqliteStore(str(tmp_path / f"{size}.db"))
        await store.migrate()
        with sqlite3.connect(store.path) as connection:
            connection.execute(_sqlite_rows(size))
            connection.execute("UPDATE counters SET value = ? WHERE name = 'run_id'", (size * len(CROWDS),))
        connection.close()
        await store.open()
        await _prepare(store, name)
        counts.append(await _sqlite_steps(store, VERBS[name]))
        await store.close()
    assert counts[1] <= GROWTH * counts[0] + SLACK, counts
