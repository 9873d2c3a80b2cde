"""A repaired file has all parts of a fresh one, and workers restore the schedules that they last read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from conformance.steps import create, get, later, plan, plan_all, ranges, runs_of, since
from tickbird.domain.errors import SchedulesUnusableError
from tickbird.stores import open_store


def _parts(path: Path) -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(path)) as db:
        return set(db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


@pytest.mark.parametrize("lost", [("cursors",), ("cursors", "schedules")])
async def test_schedules_continue_after_a_repair(tmp_path: Path, lost: tuple[str, ...]) -> None:
    path = tmp_path / "tickbird.db"
    store = open_store(f"sqlite:///{path}")
    await store.open()
    try:
        await create(store, app="app")
        await plan_all(store, 60)
        fresh = _parts(path)
        [row] = (await store.worker_ticks.read("default", "app", {}, now=later(61))).changed
        with closing(sqlite3.connect(path)) as db:
            for table in lost:
                db.execute(f"DROP TABLE {table}")
        with pytest.raises(SchedulesUnusableError):
            await plan(store, 120)
        with pytest.raises(SchedulesUnusableError):
            await store.worker_ticks.read("default", "app", {}, now=later(121))
        # Another process repairs the file that this one has open.
        other = open_store(f"sqlite:///{path}")
        await other.open()
        assert await other.repair()
        await other.close()
        assert _parts(path) == fresh
        assert await store.repair() == []
        assert await store.worker_ticks.restore([row], "w1", now=later(200)) == ["clock"]
        assert await store.worker_ticks.restore([row], "w2", now=later(200)) == []
        await plan_all(store, 240)
        restored = await get(store)
        assert (restored.id, restored.definition) == (row.id, row.definition)
        assert [since(run.scheduled_for) for run in await runs_of(store)] == [60]
        # The run of the first tick is still queued: overlap=skip.
        assert await ranges(store) == [("overlap", 120, 240, 3)]
    finally:
        await store.close()
