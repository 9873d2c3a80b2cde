"""The lock order, and a deadlock that is retried."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, cast

import psycopg
import pytest

from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, T0, WORKER, claim, create, later, until
from tickbird.domain.planning.changes import ChangeSet
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import Outcome
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.concurrency_keys import stripe_of
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs
from tickbird.store.postgres.rows import numbers


class SessionBreakpoint:
    """A session that pauses after its first fetch until `go_on` is set."""

    def __init__(self, db: Session, reached: asyncio.Event, go_on: asyncio.Event) -> None:
        self._db, self._reached, self._go_on = db, reached, go_on

    async def fetch(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        """Rows, and then the breakpoint."""
        rows = await self._db.fetch(name, **values)
        if not self._reached.is_set():
            self._reached.set()
            await self._go_on.wait()
        return rows


class TestLockOrder:
    """The holder of a concurrency key's lock must not wait for a row, otherwise two sessions could deadlock."""

    async def test_a_deadlock_between_lock_active_runs_and_finish_is_retried(
        self, store: PostgresStore, other: PostgresStore, database: Database
    ) -> None:
        """The second lock_active may lock a lower run id than the first one did.

        That run was released while the first one waited, and claimed before the second. If a finish holds that run and
        waits for the other, PostgreSQL aborts one of the two transactions, and it is retried.
        """
        deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        before = await database.one(deadlocks)
        aside, beside = await create(store, "aside"), await create(store, "beside")
        for name in ("aside", "aside", "beside"):
            await store.schedules.change("default", name, Trigger(actor="ada"), now=T0)
        await database.execute("UPDATE tickbird.runs SET status = 'waiting', lane = 1 WHERE schedule_id = %s", aside)
        first, second, third = sorted(run.id for run in await store.runs.list("default"))
        assert [run.id for run in await claim(store)] == [third]
        reached, go_on = asyncio.Event(), asyncio.Event()

        async def look(db: Session) -> None:
            await lock_active_runs(cast("Session", SessionBreakpoint(db, reached, go_on)), [aside, beside])

        async with await psycopg.AsyncConnection.connect(database.url) as releasing:
            release = b"UPDATE tickbird.runs SET status = 'queued', lane = 0 WHERE schedule_id = %s"
            await releasing.execute(release, (aside,))
            looking = asyncio.create_task(store._connections.transact(look))
            await until(database.lock_waits)
        await reached.wait()
        assert [run.id for run in await claim(other)] == [second]
        outcomes = [Outcome(run_id, 1, "succeeded") for run_id in (second, third)]
        ending = asyncio.create_task(other.leases.finish(outcomes, worker=WORKER))
        await until(database.lock_waits)
        go_on.set()
        await looking
        assert set((await ending).accepted) == {second, third}
        assert [run.id for run in await claim(other)] == [first]
        await until(lambda: database.one(f"SELECT ({deadlocks}) > {before}"))

    @pytest.mark.parametrize("held", ["cursor", "run"])
    async def test_changes_of_schedules_and_limits_lock_rows_before_keys(
        self, store: PostgresStore, database: Database, held: str
    ) -> None:
        keyed = replace(MINUTELY, concurrency_key="db", overlap="allow")
        names = [f"s{number}" for number in range(3)]
        for name in names:
            await create(store, name, keyed)
            await store.schedules.change("default", name, Trigger(actor="ada"), now=later(1))
        update = Update(actor="ada", fields={"retries": 3})
        changes = ChangeSet(limits={"db": 2, "other": 1}, commands=[(name, update) for name in reversed(names)])
        statements = {
            "cursor": "SELECT 1 FROM tickbird.cursors FOR UPDATE",
            "run": "SELECT 1 FROM tickbird.runs ORDER BY id DESC LIMIT 1 FOR UPDATE",
        }
        key = numbers(stripe_of(("default", name)) for name in ("db", "other"))
        free = "SELECT bool_and(pg_try_advisory_xact_lock(1413694530, stripe)) FROM unnest(%s::int[]) AS stripe"
        async with await psycopg.AsyncConnection.connect(database.url) as person:
            await person.execute(statements[held].encode())
            changing = asyncio.create_task(store.bulk_changes.apply("default", changes, "ada", now=later(2)))
            await until(database.lock_waits)
            assert await database.one(free, key)
        await changing
        assert (await store.limits.list("default"))[0].max_running == 2
