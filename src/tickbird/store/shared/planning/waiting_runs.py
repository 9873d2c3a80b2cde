"""Waiting runs, with the concurrency of their revision."""

from __future__ import annotations

from tickbird.domain.limits.concurrency import Key, WaitingRun
from tickbird.domain.planning.fast_path import RevisionInfo


def waiter(
    revision: RevisionInfo | None,
    run_id: int,
    schedule_id: int | None,
    priority: int,
    key: Key | None,
    backfill_id: int | None,
    concurrency: int | None,
) -> WaitingRun:
    """A waiting run, with the concurrency of its revision; 1 if the revision cannot be read."""
    maximum: int | None = None
    if schedule_id is not None:
        maximum = 1 if revision is None else revision.definition.max_running
    return WaitingRun(run_id, schedule_id, priority, maximum, key, backfill_id, concurrency or 0)
