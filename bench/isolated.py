"""What a process of its own costs a run: the start of a child, and a run in a warm one."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bench.common import Options, Report, Table, percentile
from bench.contenders import Seen, TickbirdWorker, run_worker
from bench.isolated_app import bird
from tickbird.domain.runs.run import ClaimedRun
from tickbird.engine.processes.pool import ProcessPool
from tickbird.engine.processes.task_process import ChildConfig
from tickbird.targets.protocol import Run
from tickbird.worker import WorkerProcess


@dataclass(frozen=True, slots=True)
class IsolatedWorker(TickbirdWorker):
    """The real worker, each run in a child process."""

    name: str = "Tickbird, isolated"

    async def work(self, url: str, seen: Seen) -> None:
        """As `tickbird worker` does; a run has started when it is handed to a child."""
        bird.url = url
        worker = WorkerProcess(bird, slots=self.slots)
        children = worker._children
        assert children is not None
        execute = children.execute

        def counted(*args: Any) -> Any:
            seen.started()
            return execute(*args)

        children.execute = counted  # type: ignore[method-assign, assignment]
        await run_worker(worker, seen)


async def measure_starts(options: Options, report: Report) -> None:
    """Cold and warm, without a store; beside the start of an interpreter that does nothing."""
    times = await asyncio.to_thread(_times, options.size(10, 1), options.size(2_000, 5))
    report.samples |= times
    report.tables.append(
        Table(
            "Milliseconds of runs in child processes, without a store",
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
            "A cold run starts a keeper and a child and imports a small app; a warm one finds a child that waits.",
        )
    )


def _times(rounds: int, warm: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"interpreter that does nothing": [], "cold no-op run": [], "warm no-op run": []}
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times["interpreter that does nothing"].append(time.perf_counter() - began)
        children = ProcessPool(ChildConfig("bench.isolated_app:bird", bird.url, bird.namespace), {}, lease=30.0)
        try:
            times["cold no-op run"].append(_run(children))
            times["warm no-op run"] += [_run(children) for _ in range(warm // rounds)]
        finally:
            children.close()
    return times


def _run(children: ProcessPool) -> float:
    claimed = ClaimedRun(1, 1, 0, "noop", "manual", datetime.now(UTC), {})
    began = time.perf_counter()
    children.execute(claimed, Run(claimed), bird.tasks["noop"], lambda: None).future.result(60)
    return time.perf_counter() - began
