"""Runs that are finished in a transaction of their task: confirmed afterwards, by the worker or by the rescue."""

from __future__ import annotations

from conformance.steps import a_worker, claim, enqueue, later, read, start
from tickbird.domain.runs.leases import LeaseRef
from tickbird.store.protocol.store import Store


class Commits:
    """The confirmation of commits; the transactions themselves are tested with every driver of a caller."""

    async def test_an_attempt_that_committed_nothing_is_not_confirmed(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        confirmed = await store.leases.confirm([LeaseRef(run.id, 1)], now=later(1))
        assert (confirmed.succeeded, confirmed.open, confirmed.released) == (frozenset(), frozenset(), 0)
        assert await read(store, run) == run

    async def test_a_run_that_does_not_exist(self, store: Store) -> None:
        confirmed = await store.leases.confirm([LeaseRef(999_999, 1)], now=later(1))
        assert (confirmed.succeeded, confirmed.open) == (frozenset(), frozenset())

    async def test_another_attempt_is_not_confirmed(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=10)
        await store.leases.rescue(now=later(20))
        [second] = (await claim(store, 21, worker=a_worker("w2"))).runs
        assert second.attempt == 2
        confirmed = await store.leases.confirm([LeaseRef(run.id, 1)], now=later(22))
        assert confirmed.succeeded == frozenset()
