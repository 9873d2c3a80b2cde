"""Rows that contradict themselves are refused by the database itself."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from conformance.steps import a_worker, create, later, plan
from tests.store.conftest import PlainRows
from tickbird.store.protocol.store import Store

SKIP = "INSERT INTO skips (id, schedule_id, revision, reason, first_at, last_at, count, decided_at)"
ATTEMPT = "INSERT INTO attempts (run_id, attempt, ended_at, outcome)"
BACKFILL = """INSERT INTO backfills
    (namespace, schedule_id, revision, first_at, last_at, total, newest_first, concurrency, actor, note, created_at)"""

REFUSED = {
    "a scheduled run without a tick": ("runs_tick_check", "UPDATE runs SET scheduled_for = NULL"),
    "a scheduled run without a schedule": ("runs_tick_check", "UPDATE runs SET schedule_id = NULL"),
    "a queued run that ended": ("runs_finished_at_check", "UPDATE runs SET finished_at = due_at"),
    "a queued run with a lease": ("runs_lease_until_check", "UPDATE runs SET lease_until = due_at"),
    "a running run without a lease": ("runs_lease_until_check", "UPDATE runs SET status = 'running'"),
    "a queued run in a lane": ("runs_lane_check", "UPDATE runs SET lane = 1"),
    "an unknown lane": ("runs_lane_check", "UPDATE runs SET status = 'waiting', lane = 3"),
    "half a range": ("runs_covers_check", "UPDATE runs SET covers_count = 1"),
    "an unknown failure": ("runs_failure_kind_check", "UPDATE runs SET failure_kind = 'other'"),
    "an unknown outcome": ("attempts_outcome_check", f"{ATTEMPT} SELECT id, 1, due_at, 'other' FROM runs"),
    "no tick skipped": (
        "skips_range_check",
        f"{SKIP} SELECT 9, schedule_id, 1, 'x', due_at, due_at, 0, due_at FROM runs",
    ),
    "an empty backfill": (
        "backfills_range_check",
        f"{BACKFILL} SELECT namespace, schedule_id, 1, due_at, due_at, 0, false, 1, '', '', due_at FROM runs",
    ),
    "an unknown worker": ("workers_kind_check", "UPDATE workers SET kind = 'other'"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_row_that_contradicts_itself_is_refused(store: Store, plain: PlainRows, name: str) -> None:
    await create(store)
    await store.workers.heartbeat(a_worker(), 30, now=later(0))
    assert (await plan(store, 60)).runs == 1
    constraint, statement = REFUSED[name]
    with pytest.raises((sqlite3.IntegrityError, psycopg.errors.CheckViolation), match=constraint):
        await plain.execute(statement)
