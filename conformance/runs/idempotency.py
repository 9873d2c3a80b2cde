"""An idempotency key belongs to one run: a repeated request returns it, another request is refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.runs.prune import DAY, prune
from conformance.steps import (
    NAMESPACE,
    YEAR,
    change,
    create,
    enqueue,
    later,
    read,
    runs_of,
    work_off,
)
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.protocol.store import Store

HOUR = 3_600


async def trigger(store: Store, at: float, key: str, payload: dict[str, Any] | None = None, **where: Any) -> int:
    """A manual run under a key."""
    changed = await change(store, Trigger(actor="ada", payload=payload, idempotency_key=key), at, **where)
    assert changed.run is not None
    return changed.run.id


class IdempotencyKeys:
    """At most one run for a key, as long as that run is there."""

    async def test_the_same_key_gives_the_same_run(self, store: Store) -> None:
        first = await enqueue(store, 0, payload={"a": 1, "b": [2]}, idempotency_key="order-17")
        again = await enqueue(store, 5, payload={"b": [2], "a": 1}, idempotency_key="order-17", priority=9)
        assert again == first
        assert await enqueue(store, 6, payload={"a": 1, "b": [2]}, idempotency_key="order-18") != first
        assert len(await store.runs.list(NAMESPACE)) == 2
        run = await read(store, first)
        assert (run.created_at, run.priority) == (later(0), 0)

    async def test_each_enqueue_that_makes_runs_is_audited_once(self, store: Store) -> None:
        first = await enqueue(store, idempotency_key="once")
        assert await enqueue(store, 1, idempotency_key="once") == first
        [again] = await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {}, retry_of=first)], "ada", now=later(2))
        many = await store.runs.enqueue(NAMESPACE, [NewRun(Target(task), {}) for task in "ba"], "ada", now=later(3))
        told = [
            (each.action, each.run_id, each.at, dict(each.detail)) for each in await store.ledger.list_audit(NAMESPACE)
        ]
        assert told == [
            ("enqueue", many[0], later(3), {"count": 2, "tasks": ["a", "b"]}),
            ("enqueue", again, later(2), {"count": 1, "tasks": ["work"], "retry_of": first}),
            ("enqueue", first, later(0), {"count": 1, "tasks": ["work"]}),
        ]

    async def test_runs_without_a_key_are_never_the_same(self, store: Store) -> None:
        assert await enqueue(store, 0) != await enqueue(store, 0)

    async def test_key_still_belongs_to_a_final_run(self, store: Store) -> None:
        first = await enqueue(store, 0, idempotency_key="k")
        await work_off(store, 1)
        assert await enqueue(store, 2, idempotency_key="k") == first
        assert (await read(store, first)).status == "succeeded"

    async def test_namespaces_have_separate_keys(self, store: Store) -> None:
        first = await enqueue(store, 0, idempotency_key="k")
        second = await enqueue(store, 0, idempotency_key="k", namespace="elsewhere")
        assert first != second
        assert (await read(store, second)).namespace == "elsewhere"

    async def test_another_task_or_payload_under_the_same_key_is_refused(self, store: Store) -> None:
        run_id = await enqueue(store, 0, payload={"n": 1}, idempotency_key="k")
        for other in ({"payload": {"n": 2}}, {"payload": {"n": True}}, {}, {"payload": {"n": 1}, "task": "rest"}):
            with pytest.raises(ConflictError, match=f"'k' belongs to run {run_id}"):
                await enqueue(store, 1, idempotency_key="k", **other)
        assert len(await store.runs.list(NAMESPACE)) == 1

    async def test_a_batch_with_keys_keeps_its_order(self, store: Store) -> None:
        known = await enqueue(store, 0, payload={"n": 1}, idempotency_key="b")
        keys = ["a", None, "b", None, "a"]
        numbers = [0, 2, 1, 3, 0]
        new = [
            NewRun(Target("work"), {"n": number}, idempotency_key=key)
            for number, key in zip(numbers, keys, strict=True)
        ]
        ids = list(await store.runs.enqueue(NAMESPACE, new, "ada", now=later(1)))
        assert ids[2] == known
        assert ids[0] == ids[4]
        assert len(set(ids)) == 4
        assert [(await read(store, run_id)).payload["n"] for run_id in ids] == numbers

    async def test_triggering_again_under_a_key_gives_the_same_run(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        first = await trigger(store, 1, "k")
        assert await trigger(store, 2, "k") == first
        assert await trigger(store, 3, "other") != first
        # What the schedule says by now does not matter: nothing else was asked for.
        await change(store, Update(actor="ada", fields={"payload": {"n": 2}}), 4)
        assert await trigger(store, 5, "k") == first
        assert len(await runs_of(store)) == 2
        assert [record.action for record in await store.ledger.list_audit(NAMESPACE)].count("trigger") == 2

    async def test_trigger_of_another_schedule_with_a_used_key_is_refused(self, store: Store) -> None:
        await create(store)
        await create(store, "other")
        run_id = await trigger(store, 1, "k", {"n": 1})
        loose = await enqueue(store, 1, idempotency_key="loose")
        with pytest.raises(ConflictError, match=f"run {run_id}, which has another payload"):
            await trigger(store, 2, "k")
        with pytest.raises(ConflictError, match=f"run {run_id}, which has another schedule"):
            await trigger(store, 2, "k", {"n": 1}, name="other")
        with pytest.raises(ConflictError, match=f"run {loose}, which has another schedule"):
            await trigger(store, 2, "loose")
        with pytest.raises(ConflictError, match=f"run {run_id}, which has another target"):
            await enqueue(store, 2, payload={"n": 1}, idempotency_key="k")
        with pytest.raises(NotFoundError):
            await trigger(store, 2, "k", name="never-was")
        assert len(await store.runs.list(NAMESPACE)) == 2

    async def test_a_key_outlives_the_end_of_its_schedule(self, store: Store) -> None:
        await create(store)
        run_id = await trigger(store, 1, "k")
        await change(store, Delete(actor="ada"), 2)
        assert await trigger(store, 3, "k") == run_id
        with pytest.raises(NotFoundError):
            await trigger(store, 3, "new")

    async def test_run_with_a_key_is_stored_for_a_day(self, store: Store) -> None:
        keyed = await enqueue(store, 0, idempotency_key="k")
        plain = await enqueue(store, 0)
        await work_off(store, 1)
        await prune(store, 2 * HOUR, older_than=HOUR)
        assert await store.runs.get(plain) is None
        assert await enqueue(store, 2 * HOUR, idempotency_key="k") == keyed
        await prune(store, DAY + 1, older_than=HOUR)
        assert await store.runs.get(keyed) is None
        assert await enqueue(store, DAY + 2, idempotency_key="k") != keyed

    async def test_a_key_lives_as_long_as_its_run(self, store: Store) -> None:
        keyed = await enqueue(store, 0, idempotency_key="k")
        await work_off(store, 1)
        await prune(store, YEAR - 10, older_than=YEAR)
        assert await enqueue(store, YEAR - 5, idempotency_key="k") == keyed

    async def test_concurrent_requests_with_a_key_get_one_run(self, store: Store, other: Store) -> None:
        await create(store)
        asked = [enqueue(each, 0, idempotency_key="k") for each in (store, other) * 10]
        assert len(set(await asyncio.gather(*asked))) == 1
        triggered = [trigger(each, 1, "t") for each in (store, other) * 5]
        assert len(set(await asyncio.gather(*triggered))) == 1
        assert len(await store.runs.list(NAMESPACE)) == 2

    async def test_a_trigger_and_an_enqueue_that_meet_under_one_key(self, store: Store, other: Store) -> None:
        await create(store)
        meeting = await asyncio.gather(
            *(trigger(store, 1, f"k{n}") for n in range(5)),
            *(enqueue(other, 1, idempotency_key=f"k{n}") for n in range(5)),
            return_exceptions=True,
        )
        refused = [each for each in meeting if isinstance(each, ConflictError)]
        made = [each for each in meeting if isinstance(each, int)]
        assert (len(refused), len(made)) == (5, 5)
        assert len(await store.runs.list(NAMESPACE)) == 5
