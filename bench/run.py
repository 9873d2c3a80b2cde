"""Rates of executing and enqueueing no-op runs, and the latency from a trigger to the start."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from functools import partial

from bench import peers
from bench.bare import STATEMENTS as BARE
from bench.bare import connect
from bench.common import Options, Report, Table, interleave, percentile, step
from bench.contenders import SPAWN, Contender, Raw, Seen, TickbirdWorker, execute, process, run_worker
from bench.database import server, version
from bench.isolated import IsolatedWorker, measure_starts
from lab.servers import PostgresServer
from tickbird import Tickbird, every
from tickbird.store.postgres import PostgresStore
from tickbird.worker import WorkerProcess

# A slow worker gets fewer runs, so that a round ends.
SLOW_SHARE = 10
PATIENCE = 60.0


async def measure(options: Options, report: Report) -> None:
    """Execution, enqueueing, latency."""
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        with step("executed no-op runs"):
            await _execute(options, report, running)
        with step("isolated no-op runs"):
            await measure_starts(options, report)
        with step("triggered runs"):
            await _trigger(options, report, running.create_database())


def _contenders(options: Options) -> dict[str, tuple[Contender, int]]:
    """The workers, and the number of runs of each."""
    count = options.size(20_000, 60)
    workers: dict[str, tuple[Contender, int]] = {
        "Tickbird, 100 slots": (TickbirdWorker(100), count),
        "raw dequeue + finish, batch 100": (Raw(100), count),
        "Tickbird, 10 slots": (TickbirdWorker(10), count // 4),
        "raw dequeue + finish, batch 10": (Raw(10), count // 4),
        "Tickbird, 500 slots": (TickbirdWorker(500), count),
        "Tickbird, 4 slots, isolated": (IsolatedWorker(4), count // SLOW_SHARE),
    }
    if options.quick:
        workers = {name: workers[name] for name in (*list(workers)[:2], "Tickbird, 4 slots, isolated")}
    if peers.PGQUEUER:
        from bench.peers.pgqueuer import PgQueuerWorker

        for batch in (100,) if options.quick else (10, 100, 500):
            workers[f"PgQueuer, batch {batch}"] = (PgQueuerWorker(batch), count if batch > 10 else count // 4)
    if peers.PROCRASTINATE:
        from bench.peers.procrastinate import ProcrastinateWorker

        workers["Procrastinate, 10 at a time"] = (ProcrastinateWorker(10), count // SLOW_SHARE)
    return workers


async def _execute(options: Options, report: Report, running: PostgresServer) -> None:
    contenders = _contenders(options)
    urls: dict[str, str] = {}
    for name, (contender, _) in contenders.items():
        urls[name] = running.create_database()
        await contender.prepare(urls[name])
    numbers = (1,) if options.quick else (1, 2)
    variants = {
        f"{name}, {workers} worker(s)": partial(execute, contender, urls[name], count, workers, PATIENCE)
        for workers in numbers
        for name, (contender, count) in contenders.items()
        # A worker that hardly gets faster with a second process is measured with one.
        if workers == 1 or "100" in name
    }
    rounds = options.size(5, 1)
    rates = await interleave(rounds, variants)
    report.samples |= rates.values
    filled = await interleave(rounds, {name: partial(_fill, c, urls[name], n) for name, (c, n) in contenders.items()})
    report.samples |= {f"enqueue: {name}": values for name, values in filled.values.items()}
    for name in contenders:
        running.drop_database(urls[name])
    report.tables.append(
        Table(
            "No-op runs executed per second, pre-filled",
            ("variant", "runs/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
            "From the first start to the last recorded end; every worker is a separate process.",
        )
    )
    report.tables.append(
        Table(
            "Enqueued per second, up to 1,000 per call, one connection",
            ("variant", "runs/s", "min – max"),
            [[name, filled.median(name), filled.spread(name)] for name in filled.values],
        )
    )
    if options.quick:
        return

    def best(who: str) -> str | None:
        names = [
            name for name in rates.values if name.startswith(who) and "isolated" not in name and "1 worker" in name
        ]
        return max(names, key=rates.median, default=None)

    work, ours, theirs = "no-op runs, pre-filled, one worker process", best("Tickbird"), best("PgQueuer")
    share = None if ours is None or theirs is None else rates.ratio(ours, theirs)
    who = f"{ours} compared with {theirs or 'PgQueuer'}, each at its best"
    report.hold(f"{work}: {who}", "≥ 2 ×", share, None if share is None else share >= 2)
    ours, raw = "Tickbird, 100 slots, 1 worker(s)", "raw dequeue + finish, batch 100, 1 worker(s)"
    share = rates.ratio(ours, raw)
    report.hold(f"{work}: {ours} compared with {raw}", "≥ 0.50 ×", share, share >= 0.5)


async def _fill(contender: Contender, url: str, count: int) -> float:
    return count / await contender.fill(url, count)


async def _starts(url: str, seen: Seen) -> None:
    """A worker that reports the start of each run."""
    bird = Tickbird(url)

    @bird.task(schedule=every(days=1))
    async def noop() -> None:
        seen.starts.put(time.perf_counter())

    worker = WorkerProcess(bird, slots=10)
    worker.on_started = seen.started
    await run_worker(worker, seen)


async def _trigger(options: Options, report: Report, url: str) -> None:
    """From the call to the start, with an otherwise idle worker; compared with a commit of one bare row."""
    await PostgresStore(url).migrate()
    bare = await connect(url)
    await bare.execute(BARE["make_narrow"])
    seen = Seen(starts=SPAWN.SimpleQueue())
    worker = process(_starts, url, seen)
    bird = Tickbird(url)
    client = await bird.client()
    times: dict[str, list[float]] = {"trigger → start": [], "enqueue → start": [], "trigger returns": [], "commit": []}
    try:
        while not seen.count.value:
            await asyncio.sleep(0.01)
        for number in range(options.size(250, 5)):
            # Not synchronized with the intervals of the engine.
            await asyncio.sleep(random.uniform(0.06, 0.12))
            began = time.perf_counter()
            await bare.execute(BARE["enqueue_narrow"], {"first": number, "last": number}, prepare=True)
            times["commit"].append(time.perf_counter() - began)
            await asyncio.sleep(random.uniform(0.01, 0.05))
            began = time.perf_counter()
            await client.schedules.trigger("noop", actor="bench")
            times["trigger returns"].append(time.perf_counter() - began)
            times["trigger → start"].append(await asyncio.to_thread(seen.starts.get) - began)
            await asyncio.sleep(random.uniform(0.06, 0.12))
            began = time.perf_counter()
            await client.runs.enqueue("noop", actor="bench")
            times["enqueue → start"].append(await asyncio.to_thread(seen.starts.get) - began)
    finally:
        seen.stop.set()
        worker.join(10)
        await bird.aclose()
        await bare.close()
    report.samples |= times
    report.tables.append(
        Table(
            "Milliseconds from the call, one idle worker in another process",
            ("what", "p50", "p99", "maximum"),
            [
                [
                    name,
                    *(
                        1e3 * value
                        for value in (statistics.median(latencies), percentile(latencies, 0.99), max(latencies))
                    ),
                ]
                for name, latencies in times.items()
            ],
        )
    )
    if not options.quick:
        over = 1e3 * (statistics.median(times["trigger → start"]) - statistics.median(times["commit"]))
        report.hold("trigger → start, p50 over a bare commit", "≤ 3 ms", over, over <= 3, "ms")
        over = 1e3 * (statistics.median(times["enqueue → start"]) - statistics.median(times["commit"]))
        report.hold("enqueue → start, p50 over a bare commit", "(≤ 3 ms)", over, over <= 3, "ms")
