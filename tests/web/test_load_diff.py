"""The hour of a schedule's first tick, before and after a change of the schedule."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from tickbird import cron
from tickbird.domain.dashboard_rows import LoadRow
from tickbird.domain.forecast.week_load import WeekLoad, WeekLoadCounter
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.web.load_diff import hour_of

NOW = datetime(2027, 3, 25, 10, 17, 30, tzinfo=UTC)


def define(expr: str, **policies: Any) -> Definition:
    return Definition(trigger=cron(expr), target=Target("any"), **policies)


def week(*definitions: Definition) -> WeekLoad:
    counter = WeekLoadCounter("default", NOW, 3)
    for number, definition in enumerate(definitions):
        text = json.dumps(encode_definition(definition))
        row = LoadRow(id=number, name=f"s{number}", definition=text, queue="default", next_run_at=None, duration=None)
        counter.add([row])
    return counter.week()


def test_the_ticks_of_the_new_definition_replace_those_of_the_old_one() -> None:
    old, new = define("30 * * * *"), define("5,30 * * * *")
    bars = hour_of(week(old, old, define("0 12 * * *")), 1, (new, 0), (old, 0))
    assert [bar.at.minute for bar in bars] == list(range(60))
    assert {bar.at.minute: (bar.before, bar.after) for bar in bars if bar.before or bar.after} == {
        5: (0, 1),
        30: (2, 2),
    }


def test_a_new_schedule_adds_its_ticks_moved_by_whole_minutes() -> None:
    bars = hour_of(week(define("30 * * * *")), 0, (define("30 58 * * * *"), 179), (None, 0))
    assert [(bar.at.minute, bar.before, bar.after) for bar in bars if bar.after] == [(0, 0, 1), (30, 1, 1)]
