"""A burst: thousands of schedules inserted by plain SQL, due at the same second; another one must stay on time."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.faults.fleet import Fleet
from tickbird import every
from tickbird.client import StoreClient
from tickbird.domain.runs.run import RunRecord
from tickbird.proof.fleet import until
from tickbird.stores import open_store

# Seconds.
MAX_LATENESS = 5
_PLAN_TIME_PER_SCHEDULE = 0.0015
_LEAD_TIME = 5


@dataclass(frozen=True)
class BurstReport:
    """The lateness of the other schedule, and the cost of the burst."""

    size: int
    # The ticks of the other schedule that were late, skipped or did not start in time.
    late: list[str]
    ticks: int
    worst_lateness: float
    seconds: float
    # The peak memory of a worker in bytes, before and after.
    memory: tuple[int, int]


async def run_burst(
    url: str, folder: Path, size: int, workers: int = 2, max_lateness: int = MAX_LATENESS
) -> BurstReport:
    """Create `size` schedules that are due at once, and wait until all of them have run."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    client = StoreClient(store)
    try:
        await client.schedules.create(
            "other",
            every(seconds=1),
            "succeed",
            actor="lab",
            unknown_task_ok=True,
            overlap="allow",
            priority=1,
            grace=max_lateness,
            start_within=max_lateness,
        )
        with Fleet(url, folder) as fleet:
            for _ in range(workers):
                fleet.start(lease=30.0, slots=20)
            await fleet.wait_for_runs(2)
            before = _peak_memory(fleet)
            lead_time = _LEAD_TIME + size * _PLAN_TIME_PER_SCHEDULE
            at = int(time.time() + lead_time)
            _insert(url, size, at)
            await until(lambda: time.time() > at, lead_time + 10)
            began = time.monotonic()

            async def is_over() -> bool:
                rows = await client.schedules.list(contains="due-", state="active", limit=1)
                return not rows and not await client.runs.list(status="queued", limit=1)

            await until(is_over, 60 + size / 100)
            seconds = time.monotonic() - began
            await fleet.wait_for_runs(2)
            await client.schedules.pause("other", actor="lab")
            after = _peak_memory(fleet)
        runs = await store.runs.list("default", schedule="other", limit=100_000)
        stored = await client.schedules.get("other")
        all_time = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
        skips = (await store.ledger.tick_decisions(stored.id, *all_time, limit=1_000)).skips
        late = [f"{run.scheduled_for} {run.origin} {run.reason}" for run in runs if not _is_on_time(run)]
        late += [f"{skip.first} {skip.reason} × {skip.count}" for skip in skips]
        lateness = [(run.started_at - run.due_at).total_seconds() for run in runs if run.started_at is not None]
        return BurstReport(size, late, len(runs), max(lateness), seconds, (before, after))
    finally:
        await store.close()


def _is_on_time(run: RunRecord) -> bool:
    return run.origin == "schedule" and run.reason is None


def _peak_memory(fleet: Fleet) -> int:
    peaks = []
    for member in fleet.alive:
        lines = Path(f"/proc/{member.pid}/status").read_text().splitlines()
        peaks += [int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmHWM")]
    return max(peaks)


def _insert(url: str, size: int, at: int) -> None:
    instant = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    definition: dict[str, Any] = {"v": 1, "trigger": {"at": instant}, "target": {"task": "do_nothing"}}
    text = json.dumps(definition)
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=30.0)
        with connection:
            rows = ((f"due-{number}", text) for number in range(size))
            connection.executemany("INSERT INTO schedules (name, definition) VALUES (?, ?)", rows)
        connection.close()
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as server:
        server.execute(
            "INSERT INTO tickbird.schedules (name, definition)"
            " SELECT 'due-' || n, %s::jsonb FROM generate_series(1, %s) AS n",
            (text, size),
        )
