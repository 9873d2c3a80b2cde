"""A run that is finished in a transaction of its task has succeeded exactly if that commits, on every connection."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

from conformance.steps import a_worker
from tests.integrations.connections import KINDS, POSTGRES, SQLITE, done
from tickbird import ConflictError, InvalidError, Run, Tickbird, after, every
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import LeaseLostError
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import RunRecord
from tickbird.engine.engine import EngineOptions
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess


@pytest.fixture
def url(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if store_kind == "sqlite":
        return f"sqlite:///{tmp_path}/app.db?shared=1"
    address: str = request.getfixturevalue("migrated_url")
    return address


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield StoreClient(store)
    await store.close()


@pytest.fixture
def opened(store_kind: str, way: str, url: str) -> Callable[[], Any]:
    kinds: dict[str, Callable[[str], Any]] = POSTGRES if store_kind == "postgres" else SQLITE
    return lambda: kinds[way](url.removesuffix("?shared=1"))


@asynccontextmanager
async def working(bird: Tickbird, **options: Any) -> AsyncIterator[None]:
    """A worker in this process."""
    process = WorkerProcess(bird, options=EngineOptions(**options))
    started, loop = asyncio.Event(), asyncio.get_running_loop()

    def notify() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = notify
    task = asyncio.create_task(process.run())
    try:
        await asyncio.wait_for(started.wait(), 60)
        yield
    finally:
        process.drain()
        await task


async def ended(client: Client, run_id: int) -> RunRecord:
    async with asyncio.timeout(60):
        while (run := await client.runs.get(run_id)).finished_at is None:  # noqa: ASYNC110 - by another thread
            await asyncio.sleep(0.01)
    return run


def statement(connection: Any, text: str) -> Any:
    is_plain = isinstance(connection, sqlite3.Connection | psycopg.Connection | psycopg.AsyncConnection)
    return text if is_plain else sqlalchemy.text(text)


async def execute(connection: Any, text: str) -> Any:
    return await done(connection.execute(statement(connection, text)))


async def count(connection: Any) -> int:
    found = await execute(connection, "SELECT * FROM orders")
    rows = await done(found.fetchall())
    await done(connection.rollback())
    return len(rows)


each_kind = pytest.mark.parametrize("store_kind,way", KINDS)


@asynccontextmanager
async def in_block(run: Run, connection: Any) -> AsyncIterator[Any]:
    """`run.transaction`, with the statement that fits the connection."""
    block = run.transaction(connection)
    if hasattr(connection, "run_sync") or isinstance(connection, psycopg.AsyncConnection):
        async with block as entered:
            yield entered
    else:
        with block as entered:
            yield entered


@each_kind
async def test_effect_and_success_are_committed_together(url: str, client: Client, opened: Any) -> None:
    bird = Tickbird(url)
    calls: list[int] = []

    @bird.task
    async def order(run: Run, fails: bool = False) -> str:
        calls.append(run.attempt)
        async with opened() as connection, in_block(run, connection) as success:
            await execute(connection, "INSERT INTO orders VALUES (1)")
            success.result = {"rows": 1}
            if fails:
                raise ValueError("no")
        return "not stored"

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird):
            run = await ended(client, await order.enqueue())
            assert (run.status, run.result, run.attempt, run.lease_until) == ("succeeded", {"rows": 1}, 1, None)
            assert await count(connection) == 1
            failed = await ended(client, await order.enqueue(fails=True))
            assert (failed.status, failed.failure_kind) == ("failed", "raised")
            assert await count(connection) == 1
    assert calls == [1, 1]
    await bird.aclose()


@each_kind
async def test_finish_in_counts_only_if_the_caller_commits(url: str, client: Client, opened: Any) -> None:
    bird = Tickbird(url)

    @bird.task
    async def order(run: Run, ending: str) -> None:
        async with opened() as connection:
            await execute(connection, "INSERT INTO orders VALUES (1)")
            await done(run.finish_in(connection, ending))
            await done(getattr(connection, ending)())

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird):
            run = await ended(client, await order.enqueue(ending="commit"))
            assert (run.status, run.result, await count(connection)) == ("succeeded", "commit", 1)
            failed = await ended(client, await order.enqueue(ending="rollback"))
            assert (failed.status, await count(connection)) == ("failed", 1)
            assert failed.error == "the transaction in which run.finish_in was called was not committed"
    await bird.aclose()


@each_kind
@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_a_transaction_that_ended_inside_its_block_records_no_success(
    url: str, client: Client, opened: Any, ending: str
) -> None:
    bird = Tickbird(url)

    @bird.task
    async def order(run: Run) -> None:
        async with opened() as connection, in_block(run, connection):
            await execute(connection, "INSERT INTO orders VALUES (1)")
            await done(getattr(connection, ending)())

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird):
            run = await ended(client, await order.enqueue())
            assert (run.status, run.failure_kind) == ("failed", "raised")
    await bird.aclose()


@each_kind
async def test_a_stale_attempt_commits_nothing(url: str, client: Client, opened: Any) -> None:
    bird = Tickbird(url)
    errors: list[Exception] = []

    @bird.task
    async def order(run: Run) -> None:
        store = open_store(url)
        await store.open()
        async with opened() as connection:
            # Another attempt gets the run.
            run._claimed.attempt += 1
            with pytest.raises(LeaseLostError) as error:
                async with in_block(run, connection):
                    await execute(connection, "INSERT INTO orders VALUES (1)")
            errors.append(error.value)
            run._claimed.attempt -= 1
        await store.close()

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird):
            run = await ended(client, await order.enqueue())
            assert (run.status, len(errors), await count(connection)) == ("failed", 1, 0)
    await bird.aclose()


@each_kind
async def test_runs_that_wait_are_released(url: str, client: Client, opened: Any) -> None:
    bird = Tickbird(url)
    seen: list[int] = []

    @bird.task(concurrency_key="one")
    async def order(run: Run) -> None:
        seen.append(run.id)
        async with opened() as connection, in_block(run, connection):
            await execute(connection, "INSERT INTO orders VALUES (1)")

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird, safety_poll=600):
            ids = [await order.enqueue() for _ in range(3)]
            for run_id in ids:
                assert (await ended(client, run_id)).status == "succeeded"
        assert await count(connection) == 3
    assert sorted(seen) == sorted(ids)
    await bird.aclose()


@each_kind
async def test_an_open_transaction_is_refused(url: str, client: Client, opened: Any) -> None:
    bird = Tickbird(url)

    @bird.task
    async def order(run: Run) -> None:
        async with opened() as connection:
            await execute(connection, "INSERT INTO orders VALUES (1)")
            with pytest.raises(ConflictError, match="in a transaction already"):
                async with in_block(run, connection):
                    raise AssertionError
            await done(connection.rollback())

    async with opened() as connection:
        await execute(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        async with working(bird):
            assert (await ended(client, await order.enqueue())).status == "succeeded"
    await bird.aclose()


@pytest.mark.parametrize("store_kind", ["postgres", "sqlite"])
async def test_tasks_in_threads_and_in_child_processes(
    url: str, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_kind: str
) -> None:
    connect = (
        "psycopg.connect(url)" if store_kind == "postgres" else "sqlite3.connect(url.split('///')[1].split('?')[0])"
    )
    (tmp_path / "order_app.py").write_text(
        "import psycopg, sqlite3\nfrom tickbird import Run, Tickbird\n"
        f"url = {url!r}\nbird = Tickbird(url)\n"
        "def order(run: Run) -> None:\n"
        f"    connection = {connect}\n"
        "    with run.transaction(connection) as success:\n"
        "        connection.execute('CREATE TABLE IF NOT EXISTS orders (id integer)')\n"
        "        connection.execute('INSERT INTO orders VALUES (1)')\n"
        "        success.result = run.attempt\n"
        "    connection.close()\n"
        "bird.task(name='thread')(order)\nbird.task(name='process', isolation='process')(order)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import order_app  # type: ignore[import-not-found]

    bird: Tickbird = order_app.bird
    bird.reference = "order_app:bird"
    try:
        async with working(bird):
            for name in ("thread", "process"):
                run = await ended(client, await client.runs.enqueue(name, {}, actor="ada"))
                assert (run.status, run.result) == ("succeeded", 1), run.error
    finally:
        await bird.aclose()
        del __import__("sys").modules["order_app"]


@pytest.mark.parametrize("store_kind", ["postgres"])
async def test_other_leases_are_renewed_while_the_transaction_is_open(url: str, client: Client) -> None:
    bird = Tickbird(url)
    commits = asyncio.Event()

    @bird.task
    async def order(run: Run) -> None:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await run.finish_in(connection)
            await commits.wait()
            await connection.commit()

    @bird.task
    async def other(run: Run) -> None:
        await commits.wait()

    async with working(bird, lease=3.0):
        first, second = await order.enqueue(), await other.enqueue()
        async with asyncio.timeout(60):
            while (await client.runs.get(second)).lease_until is None:  # noqa: ASYNC110 - by another thread
                await asyncio.sleep(0.01)
            begun = (await client.runs.get(second)).lease_until
            while (await client.runs.get(second)).lease_until == begun:  # noqa: ASYNC110 - by another thread
                await asyncio.sleep(0.01)
        commits.set()
        assert [(await ended(client, run_id)).attempt for run_id in (first, second)] == [1, 1]
    await bird.aclose()


@pytest.mark.parametrize("store_kind", ["postgres", "sqlite"])
async def test_refusals(url: str, client: Client, store_kind: str) -> None:
    bird = Tickbird(url)

    @bird.task
    def order(run: Run) -> None:
        path = url.removeprefix("sqlite:///").removesuffix("?shared=1")
        connection: Any
        if store_kind == "sqlite":
            connection = sqlite3.connect(path, isolation_level=None)
        else:
            connection = psycopg.connect(url, autocommit=True)
        with pytest.raises(ConflictError, match="commits each statement"):
            run.finish_in(connection)
        with pytest.raises(InvalidError, match="cannot use a connection of type object"):
            run.finish_in(object())
        with pytest.raises(InvalidError, match="cannot use a connection of type object"), run.transaction(object()):
            pass
        with run.transaction(connection) as success:
            success.result = "done"
        connection.close()

    async with working(bird):
        run = await ended(client, await order.enqueue())
        assert (run.status, run.result) == ("succeeded", "done"), run.error
    await bird.aclose()


@pytest.mark.parametrize("store_kind", ["postgres", "sqlite"])
async def test_after_a_commit_without_its_worker_the_rescue_releases_the_next_run(
    url: str, client: Client, store_kind: str
) -> None:
    bird = Tickbird(url)

    @bird.task(concurrency_key="one")
    async def order() -> None: ...

    store = open_store(url)
    await store.open()
    first, second = await order.enqueue(), await order.enqueue()
    worker = a_worker("w1")
    [claimed] = (await store.leases.claim(worker, 2, 60, queues=["default"], targets=[("task", "order")])).runs
    run = Run(claimed, None, "w1")
    run.finisher = bird
    path = url.removeprefix("sqlite:///").removesuffix("?shared=1")
    connection: Any = sqlite3.connect(path) if store_kind == "sqlite" else psycopg.connect(url)
    with run.transaction(connection) as success:
        success.result = "done"
    connection.close()
    done_run, waiting = await client.runs.get(first), await client.runs.get(second)
    assert (done_run.status, done_run.result, waiting.status) == ("succeeded", "done", "waiting")
    # The worker is lost before it confirms the commit.
    assert list((await store.leases.rescue()).released) == [second]
    assert (await client.runs.get(second)).status == "queued"
    confirmed = await store.leases.confirm([LeaseRef(first, 1)])
    assert (confirmed.succeeded, confirmed.released) == (frozenset([first]), 0)
    assert list((await store.leases.rescue()).released) == []
    await store.close()
    await bird.aclose()


@pytest.mark.parametrize("store_kind", ["postgres", "sqlite"])
async def test_dependent_runs_see_the_success(url: str, client: Client, store_kind: str) -> None:
    bird = Tickbird(url)
    path = url.removeprefix("sqlite:///").removesuffix("?shared=1")

    @bird.task
    def order(run: Run) -> None:
        connection: Any = sqlite3.connect(path) if store_kind == "sqlite" else psycopg.connect(url)
        with run.transaction(connection):
            pass
        connection.close()

    @bird.task
    def after_order() -> None: ...

    async with working(bird, safety_poll=600):
        await client.schedules.create("orders", every(days=900), "order", actor="ada")
        policies: dict[str, Any] = {"depends_on": [after("orders", within="1h")]}
        await client.schedules.create("reports", every(days=900), "after_order", actor="ada", **policies)
        run = await ended(client, (await client.schedules.trigger("orders", actor="ada")).id)
        store = open_store(url)
        await store.open()
        async with asyncio.timeout(60):
            while True:
                [success] = (await store.schedules.last_successes("default", {"orders"})).values()
                if success.at is not None:
                    break
                await asyncio.sleep(0.01)
        assert run.finished_at is not None
        assert success.at == int(run.finished_at.timestamp())
        await store.close()
    await bird.aclose()
