"""Connections, planners and servers that end in the middle of the work."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from lab.servers import PostgresServer
from tests.store.contenders import PATIENCE, SPAWN
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import Gate, claim, create, later, until
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning import planning

LISTENERS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%%'"


class TestLostConnections:
    async def test_a_backend_that_dies_before_commit_loses_nothing(
        self, store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await create(store)
        real = planning.plan_locked
        killed: list[int] = []

        async def plan_and_die(db: Session, *values: Any) -> PlanResult:
            batch = await real(db, *values)
            if not killed:
                killed.append(db.connection.info.backend_pid)
                await database.execute("SELECT pg_terminate_backend(%s, 10000)", *killed)
            return batch

        monkeypatch.setattr(planning, "plan_locked", plan_and_die)
        # It may have ended just after the commit, so only the caller knows whether a second call is safe.
        with pytest.raises(StoreUnavailableError):
            await store.planning.plan_due(now=later(60))
        assert (await store.planning.plan_due(now=later(60))).runs == len(killed) == 1
        assert [run.scheduled_for for run in await store.runs.list("default")] == [later(60)]

    async def test_a_planner_killed_before_commit_leaves_its_rows_to_others(
        self, store: PostgresStore, database: Database
    ) -> None:
        await create(store)
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=_plan_and_hang, args=(database.url, later(60), theirs), daemon=True)
        process.start()
        assert await asyncio.to_thread(ours.poll, PATIENCE)
        assert (await store.planning.plan_due(now=later(60))).schedules == 0
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()

        async def planned() -> int:
            return (await store.planning.plan_due(now=later(60))).runs

        assert await until(planned) == 1
        assert len(await store.runs.list("default")) == 1

    async def test_others_plan_the_rows_of_a_frozen_planner(
        self, store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await create(store)
        impatient = f"{database.url}?options=-c%20idle_in_transaction_session_timeout%3D300"
        gate = Gate(monkeypatch, planning, "plan_locked")
        async with opened(impatient) as frozen:
            freezing = asyncio.create_task(frozen.planning.plan_due(now=later(60)))
            await gate.reached.wait()
            waiting = await store.planning.plan_due(now=later(60))
            assert waiting.schedules == 0
            assert waiting.next_at is not None
            assert waiting.next_at <= later(61)

            async def planned() -> int:
                return (await store.planning.plan_due(now=later(60))).runs

            assert await until(planned) == 1
            gate.open.set()
            with pytest.raises(StoreUnavailableError, match="idle-in-transaction"):
                await freezing
        assert len(await store.runs.list("default")) == 1

    async def test_a_restarted_server_needs_no_help(self, own_server: PostgresServer) -> None:
        url = own_server.create_database()
        store = PostgresStore(url)
        await store.migrate()
        async with opened(url) as store, store.wakeups() as wakeups:
            await create(store)
            for number in range(1, 4):
                await asyncio.to_thread(own_server.restart, immediate=True)
                assert await until(partial(self._plan_if_reachable, store, later(60 * number))) == 1
                await claim(store, now=later(60 * number))
                await until(partial(Database(url).execute, LISTENERS))
                # One follows the new connection, because others may be lost; afterwards each arrives.
                await asyncio.wait_for(anext(wakeups), PATIENCE)
                await Database(url).execute("SELECT pg_notify('tickbird', '')")
                await asyncio.wait_for(anext(wakeups), PATIENCE)
            assert await Database(url).one("SELECT count(*) FROM tickbird.runs") == 1
            assert await Database(url).one("SELECT sum(count) FROM tickbird.skips") == 2

    async def test_no_call_fails_for_connections_from_before_a_restart(self, own_server: PostgresServer) -> None:
        url = own_server.create_database()
        await PostgresStore(url).migrate()
        async with opened(url) as store:
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            while await Database(url).one(sessions) < 8:
                await asyncio.gather(*(store.now() for _ in range(50)))
            await asyncio.to_thread(own_server.restart, immediate=True)
            await store.now()

    async def _plan_if_reachable(self, store: PostgresStore, now: datetime) -> int:
        try:
            return (await store.planning.plan_due(now=now)).schedules
        except StoreUnavailableError:
            return 0

    async def test_a_stopped_server_is_reported_and_then_found_again(self, own_server: PostgresServer) -> None:
        url = own_server.create_database()
        await PostgresStore(url).migrate()
        async with opened(url) as store:
            await asyncio.to_thread(own_server.stop, immediate=True)
            try:
                with pytest.raises(StoreUnavailableError, match="Check that PostgreSQL is running"):
                    await store.now()
            finally:
                await asyncio.to_thread(own_server.start)
            await store.now()


async def _hang(url: str, now: datetime, line: Any) -> None:
    real = planning.plan_locked

    async def plan_and_hang(*values: Any) -> PlanResult:
        await real(*values)
        line.send("written")
        await asyncio.sleep(2 * PATIENCE)
        raise AssertionError("nobody killed this process")

    planning.plan_locked = plan_and_hang  # type: ignore[assignment]
    store = PostgresStore(url)
    await store.open()
    await store.planning.plan_due(now=now)


def _plan_and_hang(url: str, now: datetime, line: Any) -> None:
    asyncio.run(_hang(url, now, line))
