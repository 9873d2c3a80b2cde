"""A planning transaction holds its term to the commit: the end of the term waits, the heartbeat passes."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from conformance.steps import NAMESPACE, a_worker, create, later, plan, runs_of
from tickbird.domain.errors import SchedulesUnusableError, StoreError, TermEndedError
from tickbird.store.postgres import PostgresStore

_HOLD = "SELECT term FROM tickbird.leader_lease WHERE term = 1 FOR KEY SHARE"
_WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


async def _count(connection: psycopg.AsyncConnection[tuple[int]], statement: str) -> int:
    [(number,)] = await (await connection.execute(statement.encode())).fetchall()
    return number


async def _waiting(connection: psycopg.AsyncConnection[tuple[int]]) -> None:
    async with asyncio.timeout(10):
        while not await _count(connection, _WAITS):  # noqa: ASYNC110 - the database has no event for it
            await asyncio.sleep(0.01)


async def test_a_takeover_waits_for_planning_and_a_heartbeat_does_not(
    store: PostgresStore, other: PostgresStore
) -> None:
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    async with (
        await psycopg.AsyncConnection.connect(store.url) as planner,
        await psycopg.AsyncConnection.connect(store.url, autocommit=True) as observer,
    ):
        await planner.execute(_HOLD)
        assert await store.leadership.renew(1, "a", now=later(10)) is not None
        takeover = asyncio.create_task(other.leadership.elect(a_worker("b"), 60, now=later(100)))
        await _waiting(observer)
        assert not takeover.done()
        await planner.rollback()
    assert (await takeover).lease.term == 2
    await create(store)
    with pytest.raises(TermEndedError):
        await store.planning.plan_due(500, term=1, now=later(60))


async def test_a_heartbeat_that_a_takeover_waited_for_keeps_the_term(
    store: PostgresStore, other: PostgresStore
) -> None:
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    async with (
        await psycopg.AsyncConnection.connect(store.url) as heartbeat,
        await psycopg.AsyncConnection.connect(store.url, autocommit=True) as observer,
    ):
        await heartbeat.execute("UPDATE tickbird.leader_lease SET heartbeat_at = %s", [later(99)])
        takeover = asyncio.create_task(other.leadership.elect(a_worker("b"), 60, now=later(100)))
        await _waiting(observer)
        await heartbeat.commit()
    assert not (await takeover).elected


async def test_a_heartbeat_does_not_wait_for_a_connection_of_the_pool(store: PostgresStore) -> None:
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    connections = store._connections
    release = asyncio.Event()
    taken = asyncio.Semaphore(0)

    async def hold(_: object) -> None:
        taken.release()
        await release.wait()

    holding = [asyncio.create_task(connections.transact(hold)) for _ in range(connections._size)]
    for _ in holding:
        await taken.acquire()
    try:
        async with asyncio.timeout(5):
            assert await store.leadership.renew(1, "a", now=later(10)) is not None
    finally:
        release.set()
        await asyncio.gather(*holding)


async def test_a_missing_table_of_the_leader_is_a_reason_to_fall_back(store: PostgresStore) -> None:
    async with await psycopg.AsyncConnection.connect(store.url, autocommit=True) as admin:
        await admin.execute("ALTER TABLE tickbird.leader_lease RENAME TO lost_lease")
        with pytest.raises(SchedulesUnusableError, match="a table is missing"):
            await store.leadership.elect(a_worker("a"), 60, now=later(0))
        await admin.execute("ALTER TABLE tickbird.lost_lease RENAME TO leader_lease")
    assert (await store.leadership.elect(a_worker("a"), 60, now=later(1))).elected


async def test_a_takeover_gives_up_after_the_lock_timeout_and_succeeds_later(
    store: PostgresStore, other: PostgresStore
) -> None:
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    async with await psycopg.AsyncConnection.connect(store.url) as planner:
        await planner.execute(_HOLD)
        with pytest.raises(StoreError):
            await other.leadership.elect(a_worker("b"), 60, now=later(100))
        await planner.rollback()
    assert (await other.leadership.elect(a_worker("b"), 60, now=later(101))).lease.term == 2


async def test_two_leases_by_force_give_each_tick_once(store: PostgresStore, other: PostgresStore) -> None:
    for number in range(20):
        await create(store, f"s{number}", overlap="allow")
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    async with await psycopg.AsyncConnection.connect(store.url, autocommit=True) as connection:
        drop = "ALTER TABLE tickbird.leader_lease DROP CONSTRAINT leader_lease_lock_id_key"
        try:
            await connection.execute(drop.encode())
            await connection.execute(
                "INSERT INTO tickbird.leader_lease (term, worker, heartbeat_at, timeout) VALUES (9, 'b', %s, 60)",
                [later(0)],
            )
            for minute in range(1, 6):
                await asyncio.gather(
                    store.planning.plan_due(500, term=1, now=later(60 * minute)),
                    other.planning.plan_due(500, term=9, now=later(60 * minute)),
                )
            for number in range(20):
                runs = await runs_of(store, f"s{number}")
                assert len(runs) == len({run.scheduled_for for run in runs}) == 5
            # The next term is higher than the one by force.
            await store.leadership.end(NAMESPACE, "ada", now=later(400))
        finally:
            await connection.execute("DELETE FROM tickbird.leader_lease")
            await connection.execute(
                "ALTER TABLE tickbird.leader_lease ADD CONSTRAINT leader_lease_lock_id_key UNIQUE (lock_id)"
            )
    await plan(store, 400)


async def test_the_columns_of_scheduler_lock_t_are_readable(store: PostgresStore) -> None:
    await store.leadership.elect(a_worker("a"), 60, now=later(0))
    async with await psycopg.AsyncConnection.connect(store.url) as connection:
        rows = await connection.execute("SELECT lock_id, instance_id, last_heartbeat FROM tickbird.scheduler_lock_t")
        assert await rows.fetchall() == [(1, "a", later(0))]
