"""A lease belongs to one incarnation of the store; leases of another one are invalid."""

from __future__ import annotations

from conformance.steps import NAME, NAMESPACE, a_worker, claim, create, enqueue, finish, later, read
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store


class Incarnations:
    """Fencing by attempt and incarnation."""

    async def test_a_finish_of_another_incarnation_is_refused(self, store: Store) -> None:
        run_id = await enqueue(store, 0)
        [run] = (await claim(store, 1)).runs
        assert run.incarnation > 0
        for status in ("succeeded", "failed"):
            late = await finish(store, run, 2, status, incarnation=run.incarnation + 1)
            assert late.accepted == frozenset()
        assert (await read(store, run_id)).status == "running"
        assert (await finish(store, run, 3, incarnation=run.incarnation)).accepted == {run_id}

    async def test_a_lease_of_another_incarnation_is_not_renewed(self, store: Store) -> None:
        await enqueue(store, 0)
        [run] = (await claim(store, 1)).runs
        for incarnation, held in ((run.incarnation + 1, frozenset()), (run.incarnation, {run.id}), (0, {run.id})):
            refs = [LeaseRef(run.id, run.attempt, incarnation)]
            assert (await store.leases.renew(a_worker(), refs, 60, now=later(2))).held == held

    async def test_an_accepted_copy_is_another_incarnation(self, store: Store) -> None:
        await enqueue(store, 0)
        await enqueue(store, 0)
        [before] = (await claim(store, 1, 1)).runs
        await store.identity.accept_copy(NAMESPACE, "ada", now=later(2))
        [after] = (await claim(store, 3, 1)).runs
        assert after.incarnation not in (0, before.incarnation)
        assert (await finish(store, after, 4, incarnation=before.incarnation)).accepted == frozenset()
        # What was copied as leased is the same run here, and its worker may end it.
        assert (await finish(store, before, 4, incarnation=before.incarnation)).accepted == {before.id}
        assert (await finish(store, after, 4, incarnation=after.incarnation)).accepted == {after.id}

    async def test_a_run_that_is_handed_off_has_one_too(self, store: Store) -> None:
        await create(store, NAME)
        offer = HandOff(a_worker(), 5, 60, ("default",), [("task", "work")])
        planned = await store.planning.plan_due(hand_off=offer, now=later(60))
        [run] = planned.leased
        await enqueue(store, 60)
        [other] = (await claim(store, 61)).runs
        assert run.incarnation == other.incarnation > 0
        assert (await finish(store, run, 62, incarnation=run.incarnation + 1)).accepted == frozenset()
        assert (await finish(store, run, 62, incarnation=run.incarnation)).accepted == {run.id}
