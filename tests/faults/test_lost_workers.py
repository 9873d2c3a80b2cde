"""Killed or frozen workers: others do their work, once."""

from __future__ import annotations

import re
import signal
from typing import Any

import psycopg
import pytest

from lab.faults import Entry, Fleet, until
from tests.faults.fleet import agrees, all_runs, final, settled, ticking
from tickbird.client import Client
from tickbird.domain.runs.run import Outcome
from tickbird.store.protocol.store import Store

# Seconds. These tests wait until a lease ends, and they count attempts: a worker must not lose its lease because the
# machine is busy.
LEASE = 6.0


async def hold(client: Client, fleet: Fleet) -> tuple[int, Entry]:
    """A run that is under way and waits, and the entry of its worker."""
    run_id = await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada", unknown_task_ok=True)
    [began] = await until(lambda: fleet.entries("began", run_id))
    return run_id, began


async def second(fleet: Fleet, run_id: int) -> Entry:
    """The entry of another attempt."""
    found = await until(lambda: [entry for entry in fleet.entries("began", run_id) if entry.attempt == 2])
    noted: Entry = found[0]
    return noted


async def test_a_killed_worker_is_replaced(client: Client, store: Store, fleet: Fleet) -> None:
    for _ in range(2):
        fleet.start(lease=LEASE)
    await fleet.wait_for_workers(2)
    run_id, began = await hold(client, fleet)
    fleet.member(began.pid).kill()
    again = await second(fleet, run_id)
    assert again.pid != began.pid
    late = await store.leases.finish([Outcome(run_id, 1, "failed")])
    assert not late.accepted
    fleet.create_file("gate")
    run = await final(client, run_id)
    assert (run.status, run.attempt, run.crashes, run.failures) == ("succeeded", 2, 1, 0)
    assert [(lost.attempt, lost.outcome) for lost in await client.runs.list_attempts(run_id)] == [(1, "lost")]
    await agrees(fleet, store)


async def test_a_frozen_worker_that_wakes_changes_nothing(client: Client, store: Store, fleet: Fleet) -> None:
    for _ in range(2):
        fleet.start(lease=LEASE)
    await fleet.wait_for_workers(2)
    run_id, began = await hold(client, fleet)
    fleet.member(began.pid).freeze()
    again = await second(fleet, run_id)
    # It wakes while the other worker executes the run, and may end at once: it lost its lease, or gets the message.
    fleet.create_file(f"gate-{began.pid}")
    fleet.member(began.pid).thaw()
    log = fleet.folder / f"{began.pid}.log"
    await until(lambda: re.search("lost its lease|could not be renewed|finished too late", log.read_text()))
    under_way = await client.runs.get(run_id)
    assert (under_way.status, under_way.attempt) == ("running", 2)
    fleet.create_file(f"gate-{again.pid}")
    run = await final(client, run_id)
    assert (run.status, run.attempt, run.result) == ("succeeded", 2, again.pid)
    # It continues as a normal worker.
    fleet.member(again.pid).kill()
    other = await final(client, await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada"))
    assert other.result == began.pid


async def test_sigterm_waits_for_running_runs(client: Client, store: Store, fleet: Fleet) -> None:
    process = fleet.start(lease=30.0)
    run_id, _ = await hold(client, fleet)
    process.drain()

    async def drains() -> bool:
        return any(worker.draining for worker in await client.workers.list())

    # Not from its log: it logs on the signal, and may claim once more before its engine stops.
    await until(drains)
    queued = await client.runs.enqueue("succeed", actor="ada", unknown_task_ok=True)
    fleet.create_file("gate")
    assert await process.wait() == 0
    run = await client.runs.get(run_id)
    assert (run.status, run.attempt) == ("succeeded", 1)
    assert (await client.runs.get(queued)).status == "queued"
    assert not await client.workers.list()


async def test_a_second_signal_ends_at_once_and_loses_nothing(client: Client, store: Store, fleet: Fleet) -> None:
    process = fleet.start()
    run_id, _ = await hold(client, fleet)
    process.drain()
    await until(lambda: "draining" in fleet.logs())

    def is_over() -> bool:
        # A second signal right after the first counts as an echo, so it is sent until it has an effect.
        process.drain()
        return not process.alive

    await until(is_over)
    assert await process.wait() == 128 + signal.SIGTERM
    fleet.start()
    await second(fleet, run_id)
    fleet.create_file("gate")
    assert (await final(client, run_id)).status == "succeeded"


async def test_a_worker_that_drains_too_long_requeues_its_runs(client: Client, store: Store, fleet: Fleet) -> None:
    process = fleet.start(drain=0.2, lease=30.0)
    run_id, _ = await hold(client, fleet)
    process.drain()
    assert await process.wait() == 0
    run = await client.runs.get(run_id)
    assert (run.status, run.failures, run.crashes) == ("queued", 0, 0)
    fleet.start(lease=30.0)
    fleet.create_file("gate")
    assert (await final(client, run_id)).attempt == 2


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("words", ["status = 'running'", "INSERT INTO runs"], ids=["claim", "plan"])
async def test_killed_before_the_commit_on_sqlite(client: Client, store: Store, fleet: Fleet, words: str) -> None:
    since = await ticking(client)
    role = "plan-and-execute" if "INSERT" in words else "execute-only"
    process = fleet.start(die_before_commit_of=words, role=role)
    if "INSERT" not in words:
        # A planning worker keeps its own runs; only runs planned by another are claimed.
        fleet.start(role="plan-only")
    assert await process.wait() == -signal.SIGKILL
    assert not fleet.entries("done")
    fleet.start()
    await fleet.wait_for_runs(2)
    await settled(client, store, fleet, {"clock": since})


BLOCK_COMMIT = """
CREATE FUNCTION block_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER block_claim AFTER UPDATE ON tickbird.runs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.status = 'running') EXECUTE FUNCTION block_commit();
CREATE CONSTRAINT TRIGGER block_plan AFTER INSERT ON tickbird.runs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.origin = 'schedule') EXECUTE FUNCTION block_commit();
"""
BLOCKED = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
@pytest.mark.parametrize("at", ["claim", "plan"])
@pytest.mark.parametrize("arrives", [False, True], ids=["rolled back", "committed"])
async def test_killed_while_the_commit_is_under_way(
    client: Client, store: Store, fleet: Fleet, url: str, at: str, arrives: bool
) -> None:
    """The server holds the COMMIT back; the worker dies; the server then drops it, or carries it out unheard."""
    since = await ticking(client)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        await admin.execute(BLOCK_COMMIT.encode())
        await admin.execute(f"DROP TRIGGER block_{'plan' if at == 'claim' else 'claim'} ON tickbird.runs".encode())
        await admin.execute("SELECT pg_advisory_lock(7)")
        # A planning worker keeps its own runs; only runs planned by another are claimed.
        process = fleet.start(role="plan-and-execute" if at == "plan" else "execute-only")
        if at == "claim":
            fleet.start(role="plan-only")

        async def blocked() -> list[Any]:
            return await (await admin.execute(BLOCKED)).fetchall()

        await until(blocked)
        process.kill()
        if not arrives:
            for (pid,) in await blocked():
                await admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
        await admin.execute("SELECT pg_advisory_unlock(7)")
    assert not fleet.entries("done")
    fleet.start()
    await fleet.wait_for_runs(2)
    await settled(client, store, fleet, {"clock": since})
    if at == "claim" and arrives:
        assert any(run.crashes for run in await all_runs(store))
