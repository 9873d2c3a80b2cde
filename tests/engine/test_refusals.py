"""A store that refuses some records for a while: others are written, and nothing is lost or executed twice."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.engine.test_dispatcher import START, Tasks, executing, send
from tests.engine.test_worker import until, working
from tickbird import Run, Tickbird
from tickbird.client import Client
from tickbird.domain.errors import InvalidError, StoreError, StoreUnavailableError
from tickbird.domain.runs.run import FINAL
from tickbird.engine import dispatcher
from tickbird.engine import outbox as module
from tickbird.engine.outbox import MAX_REFUSED, Outbox
from tickbird.store.sqlite.leases import SqliteLeases
from tickbird.stores import open_store
from tickbird.testing.clock import ManualClock

# Refuses the outcome of a run, a line or progress, like a user's database trigger.
SQLITE = """
CREATE TRIGGER refuse_end BEFORE UPDATE ON runs WHEN NEW.status = 'succeeded' AND NEW.target = 'unlucky'
BEGIN SELECT RAISE(ABORT, 'not today'); END;
CREATE TRIGGER refuse_line BEFORE INSERT ON run_logs WHEN NEW.text = 'unlucky'
BEGIN SELECT RAISE(ABORT, 'not today'); END;
CREATE TRIGGER refuse_progress BEFORE INSERT ON run_progress WHEN NEW.value LIKE '%unlucky%'
BEGIN SELECT RAISE(ABORT, 'not today'); END;
"""
POSTGRES = """
CREATE FUNCTION tickbird.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not today'; END $$;
CREATE TRIGGER refuse_end BEFORE UPDATE ON tickbird.runs FOR EACH ROW
WHEN (NEW.status = 'succeeded' AND NEW.target = 'unlucky') EXECUTE FUNCTION tickbird.refuse();
CREATE TRIGGER refuse_line BEFORE INSERT ON tickbird.run_logs FOR EACH ROW
WHEN (NEW.text = 'unlucky') EXECUTE FUNCTION tickbird.refuse();
CREATE TRIGGER refuse_progress BEFORE INSERT ON tickbird.run_progress FOR EACH ROW
WHEN (NEW.value::text LIKE '%unlucky%') EXECUTE FUNCTION tickbird.refuse();
"""
TABLES = {"refuse_end": "runs", "refuse_line": "run_logs", "refuse_progress": "run_progress"}


async def is_final(client: Client, run_id: int) -> bool:
    """Has the run ended?"""
    return (await client.runs.get(run_id)).status in FINAL


class Refusals:
    """The triggers of a store."""

    def __init__(self, url: str) -> None:
        self._path = url.removeprefix("sqlite:///") if url.startswith("sqlite") else None
        self._url = url

    def _execute(self, script: str) -> None:
        if self._path is None:
            with psycopg.connect(self._url) as postgres:
                postgres.execute(script)
            return
        sqlite = sqlite3.connect(self._path, timeout=30)
        try:
            sqlite.executescript(script)
        finally:
            sqlite.close()

    def begin(self) -> None:
        """Refuse from now on."""
        self._execute(POSTGRES if self._path is None else SQLITE)

    def end(self) -> None:
        """Refuse nothing any more."""
        for name, table in TABLES.items():
            self._execute(f"DROP TRIGGER {name} ON tickbird.{table}" if self._path is None else f"DROP TRIGGER {name}")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/refusing.db"
    address: str = request.getfixturevalue("migrated_url")
    return address


@pytest.fixture
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again later."""
    monkeypatch.setattr(module, "_MAX_PAUSE", 0.5)


@pytest.mark.usefixtures("impatience")
async def test_a_trigger_that_refuses_for_a_while_costs_nothing(url: str) -> None:
    bird = Tickbird(url)
    started: list[int] = []

    @bird.task
    async def unlucky(run: Run) -> str:
        started.append(run.id)
        run.log.info("unlucky")
        run.log.info("lucky")
        run.heartbeat(progress="unlucky")
        return "kept"

    @bird.task
    async def lucky(run: Run) -> str:
        run.log.info("lucky")
        return "kept"

    async with working(bird) as (client, _):
        refusals = Refusals(url)
        refusals.begin()
        first = await client.runs.enqueue("unlucky", actor="test")
        others = [await client.runs.enqueue("lucky", actor="test") for _ in range(20)]
        second = await client.runs.enqueue("unlucky", actor="test")
        for run_id in others:
            await until(partial(is_final, client, run_id))
            assert [line.text for line in await client.runs.logs(run_id)] == ["lucky"]
        # The refused ones are retained meanwhile, for longer than a lease.
        before = await client.runs.get(first)
        assert before.status == "running"

        async def renewed() -> bool:
            now = await client.runs.get(first)
            assert before.lease_until is not None
            assert now.lease_until is not None
            return (now.lease_until - before.lease_until).total_seconds() > 3

        await until(renewed)
        assert [line.text for line in await client.runs.logs(first)] == ["lucky"]
        refusals.end()
        for run_id in (first, second):
            await until(partial(is_final, client, run_id))
            run = await client.runs.get(run_id)
            assert (run.status, run.result, run.attempt) == ("succeeded", "kept", 1)

            async def lines(run_id: int = run_id) -> bool:
                return [line.text for line in await client.runs.logs(run_id)] == ["unlucky", "lucky"]

            await until(lines)

            async def progress(run_id: int = run_id) -> bool:
                kept = await client.runs.progress(run_id)
                return kept is not None and kept.value == "unlucky"

            await until(progress)
    assert sorted(started) == [first, second]


class Picky:
    """A store of numbers that refuses some."""

    def __init__(self, refused: set[int], error: type[Exception] = StoreError) -> None:
        self.refused = refused
        self.error = error
        self.written: list[int] = []
        self.calls = 0
        self.now = 0.0
        self.outbox = Outbox("numbers", self.write, lambda number, _: -number, lambda: self.now)

    async def write(self, numbers: Sequence[int]) -> None:
        self.calls += 1
        if self.refused.intersection(numbers):
            raise self.error("refused")
        self.written += numbers


async def test_refused_records_are_tried_alone_and_again_after_a_pause() -> None:
    store = Picky({3, 700})
    store.outbox.add(range(1_000))
    await store.outbox.write()
    assert sorted(store.written) == sorted(set(range(1_000)) - {3, 700})
    assert store.calls < 60
    assert (len(store.outbox), store.outbox.wait) == (2, 0.5)
    store.outbox.add([1_000])
    await store.outbox.write()
    assert (store.written[-1], len(store.outbox)) == (1_000, 2)
    for expected in (1.0, 2.0, 4.0):
        store.now += store.outbox.wait or 0.0
        await store.outbox.write()
        assert store.outbox.wait == expected
    store.refused = set()
    store.now += 4.0
    await store.outbox.write()
    assert (store.written[-2:], len(store.outbox), store.outbox.wait) == ([3, 700], 0, None)


async def test_a_store_that_refuses_everything_does_not_get_each_record_separately() -> None:
    store = Picky(set(range(1_000)))
    store.outbox.add(range(1_000))
    await store.outbox.write()
    assert store.calls < 4 * MAX_REFUSED
    assert len(store.outbox) == 1_000


async def test_a_value_that_can_never_be_stored_is_left_out_alone() -> None:
    store = Picky({3}, InvalidError)
    store.outbox.add(range(8))
    await store.outbox.write()
    assert sorted(store.written) == [-3, 0, 1, 2, 4, 5, 6, 7]
    assert store.outbox.wait is None


@pytest.mark.parametrize("error", [StoreUnavailableError, asyncio.CancelledError])
async def test_no_record_is_lost_if_the_store_is_unreachable_meanwhile(error: type[Exception]) -> None:
    store = Picky({3})
    store.outbox.add(range(8))
    written = store.write

    async def fail(numbers: Sequence[int]) -> None:
        if store.written:
            raise error("gone")
        await written(numbers)

    store.outbox._write = fail
    with pytest.raises(error):
        await store.outbox.write()
    store.outbox._write = written
    store.refused, store.now = set(), 10.0
    await store.outbox.write()
    assert sorted(store.written) == list(range(8))
    assert len(store.outbox) == 0


async def test_a_drain_keeps_an_outcome_that_the_store_has_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatcher, "_UNWINDING", 0.0)
    tasks, clock, started = Tasks(), ManualClock(START), []

    @tasks.bird.task
    async def fail(run: Run) -> None:
        started.append(run.id)
        raise RuntimeError("as always")

    store = open_store("sqlite://:memory:")
    await store.open()
    execution = executing(store, tasks, clock=clock)
    [run_id] = await send(store, ("fail", {}))
    await execution.claim()
    ended = asyncio.Event()
    execution.on_outcome = ended.set
    await ended.wait()
    finish = SqliteLeases.finish

    async def refuse(*_: Any, **__: Any) -> None:
        raise StoreError("not today.")

    monkeypatch.setattr(SqliteLeases, "finish", refuse)
    await execution.finish()
    monkeypatch.setattr(SqliteLeases, "finish", finish)
    await execution.drain(0.0)
    # New records are written before refused outcomes are retried.
    await execution.finish()
    clock.move_to(START + timedelta(seconds=20))
    await execution.finish()
    run = await store.runs.get(run_id)
    assert run is not None
    assert (run.status, run.failures, started) == ("failed", 1, [run_id])
    await store.close()
