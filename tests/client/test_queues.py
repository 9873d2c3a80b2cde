"""Queues through the client: bad input, what is listed, and why a run waits for the rate of its queue."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import a_worker, create, enqueue, later, plan
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit
from tickbird.store.sqlite import SqliteStore

WORKER = a_worker(queues=("default", "mail"), slots=4, tasks={"work": {}})


@pytest.fixture
def client(store: SqliteStore) -> Client:
    return StoreClient(store)


@pytest.mark.parametrize("wrong", ["0/min", "abc", "5/fortnight", 7, "", "5"])
async def test_a_rate_is_checked(client: Client, wrong: Any) -> None:
    with pytest.raises(InvalidError, match=r"^rate(:| must)"):
        await client.queues.set_rate("mail", wrong, actor="ada")
    assert await client.queues.list() == []


@pytest.mark.parametrize("queue", ["", "a b", 7, "x" * 300])
async def test_a_rate_is_for_a_queue(client: Client, queue: Any) -> None:
    with pytest.raises(InvalidError, match="queue"):
        await client.queues.set_rate(queue, "5/s", actor="ada")


async def test_who_changes_a_rate_says_so(client: Client) -> None:
    with pytest.raises(InvalidError, match="actor"):
        await client.queues.set_rate("mail", "5/s", actor="")
    with pytest.raises(NotFoundError, match="queue 'mail' has no rate"):
        await client.queues.remove_rate("mail", actor="ada")
    await client.queues.set_rate("mail", RateLimit(5, 1), actor="ada")
    await client.queues.remove_rate("mail", actor="bo")
    assert [(record.actor, record.detail) for record in await client.audit.list()] == [
        ("bo", {"queue": "mail", "before": "5/s", "after": None}),
        ("ada", {"queue": "mail", "before": None, "after": "5/s"}),
    ]


async def test_queues_tell_who_serves_them(client: Client, store: SqliteStore) -> None:
    await store.workers.heartbeat(WORKER, 60)
    await store.workers.heartbeat(a_worker("w2", kind="executor", queues=("mail",), slots=1), 60)
    await store.workers.heartbeat(a_worker("p", kind="planner", queues=(), slots=0), 60)
    await client.runs.enqueue("work", actor="ada", queue="calls", unknown_task_ok=True)
    assert (await client.queues.set_rate("mail", "5/s", actor="ada")).workers == 2
    assert await client.queues.list() == [
        QueueStatus("calls", None, None, 0, 1, 0, 0),
        QueueStatus("default", None, None, 0, 0, 0, 1),
        QueueStatus("mail", RateLimit(5, 1), None, 0, 0, 0, 2),
    ]


async def test_why_says_that_a_run_waits_for_the_rate_of_its_queue(client: Client, store: SqliteStore) -> None:
    await store.workers.heartbeat(WORKER, 3_600)
    await client.queues.set_rate("mail", "1/h", actor="ada")
    for _ in range(2):
        await enqueue(store, queue="mail")
    await create(store, "letters", queue="mail")
    await plan(store, 60)
    [begun] = (await store.leases.claim(WORKER, 5, 60, queues=["mail"], targets=[("task", "work")])).runs
    [run] = await client.runs.list(schedule="letters")
    turn, started_at = await client.runs.queue_position(run.id), (await client.runs.get(begun.id)).started_at
    assert turn is not None
    assert started_at is not None
    assert (turn.runs_before, turn.at) == (1, started_at + timedelta(hours=2))
    assert await client.runs.queue_position(begun.id) is None
    answer = await client.ticks.why("letters", later(60))
    assert answer.verdict == "queued"
    assert (
        "it waits for the rate limit of queue 'mail', 1/h: 1 run comes before it, and it may start at "
        in answer.sentence
    )
    [step] = [step for step in answer.steps if step.name == "rate"]
    assert (step.ok, step.at) == (False, turn.at)


async def test_why_says_that_a_run_lets_others_pass(client: Client, store: SqliteStore) -> None:
    await store.workers.heartbeat(WORKER, 3_600)
    await create(store, "many", overlap="allow", catch_up="all")
    # Planned by the store's own clock, since that is what the answer is told by.
    await store.planning.plan_due()
    runs = sorted(await client.runs.list(schedule="many", limit=500), key=lambda run: run.id)
    assert runs[2].scheduled_for is not None
    answer = await client.ticks.why("many", runs[2].scheduled_for)
    assert "in queue 'default' it yields to runs of other schedules until " in answer.sentence
    assert answer.sentence.endswith("because its schedule created many at once; 2 runs come before it now.")
    assert [step.ok for step in answer.steps if step.name == "line"] == [None]
