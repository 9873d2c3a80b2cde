"""Do tables and indexes stay flat? Schedules that tick every second are executed and pruned for minutes."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

from bench.common import Options, Report, Table, say
from bench.contenders import Seen, process, run_worker
from bench.database import STATEMENTS, Schedules, server, version
from tickbird import Run, Tickbird, cron
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.store.postgres import PostgresStore
from tickbird.worker import WorkerProcess

KEEP_SECONDS = 60.0
TABLES = ("cursors", "runs")


async def measure(options: Options, report: Report) -> None:
    """Run a worker, prune runs that ended a minute ago, and sample the sizes."""
    count, seconds, apart = options.size(1_500, 5), options.size(600, 3), options.size(15, 1)
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP, autovacuum with its defaults"
        url = running.create_database()
        schedules = Schedules(url)
        await schedules.make(count, (Definition(trigger=cron("* * * * * *"), target=Target("noop"), overlap="allow"),))
        due = math.ceil(time.time()) + 2
        schedules.execute(
            "UPDATE tickbird.cursors SET next_run_at = to_timestamp(%s), planned_until = to_timestamp(%s)",
            (due, due - 1),
        )
        seen = Seen()
        worker = process(work, url, seen)
        store = PostgresStore(url)
        await store.open()
        samples: list[dict[str, Any]] = []
        began = sampled_at = time.monotonic()
        while time.monotonic() - began < seconds:
            while await store.runs.prune(older_than=KEEP_SECONDS if not options.quick else 1.0, keep=0) >= 1_000:
                pass
            if time.monotonic() - sampled_at >= apart:
                sampled_at = time.monotonic()
                samples.append(_sample(schedules, round(sampled_at - began), seen.count.value))
            await asyncio.sleep(0.5)
        seen.stop.set()
        await asyncio.to_thread(worker.join)
        await store.close()
        schedules.close()
    _report(report, samples, options)


async def work(url: str, seen: Seen) -> None:
    bird = Tickbird(url)

    @bird.task
    async def noop(run: Run) -> None:
        seen.started()

    await run_worker(WorkerProcess(bird, slots=1_000), seen)


def _sample(schedules: Schedules, at: int, runs: int) -> dict[str, Any]:
    sizes = {name: row for name, *row in schedules.execute(STATEMENTS["sizes"].decode())}
    sample = {"seconds": at, "runs executed": runs}
    for table in TABLES:
        heap, indexes, dead, vacuums = sizes[table]
        sample |= {
            f"{table} MB": heap / 1e6,
            f"its indexes MB ({table})": indexes / 1e6,
            f"dead rows ({table})": dead,
            f"vacuums ({table})": vacuums,
        }
    say(", ".join(f"{name} {value:,.0f}" for name, value in sample.items()))
    return sample


def _report(report: Report, samples: list[dict[str, Any]], options: Options) -> None:
    if not samples:
        return
    columns = tuple(samples[0])
    report.tables.append(Table("Sizes over time", columns, [[sample[name] for name in columns] for sample in samples]))
    for name in columns:
        report.samples[name] = [float(sample[name]) for sample in samples]
    if options.quick:
        return
    # After the first third, pruned and created rows are in balance.
    third = samples[len(samples) // 3 :]
    early, late = third[: len(third) // 2], third[len(third) // 2 :]
    for table in TABLES:
        for name in (f"{table} MB", f"its indexes MB ({table})"):
            growth = max(sample[name] for sample in late) / max(sample[name] for sample in early)
            report.hold(f"growth of {name} from the second third to the last", "≤ 1.1 ×", growth, growth <= 1.1)
