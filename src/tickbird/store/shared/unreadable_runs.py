"""Queued runs that this process cannot read: claims exclude them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final

from tickbird.domain.runs.unreadable_runs import RECHECK_SECONDS, Unreadable
from tickbird.store.shared.json_columns import Undecodable, decode

_MAX_COUNT: Final = 10_000
# A claim searches this many times for a readable run; the next claim continues from there.
ROUNDS: Final = 50
# If there are too many to store here, claims read some of them again, at most once in this time.
_PAUSE: Final = timedelta(seconds=1)


class UnreadableRuns:
    """Unreadable runs by revision, or by id if the payload of a single run is the cause; for one thread or loop."""

    def __init__(self) -> None:
        self.revisions: dict[tuple[int, int], Unreadable] = {}
        self.runs: dict[int, Unreadable] = {}
        self._checked_at: datetime | None = None

    def __len__(self) -> int:
        return len(self.revisions) + len(self.runs)

    def add_run(self, run_id: int, error: str, now: datetime) -> None:
        """Exclude this run."""
        self.runs[run_id] = Unreadable(error, run_id=run_id)
        self._bound(now)

    def add_revision(self, schedule_id: int, revision: int, schedule: str, error: str, now: datetime) -> None:
        """Exclude all runs of this revision."""
        self.revisions[schedule_id, revision] = Unreadable(error, schedule, revision)
        self._bound(now)

    def _bound(self, now: datetime) -> None:
        if len(self) == 1:
            self._checked_at = now
        if len(self) > _MAX_COUNT:
            # Without a bound they would fill the memory and every claim. The oldest are read again.
            oldest: dict[Any, Unreadable] = self.revisions or self.runs
            del oldest[next(iter(oldest))]

    def keep(self, revisions: Collection[tuple[int, int]], runs: Collection[int], now: datetime) -> None:
        """Drop all others: they no longer exist, or can be read by now."""
        self.revisions = {key: entry for key, entry in self.revisions.items() if key in revisions}
        self.runs = {run_id: entry for run_id, entry in self.runs.items() if run_id in runs}
        self._checked_at = now

    def is_due(self, now: datetime) -> bool:
        """True if they must be read again; a clock that was set back does not delay it."""
        since = None if self._checked_at is None or not len(self) else now - self._checked_at
        return since is not None and abs(since.total_seconds()) >= RECHECK_SECONDS

    def next_claim_at(self, now: datetime) -> datetime:
        """The instant of the next claim, after a claim whose rounds read only unreadable runs."""
        return now if len(self) < _MAX_COUNT else now + _PAUSE

    def snapshot(self) -> tuple[Unreadable, ...]:
        return (*self.revisions.values(), *self.runs.values()) if len(self) else ()


def decode_payload(text: str) -> tuple[Any, str | None]:
    """A run's own payload, or None and the decoding error."""
    payload = decode(text)
    if isinstance(payload, Undecodable):
        return None, f"payload: {payload.error}"
    return (payload, None) if isinstance(payload, dict) else (None, "payload must be a JSON object")
