"""The indexes that statements use."""

from __future__ import annotations

import re
import sqlite3

import pytest

from tickbird.store.shared.sql import load_statements
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database.statements import SQL

BY_STATUS = ("unsuccessful", "schedule_unsuccessful", "active", "lease_until", "queued", "waiting")


@pytest.mark.parametrize("name", sorted(name for name in SQL if name.startswith("page_")))
async def test_pages_by_status_do_not_walk_all_runs(store: SqliteStore, shell: sqlite3.Connection, name: str) -> None:
    nothing = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    plan = [row[3] for row in shell.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", nothing)]
    looks = [line for line in plan if re.match(r"(SCAN|SEARCH) (runs|r) ", line)]
    assert looks
    for line in looks:
        found = re.search(r"INDEX runs_(\w+)_idx|\(rowid=\?\)", line)
        assert found, line
        assert found[1] in (None, *BY_STATUS), line


@pytest.mark.parametrize(
    "name", sorted({*load_statements("tickbird.store.sqlite", "dashboard", "dashboard_runs"), "late_runs"})
)
async def test_readings_walk_indexes_and_sort_no_history(
    store: SqliteStore, shell: sqlite3.Connection, name: str
) -> None:
    shell.create_function("casefold", 1, str.casefold, deterministic=True)
    nothing = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    plan = [row[3] for row in shell.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", nothing)]
    for line in plan:
        # Only intermediate results are scanned without an index: parts of the statement itself, and values of JSON.
        assert not re.match(r"SCAN (runs|audit_log|skips|cursors|schedules|r|s|c|l)\b(?!.*USING)", line), plan
    if name.startswith("find_"):
        assert not [line for line in plan if "TEMP B-TREE" in line], plan


@pytest.mark.parametrize(
    "name",
    sorted(
        {
            *load_statements("tickbird.store.sqlite", "consumers", "dead_letters", "deliveries"),
            "groups_behind_retention",
            "prune_events",
        }
    ),
)
async def test_consumers_walk_no_log(store: SqliteStore, shell: sqlite3.Connection, name: str) -> None:
    nothing = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    plan = [row[3] for row in shell.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", nothing)]
    for line in plan:
        assert not re.match(r"SCAN (events|dead_letters|consumer_offsets|[elobtu])\b", line), plan
        # The namespace or group alone would be all of its events or letters.
        alone = r"SEARCH (events|dead_letters|[elbtu])\b.* \(namespace=\?( AND consumer_group=\?)?\)"
        assert not re.match(alone, line), plan
    if name.startswith("list_"):
        assert not [line for line in plan if "TEMP B-TREE" in line], plan
