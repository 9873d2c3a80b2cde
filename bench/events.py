"""Events: published, stamped and consumed, compared with a bare table; latency; cost for callers and planners."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Json

from bench.common import Options, Report, Table, interleave, percentile, step
from bench.contenders import SPAWN, Seen, process, run_worker
from bench.database import DEFINITIONS, NOW, Schedules, server, version
from lab.servers import PostgresServer
from tickbird import Tickbird
from tickbird.domain.events.deliveries import GroupRequest, success
from tickbird.domain.events.event import Event, NewEvent
from tickbird.domain.events.groups import NewGroup
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets.event import event
from tickbird.domain.targets.registry import as_target
from tickbird.store.postgres import PostgresStore
from tickbird.store.shared.sql import load_statements
from tickbird.worker import WorkerProcess

STATEMENTS: Final = {name: text.encode() for name, text in load_statements("bench", "events").items()}
BATCH: Final = 500
KEYS: Final = 1_000
PATIENCE: Final = 60.0
OURS, BARE = "publish + stamp + consume", "bare INSERT + SELECT"
BARE_BATCHES = "bare, one INSERT per batch"
PUBLISHING, PLAIN = "with an event", "without"
EVENT_TICKS, PLAIN_TICKS = "event targets", "plain ticks"
Measure = Callable[[], Awaitable[float]]


async def measure(options: Options, report: Report) -> None:
    """All benchmarks of events."""
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        url = running.create_database()
        await PostgresStore(url).migrate()
        await _execute(url, "make_bare")
        with step("published and consumed"):
            await _throughput(options, report, url)
        with step("measured the latency"):
            await _latency(options, report, running)
        with step("committed with and without events"):
            await _commits(options, report, url)
        with step("planned event targets"):
            await _ticks(options, report, running)


async def _throughput(options: Options, report: Report, url: str) -> None:
    count = options.size(100_000, 1_000)
    parts: dict[str, list[float]] = {}
    variants = {
        OURS: partial(_consume, url, count, parts),
        BARE: partial(_bare, url, count, False),
        BARE_BATCHES: partial(_bare, url, count, True),
    }
    rates = await interleave(options.size(3, 1), variants)
    report.samples |= rates.values | {f"seconds to {name}": values for name, values in parts.items()}
    report.tables.append(
        Table(
            f"Events per second, {count:,} events in batches of {BATCH}, one connection",
            ("variant", "events/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
            "The bare programs insert the same rows, by executemany or as one JSON array, and read them by ids.",
        )
    )
    share = rates.ratio(OURS, BARE)
    report.hold(f"{OURS}, compared with {BARE}", "≥ 0.40 ×", share, None if options.quick else share >= 0.4)
    report.hold(f"{OURS}, compared with {BARE_BATCHES}", "reported", rates.ratio(OURS, BARE_BATCHES), None)


async def _consume(url: str, count: int, parts: dict[str, list[float]]) -> float:
    await _execute(url, "empty")
    store = PostgresStore(url)
    await store.open()
    await store.consumers.declare("default", [NewGroup(name="bench", topics=("orders.*",))], app="bench")
    began = time.perf_counter()
    for first in range(0, count, BATCH):
        new = [
            NewEvent(topic="orders.paid", type="Paid", key=f"k{number % KEYS}", data=_data(number))
            for number in range(first, first + BATCH)
        ]
        await store.events.publish("default", new, source="/bench", actor="bench")
    published = time.perf_counter()
    since: str | None = None
    while (stamped := await store.events.stamp(since)).more:
        since = stamped.since
    assigned = time.perf_counter()
    seen, worker, request = 0, "bench", GroupRequest("bench", BATCH)
    while seen < count:
        claimed = await store.consumers.claim("default", [request], worker, limit=4, lease=60)
        seen += sum(len(delivery.items) for delivery in claimed.deliveries)
        outcomes = [success(delivery, delivery.units(), is_whole=True) for delivery in claimed.deliveries]
        assert len(await store.consumers.finish(outcomes)) == len(outcomes)
    ended = time.perf_counter()
    await store.close()
    for name, seconds in (
        ("publish", published - began),
        ("stamp", assigned - published),
        ("consume", ended - assigned),
    ):
        parts.setdefault(name, []).append(seconds)
    return count / (ended - began)


def _data(number: int) -> dict[str, Any]:
    return {"order": number, "amount": 42, "currency": "EUR"}


async def _bare(url: str, count: int, in_batches: bool) -> float:
    await _execute(url, "empty")
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        began = time.perf_counter()
        for first in range(0, count, BATCH):
            rows: list[dict[str, Any]] = [
                {"topic": "orders.paid", "type": "Paid", "key": f"k{number % KEYS}", "data": _data(number)}
                for number in range(first, first + BATCH)
            ]
            if in_batches:
                text = json.dumps([{**row, "event_id": str(uuid4())} for row in rows])
                await connection.execute(STATEMENTS["insert_bare_batch"], {"rows": text}, prepare=True)
                continue
            async with connection.transaction(), connection.cursor() as cursor:
                values = [{**row, "event_id": uuid4(), "data": Json(row["data"])} for row in rows]
                await cursor.executemany(STATEMENTS["insert_bare"], values)
        seen = after = 0
        while seen < count:
            place = {"after": after, "limit": BATCH}
            found = await connection.execute(STATEMENTS["read_bare"], place, prepare=True, binary=True)
            read = await found.fetchall()
            after, seen = read[-1][0], seen + len(read)
            assert isinstance(read[0][2], UUID)
        return count / (time.perf_counter() - began)


async def _latency(options: Options, report: Report, running: PostgresServer) -> None:
    """From before and after `publish` to the first line of a consumer in another process, one event at a time."""
    count = options.size(500, 10)
    url = running.create_database()
    await PostgresStore(url).migrate()
    seen = Seen(starts=SPAWN.RawArray("d", count + 1))
    worker = process(_deliver, url, seen)
    begun: list[float] = []
    committed: list[float] = []
    try:
        bird = Tickbird(url)
        async with bird:
            # The first event is not counted: the worker starts.
            for number in range(count + 1):
                begun.append(time.perf_counter())
                await bird.publish("orders.paid", "Paid", {"number": number}, key=f"k{number % KEYS}")
                committed.append(time.perf_counter())
                async with asyncio.timeout(PATIENCE):
                    while seen.count.value <= number:
                        await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
    finally:
        seen.stop.set()
        worker.join(10)
        if worker.is_alive():
            worker.kill()
            worker.join()
    rows = []
    for name, since in (("before publish", begun), ("after its commit", committed)):
        delays = [1e3 * (start - at) for start, at in zip(seen.starts[1:], since[1:], strict=True)]
        report.samples[f"{name} → handler, ms"] = delays
        rows.append([name, *(percentile(delays, part) for part in (0.1, 0.5, 0.99)), max(delays)])
    report.tables.append(
        Table(
            f"Milliseconds until the consumer has an event, {count:,} events one at a time",
            ("since", "p10", "p50", "p99", "max"),
            rows,
            "The stamper's commit is flushed too.",
        )
    )
    added = rows[1][2]
    report.hold("added latency, p50", "≤ 5 ms", added, None if options.quick else added <= 5, "ms")


async def _deliver(url: str, seen: Seen) -> None:
    bird = Tickbird(url)

    @bird.consumer("orders.*", group="bench")
    async def consume(paid: Event) -> None:
        seen.starts[seen.count.value] = time.perf_counter()
        seen.count.value += 1

    await run_worker(WorkerProcess(bird), seen)


async def _commits(options: Options, report: Report, url: str) -> None:
    """The transactions of a caller per second, one connection, next to a stamper."""
    count = options.size(2_000, 20)
    variants = {name: partial(_commit, url, count, name == PUBLISHING) for name in (PUBLISHING, PLAIN)}
    rates = await interleave(options.size(5, 1), variants)
    report.samples |= {f"commits/s {name}": values for name, values in rates.values.items()}
    report.tables.append(
        Table(
            "Commits per second of a caller that inserts one row",
            ("variant", "commits/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
        )
    )
    report.hold(
        "commits of a caller: with an event, compared with none", "reported", rates.ratio(PUBLISHING, PLAIN), None
    )


async def _commit(url: str, count: int, publishes: bool) -> float:
    await _execute(url, "empty")
    store = PostgresStore(url)
    await store.open()
    await store.events.add_stream("default")
    stamping = asyncio.create_task(_stamp(store))
    try:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            began = time.perf_counter()
            for number in range(count):
                values = {"key": f"k{number % KEYS}"}
                await connection.execute(STATEMENTS["insert_order"], values, prepare=True)
                if publishes:
                    await connection.execute(STATEMENTS["publish"], values, prepare=True)
                await connection.commit()
            return count / (time.perf_counter() - began)
    finally:
        stamping.cancel()
        await asyncio.wait({stamping})
        await store.close()


async def _stamp(store: PostgresStore) -> None:
    since = None
    while True:
        since = (await store.events.stamp(since)).since
        await asyncio.sleep(0.005)


async def _ticks(options: Options, report: Report, running: PostgresServer) -> None:
    count = options.size(10_000, 40)
    target = as_target(event("orders.due", "Due", key="k", data={"amount": 42}))
    events = tuple(Definition(trigger=plain.trigger, target=target) for plain in DEFINITIONS)
    variants: dict[str, Measure] = {}
    opened: list[PostgresStore] = []
    for name, definitions in ((EVENT_TICKS, events), (PLAIN_TICKS, DEFINITIONS)):
        schedules = Schedules(running.create_database())
        await schedules.make(count, definitions)
        # Without row triggers, as the other rows.
        schedules.execute(STATEMENTS["fill_ids"].decode())
        store = PostgresStore(schedules.url)
        await store.open()
        opened.append(store)
        variants[name] = partial(_plan, schedules, store, count)
        await variants[name]()  # the first pass of a planner is cold
    rates = await interleave(options.size(15, 1), variants)
    for store in opened:
        await store.close()
    report.samples |= {f"ticks/s {name}": values for name, values in rates.values.items()}
    report.tables.append(
        Table(
            f"Ticks planned per second, {count:,} due, one planner",
            ("variant", "ticks/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
            "The planning transaction records the run of an event target as succeeded, and publishes its event.",
        )
    )
    share = rates.ratio(EVENT_TICKS, PLAIN_TICKS)
    report.hold(
        "planning event targets, compared with tasks", "≥ 0.80 ×", share, None if options.quick else share >= 0.8
    )


async def _plan(schedules: Schedules, store: PostgresStore, count: int) -> float:
    schedules.execute(STATEMENTS["empty_events"].decode())
    schedules.restore(count)
    total, began = 0, time.perf_counter()
    while True:
        planned = await store.planning.plan_due(now=NOW)
        total += planned.runs + planned.events
        if not planned.more:
            break
    seconds = time.perf_counter() - began
    runs, _ = schedules.ticks()
    assert total == runs == count, f"{total} of {count} ticks planned, {runs} runs"
    return count / seconds


async def _execute(url: str, name: str) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(STATEMENTS[name])
