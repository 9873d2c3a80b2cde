"""Consumer groups: readers of the event log that share a durable offset per partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tickbird.domain.errors import InvalidError
from tickbird.domain.events.topics import check_patterns
from tickbird.domain.text import check_new_name

GroupState = Literal["active", "stopped"]
Start = Literal["earliest", "latest"]
# Lags and counts above this are shown as "10,000+".
MAX_COUNTED: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """A group as an app declares it."""

    name: str
    topics: tuple[str, ...]
    # Where a new group begins: at the oldest stored event, or after the newest.
    start: Start = "earliest"

    def __post_init__(self) -> None:
        check_new_name(self.name, "group")
        check_patterns(self.topics)
        if self.start not in ("earliest", "latest"):
            raise InvalidError(
                f"start: {str(self.start)[:40]!r} is neither 'earliest' nor 'latest'.",
                field="start",
                hint="'earliest' begins at the oldest stored event, 'latest' after the newest.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatus:
    """The offset of a group in one partition."""

    partition: int
    # Events up to this position are handled, or are dead letters.
    position: int
    # Events after it in this partition, of any topic; at most MAX_COUNTED + 1.
    lag: int
    # When the oldest of them got its position.
    oldest_at: datetime | None
    worker: str | None
    leased_until: datetime | None
    # Set after an infrastructure error: nothing is delivered until then.
    paused_until: datetime | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroup:
    """A group, and how far it has read."""

    name: str
    app: str
    topics: tuple[str, ...]
    state: GroupState
    # Why it is stopped.
    reason: str | None
    # The group whose consumer also reads this one.
    scratch_of: str | None
    created_at: datetime
    # When a worker declared it last.
    declared_at: datetime
    partitions: tuple[PartitionStatus, ...] = ()
    # The number of dead letters by state, each at most MAX_COUNTED + 1.
    dead_letters: Mapping[str, int] = field(default_factory=dict)

    @property
    def lag(self) -> int:
        """The number of events after the offsets."""
        return sum(partition.lag for partition in self.partitions)

    @property
    def oldest_at(self) -> datetime | None:
        """When the oldest event after the offsets got its position; None without a lag."""
        return min((p.oldest_at for p in self.partitions if p.oldest_at is not None), default=None)


@dataclass(frozen=True, slots=True)
class GroupOffset:
    """How far a group has read the partition of one event."""

    group: str
    topics: tuple[str, ...]
    state: GroupState
    reason: str | None
    position: int
    is_leased: bool
    paused_until: datetime | None
    error: str | None


def retention_reason(position: int, pruned_until: int) -> str:
    """Why retention has stopped a group."""
    return (
        f"retention has removed events that it had not read: it has read up to position {position}, and the log begins"
        f" after position {pruned_until}"
    )
