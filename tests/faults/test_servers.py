"""Faults of PostgreSQL: restarts, no free connection, a full disk, or no network."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest

from lab.faults import Cable, Fleet, Proxy, SmallDisk, until
from lab.servers import PostgresServer, ServerMissing
from tests.conftest import lacking, leave_out
from tests.faults.fleet import final, settled, ticking
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import StoreError
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

T = TypeVar("T")
COUNT_WORKERS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker'"
END_WORKERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker'"
RESTARTS = 3 * int(os.environ.get("TICKBIRD_FUZZ", "1"))


def new_server(**options: object) -> PostgresServer:
    """A server that keeps acknowledged commits."""
    try:
        return PostgresServer(fsync=True, **options)  # type: ignore[arg-type]
    except ServerMissing as missing:
        leave_out(str(missing))


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[tuple[Store, Client, Fleet]]:
    """A store, its client and a fleet that is killed in the end."""
    async with AsyncExitStack() as stack:
        store = open_store(url)
        await store.migrate()
        await store.open()
        stack.push_async_callback(store.close)
        yield store, StoreClient(store), stack.enter_context(Fleet(url, folder))


async def _collect(found: list[T], make: Callable[[], Awaitable[T]]) -> None:
    """Open connections one by one, until it raises."""
    while True:
        found.append(await make())


async def test_it_restarts_without_a_checkpoint(tmp_path: Path) -> None:
    with new_server() as server:
        async with opened(server.create_database(), tmp_path) as (store, client, fleet):
            since = await ticking(client)
            for _ in range(2):
                # Only a wake-up starts a run before the next poll, which is far away.
                fleet.start(safety_poll=300.0)
            await fleet.wait_for_workers(2)
            for _ in range(RESTARTS):
                await fleet.wait_for_runs(1)
                server.restart(immediate=True)
            await fleet.wait_for_runs(3)
            await settled(client, store, fleet, {"clock": since})
            assert all(member.alive for member in fleet.members)
            # The workers sleep now, and listen again.
            run = await final(client, await client.runs.enqueue("succeed", actor="ada"))
            assert run.status == "succeeded"


async def test_the_server_has_no_free_connection(tmp_path: Path) -> None:
    with new_server(settings={"max_connections": "12"}) as server:
        url = server.create_database()
        async with opened(url, tmp_path) as (store, client, fleet):
            since = await ticking(client)
            worker = fleet.start(url=f"{url}?application_name=worker")
            await fleet.wait_for_runs(1)
            taken: list[psycopg.AsyncConnection[tuple[Any, ...]]] = []
            log = fleet.folder / f"{worker.pid}.log"
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
                try:
                    # Its connections are ended, and others are faster: it retries until one is free.
                    while "cannot be reached" not in (log.read_text() if log.exists() else ""):
                        assert "Traceback" not in fleet.logs()
                        await admin.execute(END_WORKERS)
                        with pytest.raises(psycopg.OperationalError, match="clients already"):
                            await _collect(taken, lambda: psycopg.AsyncConnection.connect(url))
                finally:
                    for connection in taken:
                        await connection.close()
                # More are lost than it may have at a time: none may stay counted.
                for _ in range(8):
                    await fleet.wait_for_runs(1)
                    await admin.execute(END_WORKERS)
                await fleet.wait_for_runs(2)
                await settled(client, store, fleet, {"clock": since})
                assert "Traceback" not in fleet.logs()
                [(count,)] = await (await admin.execute(COUNT_WORKERS)).fetchall()
                assert count <= 11


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    """A disk that is soon full."""
    with lacking(SmallDisk, 160 << 20) as disk:
        yield disk


async def test_its_disk_is_full(tmp_path: Path, disk: SmallDisk) -> None:
    small = {"max_wal_size": "32MB", "min_wal_size": "32MB"}
    with new_server(parent=disk.folder, settings=small) as server:
        async with opened(server.create_database(), tmp_path) as (store, client, fleet):
            since = await ticking(client)
            fleet.start()
            await fleet.wait_for_runs(1)
            disk.fill()
            asked: list[int] = []
            with pytest.raises(StoreError, match=r"No space left on device|cannot be reached"):
                await _collect(asked, lambda: client.runs.enqueue("succeed", actor=os.urandom(90).hex()))
            disk.clear()
            # Without space for its log, PostgreSQL stops, and must be started again.
            server.start()
            # Wait for scheduled runs too, not only for the thousands of requested ones.
            await fleet.wait_for_ticks(2)
            runs = await settled(client, store, fleet, {"clock": since})
            assert len(asked) <= sum(run.schedule is None for run in runs) <= len(asked) + 1


async def test_the_disk_of_a_file_is_full(tmp_path: Path) -> None:
    with lacking(SmallDisk, 4 << 20) as disk:
        async with opened(f"sqlite:///{disk.folder}/tickbird.db", tmp_path) as (store, client, fleet):
            since = await ticking(client)
            fleet.start()
            await fleet.wait_for_runs(1)
            disk.fill()
            asked: list[int] = []
            with pytest.raises(StoreError, match="full"):
                await _collect(asked, lambda: client.runs.enqueue("succeed", actor="ada"))
            await until(lambda: "full" in fleet.logs())
            disk.clear()
            await fleet.wait_for_ticks(2)
            runs = await settled(client, store, fleet, {"clock": since})
            assert sorted(run.id for run in runs if run.schedule is None) == asked
            assert "Traceback" not in fleet.logs()


async def test_a_cable_is_pulled(postgres_url: str, tmp_path: Path) -> None:
    """Packets are dropped without an error: the worker stops its work in time, and reconnects later."""
    with lacking(Cable) as cable, Proxy(postgres_url, host=cable.host) as wire:
        async with opened(postgres_url, tmp_path) as (store, client, fleet):
            since = await ticking(client)
            impatient = "?connect_timeout=2&tcp_user_timeout=2000&keepalives_idle=1&keepalives_interval=1"
            # A worker stops its runs lease/5 before the lease ends: longer than a busy machine stops a process.
            far = fleet.spawn(url=wire.url + impatient, prefix=cable.prefix, lease=10.0)
            run_id = await client.runs.enqueue("wait_for_file", {"file": "gate"}, actor="ada", unknown_task_ok=True)
            await until(lambda: fleet.entries("began", run_id))
            near = fleet.start(lease=6.0)
            await fleet.wait_for_workers(2)
            cable.pull()
            [_, again] = await until(lambda: begun if len(begun := fleet.entries("began", run_id)) == 2 else None)
            [stopped] = await until(lambda: fleet.entries("stopped", run_id))
            assert (stopped.pid, again.pid) == (far.pid, near.pid)
            assert stopped.at < again.at
            log = fleet.folder / f"{far.pid}.log"
            await until(lambda: "cannot be reached" in log.read_text())
            cable.plug()
            near.kill()
            fleet.create_file("gate")
            run = await final(client, run_id)
            assert (run.status, run.result) == ("succeeded", far.pid)
            await fleet.wait_for_runs(1)
            await settled(client, store, fleet, {"clock": since})
            assert far.alive
