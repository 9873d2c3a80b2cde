"""Consumer groups: state, lag, and the offset of each partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from tickbird.domain.events.dead_letters import UNRESOLVED
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup, PartitionStatus
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.run import command
from tickbird.web.schedule_urls import name_from_path, name_in_path


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group for display."""

    group: ConsumerGroup
    now: datetime

    @property
    def path(self) -> str:
        return group_path(self.group.name)

    @property
    def icon(self) -> str:
        if self.group.state == "stopped":
            return "parked"
        return "paused" if self.paused_count else "active"

    @property
    def state_text(self) -> str:
        """The state in words."""
        if self.group.state == "stopped" or not self.paused_count:
            return self.group.state
        return f"active, {self.paused_count} of {len(self.group.partitions)} partitions paused"

    @property
    def paused_count(self) -> int:
        """The number of partitions that are paused after an infrastructure error."""
        return sum(is_paused(partition, self.now) for partition in self.group.partitions)

    @property
    def lag(self) -> str:
        return counted(self.group.lag)

    @property
    def unresolved(self) -> int:
        return sum(self.group.dead_letters.get(state, 0) for state in UNRESOLVED)

    def letters(self, state: str) -> str:
        return counted(self.group.dead_letters.get(state, 0))


def group_path(name: str) -> str:
    """The path of the page of a group."""
    return f"/events/groups/{name_in_path(name)}"


def counted(number: int) -> str:
    """A count; the store stops counting above MAX_COUNTED."""
    return f"{number:,}" if number <= MAX_COUNTED else f"{MAX_COUNTED:,}+"


def is_paused(partition: PartitionStatus, now: datetime) -> bool:
    return partition.paused_until is not None and partition.paused_until > now


def partition_state(group: ConsumerGroup, partition: PartitionStatus, now: datetime) -> tuple[str, str]:
    """The icon and the words of a partition."""
    if group.state == "stopped":
        return "parked", "stopped"
    if is_paused(partition, now):
        return "paused", "paused"
    if partition.worker is not None and partition.leased_until is not None:
        # An expired lease: the worker was lost, and the next one takes over.
        return ("running", "in delivery") if partition.leased_until > now else ("lost", "worker lost")
    return ("waiting", "waits for a worker") if partition.lag else ("succeeded", "up to date")


async def read_groups(visit: PageRequest) -> list[GroupRow]:
    """All groups, with stopped ones and those with failed letters first."""

    async def read() -> Sequence[ConsumerGroup]:
        return await visit.client.consumers.list()

    groups = await visit.readings.share((visit.namespace, "consumers"), read)
    rows = [GroupRow(group, visit.clock.now) for group in groups]
    return sorted(rows, key=lambda row: (row.group.state != "stopped", not row.group.dead_letters.get("failed")))


async def group(visit: PageRequest) -> Response:
    name = group_name(visit)

    async def read() -> ConsumerGroup:
        return await visit.client.consumers.get(name)

    found = await visit.readings.share((visit.namespace, "consumer", name), read)
    row = GroupRow(found, visit.clock.now)
    return visit.render(
        "events/group.html",
        group=found,
        row=row,
        partitions=[(partition, *partition_state(found, partition, visit.clock.now)) for partition in found.partitions],
        scratches=[other for other in await read_groups(visit) if other.group.scratch_of == found.name],
        counted=counted,
        group_path=group_path,
        command=command(visit, "consumers show", found.name),
    )


def group_name(visit: PageRequest) -> str:
    """The name of the group in the path."""
    return name_from_path(visit.param("name"))


ROUTES: Final = (PageRoute("/events/groups/{name:path}", group),)
