"""Lines: where one schedule makes many runs at once, they do not keep those of others waiting.

The first stands in the line of its queue as every run does. The others stand behind that line, and join it one a
minute. So they begin at once wherever nobody else waits, and where others do, one a minute at least. Until when a run
stands behind the line is in whole minutes since the epoch; 0 is that of a run in the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from tickbird.domain.limits.concurrency import WaitingRun

NOT_DEFERRED: Final = 0
MINUTE: Final = 60


def stagger(last: int, minute: int, on_time: Iterable[bool]) -> tuple[list[int], int]:
    """Until when runs that a schedule makes in this minute stand behind the line, in order; and the last of them all.

    A tick on time stands behind what its schedule has made before, and keeps nothing back itself.
    """
    behind = []
    for is_on_time in on_time:
        if not is_on_time:
            last = max(minute, last + 1)
        behind.append(last if last > minute else NOT_DEFERRED)
    return behind, last


def defer_released(released: Iterable[WaitingRun], of_backfills: Mapping[int, int], minute: int) -> dict[int, int]:
    """Until when waiters that are released now stand behind the line, by id, where they do.

    `of_backfills` counts the runs that go on of each backfill. Those of schedules that count are few by their own rule.
    """
    behind: dict[int, int] = {}
    before = Counter({("backfill", each): number for each, number in of_backfills.items()})
    for waiter in released:
        if waiter.backfill_id is not None:
            crowd = ("backfill", waiter.backfill_id)
        elif waiter.schedule_id is not None and waiter.max_running is None:
            crowd = ("schedule", waiter.schedule_id)
        else:
            continue
        if number := before[crowd]:
            behind[waiter.id] = minute + number
        before[crowd] += 1
    return behind
