"""A store's clock that is far ahead starts nothing early and lets no deadline pass."""

from __future__ import annotations

from conformance.capabilities import needs
from conformance.steps import (
    NAMESPACE,
    a_worker,
    claim,
    create,
    enqueue,
    finish,
    later,
    plan,
    read,
)
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.store.protocol.store import Store

HOUR = 3_600
DAY = 24 * HOUR


def _around(at: float) -> ClockBounds:
    """The clock bounds of a worker whose monotonic clock shows this time."""
    return later(at - 30), later(at + 30)


async def _claim(store: Store, at: float, believed: float, limit: int = 100) -> list[ClaimedRun]:
    """Claim by a clock that shows `at`, for a worker that expects `believed`."""
    worker = a_worker()
    claimed = await store.leases.claim(
        worker, limit, 60, queues=["default"], targets=[("task", "work")], expected=_around(believed), now=later(at)
    )
    return list(claimed.runs)


class ClockAlarms:
    """Claims by a clock that has jumped."""

    async def test_a_run_that_was_enqueued_for_later_does_not_start_early(self, store: Store) -> None:
        delayed = await enqueue(store, delay=12 * HOUR)
        dated = await enqueue(store, at=later(6 * HOUR))
        assert await _claim(store, DAY + 5, 5) == []
        assert [(await read(store, run)).status for run in (delayed, dated)] == ["queued"] * 2
        # The monotonic clock continues, independently of the store's clock.
        assert [run.id for run in await _claim(store, DAY + 6 * HOUR, 6 * HOUR)] == [dated]
        # The clock is set right, or its jump is accepted.
        assert [run.id for run in await _claim(store, 12 * HOUR, 12 * HOUR)] == [delayed]

    async def test_a_retry_in_backoff_does_not_start_early(self, store: Store) -> None:
        run_id = await enqueue(store)
        [run] = await _claim(store, 0, 0)
        await finish(store, run, 1, "queued", delay=HOUR, failures=1)
        assert await _claim(store, DAY, 10) == []
        [again] = await _claim(store, HOUR + 2, HOUR + 2)
        assert (again.id, again.attempt) == (run_id, 2)

    async def test_a_deadline_does_not_pass(self, store: Store) -> None:
        run_id = await enqueue(store, start_within=60)
        expected = _around(10)
        rescued = await store.leases.rescue(expected=expected, now=later(DAY))
        assert not rescued.misfired
        [run] = await _claim(store, DAY, 10)
        assert run.id == run_id
        # It began in time, and before it was due by no clock.
        assert (await read(store, run_id)).started_at == later(10)

    async def test_a_deadline_that_has_passed_by_both_clocks_binds(self, store: Store) -> None:
        await enqueue(store, start_within=60)
        assert await _claim(store, DAY, 100) == []

    async def test_manual_requests_work_while_the_clock_is_wrong(self, store: Store) -> None:
        at_once = await enqueue(store, DAY)
        await enqueue(store, DAY, delay=HOUR)
        assert [run.id for run in await _claim(store, DAY + 1, 1)] == [at_once]

    @needs("limits")
    async def test_a_run_that_waited_for_another_one_starts(self, store: Store) -> None:
        await store.limits.set(NAMESPACE, "key", 1, "ada", now=later(0))
        first = await enqueue(store, concurrency_key="key")
        second = await enqueue(store, concurrency_key="key")
        [run] = await _claim(store, 1, 1)
        assert run.id == first
        await finish(store, run, DAY)
        assert [run.id for run in await _claim(store, DAY + 1, 3)] == [second]

    async def test_a_tick_that_was_planned_before_starts(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await _claim(store, DAY, 61)
        assert run.scheduled_for == later(60)

    async def test_leases_use_the_trusted_clock(self, store: Store) -> None:
        await enqueue(store)
        [run] = await _claim(store, DAY, 10)
        assert (await read(store, run)).lease_until == later(DAY + 60)

    async def test_a_clock_that_was_set_back_starts_nothing_early(self, store: Store) -> None:
        await enqueue(store, delay=HOUR)
        ready = await enqueue(store, -DAY)
        assert [run.id for run in await _claim(store, -DAY + 10, 10)] == [ready]

    @needs("queues")
    async def test_rate_limits_use_the_trusted_clock(self, store: Store) -> None:
        await store.queues.set_rate(NAMESPACE, "default", RateLimit(2, 60), "ada", now=later(0))
        for _ in range(5):
            await enqueue(store)
        assert len(await _claim(store, DAY, 10)) == 2
        # A worker that believes the clock counts what began, and so does one that does not.
        assert len(await _claim(store, DAY + 30, DAY + 30)) == 0
        assert len(await _claim(store, DAY + 30, 40)) == 0
        # The clock is correct again. Their start is unknown, so they count from now on.
        assert len(await _claim(store, 71, 71)) == 0
        assert len(await _claim(store, 132, 132)) == 2

    async def test_without_bounds_the_clock_is_trusted(self, store: Store) -> None:
        run_id = await enqueue(store, delay=12 * HOUR)
        assert [run.id for run in (await claim(store, DAY)).runs] == [run_id]
        assert (await read(store, run_id)).started_at == later(DAY)
