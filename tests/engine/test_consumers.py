"""Consumers under a real worker, on both stores."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import sqlite3
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.engine import consumer_app
from tests.engine.hostile import ERRORS
from tests.engine.test_worker import QUICK, until, working
from tickbird import Backoff, ConflictError, Event, EventBatch, EventRefusedError, Tickbird, UnavailableError
from tickbird.client import StoreClient
from tickbird.domain.errors import NotFoundError
from tickbird.domain.events.dead_letters import DeadLetter, LetterFilter
from tickbird.domain.events.event import NewEvent
from tickbird.engine.engine import EngineOptions
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess

AT_ONCE = Backoff(1, 1)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tickbird.db"
    return str(request.getfixturevalue("migrated_url"))


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """A second connection to the store."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def bird(url: str, store: Store) -> Tickbird:
    return Tickbird(url, app="shop")


async def publish(store: Store, events: Sequence[NewEvent]) -> None:
    """Publish events one by one, and wait until they have positions."""
    last = None
    for event in events:
        [last] = await store.events.publish("default", [event], source="tests", actor="tests")
    await stamped(store, last)


async def stamped(store: Store, event_id: UUID | None) -> None:
    async def has_position() -> bool:
        # A worker may be stamping, too.
        await store.events.stamp()
        event = event_id and await store.events.get("default", event_id)
        return bool(event and event.position)

    await until(has_position)


def numbered(count: int, *, keys: int = 1, topic: str = "orders.paid") -> list[NewEvent]:
    return [NewEvent(topic=topic, type="Paid", key=f"k{n % keys}", data={"n": n}) for n in range(count)]


async def letters(store: Store, group: str = "billing", **which: Any) -> Sequence[DeadLetter]:
    return await store.dead_letters.list("default", LetterFilter(group=group, **which), limit=1_000)


async def reached(condition: Callable[[], bool]) -> None:
    async def look() -> bool:
        return condition()

    await until(look)


async def read_to_the_end(store: Store, group: str = "billing") -> None:
    """Wait until a group has no lag and no unresolved dead letter."""

    async def is_done() -> bool:
        [found] = await store.consumers.list("default", group=group)
        leased = any(partition.leased_until for partition in found.partitions)
        return not found.lag and not leased and not await letters(store, group)

    await until(is_done)


@pytest.mark.parametrize("form", ["event", "batch", "blocking"])
async def test_events_arrive_in_order_of_their_key(bird: Tickbird, store: Store, form: str) -> None:
    seen: list[Event] = []
    batches: list[EventBatch] = []
    if form == "event":

        @bird.consumer("orders.*", group="billing")
        async def handle(event: Event) -> None:
            seen.append(event)

    elif form == "batch":

        @bird.consumer("orders.*", group="billing", batch=7)
        async def handle_batch(batch: EventBatch) -> None:
            batches.append(batch)
            seen.extend(batch)

    else:

        @bird.consumer("orders.*", group="billing")
        def block(event: Event) -> None:
            assert threading.current_thread() is not threading.main_thread()
            seen.append(event)

    await publish(store, numbered(50, keys=5))
    await publish(store, numbered(5, topic="carts.added"))
    async with working(bird):
        await publish(store, [NewEvent(topic="orders.paid", type="Paid", key="k0", data={"n": 50})])
        await read_to_the_end(store)
    by_key = defaultdict(list)
    for event in seen:
        by_key[event.key].append(event.data["n"])
    assert by_key == {f"k{k}": [n for n in range(51) if n % 5 == k] for k in range(5)}
    if form == "batch":
        assert max(map(len, batches)) <= 7
        assert all({event.partition for event in batch} == {batch.partition} for batch in batches)
        assert {(batch.group, batch.consumer, batch.attempt) for batch in batches} == {("billing", "billing", 1)}


async def test_events_of_one_transaction_are_never_split(bird: Tickbird, store: Store) -> None:
    sizes: list[int] = []

    @bird.consumer("#", group="billing", batch=1)
    async def handle(batch: EventBatch) -> None:
        sizes.append(len(batch))

    [*_, last] = await store.events.publish("default", numbered(3), source="tests", actor="tests")
    await stamped(store, last)
    await publish(store, numbered(2))
    async with working(bird):
        await read_to_the_end(store)
    assert sizes == [3, 1, 1]


async def test_two_workers_share_a_group(bird: Tickbird, store: Store) -> None:
    seen: Counter[int] = Counter()
    together = threading.Barrier(2, timeout=60)

    @bird.consumer("#", group="billing", concurrency=1)
    def handle(event: Event) -> None:
        # Each worker has one delivery at a time, so that both have one now.
        if not seen:
            together.wait()
        seen[event.data["n"]] += 1

    await publish(store, numbered(40, keys=40))
    async with working(bird), working(bird):
        await read_to_the_end(store)
    assert seen == Counter(range(40))


async def test_a_leased_partition_names_its_worker(bird: Tickbird, store: Store) -> None:
    began, release = asyncio.Event(), asyncio.Event()

    @bird.consumer("#", group="billing")
    async def wait(_: Event) -> None:
        began.set()
        await release.wait()

    await publish(store, numbered(1))
    async with working(bird):
        await asyncio.wait_for(began.wait(), 60)
        [worker] = await store.workers.list("default")
        [group] = await store.consumers.list("default")
        assert {partition.worker for partition in group.partitions} == {None, worker.id}
        release.set()
        await read_to_the_end(store)


async def test_a_failing_event_is_retried_and_its_key_waits(bird: Tickbird, store: Store) -> None:
    seen: list[tuple[str | None, int]] = []
    attempts: list[int] = []

    @bird.consumer("#", group="billing", batch=10, backoff=AT_ONCE)
    async def handle(batch: EventBatch) -> None:
        for event in batch:
            if event.data["n"] == 0:
                attempts.append(batch.attempt)
                if len(attempts) < 4:
                    raise ValueError("not yet")
            seen.append((event.key, event.data["n"]))

    await publish(store, numbered(6, keys=2))
    async with working(bird):
        await read_to_the_end(store)
    # The batch failed first, then the event alone.
    assert attempts == [1, 1, 2, 3]
    assert [n for key, n in seen if key == "k0"] == [0, 2, 4]
    assert {n for key, n in seen if key == "k1"} == {1, 3, 5}


async def test_a_poison_event_holds_only_its_key(bird: Tickbird, store: Store) -> None:
    # TICKBIRD_FUZZ=20: next to 9,999 other keys.
    keys = 500 * int(os.environ.get("TICKBIRD_FUZZ", "1"))
    seen: list[Event] = []

    @bird.consumer("#", group="billing", retries=1, backoff=AT_ONCE)
    async def handle(event: Event) -> None:
        if event.data.get("poison"):
            raise ValueError("poison")
        seen.append(event)

    poison = NewEvent(topic="a", type="A", key="k7", data={"n": -1, "poison": True})
    await publish(store, [poison, *numbered(2 * keys, keys=keys, topic="a")])
    async with working(bird):
        await reached(lambda: len(seen) == 2 * (keys - 1))

        async def quarantined() -> bool:
            return [letter.state for letter in await letters(store)] == ["failed", "deferred", "deferred"]

        await until(quarantined)
        assert not any(event.key == "k7" for event in seen)
        [failed, *_] = await letters(store)
        assert failed.failures == 2
        assert "ValueError: poison" in (failed.error or "")
        await store.dead_letters.repair("default", failed.id, {"n": -1}, "ana", note="without poison")
        await read_to_the_end(store)
    assert [event.data["n"] for event in seen if event.key == "k7"] == [-1, 7, keys + 7]
    assert len(seen) == 2 * keys + 1


async def test_a_refused_event_is_not_retried(bird: Tickbird, store: Store) -> None:
    calls: list[Event] = []

    @bird.consumer("#", group="billing", retries=100, backoff=AT_ONCE)
    async def handle(event: Event) -> None:
        calls.append(event)
        raise EventRefusedError("too large")

    await publish(store, numbered(1))
    async with working(bird):

        async def failed() -> bool:
            return [letter.state for letter in await letters(store)] == ["failed"]

        await until(failed)
    assert len(calls) == 1


class BankError(Exception):
    """An error that the app names."""


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError("no broker"),
        UnavailableError("the bank is closed"),
        psycopg.OperationalError("the server closed the connection"),
        sqlite3.OperationalError("database is locked"),
        BankError("down"),
        ExceptionGroup("both", [ConnectionResetError(), BankError()]),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_an_infrastructure_error_pauses_the_partition(bird: Tickbird, store: Store, error: Exception) -> None:
    calls: list[int] = []
    is_down = threading.Event()
    is_down.set()

    @bird.consumer("#", group="billing", retries=0, infrastructure=(BankError,))
    async def handle(event: Event) -> None:
        calls.append(event.data["n"])
        if event.data["n"] == 1 and is_down.is_set():
            raise error

    await publish(store, numbered(3))
    async with working(bird):

        async def paused() -> bool:
            [group] = await store.consumers.list("default", group="billing")
            return any(partition.paused_until and partition.error for partition in group.partitions)

        await until(paused)
        assert not await letters(store)
        is_down.clear()
        await read_to_the_end(store)
    assert not await letters(store, states=None)
    assert calls[:2] == [0, 1]
    assert calls[-2:] == [1, 2]
    # The handled part of a delivery is not delivered again.
    assert calls.count(0) == 1


@pytest.mark.parametrize("form", ["event", "batch", "blocking"])
async def test_hostile_errors_harm_only_their_event(
    bird: Tickbird, store: Store, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen: set[str] = set()
    hostile: dict[str, Callable[[], BaseException]] = {
        **ERRORS,
        "group": lambda: BaseExceptionGroup("group", [SystemExit(3), ValueError("\ud800")]),
        "unpaired": lambda: ValueError("\ud800 \0"),
        "large": lambda: ValueError("x" * 5_000_000),
        "cancelled": asyncio.CancelledError,
        "generator": GeneratorExit,
        "stop": StopIteration,
    }

    def act(event: Event) -> None:
        name = event.data["error"]
        if name is not None:
            error = hostile[name]()
            raise error
        seen.add(event.key or "")

    if form == "event":

        @bird.consumer("#", group="billing", retries=0)
        async def handle(event: Event) -> None:
            act(event)

    elif form == "batch":

        @bird.consumer("#", group="billing", batch=100, retries=0)
        async def handle_batch(batch: EventBatch) -> None:
            for event in batch:
                act(event)

    else:

        @bird.consumer("#", group="billing", retries=0)
        def block(event: Event) -> None:
            act(event)

    names = list(hostile)
    for name in names:
        await publish(store, [NewEvent(topic="a", type="A", key=name, data={"error": name})])
        await publish(store, [NewEvent(topic="a", type="A", key=f"{name} neighbour", data={"error": None})])
    async with working(bird):
        await reached(lambda: len(seen) == len(names))

        async def all_failed() -> bool:
            found = await letters(store)
            return {letter.event.key for letter in found if letter.state == "failed"} == set(names)

        await until(all_failed)
        found = {letter.event.key: letter for letter in await letters(store)}
    assert all(letter.error and len(letter.error) <= 10_000 for letter in found.values())
    assert all(letter.failures == 1 for letter in found.values())


async def test_calls_that_do_not_return_harm_only_their_partition(bird: Tickbird, store: Store) -> None:
    release = threading.Event()
    seen: list[str | None] = []

    @bird.consumer("blocks", group="billing", batch=10, timeout=1, retries=1, backoff=AT_ONCE, concurrency=2)
    def block(batch: EventBatch) -> None:
        if any(event.key == "k0" for event in batch):
            release.wait(timeout=60)
            return
        seen.extend(event.key for event in batch)

    @bird.consumer("awaits", group="patient", timeout=1, retries=0, concurrency=1)
    async def swallow(event: Event) -> None:
        while event.key == "k0" and not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        seen.append(event.key)

    await publish(store, numbered(20, keys=10, topic="blocks"))
    await publish(store, numbered(20, keys=10, topic="awaits"))
    try:
        async with working(bird, options=EngineOptions(lease=30.0, heartbeat=1.0, safety_poll=0.5, drain=0.5)):

            async def failed() -> bool:
                found = [await letters(store, group) for group in ("billing", "patient")]
                keys = {letter.event.key for group in found for letter in group}
                return keys == {"k0"} and all(group[0].state == "failed" for group in found)

            await reached(lambda: len(seen) >= 36)
            await until(failed)
            release.set()
    finally:
        release.set()
    assert Counter(key for key in seen if key != "k0") == {f"k{n}": 4 for n in range(1, 10)}
    [one, *_] = await letters(store)
    assert "took longer than its timeout of 1 s" in (one.error or "")


async def test_a_cancelled_call_may_clean_up(bird: Tickbird, store: Store) -> None:
    cleaned: list[int] = []

    @bird.consumer("#", group="billing", timeout=1, retries=0)
    async def handle(event: Event) -> None:
        if event.data["n"] == 0:
            try:
                await asyncio.sleep(60)
            finally:
                cleaned.append(event.data["n"])
        else:
            # A timeout of its own works as usual after a cancellation.
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            cleaned.append(event.data["n"])

    await publish(store, numbered(2, keys=2))
    async with working(bird):
        await reached(lambda: sorted(cleaned) == [0, 1])

        async def failed() -> bool:
            return [letter.state for letter in await letters(store)] == ["failed"]

        await until(failed)


@asynccontextmanager
async def effects(url: str, kind: str) -> AsyncIterator[Callable[[EventBatch, Callable[[], None]], Any]]:
    """Inserts the events of a batch and commits the batch, in one transaction on a connection of this kind."""
    insert = "INSERT INTO effects VALUES ({0}, {0})"
    async with AsyncExitStack() as stack:
        if kind == "sqlite3":
            path = url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path)) as created:
                created.execute("CREATE TABLE effects (event_id text, n int)")

            def apply(batch: EventBatch, then: Callable[[], None]) -> None:
                with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
                    connection.executemany(insert.format("?"), [(str(one.id), one.data["n"]) for one in batch])
                    batch.commit(connection)
                    then()

            yield apply
            return
        main = await stack.enter_async_context(await psycopg.AsyncConnection.connect(url, autocommit=True))
        await main.execute("CREATE TABLE effects (event_id text, n int)")
        if kind == "psycopg":

            def apply_blocking(batch: EventBatch, then: Callable[[], None]) -> None:
                with psycopg.connect(url) as connection:
                    rows = [(str(one.id), one.data["n"]) for one in batch]
                    connection.cursor().executemany(insert.format("%s"), rows)
                    batch.commit(connection)
                    then()

            yield apply_blocking
            return

        async def apply_async(batch: EventBatch, then: Callable[[], None]) -> None:
            async with await psycopg.AsyncConnection.connect(url) as connection:
                rows = [(str(one.id), one.data["n"]) for one in batch]
                await batch.commit(connection)
                await connection.cursor().executemany(insert.format("%s"), rows)
                then()

        yield apply_async


def count_effects(url: str) -> Counter[int]:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return Counter(n for (n,) in connection.execute("SELECT n FROM effects"))
    with psycopg.connect(url) as server:
        return Counter(n for (n,) in server.execute("SELECT n FROM effects").fetchall())


KINDS = {"sqlite": ["sqlite3"], "postgres": ["psycopg", "psycopg-async"]}


@pytest.mark.parametrize(
    "url, kind", [(store, kind) for store, kinds in KINDS.items() for kind in kinds], indirect=["url"]
)
@pytest.mark.parametrize("size", [1, 10])
async def test_effects_in_the_callers_transaction_are_exactly_once(
    url: str, bird: Tickbird, store: Store, kind: str, size: int
) -> None:
    failing: Counter[str] = Counter()

    def fail_sometimes(batch: EventBatch, when: str, part: int) -> None:
        first = batch[0].data["n"]
        name = f"{when} {first} {len(batch)}"
        if first % 3 == part and not failing[name]:
            failing[name] += 1
            raise ValueError(name)

    async with effects(url, kind) as apply:
        if kind == "psycopg-async":

            @bird.consumer("#", group="billing", batch=size, backoff=AT_ONCE)
            async def handle(batch: EventBatch) -> None:
                await apply(batch, lambda: fail_sometimes(batch, "before the commit", 0))
                # Its effects are there, so that a retry would repeat them.
                fail_sometimes(batch, "after the commit", 1)

        else:

            @bird.consumer("#", group="billing", batch=size, backoff=AT_ONCE)
            def block(batch: EventBatch) -> None:
                apply(batch, lambda: fail_sometimes(batch, "before the commit", 0))
                fail_sometimes(batch, "after the commit", 1)

        await publish(store, numbered(40, keys=8))
        async with working(bird):
            await read_to_the_end(store)
    assert count_effects(url) == Counter(range(40))
    assert {name.partition(" ")[0] for name in failing} == {"before", "after"}


async def test_a_lost_lease_rolls_the_callers_transaction_back(url: str, bird: Tickbird, store: Store) -> None:
    kind = "sqlite3" if url.startswith("sqlite") else "psycopg"
    refused: list[Exception] = []
    is_called, is_moved = threading.Event(), threading.Event()
    async with effects(url, kind) as apply:

        @bird.consumer("#", group="billing", batch=10)
        def handle(batch: EventBatch) -> None:
            if not is_called.is_set():
                is_called.set()
                is_moved.wait(timeout=60)
                try:
                    apply(batch, lambda: None)
                except ConflictError as error:
                    refused.append(error)
                    raise
            else:
                apply(batch, lambda: None)

        await publish(store, numbered(5))
        async with working(bird):
            await reached(is_called.is_set)
            # Fences the delivery, as if another worker had taken the partition.
            await store.consumers.seek("default", "billing", 0, "ana")
            is_moved.set()
            await read_to_the_end(store)
    assert len(refused) == 1
    assert "Roll back" in str(refused[0])
    assert count_effects(url) == Counter(range(5))


async def test_a_batch_is_committed_once_and_only_in_its_delivery(url: str, bird: Tickbird, store: Store) -> None:
    kind = "sqlite3" if url.startswith("sqlite") else "psycopg"
    refused: list[str] = []
    kept: list[EventBatch] = []
    async with effects(url, kind) as apply:

        @bird.consumer("#", group="billing", batch=10)
        def handle(batch: EventBatch) -> None:
            kept.append(batch)
            apply(batch, lambda: None)
            with pytest.raises(ConflictError) as caught:
                apply(batch, lambda: None)
            refused.append(str(caught.value))

        await publish(store, numbered(2))
        async with working(bird):
            await read_to_the_end(store)
        with pytest.raises(ConflictError, match="is over"):
            apply(kept[0], lambda: None)
    assert len(refused) == 1
    assert "Call commit once per batch" in refused[0]
    assert count_effects(url) == Counter(range(2))


async def test_a_group_that_a_live_worker_declares_is_deleted_by_force(bird: Tickbird, store: Store) -> None:
    @bird.consumer("#", group="billing")
    def handle(event: Event) -> None: ...

    client = StoreClient(store)
    await publish(store, numbered(2))
    async with working(bird):
        await read_to_the_end(store)
        with pytest.raises(
            ConflictError, match=r"declares it, and would create it again at its start. .*consumers stop"
        ):
            await client.consumers.delete("billing", actor="ana")
        await client.consumers.copy("billing", "scratch", 0, actor="ana")
        await client.consumers.delete("scratch", actor="ana")
        await client.consumers.delete("billing", force=True, actor="ana")
    with pytest.raises(NotFoundError):
        await client.consumers.delete("billing", actor="ana")
    async with working(bird):
        await read_to_the_end(store)
    await client.consumers.delete("billing", actor="ana")
    assert await client.consumers.list() == []


@pytest.mark.parametrize("form", ["event", "blocking"])
async def test_a_drain_ends_after_the_current_event(bird: Tickbird, store: Store, form: str) -> None:
    seen: list[int] = []
    began, release = threading.Event(), threading.Event()
    if form == "event":

        @bird.consumer("#", group="billing")
        async def handle(event: Event) -> None:
            seen.append(event.data["n"])
            if event.data["n"] == 3:
                began.set()
                await reached(release.is_set)

    else:

        @bird.consumer("#", group="billing")
        def block(event: Event) -> None:
            seen.append(event.data["n"])
            if event.data["n"] == 3:
                began.set()
                release.wait(timeout=60)

    await publish(store, numbered(10))
    async with working(bird) as (_, process):
        await reached(began.is_set)
        process.drain()
        await reached(lambda: process._engine is not None and not process._engine.consuming._claiming)  # type: ignore[union-attr]
        release.set()
    assert seen == [0, 1, 2, 3]
    [group] = await store.consumers.list("default", group="billing")
    assert group.lag == 6
    assert not any(partition.leased_until for partition in group.partitions)
    async with working(bird):
        await read_to_the_end(store)
    assert seen == list(range(10))


async def test_a_drain_cancels_calls_that_take_too_long(bird: Tickbird, store: Store) -> None:
    began = asyncio.Event()
    seen: list[int] = []
    is_patient = True

    @bird.consumer("#", group="billing", retries=0)
    async def handle(event: Event) -> None:
        seen.append(event.data["n"])
        if is_patient and event.data["n"] == 1:
            began.set()
            await asyncio.sleep(60)

    await publish(store, numbered(3))
    async with working(bird, options=EngineOptions(lease=30.0, heartbeat=1.0, safety_poll=0.5, drain=0.1)):
        await began.wait()
    assert not await letters(store)
    is_patient = False
    async with working(bird):
        await read_to_the_end(store)
    # The event whose call was cancelled is delivered again.
    assert seen == [0, 1, 1, 2]


class FileSink:
    """Appends events to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.states: list[str] = []
        self.is_down = False
        self._file: Any = None

    async def open(self) -> None:
        self.states.append("open")
        self._file = self._path.open("a")

    async def send(self, events: Sequence[Event]) -> None:
        if self.is_down:
            raise UnavailableError("the disk is full")
        for event in events:
            if event.data["n"] == 13:
                raise EventRefusedError("unlucky")
        self._file.writelines(f"{event.key} {event.data['n']}\n" for event in events)
        self._file.flush()

    async def close(self) -> None:
        self.states.append("closed")
        self._file.close()


async def test_a_relay_passes_events_on_to_a_sink(bird: Tickbird, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    sink = FileSink(path)
    sink.is_down = True
    bird.relay("orders.#", sink, group="out", batch=10)
    await publish(store, numbered(30, keys=3))
    async with working(bird):

        async def paused() -> bool:
            [group] = await store.consumers.list("default", group="out")
            return any(partition.paused_until for partition in group.partitions)

        await until(paused)
        sink.is_down = False

        async def only_one_is_left() -> bool:
            [group] = await store.consumers.list("default", group="out")
            return not group.lag and any(letter.state == "failed" for letter in await letters(store, "out"))

        await until(only_one_is_left)
        [failed, *_] = await letters(store, "out")
        await store.dead_letters.skip("default", failed.id, "ana")
        await read_to_the_end(store, "out")
    assert sink.states == ["open", "closed"]
    lines = [line.split() for line in path.read_text().splitlines()]
    by_key = {key: [int(n) for other, n in lines if other == key] for key in ("k0", "k1", "k2")}
    assert by_key == {f"k{k}": [n for n in range(30) if n % 3 == k and n != 13] for k in range(3)}


async def test_a_scratch_group_is_read_by_the_same_consumer(bird: Tickbird, store: Store) -> None:
    seen: defaultdict[str, list[int]] = defaultdict(list)

    @bird.consumer("#", group="billing", batch=5)
    async def handle(batch: EventBatch) -> None:
        assert batch.consumer == "billing"
        seen[batch.group] += [event.data["n"] for event in batch]

    await publish(store, numbered(7))
    async with working(bird):
        await read_to_the_end(store)
        await store.consumers.copy("default", "billing", "again", 3, "ana")
        await read_to_the_end(store, "again")
    assert seen == {"billing": list(range(7)), "again": [3, 4, 5, 6]}


async def test_a_stopped_group_is_named(bird: Tickbird, store: Store, caplog: pytest.LogCaptureFixture) -> None:
    seen: list[int] = []

    @bird.consumer("#", group="billing")
    async def handle(event: Event) -> None:
        seen.append(event.data["n"])

    async with working(bird):
        pass
    await store.consumers.stop("default", "billing", "ana", reason="the bank moves")
    await publish(store, numbered(2))
    with caplog.at_level(logging.ERROR, "tickbird.engine"):
        async with working(bird):
            await reached(lambda: "tickbird consumers resume billing" in caplog.text)
            assert "the bank moves" in caplog.text
            assert not seen
            await store.consumers.resume("default", "billing", "ana")
            await read_to_the_end(store)
    assert seen == [0, 1]


async def test_a_group_belongs_to_one_app(bird: Tickbird, url: str, store: Store) -> None:
    other = Tickbird(url, app="other")
    for app in (bird, other):

        @app.consumer("#", group="billing")
        async def handle(event: Event) -> None: ...

    async with working(bird):
        pass
    with pytest.raises(ConflictError, match="billing"):
        await WorkerProcess(other, options=QUICK).run()
    assert not await store.workers.list("default")


async def test_a_worker_that_only_plans_does_not_consume(bird: Tickbird, store: Store) -> None:
    seen: list[int] = []

    @bird.consumer("#", group="billing")
    async def handle(event: Event) -> None:
        seen.append(event.data["n"])

    await publish(store, numbered(1))
    async with working(bird, role="plan-only"):
        assert not await store.consumers.list("default")
    async with working(bird):
        await read_to_the_end(store)
    assert seen == [0]


async def test_killed_workers_repeat_no_effect_of_a_transaction(url: str, store: Store) -> None:
    """Workers are killed again and again, at any moment, while they consume."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as created:
            created.execute(consumer_app.CREATE.format(""))
    else:
        with psycopg.connect(url) as server:
            server.execute(consumer_app.CREATE.format(", id bigserial"))
    count, keys, groups = 600, 30, ("together", "single", "apart")
    chance = random.Random(7)
    environment = {**os.environ, "CONSUMER_URL": url}
    # The publisher does not wait: events are published in transactions of one and of several.
    publishing = asyncio.create_task(publish_in_turns(store, numbered(count, keys=keys), chance))

    async def start() -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.consumer_app", env=environment, cwd=Path(__file__).parents[2]
        )

    workers = [await start(), await start()]
    kills = 0
    try:

        async def all_read() -> bool:
            found = await store.consumers.list("default")
            lags = {group.name: group.lag for group in found}
            return publishing.done() and set(lags) == set(groups) and not any(lags.values())

        async with asyncio.timeout(180):
            while not await all_read():
                if kills < 12:
                    # Long enough that something was delivered since the last one, as far as that can be seen.
                    before = len(read_effects(url))
                    await reached(lambda before=before: len(read_effects(url)) > before or publishing.done())  # type: ignore[misc]
                    worker = workers.pop(0)
                    worker.kill()
                    await worker.wait()
                    kills += 1
                    workers.append(await start())
                await asyncio.sleep(chance.uniform(0.0, 0.3))
        for group in groups:
            await read_to_the_end(store, group)
    finally:
        await publishing
        for worker in workers:
            worker.terminate()
        codes = [await worker.wait() for worker in workers]
    assert codes == [0, 0]
    assert kills >= 5
    for group in groups:
        found = [effect for effect in read_effects(url) if effect[0] == group]
        once = list(dict.fromkeys(found))
        # A repeated event is the same event, in its place in the order of its key.
        assert {effect[3] for effect in once} == set(range(count))
        assert len({effect[1] for effect in once}) == count
        if group != "apart":
            assert len(found) == count
        by_key: defaultdict[str, list[int]] = defaultdict(list)
        for _, _, key, n in once:
            by_key[key].append(n)
        assert all(numbers == sorted(numbers) for numbers in by_key.values())


async def publish_in_turns(store: Store, events: Sequence[NewEvent], chance: random.Random) -> None:
    """Publish events alone and in transactions of several."""
    start = 0
    while start < len(events):
        size = chance.choice([1, 1, 1, 3, 20])
        await store.events.publish("default", events[start : start + size], source="tests", actor="tests")
        start += size
    [*_, last] = await store.events.publish("default", numbered(1, topic="last"), source="tests", actor="tests")
    await stamped(store, last)


def read_effects(url: str) -> list[tuple[str, str, str, int]]:
    """The effects in the order in which they were committed, as far as that matters for one key."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            return connection.execute("SELECT * FROM effects ORDER BY rowid").fetchall()
    with psycopg.connect(url) as server:
        return server.execute("SELECT consumer, event_id, key, n FROM effects ORDER BY id").fetchall()
