"""Roles of workers: what each does for the store, how it is set, and which worker writes the schedules of its code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.engine.test_worker import QUICK, final, until, working
from tickbird import InvalidError, Tickbird, event, every
from tickbird.client import Client, StoreClient
from tickbird.domain.events.event import Event
from tickbird.domain.runs.run import NewRun
from tickbird.domain.targets.target import TASK, Target
from tickbird.domain.workers import Worker
from tickbird.engine.maintenance import Retention
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess

NEVER = every(hours=1, anchor=datetime(2100, 1, 1, tzinfo=UTC))


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    postgres = request.param == "postgres"
    store = open_store(request.getfixturevalue("migrated_url") if postgres else f"sqlite:///{tmp_path}/roles.db")
    await store.migrate()
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def bird(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Tickbird:
    """An app with a task in each of two queues, and a consumer."""
    bird = Tickbird(_url(request, tmp_path), app="shop")

    @bird.task
    async def small() -> str:
        return "small"

    @bird.task(queue="gpu")
    async def large() -> str:
        return "large"

    @bird.consumer("orders.*", group="billing")
    async def handle(event: Event) -> None: ...

    return bird


def _url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.node.callspec.params["store"] == "postgres":
        return str(request.getfixturevalue("migrated_url"))
    return f"sqlite:///{tmp_path}/roles.db"


async def lose_a_run(store: Store) -> int:
    """A running run of a worker that is lost."""
    [run_id] = await store.runs.enqueue("default", [NewRun(Target("lost"), {})], "ada")
    lost = Worker(id="lost", namespace="default", app="shop", host="h", pid=1, version="0", slots=1)
    [run] = (await store.leases.claim(lost, 1, 0.001, queues=["default"], targets=[(TASK, "lost")])).runs
    assert run.id == run_id
    return run_id


async def overdue(client: Client, name: str) -> bool:
    """A schedule that is due and not planned."""
    next_run_at = (await client.schedules.get(name)).next_run_at
    return next_run_at is not None and next_run_at <= await client.system.now()


async def test_a_worker_that_only_plans_does_all_but_execute(bird: Tickbird, store: Store) -> None:
    bird.schedule("beat", bird.tasks["small"], every(seconds=1), overlap="allow")
    bird.schedule("fact", event("orders.due", "Due"), every(seconds=1), overlap="allow")
    lost = await lose_a_run(store)
    async with working(bird, role="plan-only") as (client, process):
        [worker] = await client.workers.list()
        assert (worker.kind, worker.queues, worker.slots, dict(worker.tasks)) == ("planner", (), 0, {})
        assert (process.plans, process.executes) == (True, False)
        run_id = await client.runs.enqueue("small", actor="ada")

        async def works() -> bool:
            planned = [run.scheduled_for for run in await client.runs.list(schedule="beat")]
            stamped = await client.events.list("orders.due")
            rescued = (await client.runs.get(lost)).status == "queued"
            return len(planned) >= 2 and len(stamped) >= 2 and rescued

        await until(works)
        assert {run.status for run in await client.runs.list(schedule="beat")} == {"queued"}
        assert (await client.runs.get(run_id)).status == "queued"
        assert not await store.consumers.list("default")


async def test_a_worker_that_only_executes_plans_rescues_and_stamps_nothing(bird: Tickbird, store: Store) -> None:
    bird.schedule("nightly", bird.tasks["small"], NEVER)
    client = await bird.client()
    await client.schedules.create("beat", every(seconds=1), "small", actor="ada", unknown_task_ok=True)
    lost = await lose_a_run(store)
    event_id = (await client.events.publish("orders.paid", "Paid", {}, actor="ada")).id
    await until(lambda: overdue(client, "beat"))
    async with working(bird, role="execute-only") as (client, process):
        [worker] = await client.workers.list()
        assert (worker.kind, worker.queues, worker.slots) == ("executor", ("default", "gpu"), 10)
        assert (process.plans, process.executes) == (False, True)
        # It writes the schedules of its code.
        assert (await client.schedules.get("nightly")).app == "shop"
        for task in ("small", "large", "small"):
            assert (await final(client, await client.runs.enqueue(task, actor="ada"))).status == "succeeded"
        assert not await client.runs.list(schedule="beat")
        assert (await client.runs.get(lost)).status == "running"
        # On SQLite, publishing stamps.
        assert bool(await client.events.list("orders.paid")) == isinstance(store, SqliteStore)
        # It delivers events that a worker that plans has stamped.
        async with working(bird, role="plan-only"):

            async def delivered() -> bool:
                [group] = await store.consumers.list("default")
                return group.lag == 0 and bool(await client.events.list("orders.paid"))

            await until(delivered)
            assert [event.id for event in await client.events.list("orders.paid")] == [event_id]

            async def executed() -> bool:
                return any(run.status == "succeeded" for run in await client.runs.list(schedule="beat"))

            await until(executed)


async def test_only_workers_that_plan_delete_old_runs(bird: Tickbird, store: Store) -> None:
    client = StoreClient(store)
    old = await client.runs.enqueue("old", actor="ada", unknown_task_ok=True)
    await client.runs.cancel(old, actor="ada")
    pruning = replace(QUICK, retention=Retention(seconds=0.0, keep=0))
    async with working(bird, role="execute-only", options=pruning):
        assert (await final(client, await client.runs.enqueue("small", actor="ada"))).status == "succeeded"
        assert (await client.runs.get(old)).status == "cancelled"
    async with working(bird, role="plan-only", options=pruning):

        async def pruned() -> bool:
            return await store.runs.get(old) is None

        await until(pruned)


async def test_an_edit_in_the_code_of_a_worker_that_only_executes(bird: Tickbird, store: Store) -> None:
    """As with every edit, the due ticks of this schedule are decided first, under the old definition."""
    bird.schedule("beat", bird.tasks["small"], every(seconds=1))
    client = StoreClient(store)
    async with working(bird, role="execute-only"):
        assert (await client.schedules.get("beat")).revision == 1
    await client.schedules.create("other", every(seconds=1), "small", actor="ada", unknown_task_ok=True)
    await until(lambda: overdue(client, "beat"))
    await until(lambda: overdue(client, "other"))
    edited = Tickbird(bird.url, app="shop")

    @edited.task
    async def small() -> None: ...

    edited.schedule("beat", small, NEVER)
    async with working(edited, role="execute-only"):

        async def executed() -> bool:
            return any(run.status == "succeeded" for run in await client.runs.list(schedule="beat"))

        await until(executed)
        assert (await client.schedules.get("beat")).revision == 2
        assert {run.revision for run in await client.runs.list(schedule="beat")} == {1}
        assert not await client.runs.list(schedule="other")


async def test_a_worker_claims_runs_of_its_queues_only(bird: Tickbird) -> None:
    async with working(bird, queues=["gpu"]) as (client, _):
        [worker] = await client.workers.list()
        assert (worker.kind, worker.queues) == ("worker", ("gpu",))
        small = await client.runs.enqueue("small", actor="ada")
        large = await client.runs.enqueue("large", actor="ada")
        assert (await final(client, large)).result == "large"
        assert (await client.runs.get(small)).status == "queued"
        # Nor is a run of another queue handed off to it when it plans.
        await client.schedules.create("beat", every(seconds=1), "small", actor="ada", overlap="allow")

        async def planned() -> bool:
            return len(await client.runs.list(schedule="beat")) >= 2

        await until(planned)
        assert {run.status for run in await client.runs.list(schedule="beat")} == {"queued"}


def process(**options: Any) -> WorkerProcess:
    return WorkerProcess(Tickbird("sqlite://:memory:"), **options)


def test_the_environment_sets_role_and_queues_unless_the_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKBIRD_ROLE", "execute-only")
    monkeypatch.setenv("TICKBIRD_QUEUES", "gpu, mail")
    assert (process().worker.kind, process().worker.queues) == ("executor", ("gpu", "mail"))
    stated = process(role="plan-and-execute", queues="default").worker
    assert (stated.kind, stated.queues) == ("worker", ("default",))
    # Processes of several roles can share an environment.
    assert process(role="plan-only").worker.queues == ()


@pytest.mark.parametrize(
    "environment,options,error",
    [
        ({}, {"role": "both"}, "role: 'both' is not a role of workers. Choose plan-and-execute, plan-only or execute-"),
        ({"TICKBIRD_ROLE": "planner"}, {}, "TICKBIRD_ROLE: 'planner' is not a role of workers. Choose"),
        ({}, {"role": "plan-only", "queues": ["gpu"]}, "queues: a worker with the role plan-only executes no runs"),
        ({"TICKBIRD_PLANNING": "off"}, {"role": "plan-only"}, "plan-only has nothing to do, because TICKBIRD_PLANNING"),
        ({}, {"queues": []}, "queues: no queue is named"),
        ({}, {"queues": "gpu,"}, "queue: '' is not a valid name"),
    ],
)
def test_a_wrong_setting_is_refused(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], options: dict[str, Any], error: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidError) as refused:
        process(**options)
    assert error in str(refused.value)
