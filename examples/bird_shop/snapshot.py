"""The data of the view at one moment, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["tick", "manual", "caught up", "start", "ok", "retry", "lost", "requeued", "failed", "cancelled", "skip"]
Result = Literal["ok", "recovered", "failed", "cancelled", "skipped"]
Activity = Literal["idle", "running", "waiting", "retrying", "stopping", "ended", "paused", "parked"]

# Events that need attention.
NOTABLE: frozenset[Kind] = frozenset(("caught up", "retry", "lost", "requeued", "failed", "cancelled", "skip"))


@dataclass(frozen=True, slots=True)
class Event:
    """A change that the ledger records."""

    at: datetime
    kind: Kind
    name: str
    text: str
    run_id: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule: definition, results, activity and next tick."""

    name: str
    words: str
    policy: str
    results: tuple[Result, ...]
    activity: Activity
    doing: str
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts since this start."""

    runs: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    retried: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """Ticks that were missed while no worker ran: caught up or skipped."""

    runs: int = 0
    ticks: int = 0
    skipped: int = 0

    def __bool__(self) -> bool:
        return bool(self.runs or self.skipped)

    def __str__(self) -> str:
        parts = []
        if self.runs:
            parts.append(f"{plural(self.runs, 'run')} for {plural(self.ticks, 'missed tick')}")
        if self.skipped:
            parts.append(f"{plural(self.skipped, 'missed tick')} skipped")
        return "caught up: " + ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All data on the screen."""

    now: datetime
    started_at: datetime
    url: str
    worker: str
    slots: int
    busy: int = 0
    counts: Counts = Counts()
    caught_up: CaughtUp = CaughtUp()
    rows: tuple[Row, ...] = ()
    # Oldest first.
    events: tuple[Event, ...] = ()
    # Runs that the drain waits for; None if not draining.
    draining: tuple[str, ...] | None = None
    notice: str = ""


def plural(count: int, word: str) -> str:
    """Return, for example, "1 tick" or "2 ticks"."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def clock(at: datetime) -> str:
    """Return the local time of day."""
    return f"{at.astimezone():%H:%M:%S}"
