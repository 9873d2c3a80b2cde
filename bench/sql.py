"""SQL functions that are due at once, compared with the same calls with bare psycopg."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from typing import Any, Final

import psycopg

from bench.common import Options, Report, Table, interleave, step
from bench.contenders import Seen, process, run_worker
from bench.database import server, version
from tickbird import Tickbird, every, sql
from tickbird.store.postgres import PostgresStore
from tickbird.store.shared.sql import load_statements
from tickbird.worker import WorkerProcess

STATEMENTS: Final = {name: text.encode() for name, text in load_statements("bench", "sql").items()}
PATIENCE: Final = 60.0
CONNECTIONS: Final = 10
BARE_CALLS, BARE_BLOCKS, BARE_RECORDS = (
    "bare calls",
    "bare calls in BEGIN … COMMIT",
    "bare calls that finish a run in BEGIN … COMMIT",
)


async def measure(options: Options, report: Report) -> None:
    """A thousand runs of a function that writes one row, and of one that also takes 5 ms."""
    count, rounds = options.size(1_000, 20), options.size(5, 1)
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        url = running.create_database()
        with step(f"created {count:,} schedules"):
            await _prepare(url, count)
        for seconds in (0.0, 0.005):
            with step(f"executed functions of {1e3 * seconds:.0f} ms"):
                await _set_pace(url, seconds)
                await _compare(options, report, url, count, rounds, f"{1e3 * seconds:.0f} ms")


async def _prepare(url: str, count: int) -> None:
    await PostgresStore(url).migrate()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(STATEMENTS["make_function"])
    async with Tickbird(url) as client:
        for number in range(count):
            await client.schedules.create(f"job-{number}", every(days=900), sql("public.job"), actor="bench")


async def _set_pace(url: str, seconds: float) -> None:
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(STATEMENTS["set_pace"], {"seconds": seconds})


async def _compare(options: Options, report: Report, url: str, count: int, rounds: int, pace: str) -> None:
    ours, *bare = (f"{name}, {pace}" for name in ("Tickbird", BARE_CALLS, BARE_BLOCKS, BARE_RECORDS))
    variants = {
        ours: partial(_execute, url, count),
        bare[0]: partial(_call, url, count, []),
        bare[1]: partial(_call, url, count, ["call_job"]),
        bare[2]: partial(_call, url, count, ["call_job", "finish_run"]),
    }
    rates = await interleave(rounds, variants)
    report.samples |= rates.values
    report.tables.append(
        Table(
            f"Calls per second of a function that writes one row and takes {pace}, {CONNECTIONS} connections",
            ("variant", "calls/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
            "A call is one transaction; Tickbird records the outcome in it. Each variant opens its connections.",
        )
    )
    for name in bare:
        share = rates.ratio(ours, name)
        met = None if options.quick else share >= 0.5
        report.hold(f"{count:,} SQL functions due at once: {ours}, compared with {name}", "≥ 0.50 ×", share, met)


async def _work(url: str, seen: Seen) -> None:
    worker = WorkerProcess(Tickbird(url, sql_connections=CONNECTIONS), slots=2 * CONNECTIONS)
    worker.on_started = seen.started
    await run_worker(worker, seen)


async def _execute(url: str, count: int) -> float:
    """Runs per second, from the first start to the last recorded end."""
    seen = Seen()
    worker = process(_work, url, seen)
    try:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while not seen.count.value:
                await asyncio.sleep(0.01)
            await connection.execute(STATEMENTS["enqueue_jobs"])
            await connection.execute(STATEMENTS["wake_worker"])
            deadline = time.perf_counter() + PATIENCE
            while (await _one(connection, "left_jobs"))[0] and time.perf_counter() < deadline:
                await asyncio.sleep(0.02)
            done, seconds = await _one(connection, "job_seconds")
        assert done == count, f"{done} of {count} runs succeeded"
        return float(done / seconds)
    finally:
        seen.stop.set()
        worker.join(10)
        if worker.is_alive():
            worker.kill()
            worker.join()


async def _call(url: str, count: int, block: list[str]) -> float:
    """Calls per second of a program that does nothing else; the statements of a block are one transaction."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(STATEMENTS["enqueue_jobs"])
        await connection.execute(STATEMENTS["start_runs"])
        rows = await (await connection.execute(STATEMENTS["find_runs"])).fetchall()
    runs = iter([row[0] for row in rows])
    began = time.perf_counter()

    async def work() -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            for run in runs:
                payload = {"payload": {}, "run_id": run, "attempt": 1, "schedule": f"job-{run}"}
                values = {"job": json.dumps(payload), "run": run}
                if not block:
                    await connection.execute(STATEMENTS["call_job"], values, prepare=True)
                    continue
                async with connection.transaction():
                    for name in block:
                        await connection.execute(STATEMENTS[name], values, prepare=True)

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    return count / (time.perf_counter() - began)


async def _one(connection: Any, name: str) -> Any:
    return (await (await connection.execute(STATEMENTS[name])).fetchall())[0]
