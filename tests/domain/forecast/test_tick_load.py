"""Ticks by slot, compared with an enumeration."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from tickbird import any_of, cron, every
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.forecast.tick_load import HOUR, MINUTE, count_by_slot, count_running_ticks, sum_by_hour
from tickbird.domain.schedules.definition import Definition, Target

# Two hours before clocks in Rome go forward, on a Sunday.
START = int(datetime(2027, 3, 27, 23, tzinfo=UTC).timestamp())
SUNDAYS = Calendar(weekdays=frozenset((6,)))
MINUTES = range(START, START + 4 * HOUR + 1, MINUTE)


def define(trigger: Any, **policies: Any) -> Definition:
    return Definition(trigger=trigger, target=Target("any"), **policies)


def walked(definition: Definition, edges: range) -> list[int]:
    grid = definition.grid
    ticks = [tick for tick in grid.walk(edges[0] - 1, edges[-1] - 1) if not grid.excludes(tick)]
    return [sum(start <= tick < end for tick in ticks) for start, end in pairwise(edges)]


@pytest.mark.parametrize(
    "definition",
    [
        define(cron("*/7 2,3 * * *", tz="Europe/Rome")),
        define(every(seconds=50)),
        define(every(minutes=9), exclude=SUNDAYS),
        define(cron("0,30 * * * *", tz="Europe/Rome"), exclude=SUNDAYS, roll="next"),
        define(
            cron("* * * * *"),
            start_at=datetime(2027, 3, 27, 23, 30, tzinfo=UTC),
            end_at=datetime(2027, 3, 28, 1, 30, tzinfo=UTC),
        ),
        define(any_of(cron("1 * * * *"), cron("2 * * * *"))),
        define(any_of(cron("0 * * * *"), cron("0,30 * * * *"))),
        define(any_of(cron("* * * * *", "Asia/Tokyo"), every(seconds=90)), exclude=SUNDAYS),
        define(cron("0 12 * * *")),
    ],
    ids=lambda definition: definition.trigger.describe(),
)
@pytest.mark.parametrize("edges", [MINUTES, MINUTES[::60], MINUTES[7:20]], ids=["minutes", "hours", "part"])
def test_slot_counts_match_enumeration(definition: Definition, edges: range) -> None:
    assert count_by_slot(definition, edges) == walked(definition, edges)


def test_hours_are_the_sums_of_their_minutes() -> None:
    definition = define(cron("59 3 * * *", tz="Europe/Rome"))
    by_minute = count_by_slot(definition, MINUTES)
    assert Counter(by_minute) == {1: 1, 0: 239}
    assert MINUTES[by_minute.index(1)] == START + 2 * HOUR + 59 * MINUTE
    assert sum_by_hour(by_minute) == count_by_slot(definition, MINUTES[::60]) == [0, 0, 1, 0]


def test_neither_shadows_nor_closed_days_run() -> None:
    trigger = cron("0 * * * *")
    for policies, expected in (({}, 4), ({"shadow": True}, 0), ({"exclude": SUNDAYS}, 1)):
        assert count_running_ticks(define(trigger, **policies), START - 1, START + 4 * HOUR - 1) == expected
    assert count_running_ticks(define(trigger), START, START) == 0
