"""The coming load by hour, compared with an enumeration."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import any_of, at, cron, every
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.dashboard_rows import LoadRow
from tickbird.domain.forecast.week_load import WeekLoadCounter
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target, spread_offset
from tickbird.domain.time.instants import to_seconds

# Within the week clocks in Rome go forward.
NOW = datetime(2027, 3, 25, 10, 17, 30, tzinfo=UTC)
START = to_seconds(NOW) // 3_600 * 3_600


def row(name: str, trigger: Any, duration: float | None = None, **policies: Any) -> LoadRow:
    definition = Definition(trigger=trigger, target=Target("any"), **policies)
    text = json.dumps(encode_definition(definition))
    return LoadRow(id=1, name=name, definition=text, queue="default", next_run_at=None, duration=duration)


def walked(rows: list[LoadRow], definitions: list[Definition], hours: int) -> Counter[int]:
    """Ticks by hour, one by one."""
    found: Counter[int] = Counter()
    for each, definition in zip(rows, definitions, strict=True):
        offset = spread_offset("default", each.name, definition.spread)
        # Precise to the minute.
        offset -= offset % 60
        tick = definition.grid.next(START - definition.spread - 1)
        while tick is not None and tick + offset < START + hours * 3_600:
            if tick + offset >= START and not definition.grid.excludes(tick):
                found[(tick + offset - START) // 3_600] += 1
            tick = definition.grid.next(tick)
    return found


@pytest.mark.parametrize(
    "trigger, policies",
    [
        (cron("30 2 * * *", tz="Europe/Rome"), {}),
        (cron("*/7 8-18 * * 1-5", tz="Asia/Kolkata"), {"spread": 4_000}),
        (every(minutes=15), {"spread": 600}),
        (every(seconds=20), {}),
        (cron("0 9 * * *"), {"exclude": Calendar(weekdays=frozenset((5, 6)))}),
        (any_of(cron("0 * * * *"), cron("0,30 * * * *")), {}),
        (at(datetime(2027, 3, 26, 1, 0, tzinfo=UTC)), {}),
        (every(hours=1), {"start_at": datetime(2027, 3, 27, tzinfo=UTC), "end_at": datetime(2027, 3, 28, tzinfo=UTC)}),
    ],
)
def test_hour_counts_match_enumeration(trigger: Any, policies: dict[str, Any]) -> None:
    rows = [row(name, trigger, **policies) for name in ("a", "b", "c")]
    definition = Definition(trigger=trigger, target=Target("any"), **policies)
    counter = WeekLoadCounter("default", NOW)
    counter.add(rows[:2])
    counter.add(rows[2:])
    week = counter.week()
    found = Counter({place: hour.ticks for place, hour in enumerate(week.hours) if hour.ticks})
    assert found == walked(rows, [definition] * 3, 168)
    assert sum(week.minutes) == sum(found.values())
    assert (len(week.hours), week.hours[0].at) == (168, datetime(2027, 3, 25, 10, tzinfo=UTC))
    assert (week.schedules, week.unreadable) == (3, 0)


def test_slots_shares_and_quiet_minutes() -> None:
    counter = WeekLoadCounter("default", NOW, 24)
    counter.add([row(f"n{number}", cron("0 3 * * *"), 360.0) for number in range(20)])
    counter.add([row("other", cron("30 3 * * *"), 60.0), row("new", cron("30 3 * * *"))])
    counter.add([LoadRow(id=9, name="bad", definition="{}", queue="q", next_run_at=None, duration=None)])
    week = counter.week()
    three = week.hours[17]
    assert three.at == datetime(2027, 3, 26, 3, tzinfo=UTC)
    assert (three.ticks, three.peak, three.peak_at) == (22, 20, three.at)
    assert week.unreadable == 1
    # A schedule without a success is assumed to be like the others.
    assert week.assumed == pytest.approx((20 * 360 + 60) / 21)
    assert three.busy == pytest.approx((20 * 360 + 60 + week.assumed) / 3_600)
    first, second = three.shares
    assert (first.schedules, first.ticks, first.names) == (20, 20, ["n0", "n1", "n2", "n3", "n4"])
    assert (second.names, second.trigger) == (["other", "new"], cron("30 3 * * *").describe())
    assert week.quiet_minutes(17, 59)[-1] != 0
    assert 0 not in week.quiet_minutes(17, 58)
    assert 30 not in week.quiet_minutes(17, 58)
    assert week.quiet_hours(17) == [16, 18, 15]


def test_an_empty_week_is_quiet() -> None:
    week = WeekLoadCounter("default", NOW, 2).week()
    assert [(hour.ticks, hour.busy, hour.peak) for hour in week.hours] == [(0, 0, 0), (0, 0, 0)]
    assert week.hours[1].at - week.hours[0].at == timedelta(hours=1)
