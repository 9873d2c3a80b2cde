"""How much there is of everything: of one namespace, and bounded."""

from __future__ import annotations

from conformance.steps import NAMESPACE, a_worker, change, create, enqueue, finish, later, plan, start
from tickbird.domain.doctor.metrics import RECENTLY
from tickbird.domain.planning.commands.pause import Pause
from tickbird.store.protocol.store import Store


class Metrics:
    """Counts and ages."""

    async def test_everything_is_measured(self, store: Store) -> None:
        empty = await store.statistics.read_metrics(NAMESPACE, now=later(0))
        assert (empty.now, empty.runs, empty.schedules) == (later(0), {"queued": 0, "running": 0, "waiting": 0}, {})
        assert (empty.queued_since, empty.due_since, empty.workers, empty.capped) == (None, None, 0, False)
        for name in ("a", "b", "c"):
            await create(store, name)
        await change(store, Pause(actor="ada"), 1, name="c")
        await plan(store, 60)
        for status in ("succeeded", "failed"):
            await enqueue(store, 61, priority=9)
            await finish(store, await start(store, 62), 63, status)
        running = await start(store, 64)
        await enqueue(store, 90, delay=600)
        await store.workers.heartbeat(a_worker(slots=7), 600, now=later(60))
        await store.workers.heartbeat(a_worker("w2", draining=True, slots=1), 600, now=later(60))
        await store.workers.heartbeat(a_worker("w3", kind="sync"), 600, now=later(60))
        found = await store.statistics.read_metrics(NAMESPACE, now=later(150))
        assert found.schedules == {"active": 2, "paused": 1}
        assert found.runs == {"queued": 2, "running": 1, "waiting": 0}
        assert found.ended == {"succeeded": 1, "failed": 1}
        assert (found.queued_since, found.due_since) == (later(60), later(120))
        assert (found.workers, found.draining, found.slots) == (2, 1, 8)
        assert not found.capped
        few = await store.statistics.read_metrics(NAMESPACE, maximum=1, now=later(150))
        assert (few.capped, few.runs["queued"], sum(few.schedules.values())) == (True, 1, 1)
        # What ended is soon no longer recent, and workers are lost.
        await finish(store, running, 160)
        after = await store.statistics.read_metrics(NAMESPACE, now=later(161 + RECENTLY))
        assert (after.ended, after.workers) == ({}, 2)
        assert (await store.statistics.read_metrics(NAMESPACE, now=later(2_000))).workers == 0

    async def test_another_namespace_is_not_measured(self, store: Store) -> None:
        await create(store, "a", namespace="elsewhere")
        await plan(store, 60)
        await enqueue(store, 60, namespace="elsewhere")
        await finish(store, await start(store, 61, worker=a_worker(namespace="elsewhere")), 62)
        await store.workers.heartbeat(a_worker(namespace="elsewhere"), 600, now=later(60))
        found = await store.statistics.read_metrics(NAMESPACE, now=later(200))
        assert (found.schedules, found.ended, found.workers) == ({}, {}, 0)
        assert set(found.runs.values()) == {0}
        assert (found.queued_since, found.due_since) == (None, None)
