"""Waiting runs, with what their revision says of how many may go on at once."""

from __future__ import annotations

from tickbird.domain.limits.concurrency import Key, WaitingRun
from tickbird.domain.planning.fast_path import RevisionInfo


def waiter(
    one: RevisionInfo | None,
    run_id: int,
    schedule_id: int | None,
    priority: int,
    key: Key | None,
    backfill_id: int | None,
    concurrency: int | None,
) -> WaitingRun:
    """A waiting run, with what its revision says of how many may go on at once; one, where that cannot be read."""
    maximum: int | None = None
    if schedule_id is not None:
        maximum = 1 if one is None else one.definition.max_running
    return WaitingRun(run_id, schedule_id, priority, maximum, key, backfill_id, concurrency or 0)
