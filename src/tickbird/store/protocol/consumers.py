"""Consumers: groups of readers, leases of their partitions, and deliveries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.events.deliveries import ClaimedDeliveries, DeliveryOutcome, GroupRequest, PartitionLease
from tickbird.domain.events.groups import ConsumerGroup, GroupOffset, NewGroup


class ConsumerStore(Protocol):
    async def declare(
        self, namespace: str, groups: Sequence[NewGroup], *, app: str, now: datetime | None = None
    ) -> Sequence[ConsumerGroup]:
        """Create groups, and update the topics of existing ones; returns those that are stopped.

        Raises ConflictError if another app has a group of this name.
        """

    async def claim(
        self,
        namespace: str,
        groups: Sequence[GroupRequest],
        worker: str,
        *,
        limit: int,
        lease: float,
        now: datetime | None = None,
    ) -> ClaimedDeliveries:
        """Lease up to `limit` partitions that have something to deliver, of these groups and of their scratch groups.

        Dead letters that are due come before new events. An event whose key is in quarantine, or that was published
        together with one that is failed or retrying, is returned as held. A unit is never split. A partition whose
        lease has expired counts a crash.
        """

    async def renew(
        self, leases: Sequence[PartitionLease], lease: float, *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        """Extend leases whose token is current; returns them. Does not wait for a consumer's open transaction."""

    async def finish(
        self, outcomes: Sequence[DeliveryOutcome], *, now: datetime | None = None
    ) -> frozenset[PartitionLease]:
        """Record outcomes and release the partitions; returns the leases whose token was current.

        An outcome that the consumer has committed in its own transaction only releases the partition.
        """

    async def list(self, namespace: str, *, group: str | None = None) -> Sequence[ConsumerGroup]:
        """The groups by name, with their partitions and the numbers of their dead letters; `group`: only that one."""

    async def find_offsets(self, namespace: str, partition: int) -> Sequence[GroupOffset]:
        """The offset of each group in one partition, by group."""

    async def seek(
        self, namespace: str, group: str, position: int, actor: str, *, note: str = "", now: datetime | None = None
    ) -> ConsumerGroup:
        """Continue after this position in all partitions, and make a stopped group active; fences current deliveries.

        Unresolved dead letters after the position are resolved as skipped, because the log has these events.
        Raises InvalidError if retention has removed the next event, NotFoundError if there is no such group.
        """

    async def find_position(self, namespace: str, at: datetime) -> int:
        """The position of the last event that was stamped before an instant; 0 if there is none."""

    async def copy(
        self, namespace: str, group: str, scratch: str, position: int, actor: str, *, now: datetime | None = None
    ) -> ConsumerGroup:
        """Create a scratch group, which the consumer of `group` reads too, after this position.

        Raises ConflictError if the name is in use.
        """

    async def stop(
        self, namespace: str, group: str, actor: str, *, reason: str = "", now: datetime | None = None
    ) -> ConsumerGroup:
        """Deliver nothing more to a group until `resume`; its offsets stay."""

    async def resume(self, namespace: str, group: str, actor: str, *, now: datetime | None = None) -> ConsumerGroup:
        """Make a stopped group active. Raises ConflictError if retention has removed events that it has not read."""

    async def delete(self, namespace: str, group: str, actor: str, *, now: datetime | None = None) -> None:
        """Delete a group with its offsets and dead letters."""

    async def prune(
        self, *, idle_for: float, letters_older_than: float, limit: int = 1_000, now: datetime | None = None
    ) -> int:
        """Delete idle groups, resolved letters, and events that only they kept; returns the number of the first two.

        Idle are scratch groups and stopped groups that no worker has declared for `idle_for` seconds. Letters are
        deleted `letters_older_than` seconds after they were resolved.
        """
