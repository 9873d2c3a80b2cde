"""Decisions about late ticks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.planning.plans import BASE, DAY, facts, look, runs, schedule, since, skips
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.plan import Facts
from tickbird.domain.planning.planner import plan
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import any_of

LATE = [
    ("one", [(60, "catch_up", "queued")], [("coalesced", 120, 300, 4, "#0")]),
    ("latest", [(300, "catch_up", "queued")], [("coalesced", 60, 240, 4, "#0")]),
    ("skip", [], [("misfire", 60, 300, 5)]),
    (
        "all",
        [(60, "catch_up", "queued"), *((tick, "catch_up", "waiting") for tick in (120, 180, 240, 300))],
        [],
    ),
]


@pytest.mark.parametrize("catch_up,expected_runs,expected_skips", LATE)
def test_five_missed_ticks(catch_up: Any, expected_runs: Any, expected_skips: Any) -> None:
    made = look(schedule(catch_up=catch_up), 330)
    assert (runs(made), skips(made)) == (expected_runs, expected_skips)
    assert (made.cursor.planned_until, made.cursor.next_run_at) == (BASE + 300, BASE + 360)
    assert (made.cursor.runs_planned, made.revision, made.state) == (len(expected_runs), 3, "active")
    covers = (BASE + 60, BASE + 300, 5) if catch_up in ("one", "latest") else None
    assert all(run.covers == covers for run in made.runs)


def test_late_ticks_that_triggers_share_count_once() -> None:
    # Every second or third minute of ten days, on both sides of a jump of the clock.
    trigger = any_of(cron("*/2 * * * *", "Europe/Rome"), every(minutes=3))
    start = 85 * DAY
    made = look(schedule(trigger, until=start), start + 10 * DAY + 30)
    distinct = sum(minute % 2 == 0 or minute % 3 == 0 for minute in range(1, 10 * DAY // 60 + 1))
    [run], [skip] = made.runs, made.skips
    assert run.covers == (BASE + start + 120, BASE + start + 10 * DAY, distinct)
    assert skip.count == distinct - 1


@pytest.mark.parametrize("hold_above, already, held", [(5, False, 0), (4, False, 5), (0, False, 5), (9, True, 5)])
def test_late_runs_above_hold_above_are_held(hold_above: int, already: bool, held: int) -> None:
    # Five are late, and the sixth is on time.
    made = plan(schedule(catch_up="all", hold_above=hold_above), Facts(held=already), BASE + 361)
    assert sum(run.held for run in made.runs) == held
    last = made.runs[-1]
    assert (last.origin, last.held) == (("schedule", False) if held else ("catch_up", False))
    assert made.relies_on_runs == (held == 0)


@pytest.mark.parametrize(
    "seconds,fate",
    [(59.999, None), (60, "schedule"), (70, "schedule"), (70.001, "catch_up"), (119.9, "catch_up")],
)
def test_grace(seconds: float, fate: str | None) -> None:
    assert [origin for _, origin, _ in runs(look(schedule(), seconds))] == ([fate] if fate else [])


@pytest.mark.parametrize(
    "policies,seconds,start_by,skipped",
    [
        ({"start_within": 30}, 90, 90, []),
        ({"start_within": 30}, 90.1, None, [("misfire", 60, 60, 1)]),
        ({"start_within": 0}, 60, 60, []),
        ({"start_within": 5, "grace": 50}, 66, None, [("misfire", 60, 60, 1)]),
        ({"catch_up": "skip"}, 70, 70, []),
        ({"catch_up": "skip"}, 70.1, None, [("misfire", 60, 60, 1)]),
        ({"catch_up": "skip", "start_within": 40}, 65, 100, []),
        ({"catch_up": "skip", "start_within": 40}, 75, None, [("misfire", 60, 60, 1)]),
    ],
)
def test_start_within(policies: dict[str, Any], seconds: float, start_by: int | None, skipped: Any) -> None:
    made = look(schedule(**policies), seconds)
    assert [since(run.start_by) for run in made.runs] == ([] if start_by is None else [start_by])
    assert skips(made) == skipped


@pytest.mark.parametrize(
    "limit,ran,skipped",
    [
        (1, [300], [("limit", 60, 240, 4)]),
        (4, [120, 180, 240, 300], [("limit", 60, 60, 1)]),
        (5, [60, 120, 180, 240, 300], []),
    ],
)
def test_catch_up_limit(limit: int, ran: list[int], skipped: Any) -> None:
    made = look(schedule(catch_up="all", catch_up_limit=limit), 330, facts((7, "running")))
    assert ([tick for tick, _, _ in runs(made)], skips(made)) == (ran, skipped)
    assert {status for _, _, status in runs(made)} == {"waiting"}


@pytest.mark.parametrize(
    "catch_up,ran,skipped",
    [
        (
            "one",
            [DAY],
            [("calendar", 2 * DAY, 3 * DAY, 2), ("coalesced", 4 * DAY, 5 * DAY, 2, "#0")],
        ),
        (
            "latest",
            [5 * DAY],
            [
                ("coalesced", DAY, DAY, 1, "#0"),
                ("calendar", 2 * DAY, 3 * DAY, 2),
                ("coalesced", 4 * DAY, 4 * DAY, 1, "#0"),
            ],
        ),
        ("all", [4 * DAY, 5 * DAY], [("limit", DAY, DAY, 1), ("calendar", 2 * DAY, 3 * DAY, 2)]),
        (
            "skip",
            [],
            [("misfire", DAY, DAY, 1), ("calendar", 2 * DAY, 3 * DAY, 2), ("misfire", 4 * DAY, 5 * DAY, 2)],
        ),
    ],
)
def test_calendar_within_an_outage(catch_up: Any, ran: list[int], skipped: Any) -> None:
    weekdays = schedule(every(days=1), exclude=exclude("sat", "sun"), catch_up=catch_up, catch_up_limit=2)
    made = look(weekdays, 5 * DAY + 3600)
    assert ([tick for tick, _, _ in runs(made)], skips(made)) == (ran, skipped)
    covers = (BASE + DAY, BASE + 5 * DAY, 3) if catch_up in ("one", "latest") else None
    assert all(run.covers == covers for run in made.runs)


def test_a_year_of_seconds_is_not_enumerated() -> None:
    year = 365 * DAY
    for catch_up, made_runs in (("one", 1), ("latest", 1), ("all", 100), ("skip", 1)):
        made = look(schedule(every(seconds=1), catch_up=catch_up), year)
        assert len(made.runs) == made_runs
        assert len(made.skips) <= 3
        assert made_runs + sum(skip.count for skip in made.skips) == year
