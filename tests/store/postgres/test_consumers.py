"""Consumers on PostgreSQL: many claimers at once, outcomes in the consumer's transaction, and plans."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace

import psycopg
import pytest

from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import until
from tickbird.domain.events.deliveries import (
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    GroupRequest,
    success,
)
from tickbird.domain.events.event import NewEvent
from tickbird.domain.events.groups import NewGroup
from tickbird.store.caller_connections import do_on
from tickbird.store.postgres import PostgresStore, enqueue

NAMESPACE = "default"
Connection = psycopg.AsyncConnection[tuple[object, ...]]


async def publish(store: PostgresStore, *keys: str | None, topic: str = "orders") -> None:
    for start in range(0, len(keys), 1_000):
        for key in keys[start : start + 1_000]:
            await store.events.publish(
                NAMESPACE, [NewEvent(topic=topic, type="Paid", key=key)], source="/test", actor="me"
            )
    await stamp(store)


async def publish_together(store: PostgresStore, *keys: str | None) -> None:
    new = [NewEvent(topic="orders", type="Paid", key=key) for key in keys]
    await store.events.publish(NAMESPACE, new, source="/test", actor="me")
    await stamp(store)


async def stamp(store: PostgresStore) -> None:
    while (await store.events.stamp()).more:
        pass


async def declare(store: PostgresStore, name: str = "billing", *topics: str) -> None:
    await store.consumers.declare(NAMESPACE, [NewGroup(name=name, topics=topics or ("#",))], app="app")


async def claim(
    store: PostgresStore, *, limit: int = 16, batch: int = 100, lease: float = 60, group: str = "billing"
) -> Sequence[Delivery]:
    request = GroupRequest(group, batch)
    claimed = await store.consumers.claim(NAMESPACE, [request], "w", limit=limit, lease=lease)
    return claimed.deliveries


def done(delivery: Delivery) -> DeliveryOutcome:
    return success(delivery, delivery.units(), is_whole=True)


def failed(delivery: Delivery, *, retry_in: float | None = None) -> DeliveryOutcome:
    """The first unit has failed."""
    unit = delivery.units()[0]
    failure = DeliveryFailure(positions=unit.positions, error="no", failures=unit.failures + 1, retry_in=retry_in)
    return replace(success(delivery, [], is_whole=False), through=unit.positions[-1], failure=failure)


async def commit(connection: Connection, outcome: DeliveryOutcome) -> bool:
    """Record the outcome in the transaction of a connection, as a consumer does."""
    accepted: bool = await do_on(
        connection, lambda dialect: (enqueue.committing_delivery(outcome), enqueue.statements("postgresql://x/y"))
    )
    return accepted


def positions(deliveries: Sequence[Delivery]) -> list[int]:
    return sorted(item.position for delivery in deliveries for item in delivery.items)


async def offset(store: PostgresStore, partition: int) -> int:
    [group] = await store.consumers.list(NAMESPACE, group="billing")
    return group.partitions[partition].position


class TestClaims:
    async def test_many_claimers_deliver_each_event_once(self, database: Database, store: PostgresStore) -> None:
        await declare(store)
        keys = [f"k{number % 50}" for number in range(600)]
        await publish(store, *keys)
        held: dict[int, int] = {}
        seen: dict[int, list[int]] = defaultdict(list)

        async def work(name: int, own: PostgresStore) -> None:
            while sum(map(len, seen.values())) < len(keys):
                deliveries = await claim(own, limit=2, batch=7)
                for delivery in deliveries:
                    partition = delivery.lease.partition
                    assert partition not in held, "two workers hold one partition"
                    held[partition] = name
                    seen[partition] += [item.position for item in delivery.items]
                await asyncio.sleep(0)
                for delivery in deliveries:
                    assert held.pop(delivery.lease.partition) == name
                assert await own.consumers.finish([done(delivery) for delivery in deliveries]) == {
                    delivery.lease for delivery in deliveries
                }

        async with AsyncExitStack() as stack:
            stores = [await stack.enter_async_context(opened(database.url)) for _ in range(8)]
            async with asyncio.timeout(60):
                await asyncio.gather(*(work(name, own) for name, own in enumerate(stores)))
        assert sorted(position for each in seen.values() for position in each) == list(range(1, len(keys) + 1))
        assert all(each == sorted(each) for each in seen.values())
        [group] = await store.consumers.list(NAMESPACE)
        assert (group.lag, group.oldest_at) == (0, None)

    async def test_the_partition_that_waits_longest_comes_first(self, store: PostgresStore) -> None:
        await declare(store)
        # Sixteen events without a key have sixteen partitions.
        await publish(store, *[None] * 32)
        served = []
        for _ in range(16):
            [delivery] = await claim(store, limit=1, batch=1)
            served.append(delivery.lease.partition)
            await store.consumers.finish([done(delivery)])
        assert sorted(served) == list(range(16))

    async def test_two_finish_the_same_partitions_in_any_order(self, database: Database, store: PostgresStore) -> None:
        await declare(store)
        async with opened(database.url) as other:
            for _ in range(20):
                await publish(store, *[None] * 32)
                deliveries = await claim(store, batch=1)
                outcomes = [
                    failed(delivery) if place % 3 == 0 else done(delivery) for place, delivery in enumerate(deliveries)
                ]
                results = await asyncio.gather(store.consumers.finish(outcomes), other.consumers.finish(outcomes[::-1]))
                assert all(result == {delivery.lease for delivery in deliveries} for result in results)
        assert await database.one("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


async def test_a_lease_that_the_server_has_lost_is_never_given_again(store: PostgresStore, database: Database) -> None:
    await declare(store)
    await publish(store, "a")
    [(before,)] = await database.execute("SELECT DISTINCT token FROM tickbird.consumer_offsets")
    [lost] = await claim(store)
    # A crash of the server loses commits that were not flushed.
    await database.execute(f"UPDATE tickbird.consumer_offsets SET token = {before}, worker = NULL, leased_until = NULL")
    [delivery] = await claim(store)
    assert delivery.lease.token != lost.lease.token
    assert await store.consumers.finish([done(lost)]) == frozenset()
    assert await store.consumers.finish([done(delivery)]) == {delivery.lease}


class TestCallersTransactions:
    async def test_effect_and_offset_commit_together(self, store: PostgresStore, database: Database) -> None:
        await declare(store)
        await publish(store, "a", "a")
        [delivery] = await claim(store)
        async with await psycopg.AsyncConnection.connect(database.url) as connection:
            assert await commit(connection, done(delivery))
            await connection.rollback()
            assert await offset(store, delivery.lease.partition) == 0
            assert await commit(connection, done(delivery))
            await connection.commit()
            # They were handled already.
            assert not await commit(connection, done(delivery))
        assert await offset(store, delivery.lease.partition) == 2
        # The worker still holds the partition.
        assert await claim(store) == ()
        assert await store.consumers.finish([done(delivery)]) == {delivery.lease}
        assert await offset(store, delivery.lease.partition) == 2
        await publish(store, "a")
        assert positions(await claim(store)) == [3]

    async def test_an_error_after_the_commit_changes_nothing(self, store: PostgresStore, database: Database) -> None:
        await declare(store)
        await publish(store, "a", "a")
        [delivery] = await claim(store)
        async with await psycopg.AsyncConnection.connect(database.url) as connection:
            assert await commit(connection, done(delivery))
        assert await store.consumers.finish([failed(delivery)]) == {delivery.lease}
        [group] = await store.consumers.list(NAMESPACE)
        assert (group.lag, group.dead_letters) == (0, {})

    async def test_a_stale_token_is_refused(self, store: PostgresStore, database: Database) -> None:
        await declare(store)
        await publish(store, "a")
        [lost] = await claim(store, lease=0)
        [delivery] = await claim(store)
        assert (delivery.lease.token > lost.lease.token, delivery.crashes) == (True, 1)
        await database.execute("CREATE TABLE effects (x int)")

        async def consume() -> None:
            async with await psycopg.AsyncConnection.connect(database.url) as connection:
                await connection.execute("INSERT INTO effects VALUES (1)")
                if not await commit(connection, done(lost)):
                    raise RuntimeError("the lease is lost")

        with pytest.raises(RuntimeError, match="lost"):
            await consume()
        assert await database.one("SELECT count(*) FROM effects") == 0
        await database.execute("DROP TABLE effects")
        assert await store.consumers.finish([done(lost), done(delivery)]) == {delivery.lease}

    async def test_an_open_transaction_blocks_neither_claims_nor_renewals(
        self, store: PostgresStore, database: Database
    ) -> None:
        await declare(store)
        await publish(store, *[None] * 16)
        [delivery] = await claim(store, limit=1)
        async with await psycopg.AsyncConnection.connect(database.url) as connection:
            assert await commit(connection, done(delivery))
            async with asyncio.timeout(2):
                assert await store.consumers.renew([delivery.lease], 60) == {delivery.lease}
                others = await claim(store)
                assert len(others) == 15
                assert len(await store.consumers.finish([done(other) for other in others])) == 15
            await connection.rollback()
        assert await store.consumers.finish([done(delivery)]) == {delivery.lease}

    async def test_an_expired_lease_is_not_taken_over_before_the_transaction_ends(
        self, store: PostgresStore, database: Database
    ) -> None:
        await declare(store)
        await publish(store, "a", "a")
        [delivery] = await claim(store, lease=0)
        async with await psycopg.AsyncConnection.connect(database.url) as connection:
            assert await commit(connection, done(delivery))
            assert await claim(store) == ()
        assert await claim(store) == ()
        assert await offset(store, delivery.lease.partition) == 2


class TestTransactions:
    async def test_positions_of_a_transaction_follow_one_another(
        self, store: PostgresStore, database: Database
    ) -> None:
        async with (
            await psycopg.AsyncConnection.connect(database.url) as one,
            await psycopg.AsyncConnection.connect(database.url) as two,
        ):
            # Interleaved ids, as of sessions that publish at the same time.
            for ids, session, name in (([1, 3, 5], one, "a"), ([2, 4, 6], two, "b")):
                for ordinal, number in enumerate(ids, 1):
                    await session.execute(
                        "WITH e AS (INSERT INTO tickbird.events (id, time, event_id, transaction_id, ordinal, count,"
                        " partition, namespace, topic, type, source, key, data) VALUES (%s, now(), gen_random_uuid(),"
                        " md5(%s)::uuid, %s, 3, 1, 'default', 'orders', 'Paid', '/test', 'k', '{}') RETURNING id)"
                        " INSERT INTO tickbird.events_unstamped (event, namespace) SELECT id, 'default' FROM e",
                        (number, name, ordinal),
                    )
        await store.events.add_stream(NAMESPACE)
        first = await store.events.stamp(limit=1)
        assert (first.stamped, first.more) == (3, True)
        await stamp(store)
        events = await store.events.read(NAMESPACE)
        assert [(event.position, event.ordinal, event.version) for event in events] == [
            (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 1, 4), (5, 2, 5), (6, 3, 6),
        ]  # fmt: skip
        assert len({event.transaction_id for event in events[:3]}) == 1


class TestPlans:
    """No statement of a delivery scans the log, whatever the query planner knew when it was prepared."""

    EVENTS = 20_000

    async def test_deliveries_read_only_their_events(self, migrated_url: str) -> None:
        # No other session reads the tables.
        database = Database(migrated_url)
        async with opened(migrated_url) as store:
            await declare(store)
            await publish(store, "a", "b", "c")
        before = await self._read(database)
        async with opened(f"{database.url}?application_name=plans", connections=1) as own:
            # Prepared for tables that are nearly empty.
            await self._deliver(own)
            await database.execute(
                """WITH n AS (SELECT n FROM generate_series(1000, 999 + %s) AS n),
                e AS (
                    INSERT INTO tickbird.events
                        (id, time, event_id, partition, namespace, topic, type, source, key, data)
                    SELECT n, now(), gen_random_uuid(), n %% 16, 'default', 'orders', 'Paid', '/test', 'k' || n, '{}'
                    FROM n
                )
                INSERT INTO tickbird.event_log (position, event, version, partition, namespace, topic, key)
                SELECT n - 996, n, 1, n %% 16, 'default', 'orders', 'k' || n FROM n""",
                self.EVENTS,
            )
            await self._deliver(own)
            await self._deliver(own)
        after = await until(lambda: self._settled(database, before))
        read = {name: after[name] - before[name] for name in after}
        assert 0 < read["event_log"] < 1_000, read
        assert read["events"] < 1_000, read

    async def _deliver(self, store: PostgresStore) -> None:
        deliveries = await claim(store, limit=3, batch=10)
        first, *rest = deliveries
        await store.consumers.renew([first.lease], 60)
        await store.consumers.finish([done(one) for one in rest])
        await store.consumers.finish([failed(first, retry_in=0)])
        again = await claim(store, limit=3, batch=10)
        await store.consumers.finish([done(one) for one in again])

    async def _read(self, database: Database) -> dict[str, int]:
        """The rows that scans of the tables and of their indexes have read."""
        rows = await database.execute(
            """SELECT relname, sum(rows)::bigint
            FROM (
                SELECT relname, coalesce(seq_tup_read, 0) AS rows FROM pg_stat_user_tables
                UNION ALL SELECT relname, coalesce(idx_tup_read, 0) FROM pg_stat_user_indexes
            ) AS x
            WHERE relname IN ('events', 'event_log') GROUP BY relname"""
        )
        return dict(rows)

    async def _settled(self, database: Database, before: dict[str, int]) -> dict[str, int] | None:
        """Sessions report their statistics shortly after they end."""
        if await database.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'plans'"):
            return None
        after = await self._read(database)
        return after if after["event_log"] > before["event_log"] else None
