"""The order of events on PostgreSQL: late commits, sessions that stay open, and lost stampers."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from lab.servers import postgres_programs
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import create_many, later
from tickbird.domain.errors import StoreError
from tickbird.domain.events.event import Event
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets.event import event
from tickbird.domain.targets.registry import as_target
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore

PUBLISH = "SELECT tickbird.publish('orders', 'Paid', key => %s, data => jsonb_build_object('n', %s::int))"
Connection = psycopg.AsyncConnection[tuple[object, ...]]


@pytest.fixture
def url(migrated_url: str) -> str:
    return migrated_url


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url)
    await store.open()
    yield store
    await store.close()


async def connect(url: str) -> Connection:
    return await psycopg.AsyncConnection.connect(url)


def dump_and_restore(source: str, target: str) -> None:
    programs = postgres_programs()
    dump = subprocess.run([programs / "pg_dump", "--no-owner", source], check=True, capture_output=True).stdout
    restore: list[str | Path] = [programs / "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", target]
    subprocess.run(restore, input=dump, check=True, capture_output=True)


async def stamped(store: PostgresStore, since: str | None = None) -> list[Event]:
    """All events, after passes that begin at a mark."""
    while (result := await store.events.stamp(since)).more:
        since = result.since
    return list(await store.events.read("default", limit=100_000))


async def test_a_transaction_that_began_earlier_and_commits_later(store: PostgresStore, url: str) -> None:
    async with await connect(url) as early, await connect(url) as late:
        # It has its transaction id before the other publisher.
        await early.execute("CREATE TABLE anything (x int)")
        await late.execute(PUBLISH, ("K", 1))
        await late.commit()
        mark = (await store.events.stamp()).since
        await early.execute(PUBLISH, ("K", 2))
        await early.commit()
        events = await stamped(store, mark)
    assert [(one.data["n"], one.position, one.version) for one in events] == [(1, 1, 1), (2, 2, 2)]


async def test_both_are_committed_before_the_first_pass(store: PostgresStore, url: str) -> None:
    async with await connect(url) as early, await connect(url) as late:
        await early.execute("CREATE TABLE anything (x int)")
        await late.execute(PUBLISH, ("K", 1))
        await late.commit()
        await early.execute(PUBLISH, ("K", 2))
        await early.commit()
    assert [one.data["n"] for one in await stamped(store)] == [1, 2]


async def test_sessions_that_have_written_and_stay_open(store: PostgresStore, url: str, postgres_url: str) -> None:
    async with (
        await connect(url) as idle,
        await connect(postgres_url) as elsewhere,
        await connect(url) as one,
    ):
        for open_session in (idle, elsewhere):
            await open_session.execute("CREATE TABLE anything (x int)")
        await idle.execute(PUBLISH, ("K", 99))
        since = None
        for number in range(5):
            await one.execute(PUBLISH, ("K", number))
            await one.commit()
            since = (await store.events.stamp(since)).since
        events = await store.events.read("default")
        assert [event.data["n"] for event in events] == [0, 1, 2, 3, 4]
        await idle.commit()
        assert [event.data["n"] for event in await stamped(store, since)] == [0, 1, 2, 3, 4, 99]
        await elsewhere.rollback()


async def test_ticks_do_not_wait_for_a_publisher_of_their_key(store: PostgresStore, url: str) -> None:
    """A session that has published a key and stays open delays no tick whose event has the same key."""
    daily = Definition(trigger=every(seconds=60), target=as_target(event("orders", "Due", key="K")))
    database = Database(url)
    await create_many(database, 10_000, daily)
    async with await connect(url) as idle:
        await idle.execute(PUBLISH, ("K", -1))
        planned = 0
        while published := (await store.planning.plan_due(1_000, now=later(61))).events:
            planned += published
        assert planned == 10_000
        events = await stamped(store)
        assert [one.version for one in events] == list(range(1, 10_001))
        # Their runs have succeeded, and each has the id of its event.
        assert await database.one("SELECT count(*) FROM tickbird.runs WHERE status = 'succeeded'") == 10_000
        await idle.commit()
    assert (await stamped(store))[-1].version == 10_001


async def test_order_survives_dump_and_restore(store: PostgresStore, url: str, postgres_url: str) -> None:
    """Positions and versions continue in another server, where transaction ids are others."""
    async with await connect(url) as one:
        for number in range(5):
            await one.execute(PUBLISH, ("K", number))
            await one.commit()
        await stamped(store)
        # Not stamped before the dump.
        await one.execute(PUBLISH, ("K", 5))
        await one.commit()
    dump_and_restore(url, postgres_url)
    async with opened(postgres_url) as restored, await connect(postgres_url) as one:
        await one.execute(PUBLISH, ("K", 6))
        await one.commit()
        events = await stamped(restored)
        assert [(e.data["n"], e.position, e.version) for e in events] == [(n, n + 1, n + 1) for n in range(7)]


async def test_a_rollback_leaves_nothing(store: PostgresStore, url: str) -> None:
    async with await connect(url) as one:
        await one.execute(PUBLISH, ("K", 1))
        await one.rollback()
        await one.execute(PUBLISH, ("K", 2))
        await one.commit()
    assert [(event.data["n"], event.position, event.version) for event in await stamped(store)] == [(2, 1, 1)]


async def test_two_stampers_at_once(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url)
    await other.open()
    async with await connect(url) as one:
        for number in range(200):
            await one.execute(PUBLISH, (f"K{number % 7}", number))
        await one.commit()
    results = await asyncio.gather(*(each.events.stamp() for each in (store, other, store, other)))
    assert sum(result.stamped for result in results) == 200
    assert [event.data["n"] for event in await stamped(store)] == list(range(200))
    await other.close()


async def test_random_interleavings_with_lost_stampers(store: PostgresStore, url: str) -> None:
    """No gap, no loss, no inversion of a key, for any order of statements, commits and lost sessions."""
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    rounds = 300 * int(os.environ.get("TICKBIRD_FUZZ", "1"))
    keys = ["a", "b", "c"]
    # The numbers of committed events, by key.
    committed: dict[str, list[int]] = defaultdict(list)
    expected: set[int] = set()
    writers = [await connect(url) for _ in range(4)]
    pending: dict[int, list[tuple[str, int]]] = {index: [] for index in range(len(writers))}
    # Pairs of numbers of a key: the first was committed before the second was published.
    pairs: list[tuple[int, int]] = []
    stampers = [PostgresStore(url) for _ in range(2)]
    for one in stampers:
        await one.open()
    since: list[str | None] = [None, None]
    number = 0
    for _ in range(rounds):
        action = chance.random()
        index = chance.randrange(len(writers))
        if action < 0.1:
            # The writer gets its transaction id before it publishes.
            await writers[index].execute("SELECT pg_current_xact_id()")
        elif action < 0.5:
            key = chance.choice(keys)
            pairs += [(earlier, number) for earlier in committed[key][-3:]]
            await writers[index].execute(PUBLISH, (key, number))
            pending[index].append((key, number))
            number += 1
        elif action < 0.7:
            await writers[index].commit()
            for key, done in pending[index]:
                committed[key].append(done)
                expected.add(done)
            pending[index] = []
        elif action < 0.75:
            await writers[index].rollback()
            pending[index] = []
        elif action < 0.95:
            which = chance.randrange(2)
            since[which] = (await stampers[which].events.stamp(since[which], limit=chance.choice([1, 3, 100]))).since
        else:
            # A stamper is lost in the middle of a pass.
            which = chance.randrange(2)
            passing = asyncio.create_task(stampers[which].events.stamp(since[which]))
            await asyncio.sleep(0)
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as killer:
                await killer.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND query LIKE '%%stamp_events%%' AND pid <> pg_backend_pid()"
                )
            with suppress(StoreError):
                await passing
            since[which] = None
    for index, writer in enumerate(writers):
        await writer.commit()
        expected.update(done for _, done in pending[index])
        await writer.close()
    # Each process continues from its own mark, and sees all that is left.
    events = await stamped(stampers[0], since[0])
    for one in stampers:
        await one.close()
    place = {event.data["n"]: event.position or 0 for event in events}
    assert place.keys() == expected, f"seed {seed}"
    assert [event.position for event in events] == list(range(1, len(events) + 1)), f"seed {seed}"
    for first, second in pairs:
        if first in place and second in place:
            assert place[first] < place[second], f"seed {seed}: {first} before {second}"
    for key in keys:
        versions = [event.version for event in events if event.key == key]
        assert versions == list(range(1, len(versions) + 1)), f"seed {seed}"


async def test_events_that_no_worker_stamps_are_reported(store: PostgresStore, url: str) -> None:
    async with await connect(url) as session:
        await session.execute(PUBLISH, ("K", 1))
        await session.commit()
    work = (await store.inspect("default")).work
    metrics = await store.statistics.read_metrics("default")
    assert work is not None
    assert work.events.unstamped_since is not None
    assert work.events.unstamped_since == metrics.unstamped_since
    assert (await store.statistics.read_metrics("other")).unstamped_since is None
    await store.events.stamp()
    work = (await store.inspect("default")).work
    assert work is not None
    assert work.events.unstamped_since is None
    # A worker stamps now, so the age is not read.
    async with await connect(url) as session:
        await session.execute(PUBLISH, ("K", 2))
        await session.commit()
    assert (await store.statistics.read_metrics("default")).unstamped_since is None
