"""Why a run waits, and why no worker takes it."""

from __future__ import annotations

from dataclasses import replace

from conformance.steps import claim, create, later, plan, runs_of, start
from tests.client.why.questions import W1, alive, ask, step
from tickbird.store.protocol.store import Store


class TestWaitingAndQueued:
    async def test_waits_for_a_run(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        first = await start(store, 61)
        await plan(store, 120)
        answer = await ask(store, 120, now=130)
        assert answer.verdict == "waiting"
        _, second = await runs_of(store)
        assert answer.sentence == (
            f"Run {second.id} waits for run {first.id}, running since 2026-01-01 00:01:01 UTC on worker w1 "
            "(overlap=queue, max_concurrent=1)."
        )
        assert (step(answer, "overlap").ok, step(answer, "overlap").run_id) == (False, first.id)

    async def test_waits_in_a_line(self, store: Store) -> None:
        await create(store, catch_up="all")
        await plan(store, 200)
        answer = await ask(store, 180, now=210)
        first, _, third = await runs_of(store)
        assert answer.sentence.startswith(
            f"Run {third.id} waits for run {first.id}, queued since 2026-01-01 00:03:20 UTC, after 1 other waiting run"
        )

    async def test_no_worker_is_alive(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await runs_of(store)
        answer = await ask(store, 60, now=70)
        assert answer.verdict == "queued"
        assert answer.sentence == (
            f"Run {run.id} has been queued since 2026-01-01 00:01:00 UTC: no live worker executes runs."
        )

    async def test_no_live_worker_serves_its_queue(self, store: Store) -> None:
        await create(store, queue="gpu")
        await plan(store, 60)
        await alive(store, 60)
        answer = await ask(store, 60, now=70)
        assert answer.sentence.endswith("no live worker serves queue 'gpu' (served: default).")
        assert (step(answer, "worker").ok, step(answer, "queue").text) == (
            False,
            "In queue 'gpu' since 2026-01-01 00:01:00 UTC (10 s).",
        )

    async def test_the_last_worker_of_its_queue_was_lost(self, store: Store) -> None:
        await create(store, queue="gpu")
        await plan(store, 60)
        await alive(store, 1, replace(W1, id="w0", queues=("gpu",)))
        await alive(store, 5, replace(W1, queues=("gpu",)))
        await alive(store, 6, replace(W1, id="w2", queues=("gpu",), tasks={}))
        await alive(store, 60, replace(W1, id="w3"))
        answer = await ask(store, 60, now=100)
        assert answer.sentence.endswith(
            "no live worker serves queue 'gpu' (served: default) since worker w1 was lost "
            "(its last heartbeat was at 2026-01-01 00:00:05 UTC)."
        )

    async def test_no_live_worker_knows_its_task(self, store: Store) -> None:
        await create(store, task="other")
        await plan(store, 60)
        await alive(store, 60)
        assert (await ask(store, 60, now=70)).sentence.endswith("no live worker knows task 'other'.")

    async def test_all_slots_are_busy(self, store: Store) -> None:
        await create(store, overlap="allow")
        for tick in (60, 120, 180):
            await plan(store, tick)
        await alive(store, 180)
        await claim(store, 181, 2, worker=W1)
        answer = await ask(store, 180, now=182)
        assert answer.sentence.endswith("all slots of the workers that could claim it are busy (2 slots on 1).")

    async def test_a_worker_should_take_it(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await alive(store, 60)
        answer = await ask(store, 60, now=61)
        assert answer.sentence.endswith("a worker should claim it at any moment.")
        assert step(answer, "worker").ok is None

    async def test_must_start_by(self, store: Store) -> None:
        await create(store, start_within=300)
        await plan(store, 60)
        answer = await ask(store, 60, now=70)
        assert "it is cancelled unless it starts by 2026-01-01 00:06:00 UTC" in step(answer, "queue").text

    async def test_did_not_start_in_time(self, store: Store) -> None:
        await create(store, start_within=300)
        await plan(store, 60)
        await store.leases.rescue(now=later(400))
        answer = await ask(store, 60, now=410)
        [run] = await runs_of(store)
        assert answer.verdict == "cancelled"
        assert answer.sentence == (
            f"Run {run.id} was cancelled: it had not started within 5 min of being due, "
            "by 2026-01-01 00:06:00 UTC (misfire)."
        )

    async def test_was_replaced(self, store: Store) -> None:
        await create(store, overlap="replace")
        await plan(store, 60)
        await plan(store, 120)
        answer = await ask(store, 60, now=130)
        first, second = await runs_of(store)
        assert answer.verdict == "cancelled"
        assert answer.sentence == f"Run {first.id} was cancelled: run {second.id} of a newer tick replaced it."
