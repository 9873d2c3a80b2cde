"""The order of events on PostgreSQL: late commits, sessions that stay open, and lost stampers."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psycopg
import pytest

from lab.servers import postgres_programs
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import create_many, later, until
from tickbird import Tickbird
from tickbird.domain.errors import InvalidError, StoreError
from tickbird.domain.events.event import Event, NewEvent, tick_event_id
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets.event import event
from tickbird.domain.targets.registry import as_target
from tickbird.domain.time.instants import to_seconds
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


@pytest.mark.parametrize("expected_version", [None, 0])
async def test_ticks_do_not_wait_for_a_publisher_of_their_key(
    store: PostgresStore, url: str, expected_version: int | None
) -> None:
    """A session that has published a key and stays open delays no tick whose event has the same key."""
    daily = Definition(trigger=every(seconds=60), target=as_target(event("orders", "Due", key="K")))
    database = Database(url)
    await create_many(database, 10_000, daily)
    async with await connect(url) as idle:
        await idle.execute(
            "SELECT tickbird.publish('orders', 'Paid', key => 'K', expected_version => %s)", (expected_version,)
        )
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


async def test_the_id_of_a_tick_is_published_while_it_is_planned(store: PostgresStore, url: str) -> None:
    """By a person: the batch fails, and is planned again; no schedule is parked."""
    database = Database(url)
    minutely = Definition(trigger=every(seconds=60), target=as_target(event("orders", "Due")))
    await create_many(database, 5, minutely)
    event_id = tick_event_id("default", "s3", to_seconds(later(60)))
    async with await connect(url) as publisher:
        await publisher.execute("SELECT tickbird.publish('orders', 'Paid', event_id => %s)", (event_id,))
        planning = asyncio.create_task(store.planning.plan_due(now=later(61)))
        await until(database.lock_waits)
        await publisher.commit()
    await planning
    while (await store.planning.plan_due(now=later(61))).more:
        pass
    assert await database.one("SELECT count(*) FROM tickbird.runs WHERE status = 'succeeded'") == 5
    assert await database.one("SELECT count(*) FROM tickbird.cursors WHERE state = 'active'") == 5
    assert sorted(one.type for one in await stamped(store)) == ["Due"] * 4 + ["Paid"]


@pytest.mark.parametrize("xid", ["3", "9000000000"])
async def test_order_survives_dump_and_restore(store: PostgresStore, url: str, postgres_url: str, xid: str) -> None:
    """Positions and versions continue in another server, whose transaction ids are larger or smaller."""
    async with await connect(url) as one:
        for number in range(5):
            await one.execute(PUBLISH, ("K", number))
            await one.commit()
        await stamped(store)
        # Not stamped before the dump.
        await one.execute(PUBLISH, ("K", 5))
        # Both databases are on one server here.
        await one.execute("UPDATE tickbird.events_unstamped SET xid = %s", (xid,))
        await one.commit()
    dump_and_restore(url, postgres_url)
    async with (
        opened(postgres_url) as restored,
        await connect(postgres_url) as early,
        await connect(postgres_url) as late,
    ):
        await early.execute("CREATE TABLE anything (x int)")
        await late.execute(PUBLISH, ("K", 6))
        await late.commit()
        mark = (await restored.events.stamp()).since
        await early.execute(PUBLISH, ("K", 7))
        await early.commit()
        await late.execute(PUBLISH, ("K", 8))
        await late.commit()
        events = await stamped(restored, mark)
        assert [(e.data["n"], e.position, e.version) for e in events] == [(n, n + 1, n + 1) for n in range(9)]


async def test_publishers_with_an_expected_version_lock_keys_in_one_order(url: str) -> None:
    both = """SELECT tickbird.insert_events('default', '/test', 'test', '[
        {"topic": "a", "type": "A", "key": "y", "expected_version": 0},
        {"topic": "a", "type": "A", "key": "x", "expected_version": 0}]')"""
    one = "SELECT tickbird.publish('a', 'A', key => %s, expected_version => 0)"
    async with await connect(url) as first, await connect(url) as second:
        await first.execute(one, ("x",))
        waiting = asyncio.create_task(second.execute(both))
        await until(Database(url).lock_waits)
        # The other session has not locked y before x, so there is no deadlock.
        await first.execute(one, ("y",))
        await first.commit()
        with pytest.raises(psycopg.Error, match="has version 1, not 0"):
            await waiting


async def test_publishers_notify_only_a_stamper_that_rests(store: PostgresStore, url: str) -> None:
    await store.events.add_stream("default")
    async with (
        await psycopg.AsyncConnection.connect(url, autocommit=True) as listener,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as session,
    ):
        await listener.execute("LISTEN tickbird")

        async def notifications() -> list[str]:
            await session.execute("NOTIFY tickbird, 'end'")
            payloads = []
            async with aclosing(listener.notifies()) as incoming:
                async for notification in incoming:
                    if notification.payload == "end":
                        break
                    payloads.append(notification.payload)
            return payloads

        await session.execute(PUBLISH, ("K", 1))
        assert await notifications() == [""]
        await session.execute("SELECT tickbird.stamp_events('default', NULL, 100)")
        await session.execute(PUBLISH, ("K", 2))
        assert await notifications() == []
        await session.execute("UPDATE tickbird.event_streams SET awake_until = clock_timestamp()")
        await session.execute(PUBLISH, ("K", 3))
        assert await notifications() == [""]


async def test_a_flood_in_one_namespace_does_not_delay_another(store: PostgresStore) -> None:
    new = [NewEvent(topic="a", type="A") for _ in range(20)]
    for namespace in ("default", "a-flood", "z-flood"):
        for event_ in new[: 1 if namespace == "default" else 20]:
            await store.events.publish(namespace, [event_], source="/test", actor="test")
    assert (await store.events.stamp(limit=2)).more
    assert [await store.events.head(namespace) for namespace in ("default", "a-flood", "z-flood")] == [1, 2, 2]


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


async def is_paused(watcher: Connection, passing: asyncio.Task[object]) -> bool:
    """Wait until a pass waits for the lock on the log; false if it has ended, because there was nothing to stamp."""
    query = """SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%stamp_events%'"""
    while not passing.done():
        if await (await watcher.execute(query)).fetchall():
            return True
        await asyncio.sleep(0)
    return False


async def end_paused_stampers(watcher: Connection) -> None:
    await watcher.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%stamp_events%'"
    )


# Stops a pass between its two statements: it has the lock of the stream, and cannot read the log.
PAUSE = "LOCK TABLE tickbird.event_log IN ACCESS EXCLUSIVE MODE"


async def test_a_frozen_stamper_delays_nobody_and_its_loss_loses_nothing(store: PostgresStore, url: str) -> None:
    async with (
        await connect(url) as gate,
        await connect(url) as frozen,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as session,
    ):
        await session.execute(PUBLISH, ("K", 0))
        since = (await store.events.stamp()).since
        await session.execute(PUBLISH, ("K", 1))
        await gate.execute(PAUSE)
        passing = asyncio.create_task(frozen.execute("SELECT tickbird.stamp_events('default', NULL, 100)"))
        assert await is_paused(session, passing)
        async with asyncio.timeout(2):
            await session.execute(PUBLISH, ("K", 2))
            # It does not wait for the other one, and its mark stays.
            result = await store.events.stamp(since)
        assert (result.stamped, result.since) == (0, since)
        await end_paused_stampers(session)
        with pytest.raises(psycopg.errors.AdminShutdown):
            await passing
        await gate.rollback()
        events = await stamped(store, since)
        assert [(one.data["n"], one.position, one.version) for one in events] == [(n, n + 1, n + 1) for n in range(3)]


async def test_random_interleavings_with_lost_stampers(store: PostgresStore, url: str) -> None:
    """No gap, loss or inversion of a key, for any order of statements, commits, reads, and paused or lost stampers."""
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
    await store.events.add_stream("default")
    gate = await connect(url)
    watcher = await psycopg.AsyncConnection.connect(url, autocommit=True)
    since: list[str | None] = [None, None]
    read: list[Event] = []
    numbers = itertools.count()

    async def write() -> None:
        """One statement of a publisher."""
        index, action = chance.randrange(len(writers)), chance.random()
        if action < 0.1:
            # The writer gets its transaction id before it publishes.
            await writers[index].execute("SELECT pg_current_xact_id()")
        elif action < 0.65:
            key, number = chance.choice(keys), next(numbers)
            pairs.extend((earlier, number) for earlier in committed[key][-3:])
            await writers[index].execute(PUBLISH, (key, number))
            pending[index].append((key, number))
        elif action < 0.93:
            await writers[index].commit()
            for key, done in pending[index]:
                committed[key].append(done)
                expected.add(done)
            pending[index] = []
        else:
            await writers[index].rollback()
            pending[index] = []

    async def stamp(which: int) -> int:
        result = await stampers[which].events.stamp(since[which], limit=chance.choice([1, 3, 100]))
        since[which] = result.since
        return result.stamped

    async def pause() -> None:
        """A stamper is paused in the middle of a pass, and continues or is lost."""
        which = chance.randrange(2)
        await gate.execute(PAUSE)
        passing = asyncio.create_task(stamp(which))
        if await is_paused(watcher, passing):
            for _ in range(chance.randrange(4)):
                await write()
            assert await stamp(1 - which) == 0
            if chance.random() < 0.5:
                await end_paused_stampers(watcher)
        await gate.rollback()
        try:
            await passing
        except StoreError:
            since[which] = None

    async def read_on() -> None:
        after = read[-1].position or 0 if read else 0
        read.extend(await store.events.read("default", after, limit=chance.choice([1, 1_000])))

    for _ in range(rounds):
        [act] = chance.choices([write, lambda: stamp(chance.randrange(2)), read_on, pause], [75, 15, 5, 5])
        await act()
    for index, writer in enumerate(writers):
        await writer.commit()
        expected.update(done for _, done in pending[index])
        await writer.close()
    # Each process continues from its own mark, and sees all that is left.
    events = await stamped(stampers[0], since[0])
    for one in stampers:
        await one.close()
    await gate.close()
    await watcher.close()
    # A reader that follows the positions has missed nothing.
    assert [event.id for event in read] == [event.id for event in events[: len(read)]], f"seed {seed}"
    place = {event.data["n"]: event.position or 0 for event in events}
    assert place.keys() == expected, f"seed {seed}"
    assert [event.position for event in events] == list(range(1, len(events) + 1)), f"seed {seed}"
    for first, second in pairs:
        if first in place and second in place:
            assert place[first] < place[second], f"seed {seed}: {first} before {second}"
    for key in keys:
        versions = [event.version for event in events if event.key == key]
        assert versions == list(range(1, len(versions) + 1)), f"seed {seed}"


async def test_a_pass_reads_only_rows_since_the_last_one(url: str) -> None:
    """Rows that no vacuum can remove yet make no pass slower."""
    passes, events = 40, 20
    database = Database(url)
    async with await connect(url) as old, await psycopg.AsyncConnection.connect(url, autocommit=True) as session:
        # Its snapshot keeps all rows that are deleted from now on, and its transaction is in all later snapshots.
        await old.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await old.execute("SELECT pg_current_xact_id()")
        async with opened(f"{url}?application_name=passes", connections=1) as own:
            await own.events.add_stream("default")
            since = (await own.events.stamp()).since
            for number in range(passes):
                for _ in range(events):
                    await session.execute(PUBLISH, ("K", number))
                result = await own.events.stamp(since)
                assert (result.stamped, result.more) == (events, False)
                result = await own.events.stamp(result.since)
                assert (result.stamped, result.more) == (0, False)
                since = result.since

        async def entries_read() -> int | None:
            """Entries of the indexes, of dead rows too. A session reports its statistics when it ends."""
            if await database.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'passes'"):
                return None
            query = "SELECT sum(idx_tup_read)::integer FROM pg_stat_user_indexes WHERE relname = 'events_unstamped'"
            return await database.one(query) or None

        assert await until(entries_read) < 5 * passes * events


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


@pytest.mark.parametrize("level", [psycopg.IsolationLevel.REPEATABLE_READ, psycopg.IsolationLevel.SERIALIZABLE])
async def test_an_expected_version_is_not_compared_with_an_old_snapshot(
    store: PostgresStore, url: str, level: psycopg.IsolationLevel
) -> None:
    one = "SELECT tickbird.publish('a', 'A', key => 'K', expected_version => 0)"
    async with await connect(url) as old, await connect(url) as other:
        await old.set_isolation_level(level)
        await old.execute("SELECT pg_current_snapshot()")
        await other.execute(one)
        await other.commit()
        # It cannot see the event of the other session.
        with pytest.raises(psycopg.Error, match="expected_version: needs the isolation level READ COMMITTED"):
            await old.execute(one)
        await old.rollback()
        with pytest.raises(InvalidError, match="needs the isolation level READ COMMITTED"):
            await Tickbird(url).publish("a", "A", key="K", expected_version=0, connection=old)
        await old.rollback()
        await old.execute("SELECT tickbird.publish('a', 'A', key => 'K')")
        await old.commit()
    assert [event.version for event in await stamped(store)] == [1, 2]


async def test_the_default_isolation_of_the_database_changes_nothing(postgres_url: str) -> None:
    """Migrations do not wait for themselves, and stampers see what others have stamped."""
    database = Database(postgres_url)
    name = await database.one("SELECT quote_ident(current_database())")
    await database.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'repeatable read'")
    async with asyncio.timeout(60):
        await PostgresStore(postgres_url).migrate()
    async with opened(postgres_url) as one, opened(postgres_url) as other:
        for _ in range(50):
            await one.events.publish("default", [NewEvent(topic="a", type="A")], source="/test", actor="test")
            results = await asyncio.gather(*(store.events.stamp() for store in (one, other, one, other)))
            assert sum(result.stamped for result in results) == 1
