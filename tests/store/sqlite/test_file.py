"""The file of a store: how it is named, opened, filled and closed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from pathlib import Path
from queue import Queue

import pytest

from tests.store.sqlite.steps import T0, a_worker, create, later
from tickbird.domain.errors import InvalidError, StoreError, StoreUnavailableError
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database import connection
from tickbird.store.sqlite.database.url import SqliteUrl


def test_the_driver_is_a_store() -> None:
    store: Store = SqliteStore(":memory:")
    assert store.url == "sqlite://"


async def test_the_address_is_a_path_or_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert SqliteStore(f"sqlite:///{tmp_path}/t.db").path == f"{tmp_path}/t.db"
    assert SqliteStore("sqlite:///t.db").path == "t.db"
    assert {SqliteStore(address).path for address in ("sqlite://", "sqlite:///:memory:", ":memory:")} == {":memory:"}
    for address in ("t.db", str(tmp_path / "t.db"), ":memory:"):
        store = SqliteStore(address)
        assert SqliteStore(store.url).path == store.path


async def test_commits_outlive_a_power_cut(store: SqliteStore, shell: sqlite3.Connection) -> None:
    await create(store, "clock")
    assert shell.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    [full] = await store._writer.run(lambda db: db.execute("PRAGMA synchronous").fetchone())
    assert full == 2


@pytest.fixture
def diary(path: str) -> str:
    Path(path).write_text("Dear diary, today I was taken for a database. " * 50)
    return path


async def test_not_a_database(diary: str) -> None:
    with pytest.raises(StoreError, match=r"tickbird\.db is not a SQLite database. Choose another file\.") as caught:
        await SqliteStore(diary).open()
    assert caught.value.__suppress_context__


async def test_the_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"folder .*nowhere of the database t\.db does not exist. Create it"):
        await SqliteStore(str(tmp_path / "nowhere" / "t.db")).open()


async def test_the_path_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder, not a database file. Choose a file in it"):
        await SqliteStore(str(tmp_path)).open()


async def test_a_full_disk_passes(store: SqliteStore) -> None:
    await create(store, "clock")
    [pages] = await store._writer.run(lambda db: db.execute("PRAGMA page_count").fetchone())
    await store._writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
    big = [NewRun(Target("work"), {"text": "x" * 100_000})]
    with pytest.raises(StoreUnavailableError, match=r"is full. Free some space, then try again"):
        await store.runs.enqueue("default", big, "ada")
    assert await store.runs.list("default") == []
    await store._writer.run(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchone())
    await store.runs.enqueue("default", big, "ada")
    assert len(await store.runs.list("default")) == 1


async def test_an_unstorable_value_is_refused(store: SqliteStore) -> None:
    await create(store, "clock")
    with pytest.raises(InvalidError, match="cannot be stored"):
        await store.schedules.change("default", "half a \ud800", Pause(actor="ada"), now=later(1))
    [run_id] = await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada", now=T0)
    await store.leases.claim(a_worker(), 1, 60, queues=["default"], targets=[("task", "work")], now=T0)
    outcome = Outcome(run_id, 1, "failed", result={"half": "\ud800"}, error="half a \ud800 and \0")
    assert (await store.leases.finish([outcome], now=later(1))).accepted == {run_id}
    run = await store.runs.get(run_id)
    assert run is not None
    assert (run.error, run.result) == ("half a ? and ", {"half": "\ud800"})


async def test_a_closed_store_raises(path: str) -> None:
    store = SqliteStore(path)
    await store.close()
    with pytest.raises(StoreError, match=r"is not open. Call `await store.open\(\)` first"):
        await store.schedules.list("default")


async def test_a_cancelled_open_leaves_no_connection(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on, connected = threading.Event(), threading.Event(), Queue[sqlite3.Connection]()
    connect = connection.connect

    def slowly(location: SqliteUrl) -> sqlite3.Connection:
        began.set()
        go_on.wait()
        db = connect(location)
        connected.put(db)
        return db

    monkeypatch.setattr(connection, "connect", slowly)
    opening = asyncio.create_task(connection.Connection(SqliteUrl(path), "test").open())
    await asyncio.to_thread(began.wait)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    go_on.set()
    db = await asyncio.to_thread(connected.get)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):  # noqa: PT012 - until the thread is through
        while True:
            db.total_changes  # noqa: B018 - refused when closed
            await asyncio.sleep(0.01)
