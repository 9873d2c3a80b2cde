"""Runs of lost workers come back, a bounded number of times, and nothing waits past its deadline."""

from __future__ import annotations

from conformance.steps import (
    a_worker,
    claim,
    create,
    enqueue,
    finish,
    later,
    plan,
    read,
    runs_of,
    start,
)
from tickbird.domain.runs.leases import LeaseRef
from tickbird.store.protocol.store import Store


class Rescue:
    """Expired leases and missed deadlines."""

    async def test_unexpired_lease_is_not_rescued(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        rescued = await store.leases.rescue(now=later(29.9))
        assert (list(rescued.requeued), list(rescued.failed), rescued.next_at) == ([], [], later(30))
        assert await read(store, run) == run

    async def test_an_expired_lease_is_another_attempt(self, store: Store) -> None:
        await enqueue(store)
        first = await start(store, 0, lease=30)
        rescued = await store.leases.rescue(now=later(31))
        assert (rescued.now, list(rescued.requeued), list(rescued.failed)) == (later(31), [first.id], [])
        back = await read(store, first)
        assert (back.status, back.attempt, back.crashes, back.failures) == ("queued", 1, 1, 0)
        assert (back.worker, back.lease_until, back.finished_at) == (None, None, None)
        second = await start(store, 31, worker=a_worker("w2"))
        assert (second.id, second.attempt) == (first.id, 2)
        [attempt] = await store.runs.list_attempts(first.id)
        assert (attempt.attempt, attempt.worker, attempt.outcome) == (1, "w1", "lost")
        assert (attempt.started_at, attempt.ended_at) == (later(0), later(31))

    async def test_unexpected_clock_rescues_nothing(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        await enqueue(store, start_within=20)
        for low, high in ((0, 30.9), (31.1, 60)):
            rescued = await store.leases.rescue(expected=(later(low), later(high)), now=later(31))
            assert (rescued.now, list(rescued.requeued), list(rescued.misfired)) == (later(31), [], [])
        assert await read(store, run) == run
        rescued = await store.leases.rescue(expected=(later(31), later(31)), now=later(31))
        assert (list(rescued.requeued), len(rescued.misfired)) == ([run.id], 1)

    async def test_a_worker_that_wakes_up_changes_nothing(self, store: Store) -> None:
        await enqueue(store)
        first = await start(store, 0, lease=30)
        await store.leases.rescue(now=later(31))
        assert not (await finish(store, first, 32, result="late")).accepted
        assert not (await store.leases.renew(a_worker(), [LeaseRef(first.id, 1)], 30, now=later(32))).held
        second = await start(store, 33, worker=a_worker("w2"))
        assert not (await finish(store, first, 34, result="late")).accepted
        assert not (await store.leases.renew(a_worker(), [LeaseRef(first.id, 1)], 30, now=later(34))).held
        assert (await finish(store, second, 35, result="right")).accepted
        done = await read(store, first)
        assert (done.status, done.result, done.attempt) == ("succeeded", "right", 2)

    async def test_a_run_that_keeps_losing_its_worker_fails(self, store: Store) -> None:
        run_id = await enqueue(store, crash_limit=2)
        for crashes in (1, 2, 3):
            run = await start(store, crashes * 20, lease=10, worker=a_worker(f"w{crashes}"))
            assert (run.id, run.attempt) == (run_id, crashes)
            rescued = await store.leases.rescue(now=later(crashes * 20 + 15))
            expected = ([run_id], []) if crashes < 3 else ([], [run_id])
            assert (list(rescued.requeued), list(rescued.failed)) == expected
        done = await read(store, run_id)
        assert (done.status, done.failure_kind, done.crashes) == ("failed", "lost", 3)
        assert (done.finished_at, done.lease_until) == (later(75), None)
        assert done.error is not None
        assert "w3" in done.error
        assert [attempt.outcome for attempt in await store.runs.list_attempts(run_id)] == ["lost"] * 3

    async def test_on_crash_fail_is_never_started_twice(self, store: Store) -> None:
        await create(store, on_crash="fail", retries=5)
        await plan(store, 60)
        run = await start(store, 60, lease=10)
        await store.leases.rescue(now=later(80))
        done = await read(store, run)
        assert (done.status, done.failure_kind, done.crashes, done.failures) == ("failed", "lost", 1, 0)
        assert list((await claim(store, 90)).runs) == []

    async def test_on_crash_retry_is_tried_three_more_times(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        for number in range(4):
            await start(store, 60 + number * 20, lease=10)
            await store.leases.rescue(now=later(75 + number * 20))
        [run] = await runs_of(store)
        assert (run.status, run.attempt, run.crashes) == ("failed", 4, 4)

    async def test_failures_and_drains_are_not_crashes(self, store: Store) -> None:
        await enqueue(store, crash_limit=1)
        await finish(store, await start(store, 0), 1, "queued", failures=1)
        await finish(store, await start(store, 2), 3, "queued")
        run = await start(store, 4, lease=5)
        assert list((await store.leases.rescue(now=later(10))).requeued) == [run.id]
        back = await read(store, run)
        assert (back.attempt, back.failures, back.crashes) == (3, 1, 1)

    async def test_lost_run_with_a_cancel_request_is_cancelled(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=10)
        await store.runs.cancel(run.id, "ada", now=later(5))
        rescued = await store.leases.rescue(now=later(20))
        assert (list(rescued.requeued), list(rescued.failed)) == ([], [])
        done = await read(store, run)
        assert (done.status, done.finished_at, done.lease_until) == ("cancelled", later(20), None)

    async def test_a_run_not_started_in_time_misfires(self, store: Store) -> None:
        await create(store, start_within=30)
        await plan(store, 60)
        [run] = await runs_of(store)
        rescued = await store.leases.rescue(now=later(90))
        assert (list(rescued.misfired), rescued.next_at) == ([], later(90))
        rescued = await store.leases.rescue(now=later(90.5))
        assert list(rescued.misfired) == [run.id]
        done = await read(store, run)
        assert (done.status, done.reason, done.finished_at) == ("cancelled", "misfire", later(90.5))

    async def test_a_run_that_started_in_time_does_not_misfire(self, store: Store) -> None:
        await enqueue(store, start_within=30)
        run = await start(store, 30, lease=600)
        assert list((await store.leases.rescue(now=later(100))).misfired) == []
        assert (await read(store, run)).status == "running"

    async def test_a_deadline_to_start_does_not_bind_further_attempts(self, store: Store) -> None:
        for _ in range(2):
            await enqueue(store, start_within=30)
        retried, lost = (await claim(store, 10, lease=20)).runs
        await finish(store, retried, 20, "queued", delay=60, failures=1)
        rescued = await store.leases.rescue(now=later(40))
        assert (list(rescued.requeued), list(rescued.misfired), rescued.next_at) == ([lost.id], [], None)
        assert list((await store.leases.rescue(now=later(50))).misfired) == []
        claimed = await claim(store, 60)
        assert [found.id for found in claimed.runs] == [lost.id]
        assert (await claim(store, 60)).next_at == later(80)
        assert [found.id for found in (await claim(store, 80)).runs] == [retried.id]

    async def test_next_at_is_the_earliest_to_come(self, store: Store) -> None:
        assert (await store.leases.rescue(now=later(0))).next_at is None
        await enqueue(store, start_within=50)
        await enqueue(store, queue="other", start_within=500)
        assert (await store.leases.rescue(now=later(1))).next_at == later(50)
        await start(store, 2, lease=10)
        assert (await store.leases.rescue(now=later(3))).next_at == later(12)

    async def test_any_limit_gets_everything_rescued_once(self, store: Store) -> None:
        for _ in range(7):
            await enqueue(store)
        runs = {found.id for found in (await claim(store, 0, lease=10)).runs}
        found: list[int] = []
        while requeued := (await store.leases.rescue(3, now=later(20))).requeued:
            assert len(requeued) <= 3
            found += requeued
        assert sorted(found) == sorted(runs)
