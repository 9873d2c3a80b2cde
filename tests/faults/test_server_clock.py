"""PostgreSQL's own clock is set a day ahead, and back: an alarm, no storm, no day of silence."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lab.faults import Fleet, Proxy, SetClock, until
from lab.servers import PostgresServer, ServerMissing
from tests.conftest import lacking, leave_out
from tests.faults.fleet import all_runs, all_skips, final, settled, ticking
from tickbird.client import Client
from tickbird.domain.errors import ConflictError
from tickbird.domain.runs.run import Outcome
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

DAY = 86_400


@pytest.fixture(scope="module")
def clock() -> Iterator[SetClock]:
    """The server's."""
    with lacking(SetClock) as clock:
        yield clock


@pytest.fixture(scope="module")
def server(clock: SetClock) -> Iterator[PostgresServer]:
    """A server with a clock that can be set."""
    try:
        server = PostgresServer(environment=clock.environment)
    except ServerMissing as missing:
        leave_out(str(missing))
    with server:
        yield server


@pytest.fixture
def url(server: PostgresServer, clock: SetClock) -> Iterator[str]:
    """A fresh database, on time."""
    clock.set(0)
    yield server.create_database()
    clock.set(0)


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """The store, open in this process."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield store
    await store.close()


async def test_the_shim_sets_this_server_only(store: Store, clock: SetClock) -> None:
    before = await store.now()
    clock.set(DAY)
    ahead = await store.now()
    assert DAY <= (ahead - before).total_seconds() < DAY + 60
    clock.set(0)
    assert (await store.now() - before).total_seconds() < 60


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["ahead", "back"])
async def test_a_jump_and_back(
    store: Store, client: Client, fleet: Fleet, clock: SetClock, jump: int, tmp_path: Path
) -> None:
    since = {"clock": await ticking(client), "careful": await ticking(client, "careful", catch_up="all")}
    for _ in range(2):
        fleet.start(lease=6.0, heartbeat=2.0)
    await fleet.wait_for_workers(2)
    await fleet.wait_for_runs(3)
    under_way = await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada")
    await until(lambda: fleet.entries("began", under_way))
    clock.set(jump)

    async def held() -> bool:
        workers = await client.workers.list()
        return len(workers) == 2 and all("the store's clock has jumped" in worker.standby_reason for worker in workers)

    await until(held)
    assert fleet.logs().count("planning and rescue are stopped until it is corrected") == 2
    planned = len(await all_runs(store, "clock"))
    # Requests of operators are executed, and running runs are neither rescued nor lost.
    assert (await final(client, await client.runs.enqueue("succeed", actor="ada"))).status == "succeeded"
    assert len(await all_runs(store, "clock")) == planned
    # A worker that starts now cannot detect the earlier jump.
    late = fleet.start(lease=6.0, heartbeat=2.0)
    await fleet.wait_for_workers(3)
    await until(lambda: "detected a jump of the store's clock" in (fleet.folder / f"{late.pid}.log").read_text())
    # An edit first decides due ticks, which could not be undone.
    with pytest.raises(ConflictError, match="Correct the clock of the store, or wait five minutes"):
        await client.schedules.pause("clock", actor="ada")
    clock.set(0)
    await fleet.wait_for_runs(6)

    async def trusted() -> bool:
        workers = await client.workers.list()
        return len(workers) == 3 and not any(worker.standby_reason for worker in workers)

    await until(trusted)
    await until(lambda: "the store's clock was corrected" in fleet.logs())
    await until(lambda: "the store's clock is trusted again: this worker continues" in fleet.logs())
    assert len(await all_runs(store, "clock")) < planned + 100
    fleet.create_file("gate")
    run = await final(client, under_way)
    assert (run.status, run.attempt) == ("succeeded", 1)
    await settled(client, store, fleet, since)
    now = await store.now()
    for name in ("clock", "careful"):
        stored = await client.schedules.get(name)
        assert stored.planned_until is not None
        assert stored.planned_until <= now
        assert not [skip for skip in await all_skips(store, name) if skip.count > 100]


async def test_nothing_starts_early_and_no_deadline_passes(
    store: Store, client: Client, fleet: Fleet, clock: SetClock
) -> None:
    for _ in range(2):
        fleet.start(lease=6.0, heartbeat=2.0, slots=4)
    await fleet.wait_for_workers(2)
    # The slots are occupied, so that the next runs wait for one.
    blockers = [await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada") for _ in range(8)]
    await until(lambda: all(fleet.entries("began", run_id) for run_id in blockers))
    backed_off = await _retry_later(store, client)
    urgent = [await client.runs.enqueue("succeed", actor="ada", start_within="10m") for _ in range(5)]
    delayed = [await client.runs.enqueue("succeed", actor="ada", delay="12h") for _ in range(50)]
    clock.set(DAY)

    async def held() -> bool:
        workers = await client.workers.list()
        return len(workers) == 2 and all("the store's clock has jumped" in worker.standby_reason for worker in workers)

    await until(held)
    fleet.create_file("gate")
    # Runs that were due before the jump and new requests are executed, which shows that workers claim.
    for run_id in (*urgent, await client.runs.enqueue("succeed", actor="ada")):
        run = await final(client, run_id)
        assert (run.status, run.attempt) == ("succeeded", 1)
    clock.set(0)

    async def trusted() -> bool:
        return not any(worker.standby_reason for worker in await client.workers.list())

    await until(trusted)
    assert (await final(client, await client.runs.enqueue("succeed", actor="ada"))).status == "succeeded"
    for run_id in (*delayed, backed_off):
        run = await client.runs.get(run_id)
        assert (run.status, run.attempt) == ("queued", int(run_id == backed_off))


async def _retry_later(store: Store, client: Client) -> int:
    """A run whose first attempt has failed, and that is to be tried again in an hour."""
    worker = Worker(id="gone", namespace="default", app="", host="host", pid=1, version="0")
    run_id = await client.runs.enqueue("succeed", actor="ada")
    claimed = await store.leases.claim(worker, 1, 60, queues=["default"], targets=[("task", "succeed")])
    [run] = claimed.runs
    assert run.id == run_id
    outcome = Outcome(run.id, run.attempt, "queued", error="not yet", failure_kind="raised", delay=3_600, failures=1)
    assert (await store.leases.finish([outcome], worker=worker)).accepted == {run_id}
    return run_id


async def test_a_jump_between_read_and_lock(
    url: str, store: Store, client: Client, fleet: Fleet, clock: SetClock
) -> None:
    since = await ticking(client)
    with Proxy(url) as wire:
        fleet.start(url=wire.url, lease=6.0)
        await fleet.wait_for_runs(2)
        wire.trick("WITH oldest AS", "hold")
        await until(lambda: wire.held)
        clock.set(DAY)
        wire.heal()
        await until(lambda: "planning and rescue are stopped" in fleet.logs())
        clock.set(0)
        await fleet.wait_for_runs(2)
        await settled(client, store, fleet, {"clock": since})
    assert not [skip for skip in await all_skips(store, "clock") if skip.count > 100]
