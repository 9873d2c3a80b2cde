"""Deliveries: a leased partition of a group, the events to hand to its consumer, and the outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TypeVar
from uuid import UUID

from tickbird.domain.events.event import Event

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PartitionLease:
    """The right to deliver a partition of a group. The token grows with each lease, and fences the earlier ones."""

    namespace: str
    group: str
    partition: int
    token: int


@dataclass(frozen=True, slots=True)
class DeliveryItem:
    """An event of a delivery."""

    event: Event
    # How often its delivery has failed.
    failures: int = 0
    # An earlier event of its key is a dead letter, so this one has to wait.
    is_held: bool = False

    @property
    def position(self) -> int:
        position = self.event.position
        assert position is not None, "only stamped events are delivered"
        return position


@dataclass(frozen=True, slots=True)
class Unit:
    """Events that succeed or fail together: those of this partition that were published together, or a single one."""

    items: tuple[DeliveryItem, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(item.event for item in self.items)

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(item.position for item in self.items)

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(item.event.key for item in self.items if item.event.key is not None)

    @property
    def failures(self) -> int:
        return max(item.failures for item in self.items)

    @property
    def is_held(self) -> bool:
        return any(item.is_held for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A leased partition of a group and its next events."""

    lease: PartitionLease
    # The declared group whose consumer gets the events; differs from the lease's group for a scratch group.
    consumer: str
    # The offset when the partition was leased. A redelivery does not change it.
    after: int
    # The offset after the whole delivery; larger than the last item's position if later events have other topics.
    through: int
    items: tuple[DeliveryItem, ...]
    # The items are dead letters that are due, not new events.
    is_redelivery: bool = False
    # Leases that have expired since the last outcome. After a crash, units come one by one until the end of that batch,
    # whose lease counts for each of them.
    crashes: int = 0
    # Infrastructure errors of this partition since the last success.
    pauses: int = 0

    def units(self) -> Sequence[Unit]:
        """The events in order. Events that were published together have consecutive positions and are one unit."""
        return split_units(self.items)


def split_units(items: Iterable[DeliveryItem]) -> list[Unit]:
    """Group neighbours that were published together."""
    return [unit for unit, _ in group_units(items, lambda item: item)]


def group_units(parts: Iterable[T], item_of: Callable[[T], DeliveryItem]) -> Iterator[tuple[Unit, Sequence[T]]]:
    """Neighbours that were published together: the unit, and the parts that it was made from."""

    def unit_of(part: T) -> UUID | int:
        item = item_of(part)
        return item.event.transaction_id or item.position

    for _, group in groupby(parts, unit_of):
        members = tuple(group)
        yield Unit(tuple(map(item_of, members))), members


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFailure:
    """A unit that failed: it becomes, or stays, a dead letter, and its keys are in quarantine."""

    positions: tuple[int, ...]
    error: str
    failures: int
    # Seconds until the next attempt; None: it waits for a person.
    retry_in: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """The result of a delivery, or of its first part."""

    lease: PartitionLease
    is_redelivery: bool
    after: int
    # The new offset; for a redelivery, the position of the last event that this outcome is about.
    through: int
    delivered: tuple[int, ...] = ()
    # Events of quarantined keys, which become dead letters that wait for the earlier ones.
    deferred: tuple[int, ...] = ()
    failure: DeliveryFailure | None = None
    # After an infrastructure error: seconds for which the partition is paused, and why.
    pause: float | None = None
    error: str | None = None


def success(delivery: Delivery, units: Sequence[Unit], *, is_whole: bool) -> DeliveryOutcome:
    """The outcome of the first `units` of a delivery without an error; `is_whole` if these are all."""
    delivered = tuple(p for unit in units if not unit.is_held for p in unit.positions)
    deferred = tuple(p for unit in units if unit.is_held for p in unit.positions)
    last = units[-1].positions[-1] if units else delivery.after
    return DeliveryOutcome(
        lease=delivery.lease,
        is_redelivery=delivery.is_redelivery,
        after=delivery.after,
        through=delivery.through if is_whole else last,
        delivered=delivered,
        deferred=deferred,
    )


@dataclass(frozen=True, slots=True)
class ClaimedDeliveries:
    """The result of a claim."""

    deliveries: tuple[Delivery, ...]
    # The store's clock, and when a paused partition or a retry is due; None if nothing waits for a time.
    now: datetime
    next_at: datetime | None
    # More partitions have events than were claimed.
    more: bool = False


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """What a worker can deliver: a declared group, and the number of events per delivery."""

    name: str
    batch: int
