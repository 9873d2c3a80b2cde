"""Short steps for tests of consumers: a consumer that keeps what it got, and fails as the test asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from conformance.events.log import stamped
from conformance.steps import NAMESPACE, later
from tickbird.domain.events.dead_letters import DeadLetter, LetterFilter
from tickbird.domain.events.deliveries import (
    ClaimedDeliveries,
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    GroupRequest,
    Unit,
    success,
)
from tickbird.domain.events.delivery_progress import MAX_LOSSES
from tickbird.domain.events.event import Event, NewEvent, partition_of
from tickbird.domain.events.groups import ConsumerGroup, NewGroup, PartitionStatus, Start
from tickbird.store.protocol.store import Store

GROUP: Final = "billing"
WORKER: Final = "host-7-abcd"


def key_in(partition: int, number: int = 0) -> str:
    """A key of this partition; each number gives another one."""
    keys = (f"k{n}" for n in range(100_000))
    return [key for key in (next(keys) for _ in range(2_000)) if partition_of(key, 16) == partition][number]


# Two keys of one partition, and one of another.
A, B, C = key_in(3), key_in(3, 1), key_in(7)


async def publish(store: Store, *keys: str | None, topic: str = "orders.paid", namespace: str = NAMESPACE) -> None:
    """Publish an event per key, one after the other, and stamp them."""
    for key in keys:
        new = NewEvent(topic=topic, type="Paid", key=key)
        await store.events.publish(namespace, [new], source="/test", actor="me")
    await stamped(store, namespace)


async def publish_together(store: Store, *keys: str | None, topic: str = "orders.paid") -> None:
    """Publish an event per key in one transaction, and stamp them."""
    new = [NewEvent(topic=topic, type="Paid", key=key) for key in keys]
    await store.events.publish(NAMESPACE, new, source="/test", actor="me")
    await stamped(store)


async def declare(
    store: Store, *topics: str, group: str = GROUP, start: Start = "earliest", app: str = "shop", at: float = 0
) -> Sequence[ConsumerGroup]:
    new = NewGroup(name=group, topics=topics or ("orders.*",), start=start)
    return await store.consumers.declare(NAMESPACE, [new], app=app, now=later(at))


async def claim(
    store: Store,
    at: float = 0,
    *,
    groups: Collection[str] = (GROUP,),
    batch: int = 100,
    limit: int = 16,
    lease: float = 60,
) -> ClaimedDeliveries:
    requests = [GroupRequest(name, batch) for name in groups]
    return await store.consumers.claim(NAMESPACE, requests, WORKER, limit=limit, lease=lease, now=later(at))


async def claim_one(store: Store, at: float = 0, *, batch: int = 100, limit: int = 16, lease: float = 60) -> Delivery:
    """The only delivery."""
    [delivery] = (await claim(store, at, batch=batch, limit=limit, lease=lease)).deliveries
    return delivery


def positions(delivery: Delivery) -> list[int]:
    return [item.position for item in delivery.items]


def succeeded(delivery: Delivery) -> DeliveryOutcome:
    """Everything that is not held was handled."""
    return success(delivery, delivery.units(), is_whole=True)


def failed(delivery: Delivery, number: int = 0, *, retry_in: float | None = None) -> DeliveryOutcome:
    """The unit with this index failed, after those before it were handled."""
    units = delivery.units()
    unit = units[number]
    is_last = number == len(units) - 1
    through = delivery.through if is_last and not delivery.is_redelivery else unit.positions[-1]
    failure = DeliveryFailure(
        positions=unit.positions, error="no such customer", failures=unit.failures + 1, retry_in=retry_in
    )
    return replace(success(delivery, units[:number], is_whole=False), through=through, failure=failure)


async def finish(store: Store, *outcomes: DeliveryOutcome, at: float = 0) -> bool:
    """True if all leases were current."""
    accepted = await store.consumers.finish(outcomes, now=later(at))
    return accepted == {outcome.lease for outcome in outcomes}


def first_failing(units: Sequence[Unit], fails: Callable[[Event], bool]) -> int | None:
    """The index of the first unit that the consumer is called with and that fails."""
    failing = (n for n, unit in enumerate(units) if not unit.is_held and any(map(fails, unit.events)))
    return next(failing, None)


async def consume(
    store: Store,
    at: float = 0,
    *,
    fails: Callable[[Event], bool] = lambda event: False,
    retry_in: float | None = None,
    batch: int = 100,
    limit: int = 16,
    groups: Collection[str] = (GROUP,),
) -> list[Event]:
    """Deliver everything that can be delivered now; returns the events that were handled, in order."""
    handled: list[Event] = []
    for _ in range(1_000):
        claimed = await claim(store, at, batch=batch, limit=limit, groups=groups)
        if not claimed.deliveries and not claimed.more:
            return handled
        for delivery in claimed.deliveries:
            units = delivery.units()
            failing = first_failing(units, fails)
            called = units if failing is None else units[:failing]
            handled += [event for unit in called if not unit.is_held for event in unit.events]
            outcome = succeeded(delivery) if failing is None else failed(delivery, failing, retry_in=retry_in)
            assert await finish(store, outcome, at=at)
    raise AssertionError("there is always another delivery")


async def lose_workers(store: Store, poison: int, at: float = 0, *, batch: int = 100) -> tuple[list[int], Counter[int]]:
    """Deliver all to workers that the event at `poison` ends; returns the size of each delivery, and calls by event."""
    sizes: list[int] = []
    called: Counter[int] = Counter()
    for n in range(100):
        # All leases that were lost have expired.
        now = at + 2 * n
        claimed = await claim(store, now, batch=batch, lease=1)
        if not claimed.deliveries:
            return sizes, called
        [delivery] = claimed.deliveries
        sizes.append(len(delivery.items))
        if delivery.crashes > MAX_LOSSES:
            assert positions(delivery) == [poison]
            assert await finish(store, failed(delivery), at=now)
            continue
        is_lost = poison in positions(delivery)
        called.update(one for one in positions(delivery) if not is_lost or one <= poison)
        if not is_lost:
            assert await finish(store, succeeded(delivery), at=now)
    raise AssertionError("there is always another delivery")


def handled_positions(events: Sequence[Event], *keys: str) -> list[int | None]:
    """The positions of handled events, in order; with keys, only theirs."""
    return [event.position for event in events if not keys or event.key in keys]


async def letters(store: Store, *, resolved: bool = False, group: str = GROUP) -> list[DeadLetter]:
    """The unresolved letters of a group in the order of their events, or all."""
    which = LetterFilter(group=group, states=None) if resolved else LetterFilter(group=group)
    found = await store.dead_letters.list(NAMESPACE, which, limit=1_000)
    return sorted(found, key=lambda letter: letter.event.position or 0)


async def letter_states(store: Store, *, resolved: bool = False) -> list[tuple[int | None, str]]:
    return [(letter.event.position, letter.state) for letter in await letters(store, resolved=resolved)]


async def read_group(store: Store, group: str = GROUP) -> ConsumerGroup:
    [found] = await store.consumers.list(NAMESPACE, group=group)
    return found


async def offset(store: Store, key: str = A, group: str = GROUP) -> PartitionStatus:
    """The group's offset in the partition of a key."""
    return (await read_group(store, group)).partitions[partition_of(key, 16)]


async def actions(store: Store) -> list[tuple[str, str]]:
    """The audit log as (action, actor), oldest first."""
    return [(entry.action, entry.actor) for entry in await store.ledger.list_audit(NAMESPACE)][::-1]
