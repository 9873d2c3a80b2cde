"""Plans of a schedule whose definition was changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.domain.planning.plans import BASE, MINUTE, done, later, moved, paused, runs, schedule, skips
from tickbird.domain.planning.edits import park, plan_new_grid, unpark
from tickbird.domain.planning.plan import Facts, apply_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, SqlEdit
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at


def edited(before: Schedule, **policies: Any) -> Schedule:
    definition = Definition(**{"trigger": MINUTE, "target": Target("work"), **policies})
    return replace(before, revision=4, definition=definition)


def test_new_grid_starts_now_and_remembers_early_ticks() -> None:
    ahead = schedule(until=240)
    made = plan_new_grid(ahead, edited(ahead, trigger=every(seconds=40)), BASE + 100.5)
    assert made.cursor == Cursor(BASE + 100, BASE + 160, tick_overrides=done(120, 180, 240))
    again = plan_new_grid(apply_plan(edited(ahead, trigger=every(seconds=40)), made), ahead, BASE + 130)
    assert again.cursor == Cursor(BASE + 130, BASE + 300, tick_overrides=done(180, 240))
    # The old grid cannot be read any more, so only its last tick is known.
    unreadable = replace(ahead, definition=None)
    assert unpark(unreadable, ahead, BASE + 100).cursor == Cursor(BASE + 100, BASE + 120, tick_overrides=done(240))
    parked = park(unreadable, "why", SqlEdit(ahead, BASE + 100))
    assert (parked.cursor.planned_until, parked.cursor.tick_overrides) == (BASE + 100, done(120, 180, 240))


def test_new_grid_starts_after_too_many_early_ticks() -> None:
    ahead = replace(schedule(), cursor=Cursor(BASE + 60 * 1_002))
    made = plan_new_grid(ahead, edited(ahead, trigger=every(seconds=40)), BASE + 60)
    assert (made.cursor.planned_until, made.cursor.tick_overrides) == (BASE + 60 * 1_002, ())
    assert len(plan_new_grid(ahead, ahead, BASE + 120).cursor.tick_overrides) == 1_000


def test_new_grid_removes_an_expired_move() -> None:
    moved_on = plan_new_grid(moved(60, 90), moved(60, 90), BASE + 100.5)
    assert moved_on.cursor == Cursor(planned_until=BASE + 100, next_run_at=BASE + 120)


def test_edit_decides_past_ticks_under_the_old_definition() -> None:
    before = schedule()
    made = plan(edited(before, trigger=every(seconds=7)), Facts(), BASE + 200, SqlEdit(before, BASE + 130))
    assert (made.revision, runs(made)) == (3, [(60, "catch_up", "queued")])
    assert skips(made) == [("overlap", 120, 120, 1, "#0")]
    assert made.cursor.planned_until == BASE + 130
    assert (made.cursor.next_run_at or 0) - BASE in range(131, 138)


def test_an_edit_that_keeps_the_grid_keeps_the_cursor() -> None:
    before = schedule()
    made = plan(edited(before, priority=5), Facts(), BASE + 50, SqlEdit(before, BASE + 40))
    assert (made.cursor.planned_until, made.cursor.next_run_at, made.runs) == (BASE, BASE + 60, ())


def test_edit_in_each_state() -> None:
    parked = replace(schedule(), state="parked", error="why", definition=None)
    made = plan(edited(parked), Facts(), BASE + 200, SqlEdit(parked, BASE + 130))
    assert (made.state, made.error, skips(made)) == ("active", None, [("invalid", 60, 120, 2)])
    for unread in (replace(parked, definition=schedule().definition), replace(parked, state="active", error=None)):
        made = plan(edited(unread), Facts(), BASE + 200, SqlEdit(unread, BASE + 130))
        assert (made.state, skips(made)) == ("active", [("invalid", 60, 120, 2)])
    held = paused(None)
    made = plan(edited(held, trigger=every(seconds=7)), Facts(), BASE + 200, SqlEdit(held, BASE + 130))
    assert (made.state, made.pause, made.cursor.next_run_at) == ("paused", PauseState("ada"), None)
    ended = replace(schedule(at(later(-5))), state="ended")
    made = plan(edited(ended), Facts(), BASE + 200, SqlEdit(ended, BASE + 130))
    assert (made.state, made.cursor.next_run_at, made.skips) == ("active", BASE + 180, ())
    deleted = replace(schedule(), state="deleted")
    made = plan(edited(deleted), Facts(), BASE + 200, SqlEdit(deleted, BASE + 130))
    assert (made.state, made.cursor.next_run_at, made.runs) == ("deleted", None, ())
