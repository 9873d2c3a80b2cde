"""Dead letters: a failing event holds back its key and its transaction, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.events.log import stamped
from conformance.events.steps import (
    GROUP,
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
    letter_states,
    letters,
    offset,
    positions,
    publish,
    publish_together,
    read_group,
    succeeded,
)
from conformance.steps import NAMESPACE, later, since
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.events.dead_letters import LetterFilter
from tickbird.store.protocol.store import Store


class Quarantine:
    """The key of a failed event waits; other keys continue."""

    async def test_other_keys_continue(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A, C, B, A)
        handled = await consume(store, fails=lambda event: event.position == 1)
        assert sorted(handled_positions(handled)) == [2, 4, 5]  # type: ignore[type-var]
        assert await letter_states(store) == [(1, "failed"), (3, "deferred"), (6, "deferred")]
        first, second, _ = await letters(store)
        assert (first.failures, first.error, first.group, first.retry_at) == (1, "no such customer", GROUP, None)
        assert (second.failures, second.error, second.event.key) == (0, None, A)
        assert (await read_group(store)).dead_letters == {"failed": 1, "deferred": 2}
        assert (await read_group(store)).lag == 0

    async def test_later_events_of_the_key_wait_in_the_same_delivery(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        await publish(store, A, B)
        # A transaction with a quarantined key is held as a whole, and so are later events of its keys.
        await publish_together(store, B, A)
        await publish(store, B)
        delivery = await claim_one(store)
        assert [(item.position, item.is_held) for item in delivery.items] == [
            (2, True),
            (3, False),
            (4, True),
            (5, True),
            (6, True),
        ]
        await finish(store, succeeded(delivery))
        assert [position for position, _ in await letter_states(store)] == [1, 2, 4, 5, 6]

    async def test_a_replay_releases_the_key_in_order(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A, A, B)
        await consume(store, fails=lambda event: event.position == 1)
        [letter, *_] = await letters(store)
        change = await store.dead_letters.replay(NAMESPACE, letter.id, "ada", note="fixed", now=later(1))
        assert (list(change.letters), change.is_proposed) == ([letter.id], False)
        await publish(store, A)
        assert handled_positions(await consume(store, 2, batch=2)) == [1, 3, 4, 6]
        assert await letters(store) == []
        [delivered, *_] = await letters(store, resolved=True)
        assert (delivered.state, since(delivered.resolved_at), delivered.note) == ("delivered", 2, "fixed")
        assert (await read_group(store)).dead_letters == {"delivered": 3}
        # Only the letters' own positions count: the offset is where it was.
        assert (await offset(store)).position == 6
        await publish(store, A)
        assert handled_positions(await consume(store, 3)) == [7]

    async def test_a_released_event_can_fail_too(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A, A, B)
        await consume(store, fails=lambda event: event.position == 1)
        [letter, *_] = await letters(store)
        await store.dead_letters.skip(NAMESPACE, letter.id, "ada", now=later(1))
        assert handled_positions(await consume(store, 2, fails=lambda event: event.position == 2)) == []
        assert await letter_states(store, resolved=True) == [(1, "skipped"), (2, "failed"), (3, "deferred")]
        assert (await letters(store))[0].failures == 1

    async def test_a_retry_is_delivered_when_it_is_due(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await consume(store, fails=lambda event: True, retry_in=5)
        assert await letter_states(store) == [(1, "retrying"), (2, "deferred")]
        claimed = await claim(store, 4)
        assert (claimed.deliveries, since(claimed.next_at)) == ((), 5)
        delivery = await claim_one(store, 5, batch=1)
        assert (positions(delivery), delivery.is_redelivery, delivery.items[0].failures) == ([1], True, 1)
        await finish(store, failed(delivery, retry_in=20), at=6)
        [letter, _] = await letters(store)
        assert (letter.state, letter.failures, since(letter.retry_at)) == ("retrying", 2, 26)
        delivery = await claim_one(store, 26)
        assert (positions(delivery), [item.failures for item in delivery.items]) == ([1, 2], [2, 0])
        await finish(store, failed(delivery), at=27)
        assert await letter_states(store) == [(1, "failed"), (2, "deferred")]
        assert ((await letters(store))[0].failures, (await claim(store, 999)).deliveries) == (3, ())

    async def test_the_part_before_the_failure_is_delivered(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A, B)
        delivery = await claim_one(store)
        await finish(store, failed(delivery, 1))
        assert (await offset(store)).position == 2
        delivery = await claim_one(store)
        assert [(item.position, item.is_held) for item in delivery.items] == [(3, False), (4, True)]
        # The same in a redelivery.
        await finish(store, succeeded(delivery))
        [letter, _] = await letters(store)
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(1))
        delivery = await claim_one(store, 2)
        assert positions(delivery) == [2, 4]
        await finish(store, failed(delivery, 1), at=2)
        assert await letter_states(store, resolved=True) == [(2, "delivered"), (4, "failed")]

    async def test_an_infrastructure_error_keeps_a_due_letter(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await finish(store, failed(await claim_one(store), retry_in=1))
        delivery = await claim_one(store, 1)
        outcome = replace(succeeded(delivery), delivered=(), pause=10, error="connection refused")
        await finish(store, outcome, at=2)
        assert (await claim(store, 11)).deliveries == ()
        delivery = await claim_one(store, 12)
        assert (positions(delivery), delivery.items[0].failures, delivery.is_redelivery) == ([1], 1, True)

    async def test_events_without_a_key_hold_nothing_back(self, store: Store) -> None:
        await declare(store)
        await publish(store, *[None] * 40)
        handled = await consume(store, fails=lambda event: event.position in (1, 2))
        assert sorted(handled_positions(handled)) == list(range(3, 41))  # type: ignore[type-var]
        assert await letter_states(store) == [(1, "failed"), (2, "failed")]
        [_, second] = await letters(store)
        await store.dead_letters.replay(NAMESPACE, second.id, "ada", now=later(1))
        assert handled_positions(await consume(store, 2)) == [2]

    async def test_groups_have_their_own_letters(self, store: Store) -> None:
        await declare(store)
        await declare(store, group="audit")
        await publish(store, A, A)
        await consume(store, fails=lambda event: event.position == 1)
        assert handled_positions(await consume(store, groups=["audit"])) == [1, 2]
        await consume(store)
        assert [letter.group for letter in await store.dead_letters.find_by_event(NAMESPACE, 1)] == [GROUP]

    async def test_a_poison_event_that_kills_its_worker(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B)
        for n in range(4):
            await claim_one(store, n, lease=0.5)
        delivery = await claim_one(store, 5)
        assert (delivery.crashes, positions(delivery)) == (4, [1])
        await finish(store, failed(delivery), at=6)
        assert handled_positions(await consume(store, 7)) == [2]

    async def test_a_redelivery_after_a_crash_has_one_unit(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A, A)
        await consume(store, fails=lambda event: event.position == 1, retry_in=1)
        assert positions(await claim_one(store, 2, lease=1)) == [1, 2, 3]
        delivery = await claim_one(store, 4)
        assert (positions(delivery), delivery.crashes, delivery.is_redelivery) == ([1], 1, True)


class LetterTransactions:
    """Events of one transaction fail and return together."""

    async def test_a_transaction_fails_and_returns_as_one(self, store: Store) -> None:
        await declare(store)
        await publish_together(store, A, B)
        await publish(store, A, B, key_in(3, 2))
        handled = await consume(store, fails=lambda event: event.position == 2)
        assert handled_positions(handled) == [5]
        assert await letter_states(store) == [(1, "failed"), (2, "failed"), (3, "deferred"), (4, "deferred")]
        [letter, *_] = await letters(store)
        change = await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(1))
        assert set(change.letters) == {one.id for one in await letters(store) if one.state == "retrying"}
        assert len(change.letters) == 2
        delivery = await claim_one(store, 2, batch=1)
        assert positions(delivery) == [1, 2]
        await finish(store, succeeded(delivery), at=2)
        assert handled_positions(await consume(store, 3)) == [3, 4]

    async def test_the_parts_in_other_partitions_wait_too(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C)
        await publish_together(store, A, C)
        await publish(store, C, key_in(7, 1))
        # The first partition alone; the other one has an earlier event of the key that was not read.
        delivery = await claim_one(store, batch=100, limit=1)
        assert positions(delivery) == [1, 3]
        await finish(store, failed(delivery, 1))
        handled = await consume(store)
        assert sorted(handled_positions(handled)) == [2, 6]  # type: ignore[type-var]
        assert await letter_states(store) == [(3, "failed"), (4, "deferred"), (5, "deferred")]
        [letter, *_] = await letters(store)
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(1))
        handled = await consume(store, 2)
        assert sorted(handled_positions(handled)) == [3, 4, 5]  # type: ignore[type-var]
        assert handled_positions(handled, C) == [4, 5]

    async def test_the_parts_wait_while_one_is_retried(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C)
        await publish_together(store, A, C)
        await publish(store, C)
        delivery = await claim_one(store, limit=1)
        await finish(store, failed(delivery, 1, retry_in=10))
        # The earlier event of the other part's key is delivered before it, whenever that is released.
        assert handled_positions(await consume(store, 1)) == [2]
        assert await letter_states(store) == [(3, "retrying"), (4, "deferred"), (5, "deferred")]
        handled = await consume(store, 10, batch=1)
        assert handled_positions(handled, C) == [4, 5]
        assert handled_positions(handled, A) == [3]

    async def test_an_earlier_event_of_the_key_comes_first(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, C)
        await publish_together(store, A, C)
        delivery = await claim_one(store, limit=1)
        # Due at once, while the other partition has not been read.
        await finish(store, failed(delivery, 1, retry_in=0))
        handled = await consume(store, 1, batch=1)
        assert handled_positions(handled, A) == [3]
        assert handled_positions(handled, C) == [2, 4]

    async def test_a_skipped_transaction_releases_all_its_keys(self, store: Store) -> None:
        await declare(store)
        await publish_together(store, A, B)
        await publish(store, A, B)
        await consume(store, fails=lambda event: event.position == 2)
        [letter, *_] = await letters(store)
        change = await store.dead_letters.skip(NAMESPACE, letter.id, "ada", note="test data", now=later(1))
        assert len(change.letters) == 2
        assert handled_positions(await consume(store, 2)) == [3, 4]
        first, second, *_ = await letters(store, resolved=True)
        for skipped in (first, second):
            assert (skipped.state, skipped.resolved_by, skipped.note) == ("skipped", "ada", "test data")
            assert since(skipped.resolved_at) == 1


class LetterChanges:
    """Operators replay, skip and repair, and the audit log names them."""

    async def test_all_failed_letters_are_replayed(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, C, A)
        await consume(store, fails=lambda event: True)
        assert len(await letters(store)) == 4
        change = await store.dead_letters.replay_group(NAMESPACE, GROUP, "ada", limit=2, now=later(1))
        assert len(change.letters) == 2
        change = await store.dead_letters.replay_group(NAMESPACE, GROUP, "ada", now=later(1))
        assert len(change.letters) == 1
        assert sorted(handled_positions(await consume(store, 2))) == [1, 2, 3, 4]  # type: ignore[type-var]
        assert [letter.failures for letter in await letters(store, resolved=True)] == [0] * 4
        assert await actions(store) == [("replay_group", "ada")] * 2
        with pytest.raises(NotFoundError, match="nobody"):
            await store.dead_letters.replay_group(NAMESPACE, "nobody", "ada")

    async def test_changes_that_a_state_forbids(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await consume(store, fails=lambda event: True)
        failing, waiting = await letters(store)
        verbs = store.dead_letters
        with pytest.raises(ConflictError, match=r"deferred, not failed or retrying\. It waits"):
            await verbs.replay(NAMESPACE, waiting.id, "ada")
        with pytest.raises(ConflictError, match="deferred"):
            await verbs.repair(NAMESPACE, waiting.id, {}, "ada")
        with pytest.raises(ConflictError, match="no proposed repair"):
            await verbs.approve(NAMESPACE, failing.id, "ada")
        await verbs.skip(NAMESPACE, failing.id, "ada", now=later(1))
        for change in (verbs.skip, verbs.replay):
            with pytest.raises(ConflictError, match="skipped"):
                await change(NAMESPACE, failing.id, "ada")
        for change in (verbs.skip, verbs.replay, verbs.approve):
            with pytest.raises(NotFoundError):
                await change("other", failing.id, "ada")
        with pytest.raises(NotFoundError):
            await verbs.get("other", failing.id)
        with pytest.raises(NotFoundError):
            await verbs.repair(NAMESPACE, 10**9, {}, "ada")

    async def test_a_waiting_letter_can_be_skipped(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A, A)
        await consume(store, fails=lambda event: event.position == 1)
        failing, waiting, _ = await letters(store)
        await store.dead_letters.skip(NAMESPACE, waiting.id, "ada", now=later(1))
        await store.dead_letters.replay(NAMESPACE, failing.id, "bob", now=later(2))
        assert handled_positions(await consume(store, 3)) == [1, 3]
        assert await actions(store) == [("skip_dead_letter", "ada"), ("replay_dead_letter", "bob")]

    async def test_a_letter_that_is_skipped_during_its_delivery_stays_skipped(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        [letter] = await letters(store)
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(1))
        delivery = await claim_one(store, 2)
        await store.dead_letters.skip(NAMESPACE, letter.id, "ada", now=later(3))
        assert await finish(store, failed(delivery, retry_in=1), at=4)
        assert await letter_states(store, resolved=True) == [(1, "skipped")]
        assert (await claim(store, 99)).deliveries == ()

    async def test_a_repair_replaces_the_data_for_this_group(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, A)
        await consume(store, fails=lambda event: True)
        [letter, _] = await letters(store)
        for wrong, words in (
            (object(), "data is not JSON"),
            ("\0", "data contains a NUL"),
            ("\ud800", "data is not JSON"),
        ):
            with pytest.raises(InvalidError, match=words):
                await store.dead_letters.repair(NAMESPACE, letter.id, {"a": wrong}, "ada")
        change = await store.dead_letters.repair(
            NAMESPACE, letter.id, {"customer": [7, None]}, "ada", note="wrong customer", now=later(1)
        )
        assert (list(change.letters), change.is_proposed) == ([letter.id], False)
        repaired = await store.dead_letters.get(NAMESPACE, letter.id)
        assert (repaired.repair, repaired.repaired_by) == ({"customer": [7, None]}, "ada")
        # The event itself never changes.
        assert repaired.event.data == {}
        first, second = await consume(store, 2)
        assert (first.data, second.data) == ({"customer": [7, None]}, {})
        assert (await stamped(store))[0].data == {}
        assert await actions(store) == [("repair_dead_letter", "ada")]

    async def test_a_repair_that_fails_is_used_again(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        [letter] = await letters(store)
        await store.dead_letters.repair(NAMESPACE, letter.id, None, "ada", now=later(1))
        await consume(store, 2, fails=lambda event: True)
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(3))
        [event] = await consume(store, 4)
        assert event.data is None

    async def test_a_repair_can_require_a_second_person(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        [letter] = await letters(store)
        assert not await store.dead_letters.requires_approval(NAMESPACE)
        await store.dead_letters.set_approval(NAMESPACE, True, "root", now=later(1))
        assert await store.dead_letters.requires_approval(NAMESPACE)
        assert not await store.dead_letters.requires_approval("other")
        change = await store.dead_letters.repair(NAMESPACE, letter.id, {"a": 1}, "ada", now=later(2))
        assert (list(change.letters), change.is_proposed) == ([letter.id], True)
        assert (await claim(store, 3)).deliveries == ()
        with pytest.raises(ConflictError, match="ada"):
            await store.dead_letters.approve(NAMESPACE, letter.id, "ada")
        await store.dead_letters.approve(NAMESPACE, letter.id, "bob", note="checked", now=later(4))
        approved = await store.dead_letters.get(NAMESPACE, letter.id)
        assert (approved.repaired_by, approved.approved_by, approved.state) == ("ada", "bob", "retrying")
        [event] = await consume(store, 5)
        assert event.data == {"a": 1}
        with pytest.raises(ConflictError):
            await store.dead_letters.approve(NAMESPACE, letter.id, "eve")
        await store.dead_letters.set_approval(NAMESPACE, False, "root", now=later(6))
        assert not await store.dead_letters.requires_approval(NAMESPACE)
        assert await actions(store) == [
            ("set_approval", "root"),
            ("repair_dead_letter", "ada"),
            ("approve_dead_letter", "bob"),
            ("set_approval", "root"),
        ]

    async def test_a_replay_does_not_approve_a_repair(self, store: Store) -> None:
        await declare(store)
        await store.dead_letters.set_approval("new", True, "root", now=later(1))
        assert await store.dead_letters.requires_approval("new")
        await store.dead_letters.set_approval(NAMESPACE, True, "root", now=later(1))
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        [letter] = await letters(store)
        await store.dead_letters.repair(NAMESPACE, letter.id, {"a": 1}, "ada", now=later(2))
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(3))
        [event] = await consume(store, 4)
        assert event.data == {}

    async def test_letters_are_listed_and_counted(self, store: Store) -> None:
        await declare(store)
        await declare(store, group="audit")
        await publish(store, A, B, A)
        await consume(store, fails=lambda event: True)
        await consume(store, fails=lambda event: event.key == B, groups=["audit"])

        async def listed(after: int | None = None, limit: int = 100, **which: object) -> list[tuple[str, int | None]]:
            found = await store.dead_letters.list(
                NAMESPACE,
                LetterFilter(**which),  # type: ignore[arg-type]
                after=after,
                limit=limit,
            )
            assert [letter.id for letter in found] == sorted(letter.id for letter in found)
            return [(letter.group, letter.event.position) for letter in found]

        everything = await listed()
        assert sorted(everything) == [("audit", 2), (GROUP, 1), (GROUP, 2), (GROUP, 3)]
        assert await listed(group="audit") == [("audit", 2)]
        assert sorted(await listed(key=A)) == [(GROUP, 1), (GROUP, 3)]
        assert await listed(states=("deferred",)) == [(GROUP, 3)]
        assert await listed(states=("delivered", "skipped")) == []
        first, *_ = await store.dead_letters.list(NAMESPACE, LetterFilter(states=None))
        assert await listed(limit=1) == everything[:1]
        assert await listed(after=first.id) == everything[1:]
        assert [letter.group for letter in await store.dead_letters.find_by_event(NAMESPACE, 2)] == ["audit", GROUP]
        assert await store.dead_letters.list("other", LetterFilter()) == []

    async def test_a_long_or_odd_error_is_stored(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        outcome = failed(await claim_one(store))
        assert outcome.failure is not None
        error = "a\0b\ud800" + "x" * 20_000
        await finish(store, replace(outcome, failure=replace(outcome.failure, error=error)))
        [letter] = await letters(store)
        assert letter.error is not None
        assert letter.error.startswith("ab")
        assert 1_000 < len(letter.error) <= 10_000


class LetterRetention:
    """A letter keeps its event; resolved letters are removed by age."""

    async def test_a_letter_keeps_its_event(self, store: Store) -> None:
        await declare(store)
        await publish(store, A, B, A)
        await consume(store, fails=lambda event: event.position == 1)
        assert await store.events.prune(older_than=-60) == 1
        assert (await read_group(store)).state == "active"
        [letter, _] = await letters(store)
        assert letter.event.key == A
        # Versions continue after those that are removed.
        await publish(store, A, B)
        assert [event.version for event in await stamped(store) if (event.position or 0) > 3] == [3, 2]
        await store.dead_letters.replay(NAMESPACE, letter.id, "ada", now=later(1))
        assert handled_positions(await consume(store, 2)) == [1, 3, 4, 5]

    async def test_resolved_letters_are_removed_by_age(self, store: Store) -> None:
        async def prune(at: float) -> int:
            return await store.consumers.prune(idle_for=10**6, letters_older_than=100, now=later(at))

        await declare(store)
        await publish(store, A, A, B)
        await consume(store, fails=lambda event: event.position in (1, 3))
        await store.events.prune(older_than=-60)
        first, _, unresolved = await letters(store)
        await store.dead_letters.skip(NAMESPACE, first.id, "ada", now=later(10))
        await consume(store, 50)
        assert await prune(109) == 0
        assert await prune(111) == 1
        assert await letter_states(store, resolved=True) == [(2, "delivered"), (3, "failed")]
        assert await store.events.get(NAMESPACE, first.event.id) is None
        assert await prune(151) == 1
        assert await prune(10**5) == 0
        assert [letter.id for letter in await letters(store, resolved=True)] == [unresolved.id]
        assert [event.position for event in await stamped(store)] == [3]

    async def test_a_deleted_group_keeps_no_events(self, store: Store) -> None:
        await declare(store)
        await publish(store, A)
        await consume(store, fails=lambda event: True)
        assert await store.events.prune(older_than=-60) == 0
        assert len(await stamped(store)) == 1
        await store.consumers.delete(NAMESPACE, GROUP, "ada")
        await store.consumers.prune(idle_for=10**6, letters_older_than=100, now=later(1))
        assert await stamped(store) == []
