"""Consumers: every event reaches every group, in the order of its key, under a lease that fences earlier ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.events.log import stamped
from conformance.events.steps import (
    GROUP,
    WORKER,
    A,
    B,
    C,
    actions,
    claim,
    claim_one,
    consume,
    declare,
    failed,
    finish,
    handled_positions,
    key_in,
    lose_workers,
    offset,
    positions,
    publish,
    publish_together,
    read_group,
    succeeded,
)
from conformance.steps import NAMESPACE, later, since
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.events.deliveries import DeliveryOutcome, GroupRequest
from tickbird.domain.events.event import NewEvent, partition_of
from tickbird.store.protocol.store import Store


class ConsumerGroups:
    """A group is declared by an app, and keeps its offsets."""

    async def test_a_group_starts_at_the_oldest_or_after_the_newest_event(self, store: Store) -> None:
        await publish(store, A, C)
        await declare(store, group="all")
        await declare(store, group="new", start="latest")
        assert handled_positions(await consume(store, groups=["all"])) == [1, 2]
        assert await consume(store, groups=["new"]) == []
        await publish(store, A)
        assert handled_positions(await consume(store, groups=["all"])) == [3]
        assert handled_positions(await consume(store, groups=["new"])) == [3]

    async def test_declaring_again_changes_only_the_topics(self, store: Store) -> None:
        await publish(store, A)
        await declare(store, at=1)
        await consume(store)
        assert await declare(store, "orders.#", start="latest", at=2) == []
        group = await read_group(store)
        assert (group.topics, group.app, group.state) == (("orders.#",), "shop", "active")
        assert (since(group.created_at), since(group.declared_at)) == (1, 2)
        assert (await offset(store)).position == 1

    async def test_a_group_belongs_to_one_app(self, store: Store) -> None:
        await declare(store)
        with pytest.raises(ConflictError, match=r"billing.*shop"):
            await declare(store, app="other")

    async def test_groups_are_listed_with_their_lag(self, store: Store) -> None:
        await declare(store)
        await declare(store, group="audit")
        await publish(store, A, A, C, topic="stock")
        events = await stamped(store)
        audit, billing = await store.consumers.list(NAMESPACE)
        assert (audit.name, billing.name) == ("audit", "billing")
        assert [partition.partition for partition in billing.partitions] == list(range(16))
        assert billing.lag == 3
        assert billing.oldest_at is not None
        waiting = billing.partitions[partition_of(A, 16)]
        assert (waiting.lag, waiting.oldest_at, waiting.position) == (2, billing.oldest_at, 0)
        assert events[0].published_at <= billing.oldest_at
        await consume(store)
        billing = await read_group(store)
        assert (billing.lag, billing.oldest_at, (await read_group(store, "audit")).lag) == (0, None, 3)
        assert await store.consumers.list(NAMESPACE, group="nobody") == []
        assert await store.consumers.list("other") == []

    async def test_offsets_of_one_partition(self, store: Store) -> None:
        await declare(store)
        await declare(store, "stock", group="audit")
        await publish(store, A)
        [billing] = await store.consumers.list(NAMESPACE, group=GROUP)
        claimed = await store.consumers.claim(NAMESPACE, [GroupRequest(GROUP, 10)], WORKER, limit=1, lease=600)
        assert len(claimed.deliveries) == 1
        found = await store.consumers.find_offsets(NAMESPACE, partition_of(A, 16))
        assert [(one.group, one.position, one.is_leased) for one in found] == [
            ("audit", 0, False),
            ("billing", 0, True),
        ]
        assert (found[1].topics, found[1].state, found[1].reason) == (billing.topics, "active", None)


class Deliveries:
    """A claim leases partitions and reads their next events."""

    async def test_only_matching_topics_are_delivered(self, store: Store) -> None:
        await declare(store, "orders.*", "#.late")
        for topic in ("orders", "orders.paid", "stock", "orders.paid.late", "orders.paid.early", "stock"):
            await publish(store, A, topic=topic)
        delivery = await claim_one(store)
        assert [item.event.topic for item in delivery.items] == ["orders.paid", "orders.paid.late"]
        assert (positions(delivery), delivery.after, delivery.through) == ([2, 4], 0, 6)
        assert (delivery.consumer, delivery.is_redelivery, delivery.crashes) == (GROUP, False, 0)
        assert await finish(store, succeeded(delivery))
        assert (await offset(store)).position == 6

    async def test_other_topics_move_the_offset_without_a_delivery(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A, topic="stock")
        assert await consume(store) == []
        assert (await offset(store)).position == 2
        assert (await read_group(store)).lag == 0

    async def test_many_other_topics_are_passed_over(self, store: Store) -> None:
        await declare(store)
        for _ in range(3):
            new = [NewEvent(topic="stock", type="Moved", key=A) for _ in range(600)]
            await store.events.publish(NAMESPACE, new, source="/test", actor="me")
        await publish(store, A)
        assert handled_positions(await consume(store)) == [1_801]

    async def test_events_arrive_in_order(self, store: Store) -> None:
        await declare(store)
        keys = [A, C, B, A, C, None, B, A, None]
        await publish(store, *keys)
        handled = await consume(store, batch=2, limit=3)
        assert sorted(handled_positions(handled)) == list(range(1, 10))  # type: ignore[type-var]
        for key in (A, B, C):
            assert handled_positions(handled, key) == [n for n, one in enumerate(keys, 1) if one == key]
        # Keys of one partition too, because a partition has one reader at a time.
        assert handled_positions(handled, A, B) == [1, 3, 4, 7, 8]

    async def test_a_batch_has_a_number_of_events(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A, B, A)
        delivery = await claim_one(store, batch=2)
        assert (positions(delivery), delivery.through) == ([1, 2], 2)
        await finish(store, succeeded(delivery))
        delivery = await claim_one(store, batch=3)
        assert (positions(delivery), delivery.after) == ([3, 4, 5], 2)

    async def test_a_claim_has_a_limit_and_starts_with_the_oldest(self, store: Store) -> None:
        await declare(store)
        keys = [key_in(9), key_in(2), key_in(5)]
        await publish(store, *keys, *keys)
        claimed = await claim(store, limit=2)
        assert sorted(delivery.lease.partition for delivery in claimed.deliveries) == [2, 9]
        assert claimed.more
        claimed = await claim(store, limit=2)
        assert [delivery.lease.partition for delivery in claimed.deliveries] == [5]
        assert not claimed.more
        assert (await claim(store)).deliveries == ()

    async def test_batches_never_split_a_transaction(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await publish_together(store, A, C, B, A)
        await publish(store, A)
        claimed = await claim(store, batch=2)
        first, second = sorted(claimed.deliveries, key=lambda delivery: delivery.lease.partition)
        assert (positions(first), positions(second)) == ([1, 2, 4, 5], [3])
        assert [unit.positions for unit in first.units()] == [(1,), (2, 4, 5)]
        await finish(store, succeeded(first), succeeded(second))
        assert positions(await claim_one(store)) == [6]

    async def test_a_transaction_with_other_topics_is_one_unit(self, store: Store) -> None:
        await declare(store)
        topics = ("orders.paid", "stock", "orders.paid", "stock")
        new = [NewEvent(topic=topic, type="Paid", key=A) for topic in topics]
        await store.events.publish(NAMESPACE, new, source="/test", actor="me")
        await publish(store, A)
        delivery = await claim_one(store, batch=1)
        assert [unit.positions for unit in delivery.units()] == [(1, 3)]
        assert delivery.through == 4

    async def test_namespaces_are_separate(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, namespace="other")
        assert (await claim(store)).deliveries == ()


class PartitionLeases:
    """A partition has one reader; a later lease fences an earlier one."""

    async def test_a_leased_partition_is_not_claimed_again(self, store: Store, other: Store) -> None:
        await declare(store)
        await publish(store, A)
        delivery = await claim_one(store, lease=10)
        assert (await claim(other, 9)).deliveries == ()
        status = await offset(store)
        assert (status.worker, since(status.leased_until)) == (WORKER, 10)
        assert await finish(other, succeeded(delivery))
        status = await offset(store)
        assert (status.worker, status.leased_until, status.position) == (None, None, 1)

    async def test_an_expired_lease_is_taken_over_and_fenced(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, C)
        stale = next(one for one in (await claim(store, lease=10)).deliveries if positions(one) == [1, 2])
        claimed = await claim(store, 11)
        taken = {one.lease.partition: one for one in claimed.deliveries}[stale.lease.partition]
        assert taken.lease.token > stale.lease.token
        # One unit at a time after a crash.
        assert (taken.crashes, positions(taken), taken.through) == (1, [1], 1)
        assert not await finish(store, succeeded(stale), at=12)
        assert not await finish(store, failed(stale), at=12)
        assert (await offset(store)).position == 0
        assert await store.consumers.renew([stale.lease], 60, now=later(12)) == frozenset()
        assert await finish(store, succeeded(taken), at=12)
        again = await claim_one(store, 12)
        # It was in the lost batch too.
        assert (again.crashes, positions(again), again.after) == (1, [2], 1)
        assert await store.dead_letters.find_by_event(NAMESPACE, 1) == []

    async def test_crashes_are_counted_until_an_outcome(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        assert [(await claim_one(store, 100 * n)).crashes for n in range(4)] == [0, 1, 2, 3]
        assert await finish(store, failed(await claim_one(store, 500), retry_in=0), at=500)
        assert (await claim_one(store, 501)).crashes == 0

    async def test_a_poison_event_at_the_end_of_a_batch(self, store: Store) -> None:
        await declare(store)
        for n in range(15):
            await publish(store, A, topic="stock")
            await publish(store, B if n == 10 else A)
        sizes, called = await lose_workers(store, 22, batch=12)
        # The batch is lost, and then the event alone; after that batch, events are read together again.
        assert sizes == [12, *[1] * 10, *[1] * 4, 1, 3]
        assert called == {**dict.fromkeys(range(2, 22, 2), 2), 22: 4, **dict.fromkeys(range(24, 32, 2), 1)}
        assert (await read_group(store)).dead_letters == {"failed": 1}

    async def test_a_poison_letter_at_the_end_of_a_batch(self, store: Store) -> None:
        await declare(store)
        await publish(store, *[A] * 6)
        await consume(store, fails=lambda event: event.position == 1, retry_in=1)
        sizes, called = await lose_workers(store, 6, at=2)
        assert sizes == [6, *[1] * 5, *[1] * 4]
        assert called == {**dict.fromkeys(range(1, 6), 2), 6: 4}
        await publish(store, B, B, B)
        # The first new event ends it.
        assert await lose_workers(store, 0, at=300) == ([1, 2], {7: 1, 8: 1, 9: 1})

    async def test_a_lease_is_renewed(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        lease = (await claim_one(store, lease=10)).lease
        unknown = replace(lease, group="nobody")
        assert await store.consumers.renew([lease, unknown], 10, now=later(8)) == {lease}
        assert (await claim(store, 17)).deliveries == ()
        # Late, but no other worker has taken it over.
        assert await store.consumers.renew([lease], 10, now=later(30)) == {lease}
        assert (await claim(store, 39)).deliveries == ()
        [taken] = (await claim(store, 41)).deliveries
        assert taken.crashes == 1

    async def test_a_released_lease_is_not_renewed(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        delivery = await claim_one(store)
        await finish(store, succeeded(delivery))
        assert await store.consumers.renew([delivery.lease], 60, now=later(1)) == frozenset()

    async def test_an_outcome_that_is_committed_already_releases_the_partition(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        delivery = await claim_one(store, batch=1)
        assert await finish(store, succeeded(delivery))
        assert await finish(store, failed(delivery, retry_in=5))
        assert (await offset(store)).position == 1
        assert (await read_group(store)).dead_letters.get("retrying", 0) == 0
        assert positions(await claim_one(store)) == [2]

    async def test_outcomes_are_recorded_as_a_set(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C, key_in(11))
        first, second, third = (await claim(store)).deliveries
        stale = replace(succeeded(second), lease=replace(second.lease, token=second.lease.token + 1))
        accepted = await store.consumers.finish([succeeded(first), stale, failed(third)], now=later(1))
        assert accepted == {first.lease, third.lease}
        group = await read_group(store)
        assert [p.position for p in group.partitions if p.position] in ([1, 3], [3, 1])
        assert group.dead_letters.get("failed") == 1
        assert await store.consumers.finish([], now=later(1)) == frozenset()

    async def test_an_infrastructure_error_pauses_the_partition(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, C)
        delivery = next(one for one in (await claim(store)).deliveries if positions(one) == [1, 2])
        outcome = DeliveryOutcome(
            lease=delivery.lease,
            is_redelivery=False,
            after=0,
            through=1,
            delivered=(1,),
            pause=30,
            error="connection refused",
        )
        assert await finish(store, outcome, at=1)
        status = await offset(store)
        assert (since(status.paused_until), status.error, status.position) == (31, "connection refused", 1)
        claimed = await claim(store, 30)
        assert (claimed.deliveries, since(claimed.next_at)) == ((), 31)
        delivery = await claim_one(store, 31)
        assert (positions(delivery), delivery.items[0].failures, delivery.pauses) == ([2], 0, 1)
        assert await finish(store, succeeded(delivery), at=32)
        status = await offset(store)
        assert (status.paused_until, status.error) == (None, None)
        assert (await read_group(store)).dead_letters.get("retrying", 0) == 0


class GroupChanges:
    """Operators move, copy, stop and delete groups."""

    async def test_a_group_reads_again_from_a_position(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C, A)
        await consume(store)
        group = await store.consumers.seek(NAMESPACE, GROUP, 1, "ada", note="again", now=later(1))
        assert {partition.position for partition in group.partitions} == {1}
        assert group.lag == 2
        assert handled_positions(await consume(store), A) == [3]
        group = await store.consumers.seek(NAMESPACE, GROUP, 3, "ada", now=later(2))
        assert group.lag == 0
        assert await actions(store) == [("seek_consumer", "ada")] * 2
        [newest, _] = await store.ledger.list_audit(NAMESPACE)
        assert (newest.detail["group"], newest.detail["position"]) == (GROUP, 3)

    async def test_a_move_fences_current_deliveries(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        stale = await claim_one(store)
        await store.consumers.seek(NAMESPACE, GROUP, 0, "ada", now=later(1))
        assert not await finish(store, succeeded(stale), at=2)
        taken = await claim_one(store, 2)
        assert (positions(taken), taken.crashes) == ([1], 0)

    async def test_a_move_to_a_position_that_the_log_does_not_have(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await consume(store)
        await store.events.prune(older_than=-60, limit=1)
        for position in (0, 3):
            with pytest.raises(InvalidError, match="position"):
                await store.consumers.seek(NAMESPACE, GROUP, position, "ada")
        with pytest.raises(NotFoundError, match="nobody"):
            await store.consumers.seek(NAMESPACE, "nobody", 1, "ada")
        await store.consumers.seek(NAMESPACE, GROUP, 1, "ada")
        assert handled_positions(await consume(store)) == [2]

    async def test_an_event_that_was_a_dead_letter_is_delivered_again(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A)
        await consume(store, fails=lambda event: event.position == 1)
        assert (await read_group(store)).dead_letters == {"failed": 1, "deferred": 1}
        await store.consumers.seek(NAMESPACE, GROUP, 0, "ada", note="fixed", now=later(1))
        assert (await read_group(store)).dead_letters == {"skipped": 2}
        # It fails again, with the same letter.
        assert handled_positions(await consume(store, 2, fails=lambda event: event.position == 1)) == [2]
        assert (await read_group(store)).dead_letters == {"failed": 1, "deferred": 1}
        await store.consumers.seek(NAMESPACE, GROUP, 0, "ada", now=later(3))
        assert handled_positions(await consume(store, 4)) == [1, 2, 3]

    async def test_positions_of_instants(self, store: Store) -> None:
        await publish(store, A, B, C, A)
        events = await stamped(store)
        find = store.consumers.find_position
        assert await find(NAMESPACE, events[0].published_at - (later(1) - later(0))) == 0
        assert await find(NAMESPACE, events[-1].published_at + (later(60) - later(0))) == 4
        assert await find("other", later(0)) == 0

    async def test_a_scratch_group_is_read_by_the_same_consumer(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await consume(store)
        scratch = await store.consumers.copy(NAMESPACE, GROUP, "billing.again", 1, "ada", now=later(1))
        assert (scratch.scratch_of, scratch.app, scratch.topics, scratch.state) == (
            GROUP,
            "shop",
            ("orders.*",),
            "active",
        )
        delivery = await claim_one(store)
        assert (delivery.lease.group, delivery.consumer, positions(delivery)) == ("billing.again", GROUP, [2])
        await finish(store, succeeded(delivery))
        # Both read new events, and their offsets are separate.
        await publish(store, A)
        assert handled_positions(await consume(store)) == [3, 3]
        with pytest.raises(ConflictError, match=r"billing\.again"):
            await store.consumers.copy(NAMESPACE, GROUP, "billing.again", 0, "ada")
        with pytest.raises(ConflictError, match=r"billing\.again"):
            await declare(store, group="billing.again")
        with pytest.raises(NotFoundError, match="nobody"):
            await store.consumers.copy(NAMESPACE, "nobody", "copy", 0, "ada")
        with pytest.raises(InvalidError, match="position"):
            await store.consumers.copy(NAMESPACE, GROUP, "copy", 4, "ada")
        assert await actions(store) == [("copy_consumer", "ada")]

    async def test_a_stopped_group_gets_nothing(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        stopped = await store.consumers.stop(NAMESPACE, GROUP, "ada", reason="the ledger is closed", now=later(1))
        assert stopped.state == "stopped"
        assert "the ledger is closed" in (stopped.reason or "")
        assert (await claim(store)).deliveries == ()
        # A worker that declares it learns that it is stopped.
        assert [group.name for group in await declare(store)] == [GROUP]
        assert (await claim(store)).deliveries == ()
        resumed = await store.consumers.resume(NAMESPACE, GROUP, "bob", now=later(2))
        assert (resumed.state, resumed.reason) == ("active", None)
        assert handled_positions(await consume(store)) == [1]
        assert await actions(store) == [("stop_consumer", "ada"), ("resume_consumer", "bob")]
        for change in (store.consumers.stop, store.consumers.resume):
            with pytest.raises(NotFoundError, match="nobody"):
                await change(NAMESPACE, "nobody", "ada")

    async def test_a_move_makes_a_stopped_group_active(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await store.consumers.stop(NAMESPACE, GROUP, "ada")
        group = await store.consumers.seek(NAMESPACE, GROUP, 1, "ada")
        assert (group.state, group.reason) == ("active", None)

    async def test_a_deleted_group_is_gone(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        stale = await claim_one(store)
        await store.consumers.delete(NAMESPACE, GROUP, "ada", now=later(1))
        assert await store.consumers.list(NAMESPACE) == []
        assert not await finish(store, failed(stale), at=2)
        with pytest.raises(NotFoundError, match="billing"):
            await store.consumers.delete(NAMESPACE, GROUP, "ada")
        assert await actions(store) == [("delete_consumer", "ada")]
        await declare(store)
        assert handled_positions(await consume(store, fails=lambda event: True)) == []
        await store.consumers.delete(NAMESPACE, GROUP, "ada")
        assert await store.dead_letters.find_by_event(NAMESPACE, 1) == []

    async def test_a_change_wakes_workers(self, store: Store, other: Store) -> None:
        await declare(store)
        await store.consumers.stop(NAMESPACE, GROUP, "ada")
        async with other.wakeups() as signals:
            await store.consumers.resume(NAMESPACE, GROUP, "ada")
            await anext(signals)


class ConsumerRetention:
    """Retention never makes a group skip events silently."""

    async def test_a_group_behind_retention_is_stopped(self, store: Store) -> None:
        await declare(store)
        await declare(store, group="quick")
        await publish(store, A, C, A)
        await consume(store, groups=["quick"])
        await finish(store, succeeded(await claim_one(store, batch=1, limit=1)))
        assert await store.events.prune(older_than=-60) == 3
        group = await read_group(store)
        assert group.state == "stopped"
        assert "3" in (group.reason or "")
        assert (await read_group(store, "quick")).state == "active"
        with pytest.raises(ConflictError, match="billing"):
            await store.consumers.resume(NAMESPACE, GROUP, "ada")
        assert [stopped.name for stopped in await declare(store)] == [GROUP]
        await publish(store, A)
        assert (await claim(store)).deliveries == ()
        await store.consumers.seek(NAMESPACE, GROUP, 3, "ada")
        assert handled_positions(await consume(store)) == [4]

    async def test_a_group_beyond_the_count_is_stopped(self, store: Store) -> None:
        await declare(store)
        await declare(store, group="quick")
        await publish(store, A, A, A)
        await finish(store, succeeded(await claim_one(store, batch=1)))
        await consume(store, groups=["quick"])
        # The next event of the slow group is the oldest one that is kept.
        assert await store.events.prune(older_than=3_600, max_events=2) == 1
        assert (await read_group(store)).state == "active"
        assert await store.events.prune(older_than=3_600, max_events=1) == 1
        group = await read_group(store)
        assert (group.state, (await read_group(store, "quick")).state) == ("stopped", "active")
        assert "it has read up to position 1, and the log begins after position 2" in (group.reason or "")
        assert (await claim(store)).deliveries == ()
        with pytest.raises(ConflictError, match="billing"):
            await store.consumers.resume(NAMESPACE, GROUP, "ada")
        await store.consumers.seek(NAMESPACE, GROUP, 2, "ada")
        assert handled_positions(await consume(store)) == [3]

    async def test_other_topics_and_partitions_without_events_stop_nothing(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C)
        await publish(store, A, topic="stock")
        await consume(store)
        await store.consumers.stop(NAMESPACE, GROUP, "ada")
        await publish(store, A)
        assert await store.events.prune(older_than=-60, limit=3) == 3
        group = await store.consumers.resume(NAMESPACE, GROUP, "ada")
        assert (group.state, group.lag) == ("active", 1)
        assert handled_positions(await consume(store)) == [4]
        # A key of a partition that had no event.
        await publish(store, key_in(14))
        assert await store.events.prune(older_than=-60, limit=1) == 1
        assert (await read_group(store)).state == "active"
        assert handled_positions(await consume(store)) == [5]

    async def test_a_stopped_group_cannot_resume_past_removed_events(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await store.consumers.stop(NAMESPACE, GROUP, "ada", reason="closed")
        for _ in range(2):
            await store.events.prune(older_than=-60, limit=1)
        assert (await read_group(store)).state == "stopped"
        with pytest.raises(ConflictError, match="billing"):
            await store.consumers.resume(NAMESPACE, GROUP, "ada")

    async def test_a_new_group_starts_after_removed_events(self, store: Store) -> None:
        await publish(store, A, A)
        await store.events.prune(older_than=-60, limit=1)
        await declare(store)
        assert handled_positions(await consume(store)) == [2]

    async def test_idle_groups_are_deleted(self, store: Store) -> None:
        async def prune(at: float) -> int:
            return await store.consumers.prune(idle_for=100, letters_older_than=1_000, now=later(at))

        for name in ("used", "stopped", "unused"):
            await declare(store, group=name)
        await store.consumers.copy(NAMESPACE, "used", "scratch", 0, "ada", now=later(10))
        for name in ("stopped", "unused"):
            await store.consumers.stop(NAMESPACE, name, "ada", now=later(0))
        await declare(store, group="stopped", at=50)
        assert await prune(99) == 0
        assert await prune(101) == 1
        assert await prune(111) == 1
        # An active group keeps its offsets, also without workers.
        assert [group.name for group in await store.consumers.list(NAMESPACE)] == ["stopped", "used"]
