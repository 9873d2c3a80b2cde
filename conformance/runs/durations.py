"""Durations of successful runs by schedule, with limits."""

from __future__ import annotations

from conformance.steps import NAMESPACE, create, finish, plan, start
from tickbird.domain.runs.durations import MAX_MEASURED, MAX_RUNS_READ, DurationStats
from tickbird.store.protocol.store import Store


class Durations:
    """Lengths of runs."""

    async def test_durations_come_from_the_last_successful_runs(self, store: Store) -> None:
        await create(store, "a")
        await create(store, "b")
        for number, (seconds, status) in enumerate([(50, "failed"), (1, "succeeded"), (3, "succeeded"), (5, "failed")]):
            at = 60 * (number + 1)
            await plan(store, at)
            runs = {run.schedule: run for run in (await start(store, at), await start(store, at))}
            await finish(store, runs["a"], at + seconds, status)  # type: ignore[arg-type]
            await finish(store, runs["b"], at + 59, "failed")
        found = await store.statistics.read_durations(NAMESPACE, ["a", "b", "nobody"])
        assert found == {"a": DurationStats(2.0, 3.0, 2)}
        assert await store.statistics.read_durations("elsewhere", ["a"]) == {}
        assert await store.statistics.read_durations(NAMESPACE, []) == {}

    async def test_only_the_newest_runs_are_examined(self, store: Store) -> None:
        await create(store, "a")
        for number in range(MAX_MEASURED + 3):
            at = 60 * (number + 1)
            await plan(store, at)
            await finish(store, await start(store, at), at + 10 + number)
        found = (await store.statistics.read_durations(NAMESPACE, ["a"]))["a"]
        assert (found.runs, found.median) == (MAX_MEASURED, 10 + 3 + (MAX_MEASURED - 1) / 2)
        assert MAX_RUNS_READ > MAX_MEASURED
