"""Metrics of a namespace. Counts are capped, so that frequent scrapes stay cheap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from tickbird.domain.events.groups import MAX_COUNTED as MAX_EVENTS_COUNTED
from tickbird.domain.events.groups import ConsumerGroup
from tickbird.domain.leadership import Leader

# Maximum that is counted per kind.
MAX_COUNTED: Final = 100_000
# Seconds for which final runs are counted.
RECENTLY: Final = 300
# Consumer groups with their own values, by name.
MAX_GROUPS: Final = 100


@dataclass(frozen=True, slots=True)
class NamespaceMetrics:
    """Counts and ages at an instant of the store's clock."""

    now: datetime
    # By state, without deleted schedules.
    schedules: Mapping[str, int] = field(default_factory=dict)
    # By status, of runs that are not final.
    runs: Mapping[str, int] = field(default_factory=dict)
    held: int = 0
    undecided: int = 0
    # By status, of runs that became final within RECENTLY.
    ended: Mapping[str, int] = field(default_factory=dict)
    # Since when the oldest queued run is available, and since when the oldest schedule is due.
    queued_since: datetime | None = None
    due_since: datetime | None = None
    workers: int = 0
    draining: int = 0
    slots: int = 0
    # Since when the oldest committed event has no position; None also while a stamper works.
    unstamped_since: datetime | None = None
    # The position of the newest event.
    event_position: int = 0
    groups: Sequence[ConsumerGroup] = ()
    # In leader mode: the term of the leader, 0 without one; and its last heartbeat.
    leader_term: int = 0
    leader_heartbeat_at: datetime | None = None
    # At least one count reached its maximum.
    capped: bool = False

    def with_events(self, position: int, groups: Sequence[ConsumerGroup]) -> NamespaceMetrics:
        """Add the head of the event log, and the first MAX_GROUPS groups."""
        is_capped = self.capped or len(groups) > MAX_GROUPS or any(map(_is_capped, groups[:MAX_GROUPS]))
        return replace(self, event_position=position, groups=groups[:MAX_GROUPS], capped=is_capped)

    def with_leader(self, leader: Leader) -> NamespaceMetrics:
        """Add the leader of the store."""
        heartbeat_at = None if leader.lease is None else leader.lease.heartbeat_at
        term = leader.lease.term if leader.lease is not None and leader.is_live else 0
        return replace(self, leader_term=term, leader_heartbeat_at=heartbeat_at)


def _is_capped(group: ConsumerGroup) -> bool:
    counts = (*(partition.lag for partition in group.partitions), *group.dead_letters.values())
    return max(counts, default=0) > MAX_EVENTS_COUNTED


def measured(now: datetime, rows: list[tuple[str, str, int, datetime | None]], maximum: int) -> NamespaceMetrics:
    """Build the metrics from rows of (kind, label, number, instant), each counted up to `maximum`."""
    counts: dict[str, dict[str, int]] = {"schedule": {}, "run": {}, "ended": {}, "worker": {}, "seen": {}}
    since: dict[str, datetime | None] = {}
    for kind, label, number, at in rows:
        if kind == "since":
            since[label] = at
        else:
            counts[kind][label] = number
    return NamespaceMetrics(
        now=now,
        schedules=counts["schedule"],
        runs={label: number for label, number in counts["run"].items() if label not in ("held", "undecided")},
        held=counts["run"].get("held", 0),
        undecided=counts["run"].get("undecided", 0),
        ended=counts["ended"],
        queued_since=since.get("queued"),
        due_since=since.get("due"),
        unstamped_since=since.get("unstamped"),
        workers=counts["worker"].get("alive", 0),
        draining=counts["worker"].get("draining", 0),
        slots=counts["worker"].get("slots", 0),
        capped=max(counts["seen"].values(), default=0) >= maximum,
    )
