"""Comparisons of a store with the journals of its workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.faults import Fleet, until
from tickbird import every
from tickbird.client import Client
from tickbird.domain.runs.run import FINAL, RunRecord, SkipRecord
from tickbird.store.protocol.store import Store


async def final(client: Client, run_id: int) -> RunRecord:
    """A run once it is final."""

    async def look() -> RunRecord | None:
        run = await client.runs.get(run_id)
        return run if run.status in FINAL else None

    record: RunRecord = await until(look)
    return record


async def all_runs(store: Store, schedule: str | None = None) -> list[RunRecord]:
    """Every run, oldest first."""
    return list(await store.runs.list("default", schedule=schedule, limit=100_000))[::-1]


async def all_skips(store: Store, schedule: str) -> Sequence[SkipRecord]:
    """Every skip of a schedule, oldest first."""
    stored = await store.schedules.get("default", schedule)
    assert stored is not None
    far = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    return (await store.ledger.tick_decisions(stored.id, *far, limit=100_000)).skips


async def at_rest(store: Store) -> list[RunRecord]:
    """Every run once all are final."""

    async def look() -> list[RunRecord]:
        runs = await all_runs(store)
        return runs if all(run.status in FINAL for run in runs) else []

    runs: list[RunRecord] = await until(look)
    return runs


async def accounted(store: Store, schedule: str, step: int, since: int) -> int:
    """Every tick after `since`, this many seconds apart, has one run or is in one skip; returns their number."""
    stored = await store.schedules.get("default", schedule)
    assert stored is not None
    assert stored.cursor.planned_until is not None
    runs = [run for run in await all_runs(store, schedule) if run.scheduled_for is not None]
    decided = Counter(int(run.scheduled_for.timestamp()) for run in runs if run.scheduled_for)
    for skip in await all_skips(store, schedule):
        ticks = range(int(skip.first.timestamp()), int(skip.last.timestamp()) + 1, step)
        assert len(ticks) == skip.count
        decided.update(ticks)
    first = since - since % step + step
    wanted = list(range(first, stored.cursor.planned_until + 1, step))
    assert sorted(decided.elements()) == [tick for tick in wanted if tick <= max(decided, default=0)]
    return len(decided)


async def agrees(fleet: Fleet, store: Store) -> None:
    """The journals of the processes and the records of the store agree."""
    runs = {run.id: run for run in await all_runs(store)}
    ran = fleet.entries("done")
    for entry in ran:
        run = runs[entry.run or 0]
        assert (entry.attempt or 0) <= run.attempt
        assert entry.tick == (int(run.scheduled_for.timestamp()) if run.scheduled_for else None)
    times = Counter((entry.run, entry.attempt) for entry in ran)
    assert max(times.values(), default=1) == 1, "one attempt ran twice"
    for run in runs.values():
        if run.status == "succeeded":
            [entry] = [entry for entry in ran if (entry.run, entry.attempt) == (run.id, run.attempt)]
            assert entry.pid == run.result, "the wrong process was believed"


async def ticking(client: Client, name: str = "clock", **policies: Any) -> int:
    """A schedule with a tick each second, none of which is skipped; returns the instant before the first."""
    # No tick is late, however slowly its workers start.
    policies = {"overlap": "allow", "grace": "1h", **policies}
    schedule = await client.schedules.create(
        name, every(seconds=1), "succeed", actor="ada", unknown_task_ok=True, **policies
    )
    assert schedule.cursor.planned_until is not None
    return schedule.cursor.planned_until


async def settled(client: Client, store: Store, fleet: Fleet, schedules: Mapping[str, int]) -> list[RunRecord]:
    """Once these schedules with a tick each second are paused and all is done: nothing was lost, nothing doubled."""
    for name in schedules:
        await client.schedules.pause(name, actor="ada")
    runs = await at_rest(store)
    assert {run.status for run in runs} == {"succeeded"}
    for run in runs:
        # On a busy machine, a worker may requeue prefetched runs.
        attempts = await client.runs.list_attempts(run.id) if run.attempt > 1 else ()
        put_back = sum(attempt.outcome == "drained" for attempt in attempts)
        assert run.attempt == 1 + run.crashes + put_back, f"an attempt that no lost worker explains: {run}, {attempts}"
    for name, since in schedules.items():
        assert await accounted(store, name, 1, since) >= 2
    await agrees(fleet, store)
    return runs
