"""Concurrency keys through the client: bad input, tasks of an app, and why a run waits."""

from __future__ import annotations

from typing import Any

import pytest

from tickbird import Tickbird, every
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.store.sqlite import SqliteStore

KEY = "warehouse"


@pytest.fixture
def client(store: SqliteStore) -> Client:
    return StoreClient(store)


@pytest.mark.parametrize("maximum", [0, -1, True, 1.5, "3", None, 10**9])
async def test_a_limit_is_a_number_of_places(client: Client, maximum: Any) -> None:
    with pytest.raises(InvalidError, match=r"pause their schedules|must be a whole number"):
        await client.limits.set(KEY, maximum, actor="ada")


@pytest.mark.parametrize("key", ["", "x" * 201, "a\0b", 7])
async def test_a_limit_is_for_a_key(client: Client, key: Any) -> None:
    with pytest.raises(InvalidError, match=r"^key(:| must)"):
        await client.limits.set(key, 3, actor="ada")
    with pytest.raises(InvalidError, match=r"^key(:| must)"):
        await client.limits.remove(key, actor="ada")


async def test_every_change_of_a_limit_is_audited(client: Client) -> None:
    with pytest.raises(InvalidError, match="actor"):
        await client.limits.set(KEY, 3, actor="")
    with pytest.raises(NotFoundError, match="no limit for 'warehouse'"):
        await client.limits.remove(KEY, actor="ada")
    await client.limits.set(KEY, 3, actor="ada")
    assert (await client.limits.remove(KEY, actor="bo")).max_running == 1
    assert await client.limits.list() == []
    assert [(record.actor, record.detail) for record in await client.audit.list()] == [
        ("bo", {"key": KEY, "before": 3, "after": None}),
        ("ada", {"key": KEY, "before": None, "after": 3}),
    ]


async def test_a_run_for_later_has_no_key(client: Client) -> None:
    with pytest.raises(InvalidError, match=r"Create a schedule with at\(\.\.\.\)"):
        await client.runs.enqueue("work", actor="ada", delay=60, concurrency_key=KEY, unknown_task_ok=True)


async def test_a_retry_has_the_key_of_its_run(client: Client) -> None:
    run_id = await client.runs.enqueue("work", actor="ada", concurrency_key=KEY, unknown_task_ok=True)
    await client.runs.cancel(run_id, actor="ada")
    assert (await client.runs.retry(run_id, actor="ada")).concurrency_key == KEY


async def test_a_tasks_key_is_that_of_its_schedules_and_runs(store: SqliteStore) -> None:
    bird = Tickbird("sqlite://:memory:")

    @bird.task(concurrency_key="tenant:{tenant}")
    def export(tenant: str) -> None: ...

    bird.schedule("acme", export, every(hours=1), payload={"tenant": "acme"})
    bird.schedule("other", export, every(hours=1), payload={"tenant": "b"}, concurrency_key=None)
    declared = bird.declarations.schedules
    assert (declared["acme"].key(), declared["other"].key()) == ("tenant:acme", None)
    client = bird.client_on(store)
    bird.adopt_client(client)
    first, second = await export.enqueue(tenant="b"), await export.using(concurrency_key="x").enqueue(tenant="b")
    assert [(await client.runs.get(run_id)).concurrency_key for run_id in (first, second)] == ["tenant:b", "x"]
    with pytest.raises(InvalidError, match="a brace that does not enclose a field"):
        bird.task(name="wrong", concurrency_key="tenant:{")(lambda: None)


async def test_why_says_who_has_the_places(client: Client, store: SqliteStore) -> None:
    for name in ("a", "b"):
        await client.schedules.create(
            name, every(hours=1), "work", actor="ada", concurrency_key=KEY, unknown_task_ok=True
        )
    tick = (await client.schedules.get("a")).next_run_at
    assert tick is not None
    await store.planning.plan_due(now=tick)
    [waiting] = await client.runs.list(status="waiting")
    [queued] = await client.runs.list(status="queued")
    assert waiting.schedule is not None
    answer = await client.ticks.why(waiting.schedule, tick)
    assert answer.verdict == "waiting"
    assert answer.sentence.startswith(
        f"Run {waiting.id} waits for a slot of concurrency key 'warehouse': the only slot taken by "
        f"run {queued.id} of {queued.schedule}, queued since "
    )
    [step] = [step for step in answer.steps if step.name == "limit"]
    assert (step.ok, step.run_id) == (False, queued.id)
