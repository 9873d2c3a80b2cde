"""Very many schedules due at the same second, brought in by plain SQL, beside one that ticks every second."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tickbird import every
from tickbird.client import Client
from tickbird.domain.runs.run import RunRecord
from tickbird.stores import open_store
from tickbird.testing.faults.fleet import Fleet, until

# Seconds that the second-by-second schedule may be late, and that planning the many beforehand may take for each.
LATE = 5
_EACH = 0.0015
_AHEAD = 5


@dataclass(frozen=True)
class Climb:
    """How it went."""

    size: int
    # The ticks of the schedule beside it that were late, skipped or did not start in time.
    late: list[str]
    ticks: int
    worst_lateness: float
    seconds: float
    # The most memory that a worker ever took, in bytes, before and after.
    memory: tuple[int, int]


async def climb(url: str, folder: Path, size: int, workers: int = 2, late_after: int = LATE) -> Climb:
    """Let so many be due at once, until all of them have run."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    client = Client(store)
    try:
        await client.create(
            "beside",
            every(seconds=1),
            "brief",
            actor="lab",
            unknown_task_ok=True,
            overlap="allow",
            priority=1,
            grace=late_after,
            start_within=late_after,
        )
        with Fleet(url, folder) as fleet:
            for _ in range(workers):
                fleet.start(lease=30.0, slots=20)
            await fleet.ran_more(2)
            before = _peak(fleet)
            at = int(time.time() + _AHEAD + size * _EACH)
            _insert(url, size, at)
            await until(lambda: time.time() > at, _AHEAD + size * _EACH + 10)
            began = time.monotonic()

            async def over() -> bool:
                rows = await client.list(contains="due-", state="active", limit=1)
                return not rows and not await client.runs(status="queued", limit=1)

            await until(over, 60 + size / 100)
            seconds = time.monotonic() - began
            await fleet.ran_more(2)
            await client.pause("beside", actor="lab")
            after = _peak(fleet)
        runs = await store.list_runs("default", schedule="beside", limit=100_000)
        stored = await client.get("beside")
        far = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
        skips = (await store.tick_decisions(stored.id, *far, limit=1_000)).skips
        late = [f"{run.scheduled_for} {run.origin} {run.reason}" for run in runs if not _is_good(run)]
        late += [f"{skip.first} {skip.reason} × {skip.count}" for skip in skips]
        started = [run.started_at - run.due_at for run in runs if run.started_at is not None]
        worst = max(each.total_seconds() for each in started)
        return Climb(size, late, len(runs), worst, seconds, (before, after))
    finally:
        await store.close()


def _is_good(run: RunRecord) -> bool:
    return run.origin == "schedule" and run.reason is None


def _peak(fleet: Fleet) -> int:
    """The most memory that a worker has taken so far."""
    found = []
    for member in fleet.alive:
        lines = Path(f"/proc/{member.pid}/status").read_text().splitlines()
        found += [int(line.split()[1]) * 1_024 for line in lines if line.startswith("VmHWM")]
    return max(found)


def _insert(url: str, size: int, at: int) -> None:
    instant = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    definition: dict[str, Any] = {"v": 1, "trigger": {"at": instant}, "target": {"task": "silent"}}
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
