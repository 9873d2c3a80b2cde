"""Pings of the old scheduler, for a shadow."""

from __future__ import annotations

from conformance.steps import create, later
from tickbird.store.protocol.store import Store


class Pings:
    """Pings have the retention of runs."""

    async def test_pings_are_stored_once_and_in_order(self, store: Store) -> None:
        schedule, other = await create(store, shadow=True), await create(store, "other")
        assert await store.pings.add(schedule.id, now=later(7.25)) == later(7.25)
        for at in (60, 5, 60):
            assert await store.pings.add(schedule.id, later(at), now=later(100)) == later(at)
        await store.pings.add(other.id, later(1), now=later(100))
        found = await store.pings.list(schedule.id, later(0), later(100))
        assert list(found) == [later(5), later(7.25), later(60)]
        assert await store.pings.list(schedule.id, later(6), later(59)) == [later(7.25)]
        assert await store.pings.list(schedule.id, later(0), later(100), after=later(5), limit=1) == [later(7.25)]
        # Within the store's own time, where none is given.
        assert abs((await store.pings.add(other.id) - await store.now()).total_seconds()) < 3_600

    async def test_pings_are_pruned_with_rows_of_their_age(self, store: Store) -> None:
        schedule = await create(store, shadow=True)
        for at in (0, 50, 100):
            await store.pings.add(schedule.id, later(at), now=later(at))
        await store.runs.prune(older_than=60, keep=0, now=later(115))
        assert list(await store.pings.list(schedule.id, later(0), later(200))) == [later(100)]
