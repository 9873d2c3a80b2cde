"""What only PostgreSQL has: many processes on one server, lost connections, rights, and plain SQL."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, cast

import psycopg
import pytest
from psycopg import sql

from lab.servers import PostgresServer
from tests.rows import delete_rows
from tests.store.conftest import PlainPostgres
from tests.store.contenders import PATIENCE, SPAWN, Contenders, contenders
from tickbird.domain.errors import SchemaError, StoreError, StoreUnavailableError
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.changes import ChangeSet
from tickbird.domain.planning.commands import Create, Trigger, Update
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.codec import definition_text, encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore, leases, schedules
from tickbird.store.postgres import schedule_changes as changes
from tickbird.store.postgres.database import schema
from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.schema_name import STATEMENTS
from tickbird.store.postgres.planning import backfills, planning
from tickbird.store.postgres.planning.concurrency_keys import stripe_of
from tickbird.store.postgres.planning.planning import Batch
from tickbird.store.postgres.planning.waiting_runs import hold_active
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.sql import load_statements

T0 = datetime(2026, 1, 1, tzinfo=UTC)
MINUTELY = Definition(trigger=every(seconds=60), target=Target("work"))
# Of every class that has nothing to do with the values of a row, and of some that have.
SQLSTATES = (
    *("08006", "0A000", "22012", "23514", "25006", "40001", "42501", "42P01"),
    *("53100", "54000", "55P03", "57014", "57P01", "58030", "P0001", "XX000"),
)
DAILY = replace(MINUTELY, trigger=every(days=1))
SCHEDULES = 12_000
WORKER = Worker(id="w", namespace="default", app="app", host="host", pid=1, version="0")


LISTENERS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%%'"


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await condition()):  # noqa: ASYNC110 - it comes true in another process
            await asyncio.sleep(0.01)
        return found


async def create(store: PostgresStore, name: str = "clock", definition: Definition = MINUTELY) -> int:
    command = Create(actor="ada", namespace="default", definition=definition)
    return (await store.schedules.change("default", name, command, now=T0)).schedule.id


async def create_many(database: Database, count: int, definition: Definition = MINUTELY) -> None:
    """Schedules s1, s2, …, which have been planned until T0 and are due at its first tick."""
    text = definition_text(encode_definition(definition))
    await database.execute(
        "INSERT INTO tickbird.schedules (name, definition) SELECT 's' || n, %s FROM generate_series(1, %s) AS n",
        text,
        count,
    )
    await database.execute("UPDATE tickbird.cursors SET planned_until = %s, next_run_at = %s", T0, later(60))


async def claim(store: PostgresStore, limit: int = 100, now: datetime | None = None) -> list[Any]:
    claimed = await store.leases.claim(WORKER, limit, 60, queues=["default"], tasks=["work"], now=now)
    return list(claimed.runs)


class Database:
    """A person with psql."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def one(self, statement: str, *values: Any) -> Any:
        [(value,)] = await self.execute(statement, *values)
        return value

    async def lock_waits(self) -> int:
        """How many sessions wait for a lock at this moment."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        return int(await self.one(query))


class Gate:
    """Stops a coroutine function after its work, until it is let through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        real = getattr(module, name)

        async def gated(*values: Any, **named: Any) -> Any:
            result = await real(*values, **named)
            if not self.reached.is_set():
                self.reached.set()
                await self.open.wait()
            return result

        monkeypatch.setattr(module, name, gated)


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url, **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture(scope="module")
async def migrated(postgres_server: PostgresServer) -> str:
    url = postgres_server.create_database()
    await PostgresStore(url).migrate()
    return url


@pytest.fixture(scope="module")
async def stocked(postgres_server: PostgresServer) -> str:
    """Schedules and a history, analyzed. Plans depend on the statistics, so no other test may change them."""
    url = postgres_server.create_database()
    await PostgresStore(url).migrate()
    database = Database(url)
    await create_many(database, 500)
    await database.execute(
        """INSERT INTO tickbird.runs
            (schedule_id, status, origin, namespace, target, due_at, available_at, created_at, finished_at)
        SELECT id, CASE n %% 9 WHEN 0 THEN 'failed' ELSE 'succeeded' END, 'manual', namespace, 'work', at, at, at, at
        FROM tickbird.schedules, generate_series(1, 20) AS n
        CROSS JOIN LATERAL (SELECT %s + n * interval '1 min' AS at) AS times""",
        T0,
    )
    await database.execute("VACUUM ANALYZE")
    return url


@pytest.fixture
async def database(migrated: str) -> Database:
    """An empty schema."""
    async with await psycopg.AsyncConnection.connect(migrated, autocommit=True) as connection:
        await delete_rows(connection)
    return Database(migrated)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[PostgresStore]:
    async with opened(database.url) as store:
        yield store


@pytest.fixture
async def other(database: Database) -> AsyncIterator[PostgresStore]:
    async with opened(database.url) as store:
        yield store


@pytest.fixture(scope="module")
def ten(migrated: str) -> Iterator[Contenders]:
    """Ten planning processes, half of them with clocks six hours wrong."""
    with contenders(migrated, [0, 21_600, -21_600, 0, 21_600, -21_600, 0, 0, 0, 0]) as processes:
        yield processes


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be restarted and reconfigured."""
    with PostgresServer() as server:
        yield server


class TestProcesses:
    async def test_one_of_ten_processes_plans_a_tick(
        self, ten: Contenders, store: PostgresStore, database: Database
    ) -> None:
        await create(store, definition=replace(MINUTELY, overlap="allow"))
        for number in range(1, 101):
            hands = await asyncio.to_thread(ten.plan, 500, later(60 * number))
            assert Counter(tuple(hand) for hand in hands) == {((1, 1),): 1, ((0, 0),): 9}
        assert await database.one("SELECT count(DISTINCT scheduled_for) FROM tickbird.runs") == 100
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 100
        assert await database.one("SELECT count(*) FROM tickbird.skips") == 0

    async def test_ten_processes_share_a_thousand(self, ten: Contenders, database: Database) -> None:
        await create_many(database, 1_000)
        hands = await asyncio.to_thread(ten.plan, 20, later(60))
        assert sum(made for hand in hands for _, made in hand) == 1_000
        assert sum(1 for hand in hands if any(made for _, made in hand)) > 1
        assert await database.one("SELECT count(DISTINCT schedule_id) FROM tickbird.runs") == 1_000
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 1_000

    async def test_a_wrong_clock_changes_nothing(self, ten: Contenders, database: Database) -> None:
        await create_many(database, 20, replace(MINUTELY, trigger=every(hours=24), catch_up="all"))
        await database.execute("UPDATE tickbird.cursors SET planned_until = now(), next_run_at = now() + '3 h'")
        await database.execute(
            """UPDATE tickbird.cursors SET planned_until = date_trunc('day', now()) - interval '1 day',
                next_run_at = date_trunc('day', now()) WHERE schedule_id %% 2 = 0"""
        )
        hands = await asyncio.to_thread(ten.plan)
        assert sum(made for hand in hands for _, made in hand) == 10
        told = await database.execute(
            """SELECT bool_and(scheduled_for = date_trunc('day', now())), max(now() - created_at) < '1 min'
            FROM tickbird.runs"""
        )
        assert told == [(True, True)]


class TestLostConnections:
    async def test_a_backend_that_dies_before_commit_loses_nothing(
        self, store: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await create(store)
        real = planning.plan_locked
        killed: list[int] = []

        async def plan_and_die(db: Session, *values: Any) -> Batch:
            batch = await real(db, *values)
            if not killed:
                killed.append(db.connection.info.backend_pid)
                await database.execute("SELECT pg_terminate_backend(%s, 10000)", *killed)
            return batch

        monkeypatch.setattr(planning, "plan_locked", plan_and_die)
        # It may have died just behind the commit, so only the caller can know that calling again is safe.
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
                # One comes with the new connection, since others may have been missed; then each is heard.
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
                with pytest.raises(StoreUnavailableError, match="Check that PostgreSQL runs"):
                    await store.now()
            finally:
                await asyncio.to_thread(own_server.start)
            await store.now()


async def _hang(url: str, now: datetime, line: Any) -> None:
    real = planning.plan_locked

    async def plan_and_hang(*values: Any) -> Batch:
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


class TestWaiterRace:
    """A planner makes a waiter because a run is active, while that run finishes."""

    @pytest.fixture
    async def running(self, store: PostgresStore) -> Outcome:
        await create(store, definition=replace(MINUTELY, overlap="queue"))
        await store.planning.plan_due(now=later(60))
        [run] = await claim(store, now=later(60))
        return Outcome(run.id, run.attempt, "succeeded")

    async def test_finish_waits_for_the_planner_and_releases_its_waiter(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        running: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, planning, "plan_locked")
        plan = asyncio.create_task(store.planning.plan_due(now=later(120)))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([running], now=later(121)))
        await until(database.lock_waits)
        gate.open.set()
        assert (await plan).runs == 1
        assert (await finish).released == 1
        assert [run.status for run in await store.runs.list("default")] == ["queued", "succeeded"]

    async def test_the_planner_waits_for_finish_and_makes_no_waiter(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        running: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([running], now=later(121)))
        await gate.reached.wait()
        plan = asyncio.create_task(store.planning.plan_due(now=later(120)))
        await until(database.lock_waits)
        gate.open.set()
        assert (await finish).released == 0
        assert (await plan).runs == 1
        assert [run.status for run in await store.runs.list("default")] == ["queued", "succeeded"]

    async def test_two_finishes_at_once_release_for_both(
        self, store: PostgresStore, other: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await create(store, definition=replace(MINUTELY, max_concurrent=2))
        for _ in range(4):
            await store.schedules.change("default", "clock", Trigger(actor="ada"), now=later(1))
        one, two = [Outcome(run.id, run.attempt, "succeeded") for run in await claim(store, now=later(1))]
        gate = Gate(monkeypatch, leases, "release")
        first = asyncio.create_task(store.leases.finish([one], now=later(2)))
        await gate.reached.wait()
        second = asyncio.create_task(other.leases.finish([two], now=later(2)))
        await until(database.lock_waits)
        gate.open.set()
        assert ((await first).released, (await second).released) == (1, 1)
        assert [run.status for run in await store.runs.list("default")] == ["queued"] * 2 + ["succeeded"] * 2


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
    """Who holds the lock of a concurrency key waits for no row, or two sessions could wait for each other."""

    async def test_a_deadlock_between_hold_active_and_finish_is_retried(
        self, store: PostgresStore, other: PostgresStore, database: Database
    ) -> None:
        """The second lock_active may lock a lower run id than the first one did.

        That is a run which was released while the first one waited, and claimed before the second. If a finish holds
        that run and waits for the other, PostgreSQL aborts one of the two transactions, and it is retried.
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
            await hold_active(cast("Session", SessionBreakpoint(db, reached, go_on)), [aside, beside])

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
    async def test_changes_of_schedules_and_limits_take_rows_before_keys(
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
            changing = asyncio.create_task(store.schedules.apply_changes("default", changes, "ada", now=later(2)))
            await until(database.lock_waits)
            assert await database.one(free, key)
        await changing
        assert (await store.limits.list("default"))[0].max_running == 2


class TestBackfillRace:
    """A run that stood aside begins while somebody makes another that waits for it."""

    @pytest.fixture
    async def beginning(
        self, store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> tuple[asyncio.Task[Any], Gate]:
        """The first of two is about to end, and has let the second go."""
        await create(store, definition=replace(MINUTELY, overlap="queue", catch_up="skip"))
        await store.planning.plan_due(now=later(590))
        await store.backfills.create("default", "clock", self.between(60, 120), now=later(591))
        [run] = await claim(store, now=later(592))
        gate = Gate(monkeypatch, leases, "release")
        ending = asyncio.create_task(other.leases.finish([Outcome(run.id, run.attempt, "succeeded")], now=later(593)))
        await gate.reached.wait()
        return ending, gate

    def between(self, first: int, last: int) -> NewBackfill:
        return NewBackfill(actor="ada", first=int(later(first).timestamp()), last=int(later(last).timestamp()))

    async def backfilled(self, store: PostgresStore) -> Any:
        return await store.backfills.create("default", "clock", self.between(180, 300), now=later(594))

    async def triggered(self, store: PostgresStore) -> Any:
        return await store.schedules.change("default", "clock", Trigger(actor="ada"), now=later(594))

    async def planned(self, store: PostgresStore) -> Any:
        return await store.planning.plan_due(now=later(600))

    @pytest.mark.parametrize(
        "make, stop",
        [
            ("backfilled", (backfills, "release")),
            ("triggered", (changes, "_leave")),
            ("planned", (planning, "plan_locked")),
        ],
    )
    @pytest.mark.parametrize("soon", [True, False])
    async def test_who_is_made_meanwhile_has_its_turn(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        beginning: tuple[asyncio.Task[Any], Gate],
        make: str,
        stop: tuple[Any, str],
        soon: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        ending, gate = beginning
        made = Gate(monkeypatch, *stop)
        making = asyncio.create_task(getattr(self, make)(store))
        await until(database.lock_waits)
        gate.open.set()
        assert (await ending).released == 1
        await made.reached.wait()
        # The second one may end before that is written, or has to wait for it; nobody may be left behind, nor pass.
        done = asyncio.create_task(self._work(other, later(601), rounds=int(soon)))
        await asyncio.wait([done], timeout=0.3)
        made.open.set()
        await making
        await done
        await self._work(other, later(602), rounds=20)
        assert {run.status for run in await store.runs.list("default")} == {"succeeded"}
        assert len(await store.runs.list("default")) > 2

    async def _work(self, store: PostgresStore, now: datetime, rounds: int) -> None:
        for _ in range(rounds):
            found = await claim(store, now=now)
            assert len(found) <= 1
            await store.leases.finish([Outcome(run.id, run.attempt, "succeeded") for run in found], now=now)


class TestDependencyRace:
    """A planner makes a run wait for a schedule, or somebody begins to depend on it, while that one succeeds."""

    @pytest.fixture
    async def load(self, store: PostgresStore) -> Outcome:
        """A run that is about to succeed."""
        await create(store, "load", replace(DAILY, target=Target("load")))
        run = (await store.schedules.change("default", "load", Trigger(actor="ada"), now=later(1))).run
        await store.leases.claim(WORKER, 1, 600, queues=["default"], tasks=["load"], now=later(1))
        assert run is not None
        return Outcome(run.id, 1, "succeeded")

    @pytest.fixture
    async def report(self, store: PostgresStore, load: Outcome) -> None:
        needs = (After("load", 0, 3_600),)
        await create(store, "report", replace(MINUTELY, depends_on=needs, overlap="replace"))

    @pytest.mark.usefixtures("report")
    async def test_the_success_waits_for_the_planner_and_releases_its_run(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, planning, "plan_locked")
        plan = asyncio.create_task(store.planning.plan_due(now=later(60)))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([load], now=later(61)))
        await until(database.lock_waits)
        gate.open.set()
        await plan
        assert (await finish).released == 1
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_the_planner_leaves_a_schedule_that_depends_on_what_just_succeeds(
        self, store: PostgresStore, other: PostgresStore, load: Outcome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([load], now=later(60)))
        await gate.reached.wait()
        planned = await store.planning.plan_due(now=later(60))
        assert (planned.more, list(await store.runs.list("default", schedule="report"))) == (True, [])
        gate.open.set()
        await finish
        await store.planning.plan_due(now=later(60))
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_an_edit_tries_again_until_the_success_is_noted(
        self, store: PostgresStore, other: PostgresStore, load: Outcome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate, tried = Gate(monkeypatch, leases, "release"), Gate(monkeypatch, changes, "watch")
        tried.open.set()
        finish = asyncio.create_task(other.leases.finish([load], now=later(60)))
        await gate.reached.wait()
        update = Update(actor="ada", fields={"retries": 3})
        edit = asyncio.create_task(store.schedules.change("default", "report", update, now=later(61)))
        await tried.reached.wait()
        gate.open.set()
        await finish
        assert (await edit).schedule.revision == 2
        [run] = await store.runs.list("default", schedule="report")
        assert (run.status, run.revision) == ("queued", 1)

    async def test_who_begins_to_depend_on_it_waits_for_its_success(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([load], now=later(30)))
        await gate.reached.wait()
        making = asyncio.create_task(create(store, "report", replace(MINUTELY, depends_on=(After("load", 60),))))
        await until(database.lock_waits)
        gate.open.set()
        await asyncio.gather(finish, making)
        assert (await store.schedules.last_successes("default", ["load"]))["load"].at == int(later(30).timestamp())

    async def test_a_success_sees_who_has_begun_to_depend_on_it(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, schedules, "watch")
        making = asyncio.create_task(create(store, "report", replace(MINUTELY, depends_on=(After("load", 60),))))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([load], now=later(30)))
        await until(database.lock_waits)
        gate.open.set()
        await asyncio.gather(finish, making)
        assert (await store.schedules.last_successes("default", ["load"]))["load"].at == int(later(30).timestamp())

    async def test_two_that_are_waited_for_succeed_at_once(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        await create(store, "clean", replace(DAILY, target=Target("clean")))
        clean = (await store.schedules.change("default", "clean", Trigger(actor="ada"), now=later(1))).run
        assert clean is not None
        await store.leases.claim(WORKER, 1, 600, queues=["default"], tasks=["clean"], now=later(1))
        needs = (After("load", 0, 3_600), After("clean", 0, 3_600))
        await create(store, "report", replace(MINUTELY, depends_on=needs))
        await store.planning.plan_due(now=later(60))
        gate = Gate(monkeypatch, leases, "release")
        first = asyncio.create_task(store.leases.finish([load], now=later(61)))
        await gate.reached.wait()
        second = asyncio.create_task(other.leases.finish([Outcome(clean.id, 1, "succeeded")], now=later(61)))
        await until(database.lock_waits)
        gate.open.set()
        await first
        assert (await second).released == 1
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_what_was_missed_is_found(self, store: PostgresStore, database: Database) -> None:
        await store.planning.plan_due(now=later(60))
        noted = "UPDATE tickbird.last_success SET finished_at = %s"
        await database.execute(noted, later(59))
        assert list((await store.leases.rescue(now=later(63))).released) == []
        await database.execute(noted, later(62))
        [run] = await store.runs.list("default", schedule="report")
        assert list((await store.leases.rescue(now=later(63))).released) == [run.id]


class TestBadRows:
    async def test_a_refused_batch_is_bisected(self, store: PostgresStore, database: Database) -> None:
        await create_many(database, 100)
        await database.execute(
            """CREATE FUNCTION tickbird.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF (SELECT name IN ('s7', 's50', 's51') FROM tickbird.schedules WHERE id = NEW.schedule_id) THEN
                    RAISE EXCEPTION 'run of %% not wanted', NEW.schedule_id;
                END IF;
                RETURN NEW;
            END $$"""
        )
        await database.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON tickbird.runs FOR EACH ROW EXECUTE FUNCTION tickbird.refuse()"
        )
        try:
            planned = await store.planning.plan_due(now=later(60))
        finally:
            await database.execute("DROP FUNCTION tickbird.refuse() CASCADE")
        assert sorted(refused.schedule for refused in planned.refused) == ["s50", "s51", "s7"]
        assert (planned.schedules, planned.runs, planned.parked) == (97, 97, ())
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 97
        refused = await store.schedules.get("default", "s50")
        assert refused is not None
        # The message alone, without the lines that tell where in the server it was raised.
        assert (refused.state, refused.error) == ("active", f"run of {refused.id} not wanted")
        assert (await store.planning.plan_due(now=later(60))).schedules == 0
        assert (await store.planning.plan_due(now=later(75))).runs == 3

    @pytest.mark.parametrize("sqlstate", SQLSTATES)
    async def test_one_row_stops_no_other_whatever_the_error(
        self, store: PostgresStore, database: Database, sqlstate: str
    ) -> None:
        await create_many(database, 5)
        schedule = await store.schedules.get("default", "s3")
        assert schedule is not None
        plain = PlainPostgres(database.url)
        await plain.refuse_rows("runs", schedule.id, "not today", sqlstate)
        try:
            planned = await store.planning.plan_due(now=later(60))
        finally:
            await plain.accept_rows()
        assert (planned.runs, planned.parked) == (4, ())
        assert [(refused.schedule, refused.error) for refused in planned.refused] == [("s3", "not today")]
        assert (await store.planning.plan_due(now=later(75))).runs == 1

    async def test_a_row_that_cannot_even_be_parked_stops_no_other(
        self, store: PostgresStore, database: Database
    ) -> None:
        await create_many(database, 5, replace(MINUTELY, overlap="allow"))
        await database.execute(
            """CREATE FUNCTION tickbird.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'no parking';
            END $$"""
        )
        await database.execute(
            """CREATE TRIGGER refuse BEFORE UPDATE ON tickbird.cursors FOR EACH ROW
            WHEN (NEW.state = 'parked' OR NEW.refused_at IS NOT NULL) EXECUTE FUNCTION tickbird.refuse()"""
        )
        await PlainPostgres(database.url).insert("default", "broken", '{"v": 1}')
        try:
            for minute in (1, 2, 3):
                planned = await store.planning.plan_due(now=later(60 * minute))
                assert (planned.runs, planned.parked) == (5, ())
                assert [refused.error for refused in planned.refused] == ["no parking"]
        finally:
            await database.execute("DROP FUNCTION tickbird.refuse() CASCADE")
        assert (await store.planning.plan_due(now=later(240))).parked == ("broken",)

    async def test_a_batch_refused_for_want_of_rights_is_tried_again(
        self, database: Database, postgres_server: PostgresServer
    ) -> None:
        await create_many(database, 3)
        role = await _role(database, "planless")
        await database.execute(
            f"""GRANT USAGE ON SCHEMA tickbird TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA tickbird TO {role};
            GRANT ALL ON ALL SEQUENCES IN SCHEMA tickbird TO {role}; REVOKE INSERT ON tickbird.runs FROM {role}"""
        )
        async with opened(database.url.replace("postgres@", f"{role}@")) as store:
            planned = await store.planning.plan_due(now=later(60))
            assert (planned.runs, planned.parked) == (0, ())
            assert [refused.error for refused in planned.refused] == ["permission denied for table runs"] * 3
            await database.execute(f"GRANT INSERT ON tickbird.runs TO {role}")
            runs = [(await store.planning.plan_due(now=later(75))).runs for _ in range(2)]
        assert sum(runs) == 3


class TestPlainSql:
    async def test_an_insert_makes_cursor_and_revision_and_wakes_planners(
        self, store: PostgresStore, database: Database
    ) -> None:
        async with store.wakeups() as wakeups:
            await create_many(database, 1)
            await asyncio.wait_for(anext(wakeups), PATIENCE)
        schedule = await store.schedules.get("default", "s1")
        assert schedule is not None
        [revision] = await store.schedules.list_revisions(schedule.id)
        assert (revision.revision, revision.action, revision.actor) == (1, "create", "postgres")

    async def test_an_update_makes_a_revision_and_wakes_planners(
        self, store: PostgresStore, database: Database
    ) -> None:
        schedule_id = await create(store)
        hourly = definition_text(encode_definition(replace(MINUTELY, trigger=every(hours=1))))
        async with store.wakeups() as wakeups:
            await database.execute("UPDATE tickbird.schedules SET definition = %s", hourly)
            await asyncio.wait_for(anext(wakeups), PATIENCE)
        newest = (await store.schedules.list_revisions(schedule_id))[0]
        assert (newest.revision, newest.action, newest.actor) == (2, "update", "postgres")
        assert (await store.planning.plan_due()).schedules == 1
        schedule = await store.schedules.get("default", "clock")
        assert schedule is not None
        assert schedule.definition == replace(MINUTELY, trigger=every(hours=1))
        assert schedule.cursor.next_run_at is not None
        assert schedule.cursor.next_run_at % 3_600 == 0

    async def test_an_update_that_changes_nothing_makes_no_revision(
        self, store: PostgresStore, database: Database
    ) -> None:
        schedule_id = await create(store)
        await database.execute("UPDATE tickbird.schedules SET definition = definition, pause_note = 'seen'")
        assert len(await store.schedules.list_revisions(schedule_id)) == 1

    async def test_a_row_with_history_cannot_be_deleted(self, store: PostgresStore, database: Database) -> None:
        await create(store)
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            await database.execute("DELETE FROM tickbird.schedules")


class TestStatements:
    """How many statements a verb sends; BEGIN and COMMIT count."""

    async def test_a_claim_that_finds_nothing_is_one(self, store: PostgresStore, sent: list[str]) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {}, delay=30)], "ada", now=T0)
        sent.clear()
        claimed = await store.leases.claim(WORKER, 5, 60, queues=["default"], tasks=["work"], now=T0)
        assert (list(claimed.runs), claimed.next_at, sent) == ([], later(30), ["claim_runs"])

    async def test_finishing_runs_without_a_schedule_is_one(self, store: PostgresStore, sent: list[str]) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})] * 3, "ada", now=T0)
        runs = await claim(store, now=T0)
        sent.clear()
        done = await store.leases.finish(
            [Outcome(run.id, 1, "succeeded", run.id, alone=True) for run in runs], now=later(1)
        )
        assert (done.accepted, sent) == (frozenset(run.id for run in runs), ["succeed_runs"])
        found = [await store.runs.get(run.id) for run in runs]
        assert [(run.status, run.result) for run in found if run] == [("succeeded", run.id) for run in runs]

    async def test_a_late_success_changes_nothing(self, store: PostgresStore) -> None:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})] * 2, "ada", now=T0)
        one, two = await claim(store, now=T0)
        outcomes = [Outcome(two.id, 1, "succeeded", alone=True), Outcome(one.id, 2, "succeeded", alone=True)]
        assert (await store.leases.finish(outcomes, now=later(1))).accepted == {two.id}
        done = await store.leases.finish([Outcome(two.id, 1, "succeeded", "again", alone=True)], now=later(2))
        assert (done.accepted, done.now) == (frozenset(), later(2))
        found = [await store.runs.get(run.id) for run in (one, two)]
        assert [(run.status, run.result) for run in found if run] == [("running", None), ("succeeded", None)]

    @pytest.fixture
    def sent(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The statements that were sent, by name."""
        sent: list[str] = []
        names = {text: name for name, text in STATEMENTS.items()}
        execute = psycopg.AsyncConnection.execute
        begin = psycopg.AsyncConnection.transaction

        def spy(self: Any, query: Any, *args: Any, **options: Any) -> Any:
            # A wake-up goes out on its own, now or a moment later.
            if query != STATEMENTS["wake"]:
                sent.append(names.get(query, str(query)))
            return execute(self, query, *args, **options)

        def spy_begin(self: Any, *args: Any, **options: Any) -> Any:
            sent.append("BEGIN")
            return begin(self, *args, **options)

        monkeypatch.setattr(psycopg.AsyncConnection, "execute", spy)
        monkeypatch.setattr(psycopg.AsyncConnection, "transaction", spy_begin)
        return sent


class TestIndexes:
    @pytest.mark.parametrize("name", ["list_runs", "list_runs_of", "page_unwell", "page_unwell_of", "list_audit"])
    async def test_a_page_begins_where_the_one_before_ended(self, stocked: str, name: str) -> None:
        """Not at the newest row, from which it would walk to the page."""
        order = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", STATEMENTS[name].decode())))
        text = re.sub(r"%\((\w+)\)s", lambda found: f"${order.index(found[1]) + 1}", STATEMENTS[name].decode())
        async with await psycopg.AsyncConnection.connect(
            Connections(stocked, 1).conninfo, autocommit=True
        ) as connection:
            await connection.execute(f"PREPARE page AS {text}".encode())
            nothing = ", ".join("NULL" for _ in order)
            plan = await connection.execute(f"EXPLAIN EXECUTE page({nothing})".encode())
            lines = [line for (line,) in await plan.fetchall()]
        assert any(re.search(r"Index Cond.* < (ROW\(\$\d+, )?COALESCE\(\$", line) for line in lines), lines

    @pytest.mark.parametrize("name", sorted(load_statements("tickbird.store.postgres", "dashboard")))
    async def test_readings_walk_indexes_and_sort_no_history(self, stocked: str, name: str) -> None:
        text = STATEMENTS[name].decode()
        order = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
        text = re.sub(r"%\((\w+)\)s", lambda found: f"${order.index(found[1]) + 1}", text).replace("%%", "%")
        async with await psycopg.AsyncConnection.connect(
            Connections(stocked, 1).conninfo, autocommit=True
        ) as connection:
            await connection.execute(f"PREPARE reading AS {text}".encode())
            nothing = ", ".join("NULL" for _ in order)
            plan = await connection.execute(f"EXPLAIN EXECUTE reading({nothing})".encode())
            lines = [line for (line,) in await plan.fetchall()]
        assert not [line for line in lines if "Seq Scan" in line], lines
        # Every walk through runs or the audit is bounded by an index: by a key, or by the order of the page.
        for place, line in enumerate(lines):
            if re.search(r"Scan.* on (runs|audit|skips|cursors|schedules|listed)", line):
                assert "Index" in line, lines
                assert "Index Cond" in lines[place + 1] or "runs_" in line or "cursors_" in line, lines
        if name.startswith(("find_", "page_")):
            assert not [line for line in lines if "Sort" in line], lines

    async def test_no_verb_scans_the_big_tables(self, database: Database) -> None:
        await create_many(database, SCHEDULES, replace(MINUTELY, overlap="queue"))
        await database.execute("UPDATE tickbird.cursors SET next_run_at = %s WHERE schedule_id %% 20 > 0", later(9_000))
        await database.execute(
            """INSERT INTO tickbird.runs
                (schedule_id, status, origin, namespace, target, due_at, available_at, created_at, finished_at)
            SELECT id, 'succeeded', 'manual', namespace, 'work', %s, %s, %s, %s FROM tickbird.schedules""",
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
        for index in ("cursors_due", "runs_queued", "runs_active", "runs_waiting", "runs_running", "runs_of_schedule"):
            assert after[index] > before[index], index
        read = {name: after[name] - before[name] for name in after if name.startswith("read by ")}
        assert max(read.values()) < SCHEDULES, read

    async def _settled(self, database: Database, before: dict[str, int]) -> dict[str, int] | None:
        """Sessions report what they did a moment after they end."""
        if await database.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'indexes'"):
            return None
        after = await self._scans(database)
        return after if after["runs_of_schedule"] > before["runs_of_schedule"] else None

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


async def _role(database: Database, name: str) -> str:
    if not await database.execute("SELECT FROM pg_roles WHERE rolname = %s", name):
        await database.execute(f"CREATE ROLE {name} LOGIN")
    return name


class TestPrune:
    async def test_old_runs_that_are_kept_do_not_hide_others(self, store: PostgresStore, database: Database) -> None:
        await create_many(database, 51)
        await database.execute(
            """INSERT INTO tickbird.runs
                (schedule_id, status, origin, namespace, target, due_at, available_at, created_at, finished_at)
            SELECT s.id, 'succeeded', 'manual', namespace, 'work', %s, %s, %s, %s
            FROM tickbird.schedules AS s, generate_series(1, CASE s.name WHEN 's51' THEN 10 ELSE 2 END) AS n
            ORDER BY s.id""",
            *[T0] * 4,
        )
        # A call looks at no more than ten times its limit: here 20 of the 110.
        gone = [await store.runs.prune(older_than=1, keep=2, limit=2, now=later(60)) for _ in range(20)]
        assert sum(gone) == 8
        assert await database.one("SELECT count(*) FROM tickbird.runs") == 102


class TestErrors:
    """One sentence each, with the next step, and nothing of the driver's."""

    @staticmethod
    async def _refusal(url: str, kind: type[StoreError]) -> str:
        with pytest.raises(kind) as refused:
            async with opened(url):
                pass
        assert type(refused.value) is kind
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        assert refused.value.hint
        text = str(refused.value)
        assert "\n" not in text
        return text

    @pytest.mark.parametrize(
        "url", ["postgresql//host/x", "mysql://host/x", "postgresql://host:port/x", "postgresql://host/x?port=red"]
    )
    def test_a_bad_url(self, url: str) -> None:
        with pytest.raises(StoreError, match="is not a PostgreSQL URL; write it like") as refused:
            PostgresStore(url)
        assert refused.value.__suppress_context__

    @pytest.mark.parametrize("query", ["colour=red", "sslmode=disable&colour=", "colour=red&password=hush"])
    def test_an_unknown_option(self, query: str) -> None:
        with pytest.raises(
            StoreError, match="has an option 'colour', which PostgreSQL does not know; take it"
        ) as refused:
            PostgresStore(f"postgresql://host/x?{query}")
        assert "hush" not in str(refused.value)

    def test_known_options_are_taken(self) -> None:
        PostgresStore("postgresql://host/x?sslmode=disable&application_name=me&ssl=true&options=-c%20jit%3Don")

    async def test_nobody_listens(self, postgres_server: PostgresServer) -> None:
        url = "postgresql://postgres@127.0.0.1:1/x"
        text = await self._refusal(url, StoreUnavailableError)
        assert text.startswith("database 'x' at 127.0.0.1:1 cannot be reached")
        assert "?." not in text

    async def test_a_missing_database(self, postgres_server: PostgresServer) -> None:
        text = await self._refusal(postgres_server.url_of("nowhere"), StoreError)
        assert "database 'nowhere'" in text
        assert text.endswith("create the database, then run `tickbird migrate`.")

    async def test_a_missing_role(self, migrated: str) -> None:
        text = await self._refusal(migrated.replace("postgres@", "who@"), StoreError)
        assert text.endswith("Create the role, or check the user in the URL.")

    async def test_a_wrong_password(self, own_server: PostgresServer) -> None:
        url = own_server.create_database()
        database = Database(url)
        await database.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        hba = await database.one("SHOW hba_file")
        rules = "host all locked all scram-sha-256|host all all all trust"
        copy = sql.SQL("COPY (SELECT regexp_split_to_table({}, '[|]')) TO {}").format(rules, hba)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(copy)
            await connection.execute("SELECT pg_reload_conf()")
        wrong = url.replace("postgres@", "locked:wrong@")

        async def refused() -> str | None:
            try:
                async with await psycopg.AsyncConnection.connect(wrong):
                    return None
            except psycopg.OperationalError as error:
                return str(error)

        await until(refused)
        text = await self._refusal(wrong, StoreError)
        assert text.endswith("Check user and password in the URL.")
        assert "wrong" not in text
        assert PostgresStore(wrong).url == url.replace("postgres@", "locked@")

    async def test_no_rights(self, database: Database) -> None:
        role = await _role(database, "powerless")
        text = await self._refusal(database.url.replace("postgres@", f"{role}@"), StoreError)
        assert "permission denied for schema tickbird" in text
        assert "Grant it" in text

    async def test_no_schema(self, postgres_url: str) -> None:
        text = await self._refusal(postgres_url, SchemaError)
        assert text == "the database has no Tickbird schema; run `tickbird migrate`."

    async def test_a_schema_too_old(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute("UPDATE tickbird.meta SET value = '0' WHERE key = 'version'")
        assert (await self._refusal(postgres_url, SchemaError)).endswith("run `tickbird migrate`.")
        assert await PostgresStore(postgres_url).migrate() == ["meta"]
        assert await PostgresStore(postgres_url).migrate() == []
        async with opened(postgres_url):
            pass

    @pytest.mark.parametrize("key", ["version", "min_compatible"])
    async def test_a_version_that_is_no_number(self, postgres_url: str, key: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute(f"UPDATE tickbird.meta SET value = 'soon' WHERE key = '{key}'")
        text = await self._refusal(postgres_url, SchemaError)
        assert text.startswith(f"the database's table meta gives 'soon' as its {key}, which is no number;")
        await PostgresStore(postgres_url).migrate()
        async with opened(postgres_url):
            pass

    async def test_no_right_to_migrate(self, postgres_url: str) -> None:
        role = await _role(Database(postgres_url), "reader")
        with pytest.raises(StoreError, match=f"the role '{role}' lacks a right .* grant it CREATE on the database"):
            await PostgresStore(postgres_url.replace("postgres@", f"{role}@")).migrate()

    async def test_a_schema_too_new(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        await Database(postgres_url).execute("UPDATE tickbird.meta SET value = '99'")
        assert (await self._refusal(postgres_url, SchemaError)).endswith("upgrade tickbird.")

    async def test_not_open(self, migrated: str) -> None:
        with pytest.raises(StoreError, match="is not open"):
            await PostgresStore(migrated).now()


class TestMigrations:
    async def test_one_of_many_migrates(self, postgres_url: str) -> None:
        applied = await asyncio.gather(*(PostgresStore(postgres_url).migrate() for _ in range(5)))
        names = [f"{migration.number:04}_{migration.name}" for migration in schema.MIGRATIONS]
        done = [[name for name in each if not name.startswith("index ")] for each in applied]
        assert sorted(done) == [[], [], [], [], names]
        built = [name for each in applied for name in each if name.startswith("index ")]
        assert sorted(built) == sorted(f"index {name}" for name in schema.INDEXES)

    async def test_an_index_whose_building_was_interrupted_is_built_anew(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        database = Database(postgres_url)
        await database.execute("DROP INDEX tickbird.runs_unwell_of_schedule")
        broken = "UPDATE pg_index SET indisvalid = %s WHERE indexrelid = 'tickbird.runs_unwell'::regclass"
        await database.execute(broken, False)
        assert await PostgresStore(postgres_url).migrate() == ["index runs_unwell", "index runs_unwell_of_schedule"]
        valid = "SELECT count(*) FROM pg_index WHERE indrelid = 'tickbird.runs'::regclass AND NOT indisvalid"
        assert await database.execute(valid) == [(0,)]
        assert await PostgresStore(postgres_url).migrate() == []

    async def test_indexes_are_built_while_others_write(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        database = Database(postgres_url)
        await database.execute("DROP INDEX tickbird.runs_unwell")
        async with opened(postgres_url) as store, await psycopg.AsyncConnection.connect(postgres_url) as other:
            await other.execute("INSERT INTO tickbird.concurrency_limits VALUES ('default', 'open', 1)")
            building = asyncio.create_task(PostgresStore(postgres_url).migrate())
            for _ in range(5):
                await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
            await other.commit()
            assert await building == ["index runs_unwell"]
            assert len(await store.runs.list("default")) == 5

    async def test_debians_version_serves_too(self, debian_postgres: int) -> None:
        with PostgresServer(debian_postgres) as server:
            url = server.create_database()
            await PostgresStore(url).migrate()
            async with opened(url) as store:
                await create(store)
                assert (await store.planning.plan_due(now=later(60))).runs == 1
                [run] = await claim(store, now=later(60))
                await store.leases.finish([Outcome(run.id, run.attempt, "succeeded")], now=later(61))
                assert [run.status for run in await store.runs.list("default")] == ["succeeded"]


async def test_a_heartbeat_notices_a_schema_that_it_cannot_write(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database()
    store = PostgresStore(url)
    await store.migrate()
    await store.open()
    try:
        assert (await store.workers.heartbeat(WORKER, 30)).outdated == ""
        async with await psycopg.AsyncConnection.connect(url) as other:
            await other.execute("ALTER TABLE tickbird.workers RENAME COLUMN health TO wellness")
            await other.execute("UPDATE tickbird.meta SET value = '999' WHERE key IN ('version', 'min_compatible')")
        assert "upgrade tickbird" in (await store.workers.heartbeat(WORKER, 30)).outdated
    finally:
        await store.close()
