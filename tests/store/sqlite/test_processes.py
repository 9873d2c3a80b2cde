"""Several processes, or several stores of a process, on a file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from tests.store.contenders import SPAWN
from tests.store.sqlite.steps import DEFINITION, a_worker, create, later
from tickbird.domain.errors import StoreError, StoreUnavailableError
from tickbird.domain.runs.run import Outcome
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database import connection, transactions

PROCESSES, ROUNDS, SCHEDULES = 8, 100, 3


def race(path: str, name: str, barrier: Barrier, answer: Connection) -> None:
    """Plan and execute everything, at the same instants as all the others; send the ids of executed runs."""
    try:
        answer.send(asyncio.run(_race(path, name, barrier)))
    except BaseException as error:
        barrier.abort()
        answer.send(repr(error))


async def _race(path: str, name: str, barrier: Barrier) -> list[int]:
    store = SqliteStore(path)
    done: list[int] = []
    barrier.wait(60)
    await store.open()
    for turn in range(1, ROUNDS + 1):
        barrier.wait(60)
        await store.planning.plan_due(now=later(60 * turn))
        claimed = await store.leases.claim(
            a_worker(name), 1, 60, queues=["default"], targets=[("task", "work")], now=later(60 * turn)
        )
        outcomes = [Outcome(found.id, found.attempt, "succeeded") for found in claimed.runs]
        done += (await store.leases.finish(outcomes, now=later(60 * turn))).accepted
    await store.close()
    return done


async def test_eight_processes_share_a_file(path: str) -> None:
    first = SqliteStore(path)
    await first.open()
    for index in range(SCHEDULES):
        await create(first, f"s{index}", replace(DEFINITION, overlap="allow"))
    await first.close()
    barrier = SPAWN.Barrier(PROCESSES)
    pipes = [SPAWN.Pipe(duplex=False) for _ in range(PROCESSES)]
    racers = [
        SPAWN.Process(target=race, args=(path, f"w{index}", barrier, pipes[index][1])) for index in range(PROCESSES)
    ]
    for racer in racers:
        racer.start()
    answers = [await asyncio.to_thread(pipe.recv) for pipe, _ in pipes]
    for racer in racers:
        racer.join(60)
    assert all(isinstance(answer, list) for answer in answers), answers
    store = SqliteStore(path)
    await store.open()
    executed = Counter(run_id for answer in answers for run_id in answer)
    for index in range(SCHEDULES):
        runs = await store.runs.list("default", schedule=f"s{index}", limit=10 * ROUNDS)
        assert [run.scheduled_for for run in reversed(runs)] == [later(60 * turn) for turn in range(1, ROUNDS + 1)]
        assert all(executed.pop(run.id, 0) == (run.status == "succeeded") for run in runs)
        assert all(run.status in ("succeeded", "queued") for run in runs)
    assert not executed
    await store.close()


async def test_many_processes_may_create_the_file_at_once(path: str) -> None:
    stores = [SqliteStore(path) for _ in range(8)]
    await asyncio.gather(*(store.open() for store in stores))
    assert [await store.schedules.list("default") for store in stores] == [[]] * 8
    for store in stores:
        await store.close()


async def test_a_lock_held_too_long_is_reported(
    store: SqliteStore, shell: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactions, "MAX_BUSY_SECONDS", 0.0)
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.01)
    hurried = SqliteStore(store.path)
    await hurried.open()
    shell.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match=r"for too long. End the program"):
        await create(hurried, "late")
    assert await hurried.schedules.list("default") == []
    shell.execute("ROLLBACK")
    await create(hurried, "late")
    await hurried.close()


async def test_a_store_is_not_carried_over_a_fork(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(StoreError, match=r"opened before this process was forked. Open a separate store"):
        await store.schedules.list("default")
    monkeypatch.undo()
    assert await store.schedules.list("default") == []


def write_elsewhere(path: str) -> bool:
    """Let another process write and end; is the log still there?"""
    lines = ("import sqlite3", f"db = sqlite3.connect({path!r})", "db.execute('UPDATE schedules SET app = 1')")
    subprocess.run([sys.executable, "-c", "; ".join((*lines, "db.commit()", "db.close()"))], check=True)
    return Path(f"{path}-wal").exists()


async def test_opening_a_file_once_more_drops_no_locks(path: str) -> None:
    first = SqliteStore(path)
    await first.open()
    await create(first, "clock")
    second = SqliteStore(path)
    await second.open()
    await second.close()
    # A process that expects to be the only one would remove the log at its end.
    assert write_elsewhere(path)
    schedule = await first.schedules.get("default", "clock")
    assert schedule is not None
    assert schedule.app == "1"
    await first.close()
