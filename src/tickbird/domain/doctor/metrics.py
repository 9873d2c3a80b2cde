"""How much there is of everything in a namespace: what is counted is bounded, so that it can be asked often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

# Of each kind at most so many are counted.
MAX_COUNTED: Final = 100_000
# What has ended is counted for so long, in seconds.
RECENTLY: Final = 300


@dataclass(frozen=True, slots=True)
class NamespaceMetrics:
    """Counts and ages at an instant of the store's clock."""

    now: datetime
    # By state; those that are deleted do not count.
    schedules: Mapping[str, int] = field(default_factory=dict)
    # By status, of runs that are not final.
    runs: Mapping[str, int] = field(default_factory=dict)
    held: int = 0
    # By status, of runs that have become final lately.
    ended: Mapping[str, int] = field(default_factory=dict)
    # Since when the oldest run could have been started that is queued, and the oldest schedule planned that is due.
    queued_since: datetime | None = None
    due_since: datetime | None = None
    workers: int = 0
    draining: int = 0
    slots: int = 0
    # There is more than was counted.
    capped: bool = False


def measured(now: datetime, rows: list[tuple[str, str, int, datetime | None]], maximum: int) -> NamespaceMetrics:
    """From rows of a kind, a label, a number and an instant, each counted up to `maximum`."""
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
        runs={label: number for label, number in counts["run"].items() if label != "held"},
        held=counts["run"].get("held", 0),
        ended=counts["ended"],
        queued_since=since.get("queued"),
        due_since=since.get("due"),
        workers=counts["worker"].get("alive", 0),
        draining=counts["worker"].get("draining", 0),
        slots=counts["worker"].get("slots", 0),
        capped=max(counts["seen"].values(), default=0) >= maximum,
    )
