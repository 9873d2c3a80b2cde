"""A run enqueued in the caller's own transaction is there exactly if that commits, through every kind of connection."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
import sqlalchemy

from tests.integrations.connections import KINDS, POSTGRES, SQLITE, done
from tickbird import ConflictError, InvalidError, NewEvent, NotFoundError, PayloadError, SchemaError, Tickbird
from tickbird.client import Client, StoreClient
from tickbird.domain.workers import Worker
from tickbird.engine.engine import EngineOptions
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess


@pytest.fixture
def url(store_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A migrated store, or a database without one."""
    if store_kind == "sqlite":
        return f"sqlite:///{tmp_path}/app.db"
    address: str = request.getfixturevalue("migrated_url" if "client" in request.fixturenames else "postgres_url")
    return address


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    """A second connection to the store."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield StoreClient(store)
    await store.close()


@pytest.fixture
async def bird(url: str, client: Client) -> Tickbird:
    """An app with two tasks."""
    bird = Tickbird(url, app="shop")

    @bird.task(queue="mail", priority=4, on_crash="fail")
    async def send_mail(to: str, copies: int = 1) -> str:
        return f"{to} x{copies}"

    @bird.task
    def note(at: datetime) -> None: ...

    return bird


@pytest.fixture
def opened(store_kind: str, way: str, url: str) -> Callable[[], Any]:
    """Opens a connection of a given kind to the store's database."""
    kinds: dict[str, Callable[[str], Any]] = POSTGRES if store_kind == "postgres" else SQLITE
    return lambda: kinds[way](url)


each_kind = pytest.mark.parametrize("store_kind,way", KINDS)


@each_kind
async def test_a_rollback_leaves_no_run_and_a_commit_one(bird: Tickbird, client: Client, opened: Any) -> None:
    async with opened() as connection:
        await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}))
        assert list(await client.runs.list()) == []
        await done(connection.rollback())
        assert list(await client.runs.list()) == []
        run_id = await done(bird.enqueue_in(connection, bird.tasks["send_mail"], {"to": "bob", "copies": "2"}))
        await done(connection.commit())
    [run] = await client.runs.list()
    assert (run.id, run.target.name, run.payload) == (run_id, "send_mail", {"to": "bob", "copies": 2})
    assert (run.queue, run.priority, run.actor, run.origin) == ("mail", 4, "shop", "manual")


@each_kind
async def test_other_changes_of_the_transaction_roll_back_too(bird: Tickbird, client: Client, opened: Any) -> None:
    async def orders(connection: Any, statement: str) -> Any:
        asked = (
            statement
            if isinstance(connection, sqlite3.Connection | psycopg.Connection | psycopg.AsyncConnection)
            else sqlalchemy.text(statement)
        )
        return await done(connection.execute(asked))

    async with opened() as connection:
        await orders(connection, "CREATE TABLE orders (id integer)")
        await done(connection.commit())
        for ending in (connection.rollback, connection.commit):
            await orders(connection, "INSERT INTO orders VALUES (17)")
            await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}))
            await done(ending())
        found = await orders(connection, "SELECT * FROM orders")
        assert len(await done(found.fetchall())) == 1
    assert len(await client.runs.list()) == 1


@each_kind
async def test_options_keys_and_instants(bird: Tickbird, client: Client, opened: Any) -> None:
    due = datetime(2030, 1, 1, 9, tzinfo=UTC)
    async with opened() as connection:
        first = await done(
            bird.enqueue_in(
                connection,
                "note",
                {"at": due},
                at=due,
                queue="slow",
                idempotency_key="k",
                actor="ada",
                start_within="1h",
            )
        )
        again = await done(bird.enqueue_in(connection, "note", {"at": due}, idempotency_key="k"))
        assert again == first
        with pytest.raises(ConflictError, match="belongs to run"):
            await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}, idempotency_key="k"))
        later = await done(bird.enqueue_in(connection, "note", {"at": due}, delay="5m"))
        await done(connection.commit())
    run, delayed = await client.runs.get(first), await client.runs.get(later)
    assert (run.due_at, run.queue, run.actor) == (due, "slow", "ada")
    assert run.start_by is not None
    assert (run.start_by - due).total_seconds() == 3600
    assert (delayed.due_at - delayed.created_at).total_seconds() == 300


@each_kind
async def test_a_refused_enqueue_leaves_the_transaction_usable(bird: Tickbird, client: Client, opened: Any) -> None:
    async with opened() as connection:
        await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}))
        refused: list[tuple[str, dict[str, Any], dict[str, Any], type[Exception], str]] = [
            ("send_mail", {}, {}, PayloadError, "to: Field required"),
            ("send_mail", {"to": object()}, {}, PayloadError, "valid string"),
            ("nobody", {}, {}, NotFoundError, "no live worker has a task 'nobody'"),
            ("nobody", {"x": {1, 2}}, {"unknown_task_ok": True}, InvalidError, "payload"),
            ("no name!", {}, {}, InvalidError, "not a valid name"),
            ("send_mail", {"to": "a"}, {"delay": "1h", "at": datetime.now(UTC)}, InvalidError, "one of them"),
            ("send_mail", {"to": "a"}, {"idempotency_key": ""}, InvalidError, "1 to 200 characters"),
            ("send_mail", {"to": "a"}, {"actor": ""}, InvalidError, "actor"),
            ("send_mail", {"to": "a"}, {"priority": 10**9}, InvalidError, "priority"),
        ]
        for task, payload, options, error, says in refused:
            with pytest.raises(error, match=says):
                await done(bird.enqueue_in(connection, task, payload, **options))
        await done(bird.enqueue_in(connection, "send_mail", {"to": "bob"}))
        await done(connection.commit())
    assert sorted(run.payload["to"] for run in await client.runs.list()) == ["ada", "bob"]


@each_kind
async def test_a_task_that_only_a_worker_knows_is_checked_by_its_schema(
    url: str, bird: Tickbird, client: Client, opened: Any
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    worker = Worker(
        id="w1", namespace="default", app="x", host="h", pid=1, version="0", tasks={"count": {"schema": schema}}
    )
    store = open_store(url)
    await store.open()
    await store.workers.heartbeat(worker, 60)
    await store.close()
    async with opened() as connection:
        with pytest.raises(PayloadError, match="n: 'x' is not of type 'integer'"):
            await done(bird.enqueue_in(connection, "count", {"n": "x"}))
        await done(bird.enqueue_in(connection, "count", {"n": 3}))
        await done(connection.commit())
    [run] = await client.runs.list()
    assert (run.target.name, run.payload) == ("count", {"n": 3})


@each_kind
async def test_a_closed_connection(bird: Tickbird, client: Client, opened: Any, way: str) -> None:
    if "session" in way or way in ("sqlalchemy-scoped", "sqlalchemy-asyncpg"):
        pytest.skip("a session that was closed begins again")
    async with opened() as connection:
        await done(connection.close())
        with pytest.raises(InvalidError, match=r"this connection is closed. Pass an open one"):
            await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}))


@each_kind
async def test_a_database_without_the_schema(opened: Any, url: str, store_kind: str) -> None:
    bird = Tickbird(url)
    if store_kind == "sqlite":
        sqlite3.connect(url.removeprefix("sqlite:///")).close()
    async with opened() as connection:
        with pytest.raises(SchemaError, match=r"has no Tickbird schema.* run `tickbird migrate` there"):
            await done(bird.enqueue_in(connection, "x", unknown_task_ok=True))


@each_kind
async def test_it_starts_at_once_after_the_commit(
    bird: Tickbird, client: Client, opened: Any, store_kind: str, way: str
) -> None:
    process = WorkerProcess(bird, options=EngineOptions())
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def tell() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = tell
    working = asyncio.create_task(process.run())
    try:
        await asyncio.wait_for(started.wait(), 60)
        async with opened() as connection:
            run_id = await done(bird.enqueue_in(connection, "send_mail", {"to": "ada"}))
            committed = time.time()
            await done(connection.commit())
        async with asyncio.timeout(60):
            while (run := await client.runs.get(run_id)).status != "succeeded":  # noqa: ASYNC110 - by another thread
                await asyncio.sleep(0.01)
        assert run.result == "ada x1"
        assert run.started_at is not None
        print(f"{store_kind} {way}: started {(run.started_at.timestamp() - committed) * 1e3:.1f} ms after the commit")
    finally:
        process.drain()
        await working


@pytest.mark.parametrize("store_kind", ["postgres"])
async def test_in_autocommit_it_counts_at_once_on_postgres(bird: Tickbird, client: Client, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        bird.enqueue_in(connection, "send_mail", {"to": "ada"})
        assert len(await client.runs.list()) == 1
        with connection.transaction(force_rollback=True):
            bird.enqueue_in(connection, "send_mail", {"to": "bob"})
    assert len(await client.runs.list()) == 1


@pytest.mark.parametrize("store_kind", ["sqlite"])
async def test_in_autocommit_it_counts_at_once_on_sqlite(bird: Tickbird, client: Client, url: str) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
        bird.enqueue_in(connection, "send_mail", {"to": "ada"})
        assert len(await client.runs.list()) == 1
        connection.execute("BEGIN")
        bird.enqueue_in(connection, "send_mail", {"to": "bob"})
        connection.execute("ROLLBACK")
    assert len(await client.runs.list()) == 1


@pytest.mark.parametrize("store_kind", ["postgres"])
async def test_a_transaction_that_has_failed(bird: Tickbird, url: str) -> None:
    with psycopg.connect(url) as connection:
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT 1/0")
        with pytest.raises(ConflictError, match=r"has failed. Roll it back"):
            bird.enqueue_in(connection, "send_mail", {"to": "ada"})
        connection.rollback()


@pytest.mark.parametrize("store_kind", ["postgres"])
async def test_errors_of_the_transaction_are_the_drivers_own(bird: Tickbird, client: Client, url: str) -> None:
    """A caller that retries serialization failures must see them."""
    with psycopg.connect(url) as first, psycopg.connect(url) as second:
        for each in (first, second):
            each.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
            each.execute("SELECT count(*) FROM tickbird.runs")
        bird.enqueue_in(first, "send_mail", {"to": "ada"}, idempotency_key="k")
        first.commit()
        with pytest.raises(psycopg.errors.SerializationFailure):
            bird.enqueue_in(second, "send_mail", {"to": "ada"}, idempotency_key="k")


@pytest.mark.parametrize("store_kind", ["sqlite"])
async def test_another_sqlite_file(bird: Tickbird, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        with pytest.raises(InvalidError, match=r"other.db, but the store is .*app.db. Pass a connection to the store"):
            bird.enqueue_in(connection, "send_mail", {"to": "ada"})
        assert not connection.in_transaction


@pytest.mark.parametrize("store_kind", ["sqlite"])
async def test_an_unsupported_connection_is_refused(bird: Tickbird) -> None:
    for thing in (None, "postgresql://x", object(), sqlalchemy.create_engine("sqlite://")):
        with pytest.raises(InvalidError, match=r"cannot use a connection of type .*. Pass a psycopg"):
            bird.enqueue_in(thing, "send_mail", {"to": "ada"})
    bird.url = "postgresql://nowhere/db"
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(InvalidError, match="this connection is to SQLite, but the store is in PostgreSQL"),
    ):
        bird.enqueue_in(connection, "send_mail", {"to": "ada"})


async def test_tables_share_a_file_with_another_program(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
        store = open_store(f"sqlite:///{path}?shared=1")
        await store.migrate()
        await store.open()
        bird = Tickbird(f"sqlite:///{path}?shared=1")
        connection.execute("INSERT INTO orders VALUES (17)")
        bird.enqueue_in(connection, "ship", {"order": 17}, unknown_task_ok=True)
        connection.commit()
        assert len(await StoreClient(store).runs.list()) == 1
        await store.close()
    # From now on it is Tickbird's as well.
    store = open_store(f"sqlite:///{path}")
    await store.open()
    await store.close()


@each_kind
async def test_events_belong_to_the_transaction(bird: Tickbird, client: Client, opened: Any) -> None:
    async def publish(number: int, **options: Any) -> str:
        published = bird.publish("orders.paid", "Paid", {"n": number}, key="k", connection=connection, **options)
        return str(await done(published))

    async with opened() as connection:
        await publish(1)
        await done(connection.rollback())
        kept = await publish(2, headers={"trace": "a"})
        await done(connection.commit())
        for same in (kept, UUID(kept)):
            assert await publish(2, event_id=same) == kept
        await done(connection.commit())
        with pytest.raises(ConflictError, match=r"has version 1, not 0\. Read the newest event of the key"):
            await publish(3, expected_version=0)
        await done(connection.rollback())
    event = await client.events.get(kept)
    assert (event.data, event.key, event.headers, event.source) == ({"n": 2}, "k", {"trace": "a"}, "/tickbird/default")
    for same in (kept, UUID(kept)):
        assert await bird.publish("orders.paid", "Paid", event_id=same) == kept


@each_kind
async def test_several_events_are_published_together(bird: Tickbird, client: Client, opened: Any) -> None:
    def numbered(*numbers: int) -> list[NewEvent]:
        return [NewEvent(topic="orders.paid", type="Paid", key=f"k{number}", data=number) for number in numbers]

    async with opened() as connection:
        discarded = await done(bird.publish_many(numbered(1, 2), connection=connection))
        await done(connection.rollback())
        kept = await done(bird.publish_many(numbered(5, 3, 4), connection=connection, source="/shop", actor="ana"))
        await done(connection.commit())
        with pytest.raises(InvalidError, match="events must have 1 to 1,000 items, not 0"):
            bird.publish_many([], connection=connection)
        with pytest.raises(InvalidError, match="not 1,001"):
            bird.publish_many(numbered(*range(1_001)), connection=connection)
    for event_id in discarded:
        with pytest.raises(NotFoundError):
            await client.events.get(event_id)
    events = [await client.events.get(event_id) for event_id in kept]
    assert [(event.data, event.ordinal, event.count) for event in events] == [(5, 1, 3), (3, 2, 3), (4, 3, 3)]
    assert len({event.transaction_id for event in events} - {None}) == 1
    assert {event.source for event in events} == {"/shop"}
    [first, second] = [await client.events.get(event_id) for event_id in await bird.publish_many(numbered(6, 7))]
    assert (first.data, second.data, second.ordinal) == (6, 7, 2)
    assert first.transaction_id == second.transaction_id not in {None, events[0].transaction_id}
