"""Plans in each state of a schedule, and changes of the state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.planning.plans import BASE, DAY, MINUTE, later, look, paused, runs, schedule, since, skips
from tickbird.domain.planning.edits import park, unpark
from tickbird.domain.planning.planner import first_plan
from tickbird.domain.schedules.schedule import Cursor, PauseState
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at


def test_max_runs_ends_the_schedule() -> None:
    made = look(schedule(every(seconds=1), max_runs=2, overlap="allow"), 5)
    assert ([tick for tick, _, _ in runs(made)], made.state, made.cursor.next_run_at) == ([1, 2], "ended", None)
    assert (made.cursor.planned_until, skips(made)) == (BASE + 2, [])


def test_reached_max_runs_creates_no_skip_for_a_missing_run() -> None:
    used = schedule(max_runs=2, catch_up="latest", cursor=Cursor(planned_until=BASE, runs_planned=2))
    made = look(used, 330)
    assert (runs(made), skips(made), made.state) == ([], [], "ended")
    replacing = schedule(max_runs=2, overlap="replace", cursor=Cursor(planned_until=BASE, runs_planned=2))
    made = look(replacing, 305)
    assert (runs(made), skips(made), made.cancel, made.state) == ([], [], (), "ended")


def test_a_new_schedule_does_not_fire() -> None:
    made = look(schedule(until=None), 330.5)
    assert (runs(made), skips(made), made.cursor.planned_until) == ([], [], BASE + 330)
    assert made.cursor.next_run_at == BASE + 360


def test_new_schedule_with_only_past_ticks_has_a_misfire() -> None:
    made = first_plan(schedule(at(later(-5)), until=None), BASE)
    assert (skips(made), made.state) == ([("misfire", -5, -5, 1)], "ended")
    never = first_plan(
        schedule(MINUTE, until=None, end_at=later(-10 * 366 * DAY), start_at=later(-10 * 366 * DAY)), BASE
    )
    assert never.state == "ended"


@pytest.mark.parametrize("state", ["parked", "ended", "deleted"])
def test_inactive_schedule_is_not_planned(state: Any) -> None:
    made = look(replace(schedule(), state=state, error="why"), 330)
    assert (made.state, made.error, made.runs, made.skips) == (state, "why", (), ())
    assert (made.cursor.next_run_at, made.cursor.planned_until) == (None, BASE)


def test_paused() -> None:
    for until in (None, 400):
        made = look(paused(until), 330)
        assert (made.state, made.runs, made.skips) == ("paused", (), ())
        assert since(made.cursor.next_run_at) == until


def test_pause_until_ends_by_itself() -> None:
    made = look(paused(150), 185)
    assert (made.state, made.pause) == ("active", None)
    assert (runs(made), skips(made)) == ([(180, "schedule", "queued")], [("paused", 60, 120, 2)])


def test_pause_until_beyond_the_last_tick_ends_it() -> None:
    made = look(paused(150, end_at=later(100)), 185)
    assert (made.state, runs(made), skips(made)) == ("ended", [], [("paused", 60, 60, 1)])


def test_park_keeps_the_cursor() -> None:
    made = park(paused(None), "no such zone")
    assert (made.state, made.error, made.pause) == ("parked", "no such zone", PauseState("ada"))
    assert (made.cursor.planned_until, made.cursor.next_run_at) == (BASE, None)


def test_repair_skips_missed_ticks() -> None:
    broken = replace(schedule(), state="parked", error="why")
    made = unpark(broken, broken, BASE + 200.5)
    assert (made.state, made.error, skips(made)) == ("active", None, [("invalid", 60, 180, 3)])
    assert unpark(broken, replace(broken, pause=PauseState("ada")), BASE + 200).state == "paused"
    fresh = unpark(replace(broken, cursor=Cursor()), broken, BASE + 200)
    assert (fresh.skips, fresh.cursor.planned_until) == ((), BASE + 200)
