"""Retries by a person: a new run with the target, payload and policies of the run that it repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.capabilities import supported
from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    claim,
    create,
    define,
    enqueue,
    finish,
    get,
    later,
    plan,
    read,
)
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import RunRecord
from tickbird.store.protocol.store import Store

# Every policy of a definition that an edit may change and a run must not lose.
POLICIES: Mapping[str, Any] = {
    "queue": "reports",
    "priority": 7,
    "payload": {"tenant": "acme"},
    "retries": 5,
    "timeout": 600,
    "on_crash": "fail",
    "start_within": 90,
    "concurrency_key": "tenant:{tenant}",
}
EDIT: Mapping[str, Any] = {
    "target": {"task": "purge"},
    "queue": "bulk",
    "priority": -3,
    "payload": {"tenant": "other"},
    "retries": 0,
    "timeout": None,
    "on_crash": "retry",
    "start_within": None,
    "concurrency_key": None,
}


async def _ended(store: Store, **policies: Any) -> RunRecord:
    """A run of the tick at 60 s, which failed at 61 s."""
    await create(store, task="report", **supported(store, {**POLICIES, **policies}))
    await plan(store, 60)
    [run] = (await claim(store, 60, queues=("reports",), tasks=("report",))).runs
    await finish(store, run, 61, "failed", error="down", failure_kind="raised")
    return await read(store, run)


async def _retry(store: Store, run: RunRecord, at: float, **options: Any) -> RunRecord:
    changed = await change(store, Trigger(actor="eve", retry_of=run.id, **options), at)
    assert changed.run is not None
    return changed.run


def _created_with(run: RunRecord) -> tuple[object, ...]:
    return run.target, run.payload, run.queue, run.priority, run.revision, run.concurrency_key


class Retries:
    """A retry never depends on the current state of the schedule."""

    async def _check(self, store: Store, run: RunRecord, at: float) -> None:
        """A retry is stored, claimed and lost as the run that it repeats would be."""
        retried = await _retry(store, run, at)
        assert retried == await read(store, retried)
        assert _created_with(retried) == _created_with(run)
        assert (retried.origin, retried.retry_of, retried.scheduled_for) == ("retry", run.id, None)
        assert (retried.due_at, retried.start_by) == (later(at), later(at + 90))
        asked = await claim(store, at, lease=10, queues=("reports", "bulk"), tasks=("report", "purge"))
        [claimed] = asked.runs
        assert (claimed.target, claimed.payload) == ("report", {"tenant": "acme"})
        assert claimed.definition is not None
        assert (claimed.definition.retries, claimed.definition.timeout) == (5, 600)
        # Its worker is lost, and on_crash="fail" never starts it twice.
        assert list((await store.leases.rescue(now=later(at + 11))).failed) == [retried.id]

    async def test_a_retry_repeats_the_run_after_an_edit(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Update(actor="ada", fields=supported(store, EDIT)), 70)
        await self._check(store, run, 80)
        assert (await get(store)).revision == 2

    async def test_a_retry_repeats_the_run_after_its_schedule_was_deleted(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Delete(actor="ada"), 70)
        await self._check(store, run, 80)
        assert (await get(store)).state == "deleted"

    async def test_a_retry_repeats_the_run_after_its_name_was_used_again(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Delete(actor="ada"), 70)
        other = define(task="purge", queue="bulk")
        await change(store, Create(actor="ada", namespace=NAMESPACE, definition=other), 71)
        await self._check(store, run, 80)

    async def test_a_retry_of_a_retry_repeats_the_first_run(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Update(actor="ada", fields=supported(store, EDIT)), 70)
        retried = await _retry(store, run, 80)
        await store.runs.cancel(retried.id, "ada", now=later(81))
        await change(store, Delete(actor="ada"), 85)
        again = await _retry(store, retried, 90)
        assert _created_with(again) == _created_with(run)
        assert again.retry_of == retried.id

    async def test_a_retry_with_another_payload_keeps_all_else(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Update(actor="ada", fields=supported(store, EDIT)), 70)
        retried = await _retry(store, run, 80, payload={"tenant": "globex"})
        assert (retried.target, retried.queue, retried.revision) == (run.target, "reports", run.revision)
        key = "tenant:globex" if "limits" in store.capabilities else None
        assert (retried.payload, retried.concurrency_key) == ({"tenant": "globex"}, key)

    async def test_retry_repeats_the_payload_of_the_run(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        [run_id] = (await change(store, Trigger(actor="ada", payload={"n": 2}), 10)).run_ids
        await store.runs.cancel(run_id, "ada", now=later(11))
        await change(store, Update(actor="ada", fields={"payload": {"n": 3}}), 12)
        retried = await _retry(store, await read(store, run_id), 13)
        assert (retried.payload, retried.start_by) == ({"n": 2}, None)

    async def test_a_retry_waits_by_the_policy_of_its_run(self, store: Store) -> None:
        run = await _ended(store, overlap="allow", concurrency_key=None)
        await change(store, Update(actor="ada", fields={"overlap": "skip"}), 70)
        first, second = await _retry(store, run, 80), await _retry(store, run, 81)
        assert (first.status, second.status) == ("queued", "queued")

    async def test_a_retry_is_of_a_run_of_the_schedule(self, store: Store) -> None:
        await create(store)
        await create(store, "other")
        [run_id] = (await change(store, Trigger(actor="ada"), 10, name="other")).run_ids
        for wrong in (run_id, await enqueue(store, 10), 987_654_321):
            with pytest.raises(NotFoundError, match=f"no run {wrong} of schedule '{NAME}'"):
                await change(store, Trigger(actor="ada", retry_of=wrong), 20)

    async def test_a_shadow_still_repeats_nothing(self, store: Store) -> None:
        run = await _ended(store)
        await change(store, Update(actor="ada", fields={"shadow": True}), 70)
        with pytest.raises(ConflictError, match="is a shadow"):
            await _retry(store, run, 80)

    async def test_an_enqueued_retry_is_never_started_twice_either(self, store: Store) -> None:
        for crash_limit in (0, 1, 3):
            first = await enqueue(store, 0, crash_limit=crash_limit)
            await store.runs.cancel(first, "ada", now=later(1))
            again = await enqueue(store, 2, retry_of=first)
            for crash in range(crash_limit + 1):
                at = 10 + 100 * crash
                [claimed] = (await claim(store, at, lease=10)).runs
                assert claimed.id == again
                rescued = await store.leases.rescue(now=later(at + 11))
                is_last = crash == crash_limit
                assert list(rescued.failed if is_last else rescued.requeued) == [again]
