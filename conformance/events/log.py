"""The event log: published with its transaction, stamped after it, read in order."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from conformance.capabilities import needs
from conformance.steps import NAMESPACE, change, create, later, plan, runs_of
from tickbird.domain.dashboard_rows import EventFilter
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.events.event import Event, NewEvent, partition_of, tick_event_id
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.dependencies import after
from tickbird.domain.targets.event import event
from tickbird.domain.targets.registry import as_target
from tickbird.domain.time.instants import to_seconds
from tickbird.store.protocol.store import Store

ALL = EventFilter()


async def publish(
    store: Store, *keys: str | None, topic: str = "orders.paid", namespace: str = NAMESPACE
) -> list[UUID]:
    """Publish one event per key, in one call each."""
    ids: list[UUID] = []
    for number, key in enumerate(keys):
        new = NewEvent(topic=topic, type="Paid", key=key, data={"number": number})
        ids += await store.events.publish(namespace, [new], source="/test", actor="me")
    return ids


async def stamped(store: Store, namespace: str = NAMESPACE) -> list[Event]:
    """All events of a namespace, after a pass of the stamper."""
    while (await store.events.stamp()).more:
        pass
    return list(await store.events.read(namespace, limit=10_000))


class EventLog:
    """Positions are gapless in a namespace, versions in a key."""

    async def test_events_get_gapless_positions_and_versions(self, store: Store) -> None:
        ids = await publish(store, "a", "b", "a", None, "b", "a")
        events = await stamped(store)
        assert [one.id for one in events] == ids
        assert [one.position for one in events] == [1, 2, 3, 4, 5, 6]
        assert [one.version for one in events] == [1, 1, 2, None, 2, 3]
        assert events[0].data == {"number": 0}
        assert await store.events.head(NAMESPACE) == 6
        [again] = await publish(store, "a")
        events = await stamped(store)
        assert (events[-1].id, events[-1].position, events[-1].version) == (again, 7, 4)

    async def test_a_position_has_the_incarnation_of_the_store(self, store: Store) -> None:
        [event_id] = await publish(store, "a")
        incarnation = await store.identity.incarnation()
        [event] = await stamped(store)
        found = await store.events.get(NAMESPACE, event_id)
        assert found is not None
        assert (event.incarnation, found.incarnation) == (incarnation, incarnation)
        assert str(event.resume_token) == f"{incarnation}:1"
        await store.identity.accept_copy(NAMESPACE, "ada")
        renewed = await store.identity.incarnation()
        assert renewed != incarnation
        assert [event.incarnation for event in await stamped(store)] == [renewed]

    async def test_data_is_any_json_value(self, store: Store) -> None:
        values = ["text", "x" * 5_000, "123", "null", '{"a": 1}', None, 5, 1.5, True, [1, "2"], {"a": "1", "b": None}]
        events = [NewEvent(topic="orders", type="Paid", data=value, key="k") for value in values]
        await store.events.publish(NAMESPACE, events, source="/test", actor="me")
        assert [one.data for one in await stamped(store)] == values

    async def test_a_key_has_one_partition(self, store: Store) -> None:
        await publish(store, "a", "ü", "a", "ü")
        events = await stamped(store)
        assert [one.partition for one in events] == [partition_of(key, 16) for key in ("a", "ü", "a", "ü")]

    async def test_namespaces_have_their_own_positions(self, store: Store) -> None:
        await publish(store, "a", "a")
        await publish(store, "a", namespace="other")
        assert [(one.position, one.version) for one in await stamped(store)] == [(1, 1), (2, 2)]
        assert [(one.position, one.version) for one in await stamped(store, "other")] == [(1, 1)]

    async def test_an_id_is_published_once(self, store: Store) -> None:
        new = NewEvent(topic="a", type="A", key="k", id=uuid4())
        for _ in range(2):
            assert await store.events.publish(NAMESPACE, [new], source="/test", actor="me") == [new.id]
        assert [one.id for one in await stamped(store)] == [new.id]
        assert new.id is not None
        found = await store.events.get(NAMESPACE, new.id)
        assert found is not None
        assert (found.topic, found.position, found.version) == ("a", 1, 1)
        assert await store.events.get("other", new.id) is None

    async def test_events_that_belong_together(self, store: Store) -> None:
        new = [NewEvent(topic="a", type="A", key=key) for key in "xyx"]
        await store.events.publish(NAMESPACE, new, source="/test", actor="me")
        await publish(store, "x")
        events = await stamped(store)
        assert [(one.ordinal, one.count) for one in events] == [(1, 3), (2, 3), (3, 3), (1, 1)]
        assert len({one.transaction_id for one in events[:3]}) == 1
        assert events[0].transaction_id is not None
        assert events[3].transaction_id is None
        assert [one.version for one in events] == [1, 1, 2, 3]

    async def test_an_id_is_unique_in_a_call(self, store: Store) -> None:
        """Otherwise one of the events would be lost, and the others would count it."""
        new = NewEvent(topic="a", type="A", id=uuid4())
        other = NewEvent(topic="a", type="B")
        with pytest.raises(InvalidError, match=rf"events.2.id: another event of this call has the id {new.id}"):
            await store.events.publish(NAMESPACE, [new, other, new], source="/test", actor="me")
        assert await stamped(store) == []
        await store.events.publish(NAMESPACE, [other, other], source="/test", actor="me")
        assert len(await stamped(store)) == 2

    async def test_an_expected_version_must_hold(self, store: Store) -> None:
        async def publish_at(version: int) -> None:
            new = NewEvent(topic="a", type="A", key="k", expected_version=version)
            await store.events.publish(NAMESPACE, [new], source="/test", actor="me")

        await publish_at(0)
        # Not stamped yet.
        await publish_at(1)
        with pytest.raises(ConflictError, match="has version 2, not 1"):
            await publish_at(1)
        await stamped(store)
        with pytest.raises(ConflictError, match="has version 2, not 5"):
            await publish_at(5)
        await publish_at(2)
        assert [one.version for one in await stamped(store)] == [1, 2, 3]
        with pytest.raises(InvalidError, match="needs a key"):
            NewEvent(topic="a", type="A", expected_version=1)

    async def test_reading_filters_topics(self, store: Store) -> None:
        for topic in ("orders", "orders.paid", "orders.paid.late", "stock"):
            await publish(store, "k", topic=topic)
        await stamped(store)

        async def topics(*patterns: str) -> list[str]:
            return [one.topic for one in await store.events.read(NAMESPACE, topics=patterns)]

        assert await topics("orders.*") == ["orders.paid"]
        assert await topics("orders.#") == ["orders", "orders.paid", "orders.paid.late"]
        assert await topics("#.late", "stock") == ["orders.paid.late", "stock"]
        assert len(await topics("#")) == 4
        [second] = await store.events.read(NAMESPACE, 1, limit=1)
        assert second.position == 2

    @needs("dashboard")
    async def test_pages_of_events_are_narrow_and_go_both_ways(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Newest first; a filter without a match returns where it stopped."""
        ids = await publish(store, "a", "b", "a", None, "b", "a")
        [other] = await publish(store, "a", topic="mail.sent")
        await publish(store, "a", namespace="other")
        await stamped(store)

        async def told(filters: EventFilter = ALL, **bounds: int) -> tuple[list[int], int | None]:
            page = await store.dashboard.events(NAMESPACE, filters, **bounds)
            return [row.position for row in page.rows], page.reached

        assert await told(limit=3) == ([7, 6, 5], 5)
        assert await told(before=5, limit=4) == ([4, 3, 2, 1], None)
        assert await told(after=3, limit=2) == ([5, 4], 5)
        assert await told(EventFilter(topics=("mail.*",))) == ([7], None)
        assert await told(EventFilter(topics=("mail.#", "orders.paid"), key="a")) == ([7, 6, 3, 1], None)
        assert await told(EventFilter(key="a"), before=6, limit=1) == ([3], 3)
        assert await told(EventFilter(key="a"), before=5) == ([3, 1], None)
        assert await told(EventFilter(key="a"), after=1, limit=1) == ([3], 3)
        assert await told(EventFilter(key="a", topics=("mail.*",)), after=2) == ([7], None)
        partition = partition_of("a", 16)
        assert partition_of("b", 16) != partition
        in_partition = [place for place in (await told(EventFilter(partition=partition)))[0] if place != 4]
        assert in_partition == [7, 6, 3, 1]
        page = await store.dashboard.events(NAMESPACE, EventFilter(), limit=2)
        [newest, before] = page.rows
        assert (newest.id, newest.topic, newest.type, newest.key, newest.version) == (
            other,
            "mail.sent",
            "Paid",
            "a",
            4,
        )
        assert (before.id, before.partition, before.run_id) == (ids[5], partition_of("a", 16), None)
        monkeypatch.setattr(f"{type(store.dashboard).__module__}.MAX_EXAMINED", 3)
        assert await told(EventFilter(topics=("none",))) == ([], 5)
        assert await told(EventFilter(topics=("none",)), after=2) == ([], 5)
        with pytest.raises(InvalidError, match="pattern of topics"):
            EventFilter(topics=("a b",))


class EventTargets:
    """A tick publishes its event in the transaction that plans it."""

    async def test_a_tick_publishes_its_event(self, store: Store) -> None:
        target = as_target(
            event("orders.nightly", "Due", key="k", data={"a": 1}, headers={"trace": "t"}, tenant="shop")
        )
        schedule = await create(store, target=target, payload={"b": 2})
        await plan(store, 60)
        [run] = await runs_of(store)
        assert (run.status, run.attempt) == ("succeeded", 0)
        [published] = await stamped(store)
        event_id = tick_event_id(NAMESPACE, schedule.name, to_seconds(later(60)))
        assert run.result == {"event_id": str(event_id)}
        assert published.id == event_id
        assert (published.topic, published.type, published.key) == ("orders.nightly", "Due", "k")
        assert published.data == {"a": 1, "b": 2}
        assert (published.headers, published.tenant) == ({"trace": "t"}, "shop")
        assert (published.time, published.run_id) == (later(60), run.id)
        assert published.source == f"/tickbird/{NAMESPACE}/{schedule.name}"
        await plan(store, 120)
        assert [one.version for one in await stamped(store)] == [1, 2]

    async def test_schedules_that_depend_on_an_event_wait_for_its_success(self, store: Store) -> None:
        """In the batch of schedules on which none depends."""
        target = as_target(event("a", "A"))
        for name in ("other", "load"):
            await create(store, name, target=target)
        await create(store, "next", depends_on=(after("load", within=30, wait=90),))
        await plan(store, 60)
        await store.events.stamp(now=later(61))
        assert len(await stamped(store)) == 2
        for name, status in (("load", "succeeded"), ("other", "succeeded"), ("next", "queued")):
            assert [run.status for run in await runs_of(store, name)] == [status]

    async def test_an_id_that_exists_is_not_published_by_its_tick(self, store: Store) -> None:
        """A person has published it before; the ticks of other schedules are not affected."""
        target = as_target(event("a", "A", key="k"))
        for name in ("one", "two"):
            await create(store, name, target=target)
        event_id = tick_event_id(NAMESPACE, "one", to_seconds(later(60)))
        before = NewEvent(topic="b", type="B", key="k", id=event_id)
        await store.events.publish(NAMESPACE, [before], source="/test", actor="me")
        await plan(store, 60)
        published = await stamped(store)
        assert [(one.topic, one.version) for one in published] == [("b", 1), ("a", 2)]
        for name in ("one", "two"):
            [run] = await runs_of(store, name)
            assert run.status == "succeeded"
        await plan(store, 120)
        assert len(await stamped(store)) == 4

    async def test_a_late_tick_publishes_one_event(self, store: Store) -> None:
        await create(store, target=as_target(event("a", "A", key="k")))
        await plan(store, 600)
        [run] = await runs_of(store)
        assert (run.origin, run.status) == ("catch_up", "succeeded")
        [published] = await stamped(store)
        assert published.time == later(60)

    async def test_every_late_tick_publishes_in_order(self, store: Store) -> None:
        await create(store, target=as_target(event("a", "A", key="k")), catch_up="all")
        await plan(store, 315)
        for _ in range(10):
            await store.events.stamp(now=later(316))
        published = await stamped(store)
        assert [one.time for one in published] == [later(60 * minute) for minute in range(1, 6)]
        assert {run.status for run in await runs_of(store)} == {"succeeded"}

    async def test_a_manual_run_publishes_another_event(self, store: Store) -> None:
        await create(store, target=as_target(event("a", "A", data={"a": 1})))
        await change(store, Trigger(actor="ada", payload={"a": 2}), 1)
        await change(store, Trigger(actor="ada"), 2)
        await store.events.stamp(now=later(3))
        published = await stamped(store)
        assert [one.data for one in published] == [{"a": 2}, {"a": 1}]
        assert len({one.id for one in published}) == 2


class EventRetention:
    """Old events are removed from the front of the log; positions and versions continue."""

    async def test_only_the_newest_events_are_kept(self, store: Store) -> None:
        """The count is the distance to the last position: a namespace has its own, in batches."""

        async def prune(max_events: int | None, limit: int = 1_000) -> int:
            return await store.events.prune(older_than=3_600, max_events=max_events, limit=limit)

        await publish(store, *"aabab")
        await publish(store, "a", "a", namespace="other")
        await stamped(store)
        for max_events in (None, 5, 6, 2**40):
            assert await prune(max_events) == 0
        assert await prune(2, limit=2) == 2
        assert await prune(2, limit=2) == 1
        assert await prune(2) == 0
        assert [event.position for event in await stamped(store)] == [4, 5]
        assert [event.position for event in await stamped(store, "other")] == [1, 2]
        await publish(store, "a", "c")
        assert [(event.position, event.version) for event in (await stamped(store))[2:]] == [(6, 4), (7, 1)]
        assert await prune(3) == 1
        # Age and count: the first that removes an event.
        assert await store.events.prune(older_than=-60, max_events=2) == 5
        assert await store.events.head(NAMESPACE) == 7

    async def test_positions_and_versions_continue_after_pruning(self, store: Store) -> None:
        await publish(store, "a", "a", "b")
        await stamped(store)
        assert await store.events.prune(older_than=3_600) == 0
        assert await store.events.prune(older_than=-60, limit=2) == 2
        assert [one.position for one in await stamped(store)] == [3]
        assert await store.events.prune(older_than=-60) == 1
        assert await stamped(store) == []
        assert await store.events.head(NAMESPACE) == 3
        await publish(store, "a", "b")
        assert [(one.position, one.version) for one in await stamped(store)] == [(4, 3), (5, 2)]
