"""The indexes that statements use, and the tables that they do not scan."""

from __future__ import annotations

import re
from dataclasses import replace

import psycopg
import pytest

from lab.servers import PostgresServer
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import MINUTELY, T0, WORKER, claim, create_many, later, until
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Connections
from tickbird.store.postgres.database.schema_name import STATEMENTS
from tickbird.store.shared.sql import load_statements

SCHEDULES = 12_000


@pytest.fixture(scope="module")
async def stocked(postgres_server: PostgresServer) -> str:
    """Schedules and a history, analyzed. Plans depend on the statistics, so no other test may change them."""
    url = postgres_server.create_database()
    await PostgresStore(url).migrate()
    database = Database(url)
    await create_many(database, 500)
    await database.execute(
        """INSERT INTO tickbird.runs
            (schedule_id, status, origin, namespace, target_kind, target, queue, priority, crash_limit,
            due_at, available_at, created_at, finished_at)
        SELECT id, CASE n %% 9 WHEN 0 THEN 'failed' ELSE 'succeeded' END, 'manual', namespace,
            'task', 'work', 'default', 0, 3, at, at, at, at
        FROM tickbird.schedules, generate_series(1, 20) AS n
        CROSS JOIN LATERAL (SELECT %s + n * interval '1 min' AS at) AS times""",
        T0,
    )
    await database.execute("VACUUM ANALYZE")
    return url


# Without active runs: they are as many as there is work to do, and are sorted.
READINGS = sorted(
    {*load_statements("tickbird.store.postgres", "dashboard", "dashboard_runs"), "late_runs", "examine_waiting"}
    - {"page_active", "page_active_of"}
)


async def _explain(url: str, name: str) -> list[str]:
    """The plan of a statement for any values, with the settings of the store's connections."""
    text = STATEMENTS[name].decode()
    order = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${order.index(found[1]) + 1}", text).replace("%%", "%")
    nothing = ", ".join("NULL" for _ in order)
    async with await psycopg.AsyncConnection.connect(Connections(url, 1).conninfo, autocommit=True) as connection:
        await connection.execute(f"PREPARE statement AS {text}".encode())
        plan = await connection.execute(f"EXPLAIN EXECUTE statement({nothing})".encode())
        return [line for (line,) in await plan.fetchall()]


class TestIndexes:
    @pytest.mark.parametrize(
        "name",
        ["list_runs", "list_runs_of", "page_unsuccessful", "page_unsuccessful_of", "list_audit", "list_audit_of"],
    )
    async def test_a_page_starts_after_the_previous_one(self, stocked: str, name: str) -> None:
        """Not at the newest row, from which it would walk to the page."""
        lines = await _explain(stocked, name)
        assert any(re.search(r"Index Cond.* < (ROW\(\$\d+, )?COALESCE\(\$", line) for line in lines), lines

    @pytest.mark.parametrize("name", READINGS)
    async def test_readings_walk_indexes_and_sort_no_history(self, stocked: str, name: str) -> None:
        lines = await _explain(stocked, name)
        assert not [line for line in lines if "Seq Scan" in line], lines
        # Every walk through runs or the audit is bounded by an index: by a key, or by the order of the page.
        for place, line in enumerate(lines):
            if re.search(r"Scan.* on (runs|audit_log|skips|cursors|schedules|listed)", line):
                assert "Index" in line, lines
                assert "Index Cond" in lines[place + 1] or "runs_" in line or "cursors_" in line, lines
        if name.startswith(("find_", "page_")):
            assert not [line for line in lines if "Sort" in line], lines

    async def test_a_sync_reads_only_the_schedules_of_its_app(self, stocked: str) -> None:
        lines = await _explain(stocked, "list_app_schedules")
        for index in ("schedules_app_idx", "schedules_namespace_name_key"):
            [place] = [place for place, line in enumerate(lines) if f"using {index} on" in line]
            assert "Index Cond: ((namespace = $" in lines[place + 1], lines

    async def test_no_verb_scans_the_big_tables(self, database: Database) -> None:
        await create_many(database, SCHEDULES, replace(MINUTELY, overlap="queue"))
        await database.execute("UPDATE tickbird.cursors SET next_run_at = %s WHERE schedule_id %% 20 > 0", later(9_000))
        await database.execute(
            """INSERT INTO tickbird.runs
                (schedule_id, status, origin, namespace, target_kind, target, queue, priority, crash_limit,
                due_at, available_at, created_at, finished_at)
            SELECT id, 'succeeded', 'manual', namespace, 'task', 'work', 'default', 0, 3, %s, %s, %s, %s
            FROM tickbird.schedules""",
            *[T0] * 4,
        )
        await database.execute("VACUUM ANALYZE")
        before = await self._scans(database)
        async with opened(f"{database.url}?application_name=indexes") as store:
            assert (await store.planning.plan_due(200, now=later(60))).runs == 200
            assert (await store.planning.plan_due(now=later(60))).runs == 400
            held = await claim(store, now=later(60))
            assert len(held) == 100
            assert (await store.planning.plan_due(now=later(120))).runs == 500
            renewed = await store.leases.renew(
                WORKER, [LeaseRef(run.id, run.attempt) for run in held], 60, now=later(61)
            )
            assert len(renewed.held) == 100
            done = await store.leases.finish(
                [Outcome(run.id, run.attempt, "succeeded") for run in held], now=later(121)
            )
            assert len(done.accepted) == 100
            await store.leases.rescue(now=later(122))
            await store.runs.enqueue("default", [NewRun(Target("work"), {"a": 1})], "ada", now=later(122))
            assert await store.runs.list("default", schedule="s20", limit=10)
            assert await store.schedules.list("default", limit=10)
            assert await store.runs.list("default", limit=10)
            await store.runs.prune(older_than=1, keep=5, limit=10, now=later(123))
        after = await until(lambda: self._settled(database, before))
        assert after["cursors"] == before["cursors"]
        assert after["runs"] == before["runs"]
        for index in (
            "cursors_next_run_at_idx",
            "runs_queued_target_idx",
            "runs_active_idx",
            "runs_waiting_idx",
            "runs_lease_until_idx",
            "runs_schedule_id_idx",
        ):
            assert after[index] > before[index], index
        read = {name: after[name] - before[name] for name in after if name.startswith("read by ")}
        assert max(read.values()) < SCHEDULES, read

    async def _settled(self, database: Database, before: dict[str, int]) -> dict[str, int] | None:
        """Sessions report their statistics shortly after they end."""
        if await database.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'indexes'"):
            return None
        after = await self._scans(database)
        return after if after["runs_schedule_id_idx"] > before["runs_schedule_id_idx"] else None

    async def _scans(self, database: Database) -> dict[str, int]:
        """Sequential scans by table, scans by index, and the rows that these read."""
        return dict(
            await database.execute(
                """SELECT relname, coalesce(seq_scan, 0) FROM pg_stat_user_tables WHERE relname IN ('cursors', 'runs')
                UNION ALL SELECT indexrelname, coalesce(idx_scan, 0) FROM pg_stat_user_indexes
                UNION ALL SELECT 'read by ' || indexrelname, coalesce(idx_tup_read, 0) FROM pg_stat_user_indexes
                WHERE relname IN ('cursors', 'runs')"""
            )
        )
