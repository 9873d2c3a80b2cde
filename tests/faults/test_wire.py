"""Faults between a worker and PostgreSQL: lost responses, late ends, frozen servers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import psycopg
import pytest

from lab.faults import Fleet, Proxy, until
from lab.faults.proxy import Trick
from tests.faults.fleet import agrees, all_runs, final, settled, ticking
from tickbird import cron
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import StoreUnavailableError
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

pytestmark = pytest.mark.parametrize("url", ["postgres"], indirect=True)

# Seconds. These tests count attempts, so a worker must not lose its lease because the machine is busy.
LEASE = 6.0
FINISH = "SET status = 'succeeded'"
# Due cursors are locked by then.
WRITE_ON_TIME = "start_by, next_run_at, template, leased)"
# The timeouts of idle transactions and of frozen servers are two seconds.
IMPATIENT = "&options=-c%20idle_in_transaction_session_timeout%3D2000%20-c%20statement_timeout%3D1500"


@pytest.fixture
def wire(url: str) -> Iterator[Proxy]:
    """A separate proxy for a worker."""
    with Proxy(f"{url}?application_name=behind-wire") as wire:
        yield wire


async def test_commits_whose_answer_is_lost(client: Client, store: Store, fleet: Fleet, wire: Proxy) -> None:
    since = await ticking(client)
    fleet.start(url=wire.url)
    await fleet.wait_for_runs(1)
    tricks: tuple[Trick, ...] = ("unanswered", "unheard", "unanswered", "unheard")
    for number, trick in enumerate(tricks, 1):
        wire.trick("COMMIT", trick)
        await until(partial(_played, wire, number))
        await fleet.wait_for_runs(1)
    await settled(client, store, fleet, {"clock": since})


async def test_a_trigger_whose_answer_is_lost_is_not_tried_again(client: Client, store: Store, wire: Proxy) -> None:
    await client.schedules.create("by-hand", cron("0 0 1 1 *"), "succeed", actor="ada", unknown_task_ok=True)
    person = open_store(wire.url)
    await person.open()
    try:
        wire.trick("COMMIT", "unanswered")
        with pytest.raises(StoreUnavailableError):
            await StoreClient(person).schedules.trigger("by-hand", actor="ada")
    finally:
        await person.close()
    assert len(await all_runs(store, "by-hand")) == 1


async def test_a_worker_dies_after_the_effect_and_before_its_record(
    client: Client, store: Store, fleet: Fleet, wire: Proxy
) -> None:
    """The same run is done again under the next attempt; its first end arrives later still, and is refused."""
    wire.trick(FINISH, "hold")
    first = fleet.start(url=wire.url, lease=LEASE)
    run_id = await client.runs.enqueue("succeed", actor="ada", unknown_task_ok=True)
    await until(lambda: fleet.entries("done", run_id) and wire.held)
    first.kill()
    second = fleet.start(lease=LEASE)
    run = await final(client, run_id)
    assert (run.status, run.attempt, run.crashes, run.result) == ("succeeded", 2, 1, second.pid)
    wire.heal()
    await until(lambda: not wire.held)
    assert [entry.attempt for entry in fleet.entries("done", run_id)] == [1, 2]
    assert await client.runs.get(run_id) == run
    await agrees(fleet, store)


async def test_an_end_that_arrives_while_another_attempt_is_under_way(
    client: Client, store: Store, fleet: Fleet, wire: Proxy
) -> None:
    wire.trick(FINISH, "hold")
    first = fleet.start(url=wire.url, lease=LEASE)
    run_id = await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada", unknown_task_ok=True)
    await until(lambda: fleet.entries("began", run_id))
    fleet.create_file(f"gate-{first.pid}")
    await until(lambda: wire.held)
    first.kill()
    second = fleet.start(lease=LEASE)
    await until(lambda: len(fleet.entries("began", run_id)) == 2)
    wire.heal()
    await until(lambda: not wire.held)
    under_way = await client.runs.get(run_id)
    assert (under_way.status, under_way.attempt) == ("running", 2)
    fleet.create_file(f"gate-{second.pid}")
    run = await final(client, run_id)
    assert (run.status, run.attempt, run.result) == ("succeeded", 2, second.pid)


async def test_a_planner_that_is_frozen_between_lock_and_commit(
    client: Client, store: Store, fleet: Fleet, wire: Proxy
) -> None:
    """Its server releases the rows, and others plan them; when it wakes, none of its decisions count."""
    since = await ticking(client)
    wire.trick(WRITE_ON_TIME, "hold")
    frozen = fleet.start(url=wire.url + IMPATIENT)
    await until(lambda: wire.held)
    frozen.freeze()
    fleet.start()
    await fleet.wait_for_runs(2)
    wire.heal()
    frozen.thaw()
    await fleet.wait_for_runs(2)
    await settled(client, store, fleet, {"clock": since})


async def test_a_server_that_freezes(client: Client, store: Store, fleet: Fleet, wire: Proxy, url: str) -> None:
    """The connections stay open without an error: the worker aborts them and opens others."""
    since = await ticking(client)
    fleet.start(url=wire.url + IMPATIENT)
    await fleet.wait_for_runs(1)
    frozen = await _backends(url)
    assert frozen
    try:
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        await fleet.wait_for_runs(2)
    finally:
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    await settled(client, store, fleet, {"clock": since})


async def test_a_worker_that_is_cut_off_stops_before_another_begins(
    client: Client, store: Store, fleet: Fleet, wire: Proxy
) -> None:
    """Packets are dropped without an error: it stops its work in time, and reconnects by itself."""
    # A worker stops its runs lease/5 before the lease ends: longer than a busy machine stops a process.
    alone = fleet.start(url=wire.url, lease=10.0)
    run_id = await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada", unknown_task_ok=True)
    await until(lambda: fleet.entries("began", run_id))
    other = fleet.start(lease=LEASE)
    await fleet.wait_for_workers(2)
    wire.swallow()
    [_, again] = await until(lambda: begun if len(begun := fleet.entries("began", run_id)) == 2 else None)
    [stopped] = await until(lambda: fleet.entries("stopped", run_id))
    assert (stopped.pid, again.pid) == (alone.pid, other.pid)
    assert stopped.at < again.at
    wire.heal()
    other.kill()
    fleet.create_file("gate")
    run = await final(client, run_id)
    assert (run.status, run.result, run.crashes) == ("succeeded", alone.pid, 2)


async def test_a_slow_server(client: Client, store: Store, fleet: Fleet, wire: Proxy) -> None:
    since = await ticking(client)
    fleet.start(url=wire.url, lease=10.0)
    await fleet.wait_for_runs(1)
    wire.delay = 0.25
    await fleet.wait_for_runs(2)
    wire.heal()
    runs = await settled(client, store, fleet, {"clock": since})
    # A run that its worker requeued has another attempt, but no crash.
    assert not any(run.crashes for run in runs), "a lease was lost"


def _played(wire: Proxy, tricks: int) -> bool:
    return wire.tricks == tricks


async def _backends(url: str) -> list[int]:
    """The server's processes for the worker at the proxy."""
    ask = "SELECT pid FROM pg_stat_activity WHERE application_name = 'behind-wire'"
    async with await psycopg.AsyncConnection.connect(url) as connection:
        return [pid for (pid,) in await (await connection.execute(ask)).fetchall()]
