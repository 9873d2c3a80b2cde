"""Events, groups and dead letters, made by the verbs that make them in earnest."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from tests.web.conftest import Served
from tickbird.domain.events.deliveries import DeliveryFailure, DeliveryOutcome, GroupRequest
from tickbird.domain.events.event import Event, NewEvent
from tickbird.domain.events.groups import NewGroup

WORKER = "host-7-11112222"


async def publish(served: Served, *keys: str | None, topic: str = "orders.paid", **fields: object) -> list[Event]:
    """One event per key, each with a number, and all of them with their positions."""
    events = [
        NewEvent(topic=topic, type="OrderPaid", key=key, id=uuid4(), **{"data": {"number": place}, **fields})  # type: ignore[arg-type]
        for place, key in enumerate(keys)
    ]
    ids = [(await served.store.events.publish("default", [one], source="/shop", actor="ana"))[0] for one in events]
    return await stamped(served, ids)


async def stamped(served: Served, ids: Sequence[UUID]) -> list[Event]:
    """These events, after a pass of the stamper."""
    while (await served.store.events.stamp()).more:
        pass
    found = [await served.store.events.get("default", event_id) for event_id in ids]
    return [event for event in found if event is not None and event.position is not None]


async def declare(served: Served, name: str = "billing", *topics: str) -> None:
    """A group that reads everything, or these topics."""
    group = NewGroup(name=name, topics=topics or ("#",))
    await served.store.consumers.declare("default", [group], app="shop")


async def deliver(
    served: Served,
    group: str = "billing",
    *,
    fails: Sequence[object] = (),
    error: str = "ValueError: no price",
    retry_in: float | None = None,
) -> None:
    """Deliver everything that is due; units with an event of these keys fail."""
    for _ in range(1_000):
        claimed = await served.store.consumers.claim(
            "default", [GroupRequest(group, 100)], WORKER, limit=16, lease=600.0
        )
        if not claimed.deliveries:
            return
        for delivery in claimed.deliveries:
            delivered: list[int] = []
            deferred: list[int] = []
            failure, through = None, delivery.through
            for unit in delivery.units():
                if unit.is_held:
                    deferred += unit.positions
                elif any(event.key in fails for event in unit.events):
                    failure = DeliveryFailure(
                        positions=unit.positions, error=error, failures=unit.failures + 1, retry_in=retry_in
                    )
                    through = unit.positions[-1]
                    break
                else:
                    delivered += unit.positions
            outcome = DeliveryOutcome(
                lease=delivery.lease,
                is_redelivery=delivery.is_redelivery,
                after=delivery.after,
                through=through,
                delivered=tuple(delivered),
                deferred=tuple(deferred),
                failure=failure,
            )
            assert await served.store.consumers.finish([outcome])
    raise AssertionError("the deliveries do not end")


async def letters(served: Served, group: str = "billing", state: str = "unresolved") -> list[tuple[str, str | None]]:
    """The dead letters of a group as state and key."""
    found = await served.client.dead_letters.list(group, state)  # type: ignore[arg-type]
    return [(letter.state, letter.event.key) for letter in found]
