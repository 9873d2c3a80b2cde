"""Leaders that hand over, are lost, frozen or cut off, and two leaders by force: every tick is decided once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from lab.faults import Fleet, Proxy, until
from lab.servers import PgBouncer, PostgresServer
from tests.faults.fleet import all_runs, settled, ticking
from tickbird.client import Client, StoreClient
from tickbird.domain.leadership import LeaderTerm
from tickbird.proof.fleet import Member
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

LEASE = 6.0
TIMEOUT = 2.0
HANDOVERS = 100
# A frozen planner must not hold the lease of its term for long.
QUICK = "options=-c%20idle_in_transaction_session_timeout%3D2000"


def start(fleet: Fleet, **setup: Any) -> Member:
    """A worker in leader mode."""
    return fleet.start(**{"coordination": "leader", "leader_timeout": TIMEOUT, "lease": LEASE, **setup})


async def leads_after(client: Client, term: int) -> LeaderTerm:
    """The first leader whose term is greater, once it leads."""

    async def look() -> LeaderTerm | None:
        current = (await client.leadership.get()).current
        return current if current is not None and current.term > term else None

    found: LeaderTerm = await until(look)
    return found


async def plans(store: Store, term: int) -> Any:
    """Wait for a run that was planned in this term."""

    async def look() -> bool:
        return any(run.term == term for run in await store.runs.list("default", limit=200))

    return await until(look)


async def terms_are_disjoint(client: Client) -> Sequence[LeaderTerm]:
    """The terms, oldest first: they only grow, and one ends before the next one begins."""
    terms = sorted((await client.leadership.get(limit=1_000)).terms, key=lambda term: term.term)
    for before, after in pairwise(terms):
        assert before.ended_at is not None
        assert before.ended_at <= after.began_at
    return terms


@pytest.mark.timeout(600)
async def test_a_hundred_handovers_lose_no_tick(
    client: Client, store: Store, fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    since = await ticking(client)
    for _ in range(3):
        start(fleet)
    await fleet.wait_for_workers(3)
    leader = await leads_after(client, 0)
    takeovers: dict[str, list[float]] = {"resigned": [], "SIGTERM": [], "kill -9": []}
    for number in range(1, HANDOVERS + 1):
        began = time.monotonic()
        kind = "kill -9" if number % 25 == 0 else "SIGTERM" if number % 10 == 0 else "resigned"
        if kind == "resigned":
            await client.leadership.resign(term=leader.term, actor="ada")
        else:
            member = fleet.member(leader.pid)
            member.kill() if kind == "kill -9" else member.drain()
        leader = await leads_after(client, leader.term)
        takeovers[kind].append(time.monotonic() - began)
        if kind != "resigned":
            start(fleet)
            await fleet.wait_for_workers(len(fleet.members))
    await fleet.wait_for_ticks(2)
    terms = await terms_are_disjoint(client)
    assert len(terms) > HANDOVERS
    await settled(client, store, fleet, {"clock": since})
    with capsys.disabled():
        for kind, seconds in takeovers.items():
            ordered = sorted(seconds)
            middle, worst = ordered[len(ordered) // 2], ordered[-1]
            print(f"\n{store.url[:8]} {kind}: {len(ordered)} takeovers, median {middle:.2f} s, worst {worst:.2f} s")


async def test_a_lost_leader_is_replaced(client: Client, store: Store, fleet: Fleet) -> None:
    since = await ticking(client)
    for _ in range(2):
        start(fleet)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    fleet.member(leader.pid).kill()
    successor = await leads_after(client, leader.term)
    await plans(store, successor.term)
    assert [term.end_reason for term in (await client.leadership.get()).terms] == [None, "expired"]
    await settled(client, store, fleet, {"clock": since})


async def test_a_leader_that_was_frozen_plans_nothing(client: Client, store: Store, fleet: Fleet) -> None:
    since = await ticking(client)
    for _ in range(2):
        start(fleet, url=f"{fleet.url}?{QUICK}" if fleet.url.startswith("postgres") else None)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    await freeze(fleet.member(leader.pid), client)
    successor = await leads_after(client, leader.term)
    await plans(store, successor.term)
    fleet.member(leader.pid).thaw()
    await until(lambda: f"term {leader.term} ended here" in (fleet.folder / f"{leader.pid}.log").read_text())
    await fleet.wait_for_ticks(2)
    await terms_are_disjoint(client)
    await settled(client, store, fleet, {"clock": since})


async def freeze(member: Member, client: Client) -> None:
    """Freeze a worker outside of its transactions: on SQLite, a frozen writer keeps the lock of the file."""
    while True:
        member.freeze()
        try:
            async with asyncio.timeout(1.0):
                await client.limits.set("unlocked", 1, actor="ada")
        except TimeoutError:
            member.thaw()
        else:
            return


BLOCK_PLANNING = """
CREATE FUNCTION block_planning() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
CREATE TRIGGER block_plan AFTER INSERT ON tickbird.runs FOR EACH STATEMENT EXECUTE FUNCTION block_planning();
"""
BLOCKED = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_leader_frozen_in_the_middle_of_planning(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    """Its transaction holds the term: the takeover waits until the server ends it, and the late planner is refused."""
    since = await ticking(client)
    for _ in range(2):
        start(fleet, url=f"{url}?{QUICK}", leader_timeout=6.0)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(BLOCK_PLANNING.encode())
        await admin.execute("SELECT pg_advisory_lock(7)")

        async def blocked() -> list[Any]:
            return await (await admin.execute(BLOCKED)).fetchall()

        await until(blocked)
        fleet.member(leader.pid).freeze()
        await admin.execute("SELECT pg_advisory_unlock(7)")
        await admin.execute("DROP FUNCTION block_planning CASCADE")
    successor = await leads_after(client, leader.term)
    await plans(store, successor.term)
    fleet.member(leader.pid).thaw()
    await until(lambda: f"term {leader.term} ended here" in (fleet.folder / f"{leader.pid}.log").read_text())
    await fleet.wait_for_ticks(2)
    await terms_are_disjoint(client)
    await settled(client, store, fleet, {"clock": since})


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_leader_that_is_cut_off(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    since = await ticking(client)
    with Proxy(url) as proxy:
        start(fleet, url=f"{proxy.url}?{QUICK}&tcp_user_timeout=2000")
        leader = await leads_after(client, 0)
        start(fleet)
        await fleet.wait_for_workers(2)
        await plans(store, leader.term)
        proxy.swallow()
        successor = await leads_after(client, leader.term)
        assert successor.pid != leader.pid
        await plans(store, successor.term)
        # It noticed by itself, without the store.
        await until(lambda: f"term {leader.term} ended here" in (fleet.folder / f"{leader.pid}.log").read_text())
        proxy.heal()
        await fleet.wait_for_ticks(2)
        # Now the other one is lost.
        fleet.member(successor.pid).kill()
        await plans(store, (await leads_after(client, successor.term)).term)
        await terms_are_disjoint(client)
        await settled(client, store, fleet, {"clock": since})


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_heartbeat_that_is_slow_but_succeeds(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    """Each response takes longer than the lease: the worker is not the leader, although its heartbeats are stored."""
    since = await ticking(client)
    with Proxy(url) as proxy:
        start(fleet, url=proxy.url)
        leader = await leads_after(client, 0)
        start(fleet)
        await fleet.wait_for_workers(2)
        await plans(store, leader.term)
        proxy.delay = 1.5 * TIMEOUT
        await until(lambda: f"term {leader.term} ended here" in (fleet.folder / f"{leader.pid}.log").read_text())
        await plans(store, (await leads_after(client, leader.term)).term)
        proxy.delay = 0.0
        await fleet.wait_for_ticks(2)
        await terms_are_disjoint(client)
        await settled(client, store, fleet, {"clock": since})


REFUSE_HEARTBEATS = """
CREATE FUNCTION refuse_heartbeat() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'refused'; END $$;
CREATE TRIGGER refuse_heartbeat AFTER UPDATE ON tickbird.leader_lease FOR EACH ROW EXECUTE FUNCTION refuse_heartbeat();
"""


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_heartbeats_that_are_rolled_back(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    """Each leader stops planning before its lease ends, and a new term begins."""
    since = await ticking(client)
    for _ in range(2):
        start(fleet)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(REFUSE_HEARTBEATS.encode())
        await until(lambda: f"heartbeat of term {leader.term} failed" in fleet.logs())
        for _ in range(2):
            leader = await leads_after(client, leader.term)
        await admin.execute(b"DROP FUNCTION refuse_heartbeat CASCADE")
    await plans(store, (await leads_after(client, leader.term - 1)).term)
    await fleet.wait_for_ticks(2)
    await terms_are_disjoint(client)
    await settled(client, store, fleet, {"clock": since})


async def test_sigterm_shortly_before_a_tick(client: Client, store: Store, fleet: Fleet) -> None:
    """The successor plans the tick on time."""
    since = await ticking(client)
    for _ in range(2):
        start(fleet, leader_timeout=60.0)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    # Two seconds before the next multiple of five seconds.
    now = await client.system.now()
    tick = now.replace(microsecond=0) + timedelta(seconds=7 - now.second % 5 + (5 if now.second % 5 > 3 else 0) - 2)
    await until(lambda: _reached(client, tick - timedelta(seconds=2)))
    fleet.member(leader.pid).drain()
    successor = await leads_after(client, leader.term)

    async def planned() -> bool:
        return any(run.scheduled_for == tick and run.term == successor.term for run in await all_runs(store, "clock"))

    await until(planned)
    # Not after the timeout of 60 seconds, but at once.
    [run] = [run for run in await all_runs(store, "clock") if run.scheduled_for == tick]
    assert run.origin == "schedule"
    assert [term.note for term in (await client.leadership.get()).terms] == ["", "the worker drains"]
    await settled(client, store, fleet, {"clock": since})


async def _reached(client: Client, at: Any) -> bool:
    return bool(await client.system.now() >= at)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_two_leaders_by_force(client: Client, store: Store, fleet: Fleet, url: str) -> None:
    """Two rows in the table of the lease: both workers plan, and every tick still has one run."""
    since = {name: await ticking(client, name) for name in ("clock", "bell")}
    for _ in range(2):
        start(fleet, leader_timeout=60.0)
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(b"ALTER TABLE tickbird.leader_lease DROP CONSTRAINT leader_lease_lock_id_key")
        # While the first one is frozen, the other one is elected; then the first one has its lease again.
        fleet.member(leader.pid).freeze()
        await admin.execute(b"DELETE FROM tickbird.leader_lease")
        await admin.execute(b"SELECT pg_notify('tickbird', 'schema')")
        successor = await leads_after(client, leader.term)
        await admin.execute(
            "INSERT INTO tickbird.leader_lease (term, worker, heartbeat_at, timeout)"
            " VALUES (%s, %s, statement_timestamp(), 60) ON CONFLICT DO NOTHING",
            (leader.term, leader.worker),
        )
        fleet.member(leader.pid).thaw()
        await plans(store, successor.term)
        before = max(run.id for run in await all_runs(store))

        async def both_plan() -> bool:
            terms = {run.term for run in await all_runs(store) if run.id > before}
            return terms >= {leader.term, successor.term}

        await until(both_plan)
    await settled(client, store, fleet, since)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_leaders_behind_a_pooler(
    client: Client, store: Store, fleet: Fleet, url: str, pgbouncer: PgBouncer
) -> None:
    since = await ticking(client)
    for _ in range(2):
        start(fleet, url=pgbouncer.through(url))
    await fleet.wait_for_workers(2)
    leader = await leads_after(client, 0)
    await plans(store, leader.term)
    fleet.member(leader.pid).drain()
    successor = await leads_after(client, leader.term)
    await plans(store, successor.term)
    await terms_are_disjoint(client)
    await settled(client, store, fleet, {"clock": since})


async def test_a_server_that_restarts(fleet_folder: Any) -> None:
    """The lease is durable; nobody has to do anything."""
    with PostgresServer(fsync=True) as server:
        url = server.create_database()
        store = open_store(url)
        await store.migrate()
        await store.open()
        try:
            client = StoreClient(store)
            with Fleet(url, fleet_folder) as fleet:
                since = await ticking(client)
                for _ in range(2):
                    start(fleet)
                await fleet.wait_for_workers(2)
                leader = await leads_after(client, 0)
                await plans(store, leader.term)
                for _ in range(3):
                    await asyncio.to_thread(server.restart, immediate=True)
                    await fleet.wait_for_ticks(2)
                await terms_are_disjoint(client)
                await settled(client, store, fleet, {"clock": since})
        finally:
            await store.close()


@pytest.fixture
def fleet_folder(tmp_path: Any) -> Any:
    folder = tmp_path / "fleet"
    folder.mkdir()
    return folder
