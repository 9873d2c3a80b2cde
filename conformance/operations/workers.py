"""Live workers, and the schedules that code declares."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from conformance.steps import NAMESPACE, a_worker, change, create, define, later
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.commands.define import Delete, SyncFromCode, Update
from tickbird.store.protocol.store import Store


class Workers:
    """Reports, and schedules by app."""

    async def test_a_worker_is_listed_as_it_reported(self, store: Store) -> None:
        worker = a_worker(
            kind="sync",
            queues=("a", "b"),
            slots=4,
            tasks={"work": {"queue": "a", "schema": {"type": "object", "title": "“é”"}}},
            declared={"nightly": "f1"},
            draining=True,
            standby_reason="plans nothing",
            health={"stuck": 1},
        )
        reported = await store.workers.heartbeat(worker, 30, now=later(5))
        assert (reported.now, reported.peers) == (later(5), frozenset())
        [found] = await store.workers.list(NAMESPACE, now=later(6))
        for name in (
            "id",
            "namespace",
            "app",
            "host",
            "pid",
            "version",
            "kind",
            "queues",
            "slots",
            "draining",
            "standby_reason",
            "health",
        ):
            assert getattr(found, name) == getattr(worker, name), name
        assert (dict(found.tasks), dict(found.declared)) == (worker.tasks, worker.declared)
        assert (found.started_at, found.last_heartbeat_at, found.live_until) == (later(5), later(5), later(35))

    async def test_a_report_refreshes_the_row(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker(slots=1), 30, now=later(0))
        await store.workers.heartbeat(a_worker(slots=9, draining=True), 30, now=later(20))
        [found] = await store.workers.list(NAMESPACE, now=later(40))
        assert (found.slots, found.draining) == (9, True)
        assert (found.started_at, found.last_heartbeat_at, found.live_until) == (later(0), later(20), later(50))

    async def test_only_live_workers_of_the_namespace_are_listed(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("b"), 60, now=later(0))
        await store.workers.heartbeat(a_worker("c", namespace="elsewhere"), 600, now=later(0))
        assert {found.id for found in await store.workers.list(NAMESPACE, now=later(10))} == {"a", "b"}
        assert {found.id for found in await store.workers.list(NAMESPACE, now=later(31))} == {"b"}
        assert list(await store.workers.list(NAMESPACE, now=later(61))) == []
        await store.workers.heartbeat(a_worker("a"), 30, now=later(100))
        assert {found.id for found in await store.workers.list(NAMESPACE, now=later(101))} == {"a"}

    async def test_workers_that_plan_are_counted_in_all_namespaces(self, store: Store) -> None:
        assert (await store.workers.heartbeat(a_worker("a", kind="executor"), 30, now=later(0))).planners == 0
        assert (await store.workers.heartbeat(a_worker("b", kind="sync"), 30, now=later(0))).planners == 0
        assert await store.workers.count_planners(now=later(0)) == 0
        assert (await store.workers.heartbeat(a_worker("c", namespace="elsewhere"), 20, now=later(0))).planners == 1
        assert (await store.workers.heartbeat(a_worker("d", kind="planner"), 30, now=later(0))).planners == 2
        assert await store.workers.count_planners(now=later(0)) == 2
        assert (await store.workers.heartbeat(a_worker("a", kind="executor"), 30, now=later(21))).planners == 1
        assert (
            await store.workers.heartbeat(a_worker("d", kind="planner", draining=True), 30, now=later(22))
        ).planners == 0
        assert await store.workers.count_planners(now=later(22)) == 0

    async def test_lost_workers_are_listed_for_a_day(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a", queues=("gpu",)), 10, now=later(0))
        await store.workers.heartbeat(a_worker("b"), 20, now=later(0))
        await store.workers.heartbeat(a_worker("c", namespace="elsewhere"), 20, now=later(0))
        await store.workers.heartbeat(a_worker("d"), 20, now=later(0))
        await store.workers.remove("d")
        assert list(await store.workers.list_lost(NAMESPACE, now=later(9))) == []
        [lost] = await store.workers.list_lost(NAMESPACE, now=later(10))
        assert (lost.id, lost.queues, lost.live_until) == ("a", ("gpu",), later(10))
        assert [worker.id for worker in await store.workers.list_lost(NAMESPACE, now=later(20))] == ["b", "a"]
        assert [worker.id for worker in await store.workers.list_lost(NAMESPACE, now=later(86_411))] == ["b"]

    async def test_snapshot_has_the_clock_and_the_workers_that_are_live(self, store: Store) -> None:
        before = await store.now()
        at, workers = await store.workers.snapshot(NAMESPACE)
        assert before <= at <= await store.now()
        assert list(workers) == []
        await store.workers.heartbeat(a_worker("a"), 600)
        await store.workers.heartbeat(a_worker("b"), 600)
        await store.workers.heartbeat(a_worker("c", namespace="elsewhere"), 600)
        # Its lease ended at the instant of its heartbeat.
        await store.workers.heartbeat(a_worker("d"), 0)
        assert (await store.workers.snapshot(NAMESPACE, now=later(1)))[0] == later(1)
        at, workers = await store.workers.snapshot(NAMESPACE)
        assert {worker.id for worker in workers} == {"a", "b"}
        assert list(workers) == list(await store.workers.list(NAMESPACE))
        assert all(worker.live_until is not None and worker.live_until > at for worker in workers)

    async def test_a_report_names_the_other_live_workers_of_the_app(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("b"), 60, now=later(0))
        await store.workers.heartbeat(replace(a_worker("c"), app="other"), 60, now=later(0))
        await store.workers.heartbeat(a_worker("d", namespace="elsewhere"), 60, now=later(0))
        assert (await store.workers.heartbeat(a_worker("e"), 60, now=later(10))).peers == {"a", "b"}
        assert (await store.workers.heartbeat(a_worker("e"), 60, now=later(31))).peers == {"b"}
        await store.workers.remove("b")
        assert (await store.workers.heartbeat(a_worker("e"), 60, now=later(32))).peers == set()

    async def test_a_retired_worker_is_gone(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a"), 30, now=later(0))
        await store.workers.remove("a")
        await store.workers.remove("never-seen")
        assert list(await store.workers.list(NAMESPACE, now=later(1))) == []

    async def test_heartbeat_returns_a_drain_request(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("a"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("b"), 30, now=later(0))
        asked = await store.workers.drain(NAMESPACE, "a", "ada", note="new kernel", now=later(5))
        assert (asked.id, asked.drain_requested_at, asked.drain_requested_by) == ("a", later(5), "ada")
        # Asking again changes nothing, and nothing takes it back: not even who reports on.
        assert await store.workers.drain(NAMESPACE, "a", "bo", now=later(6)) == asked
        for _ in range(2):
            assert (await store.workers.heartbeat(a_worker("a"), 30, now=later(10))).drain_requested_by == "ada"
        assert (await store.workers.heartbeat(a_worker("b"), 30, now=later(10))).drain_requested_by == ""
        listed = {found.id: found.drain_requested_by for found in await store.workers.list(NAMESPACE, now=later(11))}
        assert listed == {"a": "ada", "b": None}
        [told] = await store.ledger.list_audit(NAMESPACE)
        assert (told.action, told.actor, told.at, told.schedule) == ("drain_worker", "ada", later(5), None)
        assert dict(told.detail) == {"worker": "a", "note": "new kernel"}

    async def test_only_a_live_worker_of_the_namespace_is_drained(self, store: Store) -> None:
        await store.workers.heartbeat(a_worker("gone"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("there", namespace="elsewhere"), 600, now=later(0))
        await store.workers.heartbeat(a_worker("step", kind="sync"), 600, now=later(0))
        for name in ("gone", "there", "never-seen"):
            with pytest.raises(NotFoundError, match=f"there is no live worker '{name}'"):
                await store.workers.drain(NAMESPACE, name, "ada", now=later(40))
        with pytest.raises(ConflictError, match="step is a deploy step"):
            await store.workers.drain(NAMESPACE, "step", "ada", now=later(40))
        assert await store.ledger.list_audit(NAMESPACE) == []

    async def test_a_drain_calls_for_heartbeats(self, store: Store, other: Store) -> None:
        await store.workers.heartbeat(a_worker("a"), 600)
        async with store.wakeups() as wakeups:
            await other.workers.drain(NAMESPACE, "a", "ada")
            async with asyncio.timeout(30):
                async for heartbeat_wanted in wakeups:
                    if heartbeat_wanted:
                        break

    async def test_reports_use_the_stores_clock(self, store: Store) -> None:
        before = await store.now()
        seen = await store.workers.heartbeat(a_worker(), 60)
        assert before <= seen.now <= await store.now()
        assert [found.id for found in await store.workers.list(NAMESPACE)] == ["w1"]

    async def test_an_app_sees_its_own_schedules_and_those_it_names(self, store: Store) -> None:
        await create(store, "mine", app="app", fingerprint="f1")
        await create(store, "gone", app="app", fingerprint="f1")
        await change(store, Delete(actor="ada"), 10, name="gone")
        await create(store, "theirs", app="other", fingerprint="f1")
        await create(store, "unnamed", app="other", fingerprint="f1")
        await create(store, "by-hand")
        await create(store, "mine", namespace="elsewhere", app="app", fingerprint="f9")
        found = await store.schedules.list_of_app(NAMESPACE, "app", ("theirs", "by-hand", "unknown"))
        assert set(found) == {"mine", "gone", "theirs", "by-hand"}
        assert (found["mine"].schedule.app, found["theirs"].schedule.app) == ("app", "other")
        assert (found["gone"].schedule.state, found["by-hand"].schedule.app) == ("deleted", None)
        assert found["mine"].schedule == await store.schedules.get(NAMESPACE, "mine")
        assert set(await store.schedules.list_of_app(NAMESPACE, "app", ())) == {"mine", "gone"}
        assert dict(await store.schedules.list_of_app(NAMESPACE, "nobody", ())) == {}

    async def test_every_fingerprint_ever_declared_is_remembered(self, store: Store) -> None:
        await create(store, "mine", app="app", fingerprint="f1")
        for number in (2, 3):
            redefine = SyncFromCode(
                actor="sync", definition=define(priority=number), app="app", fingerprint=f"f{number}"
            )
            await change(store, redefine, number, name="mine")
        await change(store, Update(actor="ada", fields={"retries": 1}), 5, name="mine")
        [stored] = (await store.schedules.list_of_app(NAMESPACE, "app", ())).values()
        assert (set(stored.fingerprints), stored.schedule.fingerprint) == ({"f1", "f2", "f3"}, "f3")
        await create(store, "by-hand")
        assert set((await store.schedules.list_of_app(NAMESPACE, "app", ("by-hand",)))["by-hand"].fingerprints) == set()
