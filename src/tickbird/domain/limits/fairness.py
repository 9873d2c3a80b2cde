"""Fairness: a burst of runs from one schedule does not starve the other schedules in its queue.

The first run of a burst is queued normally. The others are deferred: runs of other schedules go first, and one deferred
run a minute becomes a normal one. So they start at once if no other run is queued, otherwise at least one a minute.
The end of the deferral is in whole minutes since the epoch; 0 means not deferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from tickbird.domain.limits.concurrency import WaitingRun

NOT_DEFERRED: Final = 0
MINUTE: Final = 60


def stagger(last: int, minute: int, on_time: Iterable[bool]) -> tuple[list[int], int]:
    """Return the end of deferral of each run that a schedule creates in this minute, and the last end.

    A punctual tick is deferred after the earlier runs of its schedule, and defers no others.
    """
    deferred = []
    for is_on_time in on_time:
        if not is_on_time:
            last = max(minute, last + 1)
        deferred.append(last if last > minute else NOT_DEFERRED)
    return deferred, last


def defer_released(released: Iterable[WaitingRun], of_backfills: Mapping[int, int], minute: int) -> dict[int, int]:
    """Return the end of deferral by run id, for released runs that are deferred.

    `of_backfills` counts the active runs by backfill. Schedules with a limit release few runs anyway.
    """
    deferred: dict[int, int] = {}
    before = Counter({("backfill", backfill_id): number for backfill_id, number in of_backfills.items()})
    for waiter in released:
        if waiter.backfill_id is not None:
            source = ("backfill", waiter.backfill_id)
        elif waiter.schedule_id is not None and waiter.max_running is None:
            source = ("schedule", waiter.schedule_id)
        else:
            continue
        if number := before[source]:
            deferred[waiter.id] = minute + number
        before[source] += 1
    return deferred
