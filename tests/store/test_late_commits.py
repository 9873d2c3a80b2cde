"""Activity on PostgreSQL while transactions commit in another order than they began."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, cast

import psycopg
import pytest

from lab.servers import PostgresServer
from tickbird.app import Tickbird
from tickbird.domain.ledger.activity import ActivityCursor, Watermark, parse_activity_cursor
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore, activity
from tickbird.store.postgres.database.schema_name import encoded
from tickbird.store.shared.postgres_url import SCHEMA

WORKER = Worker(id="w", namespace="default", app="app", host="host", pid=1, version="0")
RAW = """INSERT INTO tickbird.runs
        (namespace, target_kind, target, queue, priority, crash_limit, status, origin, due_at, available_at, created_at)
    VALUES ('default', 'task', 'work', 'elsewhere', 0, 3, 'queued', 'manual', now(), now(), statement_timestamp())
    RETURNING id"""

SLOW_IDS = b"""CREATE FUNCTION public.slow_ids() RETURNS TABLE (last_value bigint, is_called boolean)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_sleep(0.3);
    RETURN QUERY SELECT i.last_value, i.is_called FROM tickbird.ledger_id_seq AS i;
END
$$"""


@pytest.fixture(scope="module")
async def url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    url = postgres_server.create_database()
    await PostgresStore(url).migrate()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("TRUNCATE tickbird.runs, tickbird.run_payloads, tickbird.audit_log, tickbird.attempts")
    store = PostgresStore(url)
    await store.open()
    yield store
    await store.close()


class Reader:
    """Reads from watermark to watermark, and records the cursor after each item."""

    def __init__(self, store: PostgresStore) -> None:
        self.store = store
        self.horizon: Watermark | None = None
        self.begun: ActivityCursor | None = None
        self.told: list[tuple[str, int]] = []
        self.marks: list[ActivityCursor] = []

    async def look(self) -> None:
        horizon = await self.store.activity.watermark(self.horizon)
        if self.horizon is None:
            self.begun = horizon.cursor
        else:
            found = await self.store.activity.read(("default",), self.horizon.cursor, horizon)
            assert not found.more
            self.told += [_brief(each) for _, each in found.items]
            self.marks += [mark for mark, _ in found.items]
        self.horizon = horizon

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await self.look()
                await asyncio.sleep(0.02)

    def heard(self, kind: str) -> set[int]:
        """The runs that were reported with this kind."""
        return {run for each, run in self.told if each == kind}

    async def hears(self, *runs: int) -> None:
        """Read until these runs were reported as planned."""
        await self.until(lambda: self.heard("planned") >= set(runs))

    async def again(self, mark: ActivityCursor) -> list[tuple[str, int]]:
        """The items that a reader gets with this cursor, as text."""
        assert self.horizon is not None
        found = await self.store.activity.read(("default",), parse_activity_cursor(str(mark)), self.horizon)
        return [_brief(each) for _, each in found.items]


def _brief(happening: Any) -> tuple[str, int]:
    """The kind, and the run that it is about."""
    return happening.kind, happening.run.id if happening.run is not None else happening.audit.run_id


def told_of(*runs: int) -> list[tuple[str, int]]:
    """Enqueued runs, each with its audit row."""
    return [(each, run) for run in runs for each in ("changed", "planned")]


async def enqueue(store: PostgresStore, key: str | None = None) -> int:
    [run] = await store.runs.enqueue("default", [NewRun(Target("work"), {}, idempotency_key=key)], "ada")
    return run


async def finish_one(store: PostgresStore) -> None:
    claimed = await store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "work")])
    await store.leases.finish([Outcome(run.id, run.attempt, "succeeded") for run in claimed.runs])


async def test_a_callers_transaction_delays_no_reader_and_is_read_after_its_end(store: PostgresStore, url: str) -> None:
    bird, reader = Tickbird(url), Reader(store)
    await reader.look()
    async with await psycopg.AsyncConnection.connect(url) as theirs:
        late = await bird.enqueue_in(theirs, "work", unknown_task_ok=True)
        others = [await enqueue(store) for _ in range(3)]
        await reader.hears(*others)
        assert ("planned", late) not in reader.told
        away = reader.marks[-1]
        assert away.passed
        # It ends, and its run is final before the next read.
        await theirs.commit()
    for _ in range(4):
        await finish_one(store)
    await reader.until(lambda: len(reader.told) >= 15)
    executed = [(kind, run) for kind in ("planned", "started", "ended") for run in (late, *others)]
    assert sorted(reader.told) == sorted([*(("changed", run) for run in others), *executed])
    # A reader that resumes from any cursor gets the rest, once.
    for number, mark in enumerate(reader.marks, 1):
        assert sorted(await reader.again(mark)) == sorted(reader.told[number:]), mark
    assert await reader.again(away) == reader.told[6:]
    assert reader.marks[-1].passed == ()


async def test_a_transaction_that_is_rolled_back_leaves_nothing(store: PostgresStore, url: str) -> None:
    bird, reader = Tickbird(url), Reader(store)
    await reader.look()
    async with await psycopg.AsyncConnection.connect(url) as theirs:
        await bird.enqueue_in(theirs, "work", unknown_task_ok=True)
        other = await enqueue(store)
        await reader.hears(other)
        await theirs.rollback()
    after = await enqueue(store)
    await reader.hears(after)
    assert reader.told == told_of(other, after)
    assert reader.marks[-1].passed == ()


async def test_the_stores_own_transactions_are_waited_for(store: PostgresStore, url: str) -> None:
    reader = Reader(store)
    await reader.look()
    async with await psycopg.AsyncConnection.connect(url) as theirs:
        [late] = await (await theirs.execute(RAW)).fetchone() or ()
        other = await enqueue(store)
        for _ in range(20):
            await reader.look()
            await asyncio.sleep(0.02)
        assert reader.told == []
    await reader.hears(late, other)
    assert reader.told == [("planned", late), *told_of(other)]


async def test_but_not_for_ever(store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "_MAX_TRANSACTION", timedelta(milliseconds=200))
    reader = Reader(store)
    await reader.look()
    async with await psycopg.AsyncConnection.connect(url) as theirs:
        [late] = await (await theirs.execute(RAW)).fetchone() or ()
        other = await enqueue(store)
        await reader.hears(other)
        assert reader.told == told_of(other)
        away = reader.marks[-1]
    await reader.hears(late)
    assert reader.told == [*told_of(other), ("planned", late)]
    assert await reader.again(away) == [("planned", late)]
    assert await reader.again(reader.marks[-1]) == []


async def test_a_watermark_delayed_between_the_clock_and_the_last_id(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs created during the delay appear in the events, in transactions of the store and of others."""
    bird, reader = Tickbird(url), Reader(store)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(SLOW_IDS)
    await reader.look()
    statements = cast("dict[str, bytes]", encoded(SCHEMA))
    slow = statements["open_transactions"].replace(b"tickbird.ledger_id_seq", b"public.slow_ids()")
    made = []
    with monkeypatch.context() as patched:
        patched.setitem(statements, "open_transactions", slow)
        looking = asyncio.create_task(reader.look())
        while not looking.done():
            made.append(await enqueue(store))
            async with await psycopg.AsyncConnection.connect(url) as theirs:
                made.append(await bird.enqueue_in(theirs, "work", unknown_task_ok=True))
                await asyncio.sleep(0.01)
        await looking
    await reader.hears(*made)
    planned = [run for kind, run in reader.told if kind == "planned"]
    assert sorted(planned) == sorted(made)


async def test_many_concurrent_commits_are_read_once_each(store: PostgresStore, url: str) -> None:
    """Transactions that begin, overlap and end in any order, with a continuous reader."""
    bird, reader, stopped = Tickbird(url), Reader(store), asyncio.Event()
    await reader.look()

    async def follow() -> None:
        while not stopped.is_set():
            await reader.look()
            await asyncio.sleep(0.005)

    async def theirs(number: int) -> list[int]:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            runs = []
            for each in range(3):
                runs.append(await bird.enqueue_in(connection, "work", unknown_task_ok=True))
                await asyncio.sleep(0.02 * (number * 7 % 5 + each))
            if number % 4 == 3:
                await connection.rollback()
                return []
            return runs

    audited: list[int] = []

    async def ours() -> list[int]:
        made: list[int] = []
        for number in range(30):
            made.append(await enqueue(store, f"{id(made)}-{number}" if number % 2 else None))
            await finish_one(store)
        audited.extend(made)
        return made

    following = asyncio.create_task(follow())
    work: list[Awaitable[list[int]]] = [*(theirs(number) for number in range(12)), ours(), ours()]
    made = [run for runs in await asyncio.gather(*work) for run in runs]
    stopped.set()
    await following
    await reader.hears(*made)
    planned = [run for kind, run in reader.told if kind == "planned"]
    assert sorted(planned) == sorted(made)
    assert sorted(run for kind, run in reader.told if kind == "changed") == sorted(audited)
    assert len(reader.told) == len(set(reader.told))
    done = {run.id for run in await store.runs.list("default", status="succeeded", limit=1_000)}
    await reader.until(lambda: reader.heard("ended") >= done)
    assert reader.heard("started") == reader.heard("ended") == done
    for number, mark in list(enumerate(reader.marks, 1))[::7]:
        assert sorted(await reader.again(mark)) == sorted(reader.told[number:])


@pytest.mark.parametrize(
    "number, near, whole",
    [
        (5, 4, 5),
        (3, 9, 3),
        (5, 2**32 - 3, 2**32 + 5),
        (2**32 - 3, 2**32 + 5, 2**32 - 3),
        (7, 3 * 2**32 + 4, 3 * 2**32 + 7),
    ],
)
def test_transaction_numbers_are_completed(number: int, near: int, whole: int) -> None:
    assert activity._full_xid(number, near) == whole
