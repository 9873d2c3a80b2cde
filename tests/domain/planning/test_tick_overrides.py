"""Ticks that were moved, skipped, or decided early."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.domain.planning.plans import BASE, done, later, look, move, moved, runs, schedule, since, skips
from tickbird.domain.planning.next_pass import next_wakeup
from tickbird.domain.planning.plan import Facts
from tickbird.domain.planning.planner import plan
from tickbird.domain.planning.skip_ranges import skip_all
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride, overrides_text, read_overrides


@pytest.mark.parametrize(
    "made,seconds,ran,skipped,following",
    [
        (moved(60, 30), 30, [(60, "schedule", "queued")], [], 120),
        (moved(60, 200), 199, [], [], 200),
        (moved(60, 200), 205, [(60, "schedule", "queued")], [("rescheduled", 120, 180, 2, "#0")], 240),
        (
            moved(60, 200),
            250,
            [(60, "catch_up", "queued")],
            [("rescheduled", 120, 180, 2, "#0"), ("overlap", 240, 240, 1, "#0")],
            300,
        ),
        (moved(60, 200, catch_up="skip"), 220, [], [("misfire", 60, 60, 1), ("rescheduled", 120, 180, 2)], 240),
        (
            moved(60, 200, catch_up="latest", overlap="allow"),
            255,
            [(240, "catch_up", "queued")],
            [
                ("coalesced", 60, 60, 1, "#0"),
                ("rescheduled", 120, 180, 2),
            ],
            300,
        ),
    ],
)
def test_rescheduled(made: Schedule, seconds: int, ran: Any, skipped: Any, following: int) -> None:
    decided = look(made, seconds)
    assert (runs(decided), skips(decided)) == (ran, skipped)
    assert since(decided.cursor.next_run_at) == following
    assert (not decided.cursor.tick_overrides) == bool(ran or skipped)
    [override] = made.cursor.tick_overrides
    for run in decided.runs:
        if run.scheduled_for == override.tick:
            assert (run.due_at, run.override) == (override.due_at, override)


def test_rescheduled_beyond_the_last_tick_still_runs() -> None:
    late = moved(60, 500, end_at=later(100))
    assert next_wakeup(late, late.cursor) == BASE + 500
    made = look(late, 500)
    assert (runs(made), made.state) == ([(60, "schedule", "queued")], "ended")


def skipping(until: int, *, cursor: Cursor | None = None, **options: Any) -> Schedule:
    known = cursor or Cursor(planned_until=BASE)
    return schedule(cursor=replace(known, skip_until=BASE + until, skip_by="ada", skip_note="why"), **options)


def test_skipped_ticks_are_recorded_at_their_time() -> None:
    first = look(skipping(120), 60)
    assert (runs(first), skips(first)) == ([], [("operator", 60, 60, 1)])
    assert (first.skips[0].actor, first.skips[0].note) == ("ada", "why")
    assert (first.cursor.skip_until, first.cursor.next_run_at) == (BASE + 120, BASE + 120)
    rest = look(skipping(120), 185)
    assert (runs(rest), skips(rest)) == ([(180, "schedule", "queued")], [("operator", 60, 120, 2)])
    assert (rest.cursor.skip_until, rest.cursor.skip_by, rest.cursor.skip_note) == (None, None, "")


def test_tick_moved_before_skipped_ticks_comes_first() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(180, 30),))
    both = skipping(120, cursor=cursor)
    assert next_wakeup(both, both.cursor) == BASE + 30
    made = look(both, 30)
    assert (runs(made), skips(made)) == (
        [(180, "schedule", "queued")],
        [("operator", 60, 60, 1), ("operator", 120, 120, 1)],
    )
    assert made.cursor.next_run_at == BASE + 240


def test_skipped_ticks_before_a_moved_tick_are_recorded_with_it() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(180, 400),))
    both = skipping(120, cursor=cursor)
    assert next_wakeup(both, both.cursor) == BASE + 60
    made = look(both, 60)
    assert (skips(made), made.cursor.tick_overrides, made.cursor.next_run_at) == (
        [("operator", 60, 60, 1)],
        (move(180, 400),),
        BASE + 120,
    )


def test_tick_decided_early_is_not_recorded_again() -> None:
    known = schedule(cursor=Cursor(BASE, BASE + 120, tick_overrides=done(60, 150, 180)), catch_up="skip")
    assert plan(known, Facts(), BASE + 60).cursor.next_run_at == BASE + 120
    made = plan(known, Facts(), BASE + 500)
    assert skips(made) == [("misfire", 120, 120, 1), ("misfire", 240, 480, 5)]
    assert (made.runs, made.void, made.cursor.tick_overrides) == ((), (), ())
    passed = skip_all(known, "paused", BASE + 250)
    assert skips(passed) == [("paused", 120, 120, 1), ("paused", 240, 240, 1)]
    assert passed.void == ()
    [label, *_] = plan(schedule(cursor=known.cursor), Facts(), BASE + 500).runs
    assert label.covers == (BASE + 120, BASE + 480, 6)


def test_tick_decided_early_is_stored_until_its_time() -> None:
    cursor = Cursor(BASE, tick_overrides=(*done(60, 120), move(180, 30)))
    made = plan(schedule(cursor=cursor), Facts(), BASE + 30)
    assert (runs(made), made.cursor.planned_until) == ([(180, "schedule", "queued")], BASE + 180)
    assert made.cursor.tick_overrides == done(60, 120)


def test_early_skips_are_recorded_one_by_one() -> None:
    cursor = Cursor(BASE, tick_overrides=(move(240, 70),), skip_until=BASE + 180, skip_by="ada")
    made = plan(schedule(cursor=cursor), Facts(), BASE + 70)
    assert skips(made) == [("operator", 60, 60, 1), ("operator", 120, 120, 1), ("operator", 180, 180, 1)]
    assert [skip.separate for skip in made.skips] == [False, True, True]


def test_move_voids_overrides_of_skipped_ticks() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(120, 125),), skip_until=BASE + 60, skip_by="x")
    made = skip_all(schedule(cursor=cursor), "paused", BASE + 130, actor="ada", note="n")
    assert made.cursor == Cursor(planned_until=BASE + 130, next_run_at=BASE + 180)
    assert (skips(made), made.skips[0].actor, made.skips[0].note) == ([("paused", 60, 120, 2)], "ada", "n")
    windowed = skip_all(schedule(start_at=later(100), end_at=later(200)), "paused", BASE + 500)
    assert (skips(windowed), windowed.state) == ([("paused", 120, 180, 2)], "ended")
    later_on = replace(cursor, tick_overrides=(move(120, 500),))
    kept = skip_all(schedule(cursor=later_on), "paused", BASE + 130)
    assert (kept.cursor.planned_until, kept.cursor.tick_overrides, kept.cursor.next_run_at) == (
        BASE + 119,
        (move(120, 500),),
        BASE + 500,
    )
    before = skip_all(schedule(cursor=cursor), "paused", BASE - 10)
    assert (before.cursor.planned_until, before.cursor.tick_overrides, before.skips) == (BASE, (move(120, 125),), ())


def test_tick_moved_earlier_is_decided_after_previous_ticks() -> None:
    """No command creates this state, but a changed spread can."""
    known = moved(120, 50, overlap="allow")
    assert next_wakeup(known, known.cursor) == BASE + 60
    early = look(known, 55)
    assert (runs(early), early.cursor.tick_overrides) == ([], known.cursor.tick_overrides)
    made = look(known, 60)
    assert runs(made) == [(60, "schedule", "queued"), (120, "schedule", "queued")]
    # No tick is later than one that is decided before it.
    late = look(moved(120, 45, overlap="allow"), 60)
    assert runs(late) == [(60, "schedule", "queued"), (120, "schedule", "queued")]
    assert [run.due_at for run in late.runs] == [BASE + 60, BASE + 45]


def test_a_tick_that_was_decided_early_is_stored_by_that_name() -> None:
    early = (TickOverride(BASE, decided_early=True),)
    text = overrides_text(early)
    assert text == f'[{{"tick":{BASE},"decided_early":true}}]'
    assert read_overrides(text) == early
