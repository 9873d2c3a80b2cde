"""What the planner decides, case by case; seconds count from T0."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning import due_decisions, fast_path
from tickbird.domain.planning.edits import park, repair, retime
from tickbird.domain.planning.next_pass import next_wakeup
from tickbird.domain.planning.plan import NO_FACTS, ActiveRun, Facts, Plan, PlannedRun, at_plan
from tickbird.domain.planning.planner import begin, plan
from tickbird.domain.planning.skip_ranges import pass_over
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, SqlEdit
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger, at

T0 = datetime(2026, 1, 1, tzinfo=UTC)
BASE = to_seconds(T0)
MINUTE = every(seconds=60)


def later(seconds: int) -> datetime:
    return T0 + timedelta(seconds=seconds)


def schedule(
    trigger: Trigger = MINUTE, *, until: int | None = 0, cursor: Cursor | None = None, **policies: Any
) -> Schedule:
    """An active schedule that is decided up to T0."""
    definition = Definition(trigger=trigger, target=Target("work"), **policies)
    reached = None if until is None else BASE + until
    return Schedule(1, "default", "clock", 3, "active", definition, cursor or Cursor(planned_until=reached))


def facts(*active: tuple[int, Status] | tuple[int, Status, Origin]) -> Facts:
    return Facts(tuple(ActiveRun(run[0], run[1], run[2] if len(run) > 2 else "schedule") for run in active))


def look(made: Schedule, seconds: float, known: Facts = NO_FACTS) -> Plan:
    return plan(made, known, BASE + seconds)


def runs(made: Plan) -> list[tuple[int | None, str, str]]:
    return [(_since(run.scheduled_for), run.origin, run.status) for run in made.runs]


def skips(made: Plan) -> list[tuple[Any, ...]]:
    """Reason, first, last, count, and what it stands behind: the id of a run, or "#0" for the plan's first."""
    return [
        (skip.reason, skip.first - BASE, skip.last - BASE, skip.count, *_behind(skip.run_id, skip.under))
        for skip in made.skips
    ]


def _behind(run_id: int | None, under: int | None) -> list[Any]:
    return [run_id] if run_id is not None else [] if under is None else [f"#{under}"]


def _since(instant: int | None) -> int | None:
    return None if instant is None else instant - BASE


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


@pytest.mark.parametrize("hold_above, already, held", [(5, False, 0), (4, False, 5), (0, False, 5), (9, True, 5)])
def test_what_is_held_after_an_outage(hold_above: int, already: bool, held: int) -> None:
    # Five are late, and the sixth is on time.
    made = plan(schedule(catch_up="all", hold_above=hold_above), Facts(held=already), BASE + 361)
    assert sum(run.held for run in made.runs) == held
    last = made.runs[-1]
    assert (last.origin, last.held) == (("schedule", False) if held else ("catch_up", False))
    assert made.relies_on_runs == (held == 0)


# overlap, max_concurrent, active runs, look at; then runs, skips, cancelled, asked to stop.
OVERLAP: list[tuple[str, int, Facts, int, Any, Any, tuple[int, ...], tuple[int, ...]]] = [
    ("skip", 1, facts((7, "running")), 60, [], [("overlap", 60, 60, 1, 7)], (), ()),
    ("skip", 1, facts((7, "running", "manual")), 60, [(60, "schedule", "waiting")], [], (), ()),
    ("skip", 1, facts((7, "running", "retry"), (8, "waiting")), 60, [], [("overlap", 60, 60, 1, 8)], (), ()),
    ("skip", 2, facts((7, "running")), 60, [(60, "schedule", "queued")], [], (), ()),
    ("skip", 2, facts((7, "running"), (8, "queued", "backfill")), 60, [(60, "schedule", "waiting")], [], (), ()),
    ("skip", 3, facts((7, "running"), (8, "queued"), (9, "waiting")), 60, [], [("overlap", 60, 60, 1, 7)], (), ()),
    ("queue", 1, facts((7, "running")), 60, [(60, "schedule", "waiting")], [], (), ()),
    ("queue", 1, facts((7, "running"), (8, "waiting")), 60, [], [("overlap", 60, 60, 1, 8)], (), ()),
    ("queue", 2, facts((7, "running")), 60, [(60, "schedule", "queued")], [], (), ()),
    ("allow", 1, facts((7, "running"), (8, "running", "manual")), 60, [(60, "schedule", "queued")], [], (), ()),
    ("replace", 1, facts((7, "queued")), 60, [(60, "schedule", "queued")], [], (7,), ()),
    ("replace", 1, facts((7, "running")), 60, [(60, "schedule", "waiting")], [], (), (7,)),
    ("replace", 1, facts((7, "running"), (8, "waiting")), 60, [(60, "schedule", "waiting")], [], (8,), (7,)),
    ("replace", 1, facts((7, "queued", "manual")), 60, [(60, "schedule", "waiting")], [], (), ()),
    ("replace", 3, facts((7, "running"), (8, "queued")), 60, [(60, "schedule", "queued")], [], (), ()),
    (
        "replace",
        2,
        facts((6, "running"), (7, "running"), (8, "running")),
        60,
        [(60, "schedule", "waiting")],
        [],
        (),
        (6, 7),
    ),
    ("skip", 1, facts((7, "running")), 330, [], [("overlap", 60, 300, 5, 7)], (), ()),
    ("skip", 1, facts((7, "running")), 305, [], [("overlap", 60, 300, 5, 7)], (), ()),
    (
        "skip",
        1,
        facts(),
        305,
        [(60, "catch_up", "queued")],
        [("coalesced", 120, 240, 3, "#0"), ("overlap", 300, 300, 1, "#0")],
        (),
        (),
    ),
    (
        "queue",
        1,
        facts(),
        305,
        [(60, "catch_up", "queued"), (300, "schedule", "waiting")],
        [("coalesced", 120, 240, 3, "#0")],
        (),
        (),
    ),
    ("replace", 1, facts(), 305, [(300, "schedule", "queued")], [("overlap", 60, 240, 4, "#0")], (), ()),
    (
        "replace",
        2,
        facts(),
        305,
        [(60, "catch_up", "queued"), (300, "schedule", "queued")],
        [("coalesced", 120, 240, 3, "#0")],
        (),
        (),
    ),
    (
        "replace",
        1,
        facts((7, "queued")),
        330,
        [(60, "catch_up", "queued")],
        [("coalesced", 120, 300, 4, "#0")],
        (7,),
        (),
    ),
]


@pytest.mark.parametrize("overlap,maximum,known,seconds,made_runs,made_skips,cancel,stop", OVERLAP)
def test_overlap(
    overlap: Any,
    maximum: int,
    known: Facts,
    seconds: int,
    made_runs: Any,
    made_skips: Any,
    cancel: tuple[int, ...],
    stop: tuple[int, ...],
) -> None:
    made = look(schedule(overlap=overlap, max_concurrent=maximum), seconds, known)
    assert (runs(made), skips(made), made.cancel, made.stop) == (made_runs, made_skips, cancel, stop)
    waits = any(run.status == "waiting" for run in made.runs)
    assert made.relies_on_runs == bool(waits or cancel or stop)


# With a tick a second and a grace of ten, all of these are on time.
ON_TIME: list[tuple[str, int, int, Any, Any]] = [
    ("skip", 1, 4, [1], [("overlap", 2, 4, 3, "#0")]),
    ("skip", 3, 4, [1, 2, 3], [("overlap", 4, 4, 1, "#0")]),
    ("queue", 1, 4, [1, 2], [("overlap", 3, 4, 2, "#1")]),
    ("queue", 3, 5, [1, 2, 3, 4], [("overlap", 5, 5, 1, "#3")]),
    ("allow", 1, 4, [1, 2, 3, 4], []),
    ("replace", 1, 4, [4], [("overlap", 1, 3, 3, "#0")]),
    ("replace", 3, 3, [1, 2, 3], []),
    ("replace", 3, 4, [4], [("overlap", 1, 3, 3, "#0")]),
    ("replace", 3, 6, [4, 5, 6], [("overlap", 1, 3, 3, "#0")]),
    ("replace", 3, 7, [7], [("overlap", 1, 6, 6, "#0")]),
]


@pytest.mark.parametrize("overlap,maximum,seconds,expected,skipped", ON_TIME)
def test_several_ticks_on_time(overlap: Any, maximum: int, seconds: int, expected: Any, skipped: Any) -> None:
    made = look(schedule(every(seconds=1), overlap=overlap, max_concurrent=maximum), seconds)
    assert ([tick for tick, _, _ in runs(made)], skips(made), made.cancel) == (expected, skipped, ())


def test_replacing_within_a_look_cancels_what_waited_before() -> None:
    made = look(schedule(every(seconds=1), overlap="replace", max_concurrent=3), 5, facts((7, "queued")))
    assert ([tick for tick, _, _ in runs(made)], made.cancel) == ([3, 4, 5], (7,))


def test_replace_and_all_never_cancel_a_run_of_the_same_plan() -> None:
    made = look(schedule(overlap="replace", catch_up="all"), 305)
    assert runs(made) == [(300, "schedule", "queued")]
    assert (skips(made), made.cancel) == ([("overlap", 60, 240, 4, "#0")], ())
    late = look(schedule(overlap="replace", catch_up="all"), 330, facts((7, "queued")))
    assert [status for _, _, status in runs(late)] == ["waiting"] * 5
    assert late.cancel == ()


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
    assert [_since(run.start_by) for run in made.runs] == ([] if start_by is None else [start_by])
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


DAY = 86_400


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


def test_max_runs_ends_the_schedule_where_it_was_used_up() -> None:
    made = look(schedule(every(seconds=1), max_runs=2, overlap="allow"), 5)
    assert ([tick for tick, _, _ in runs(made)], made.state, made.cursor.next_run_at) == ([1, 2], "ended", None)
    assert (made.cursor.planned_until, skips(made)) == (BASE + 2, [])


def test_max_runs_used_up_makes_no_skip_behind_a_run_that_never_comes() -> None:
    used = schedule(max_runs=2, catch_up="latest", cursor=Cursor(planned_until=BASE, runs_planned=2))
    made = look(used, 330)
    assert (runs(made), skips(made), made.state) == ([], [], "ended")
    replacing = schedule(max_runs=2, overlap="replace", cursor=Cursor(planned_until=BASE, runs_planned=2))
    made = look(replacing, 305)
    assert (runs(made), skips(made), made.cancel, made.state) == ([], [], (), "ended")


def test_a_plan_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_decisions, "MAX_RUNS", 3)
    made = look(schedule(every(seconds=1), overlap="allow"), 8)
    assert [tick for tick, _, _ in runs(made)] == [1, 2, 3]
    assert (made.cursor.next_run_at, made.state) == (BASE + 4, "active")


def test_a_new_schedule_does_not_fire() -> None:
    made = look(schedule(until=None), 330.5)
    assert (runs(made), skips(made), made.cursor.planned_until) == ([], [], BASE + 330)
    assert made.cursor.next_run_at == BASE + 360


def test_a_new_schedule_that_is_past_has_misfired() -> None:
    made = begin(schedule(at(later(-5)), until=None), BASE)
    assert (skips(made), made.state) == ([("misfire", -5, -5, 1)], "ended")
    never = begin(schedule(MINUTE, until=None, end_at=later(-10 * 366 * DAY), start_at=later(-10 * 366 * DAY)), BASE)
    assert never.state == "ended"


@pytest.mark.parametrize("state", ["parked", "ended", "deleted"])
def test_what_rests_is_left_resting(state: Any) -> None:
    made = look(replace(schedule(), state=state, error="why"), 330)
    assert (made.state, made.error, made.runs, made.skips) == (state, "why", (), ())
    assert (made.cursor.next_run_at, made.cursor.planned_until) == (None, BASE)


def paused(until: int | None, **options: Any) -> Schedule:
    pause = PauseState("ada", until=None if until is None else BASE + until)
    return replace(schedule(**options), state="paused", pause=pause)


def test_paused() -> None:
    for until in (None, 400):
        made = look(paused(until), 330)
        assert (made.state, made.runs, made.skips) == ("paused", (), ())
        assert _since(made.cursor.next_run_at) == until


def test_pause_until_ends_by_itself() -> None:
    made = look(paused(150), 185)
    assert (made.state, made.pause) == ("active", None)
    assert (runs(made), skips(made)) == ([(180, "schedule", "queued")], [("paused", 60, 120, 2)])


def test_pause_until_beyond_the_last_tick_ends_it() -> None:
    made = look(paused(150, end_at=later(100)), 185)
    assert (made.state, runs(made), skips(made)) == ("ended", [], [("paused", 60, 60, 1)])


def moved(tick: int, due: int, **options: Any) -> Schedule:
    return schedule(cursor=Cursor(planned_until=BASE, tick_overrides=(move(tick, due),)), **options)


def move(tick: int, due: int) -> TickOverride:
    return TickOverride(BASE + tick, "ada", BASE, due_at=BASE + due)


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
    assert _since(decided.cursor.next_run_at) == following
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


def test_ticks_to_skip_are_recorded_when_they_come() -> None:
    first = look(skipping(120), 60)
    assert (runs(first), skips(first)) == ([], [("operator", 60, 60, 1)])
    assert (first.skips[0].actor, first.skips[0].note) == ("ada", "why")
    assert (first.cursor.skip_until, first.cursor.next_run_at) == (BASE + 120, BASE + 120)
    rest = look(skipping(120), 185)
    assert (runs(rest), skips(rest)) == ([(180, "schedule", "queued")], [("operator", 60, 120, 2)])
    assert (rest.cursor.skip_until, rest.cursor.skip_by, rest.cursor.skip_note) == (None, None, "")


def test_a_tick_moved_before_those_to_skip_comes_first() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(180, 30),))
    both = skipping(120, cursor=cursor)
    assert next_wakeup(both, both.cursor) == BASE + 30
    made = look(both, 30)
    assert (runs(made), skips(made)) == (
        [(180, "schedule", "queued")],
        [("operator", 60, 60, 1), ("operator", 120, 120, 1)],
    )
    assert made.cursor.next_run_at == BASE + 240


def test_ticks_to_skip_before_a_moved_one_are_recorded_in_time() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(180, 400),))
    both = skipping(120, cursor=cursor)
    assert next_wakeup(both, both.cursor) == BASE + 60
    made = look(both, 60)
    assert (skips(made), made.cursor.tick_overrides, made.cursor.next_run_at) == (
        [("operator", 60, 60, 1)],
        (move(180, 400),),
        BASE + 120,
    )


def test_spread_delays_every_look() -> None:
    spread = schedule(every(seconds=3600), spread=600)
    offset = spread.offset
    assert 0 < offset < 600
    assert runs(look(spread, 3600 + offset - 1)) == []
    made = look(spread, 3600 + offset + 10)
    assert (runs(made), made.runs[0].due_at) == ([(3600, "schedule", "queued")], BASE + 3600 + offset)
    assert runs(look(spread, 3600 + offset + 11)) == [(3600, "catch_up", "queued")]
    assert made.cursor.next_run_at == BASE + 7200 + offset


def test_park_keeps_the_cursor() -> None:
    made = park(paused(None), "no such zone")
    assert (made.state, made.error, made.pause) == ("parked", "no such zone", PauseState("ada"))
    assert (made.cursor.planned_until, made.cursor.next_run_at) == (BASE, None)


def test_repair_skips_what_was_missed() -> None:
    broken = replace(schedule(), state="parked", error="why")
    made = repair(broken, broken, BASE + 200.5)
    assert (made.state, made.error, skips(made)) == ("active", None, [("invalid", 60, 180, 3)])
    assert repair(broken, replace(broken, pause=PauseState("ada")), BASE + 200).state == "paused"
    fresh = repair(replace(broken, cursor=Cursor()), broken, BASE + 200)
    assert (fresh.skips, fresh.cursor.planned_until) == ((), BASE + 200)


def done(*ticks: int) -> tuple[TickOverride, ...]:
    return tuple(TickOverride(BASE + tick, done=True) for tick in ticks)


def test_another_grid_begins_now_and_remembers_what_ran_ahead_of_its_time() -> None:
    ahead = schedule(until=240)
    made = retime(ahead, edited(ahead, trigger=every(seconds=40)), BASE + 100.5)
    assert made.cursor == Cursor(BASE + 100, BASE + 160, tick_overrides=done(120, 180, 240))
    again = retime(at_plan(edited(ahead, trigger=every(seconds=40)), made), ahead, BASE + 130)
    assert again.cursor == Cursor(BASE + 130, BASE + 300, tick_overrides=done(180, 240))
    # What its planning was ahead of cannot be read any more: the last of it is known.
    unreadable = replace(ahead, definition=None)
    assert repair(unreadable, ahead, BASE + 100).cursor == Cursor(BASE + 100, BASE + 120, tick_overrides=done(240))
    parked = park(unreadable, "why", SqlEdit(ahead, BASE + 100))
    assert (parked.cursor.planned_until, parked.cursor.tick_overrides) == (BASE + 100, done(120, 180, 240))


def test_where_too_many_lie_ahead_another_grid_begins_behind_them() -> None:
    ahead = replace(schedule(), cursor=Cursor(BASE + 60 * 1_002))
    made = retime(ahead, edited(ahead, trigger=every(seconds=40)), BASE + 60)
    assert (made.cursor.planned_until, made.cursor.tick_overrides) == (BASE + 60 * 1_002, ())
    assert len(retime(ahead, ahead, BASE + 120).cursor.tick_overrides) == 1_000


def test_what_is_done_is_passed_over_in_silence() -> None:
    known = schedule(cursor=Cursor(BASE, BASE + 120, tick_overrides=done(60, 150, 180)), catch_up="skip")
    assert plan(known, Facts(), BASE + 60).cursor.next_run_at == BASE + 120
    made = plan(known, Facts(), BASE + 500)
    assert skips(made) == [("misfire", 120, 120, 1), ("misfire", 240, 480, 5)]
    assert (made.runs, made.void, made.cursor.tick_overrides) == ((), (), ())
    passed = pass_over(known, "paused", BASE + 250)
    assert skips(passed) == [("paused", 120, 120, 1), ("paused", 240, 240, 1)]
    assert passed.void == ()
    [label, *_] = plan(schedule(cursor=known.cursor), Facts(), BASE + 500).runs
    assert label.covers == (BASE + 120, BASE + 480, 6)


def test_what_is_done_is_remembered_until_its_time_though_the_cursor_passes_it() -> None:
    cursor = Cursor(BASE, tick_overrides=(*done(60, 120), move(180, 30)))
    made = plan(schedule(cursor=cursor), Facts(), BASE + 30)
    assert (runs(made), made.cursor.planned_until) == ([(180, "schedule", "queued")], BASE + 180)
    assert made.cursor.tick_overrides == done(60, 120)


def test_what_is_skipped_ahead_of_its_time_is_recorded_one_by_one() -> None:
    cursor = Cursor(BASE, tick_overrides=(move(240, 70),), skip_until=BASE + 180, skip_by="ada")
    made = plan(schedule(cursor=cursor), Facts(), BASE + 70)
    assert skips(made) == [("operator", 60, 60, 1), ("operator", 120, 120, 1), ("operator", 180, 180, 1)]
    assert [skip.alone for skip in made.skips] == [False, True, True]


def test_retime_takes_a_move_that_is_over_away() -> None:
    moved_on = retime(moved(60, 90), moved(60, 90), BASE + 100.5)
    assert moved_on.cursor == Cursor(planned_until=BASE + 100, next_run_at=BASE + 120)


def test_pass_over_voids_what_it_passes() -> None:
    cursor = Cursor(planned_until=BASE, tick_overrides=(move(120, 125),), skip_until=BASE + 60, skip_by="x")
    made = pass_over(schedule(cursor=cursor), "paused", BASE + 130, actor="ada", note="n")
    assert made.cursor == Cursor(planned_until=BASE + 130, next_run_at=BASE + 180)
    assert (skips(made), made.skips[0].actor, made.skips[0].note) == ([("paused", 60, 120, 2)], "ada", "n")
    windowed = pass_over(schedule(start_at=later(100), end_at=later(200)), "paused", BASE + 500)
    assert (skips(windowed), windowed.state) == ([("paused", 120, 180, 2)], "ended")
    later_on = replace(cursor, tick_overrides=(move(120, 500),))
    kept = pass_over(schedule(cursor=later_on), "paused", BASE + 130)
    assert (kept.cursor.planned_until, kept.cursor.tick_overrides, kept.cursor.next_run_at) == (
        BASE + 119,
        (move(120, 500),),
        BASE + 500,
    )
    before = pass_over(schedule(cursor=cursor), "paused", BASE - 10)
    assert (before.cursor.planned_until, before.cursor.tick_overrides, before.skips) == (BASE, (move(120, 125),), ())


def edited(before: Schedule, **policies: Any) -> Schedule:
    definition = Definition(**{"trigger": MINUTE, "target": Target("work"), **policies})
    return replace(before, revision=4, definition=definition)


def test_an_edit_decides_the_past_as_it_was() -> None:
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


def test_an_edit_of_each_state() -> None:
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


def test_a_year_of_seconds_is_not_walked() -> None:
    year = 365 * DAY
    for catch_up, made_runs in (("one", 1), ("latest", 1), ("all", 100), ("skip", 1)):
        made = look(schedule(every(seconds=1), catch_up=catch_up), year)
        assert len(made.runs) == made_runs
        assert len(made.skips) <= 3
        assert made_runs + sum(skip.count for skip in made.skips) == year


@given(
    trigger=st.sampled_from([every(minutes=1), every(seconds=7), at(later(60)), cron("*/5 * * * *")]),
    policies=st.fixed_dictionaries(
        {},
        optional={
            "catch_up": st.sampled_from(["one", "latest", "all", "skip"]),
            "overlap": st.sampled_from(["skip", "queue", "replace", "allow"]),
            "grace": st.integers(0, 20),
            "start_within": st.integers(0, 20),
            "spread": st.sampled_from([30, 600]),
            "max_runs": st.integers(1, 3),
            "end_at": st.sampled_from([later(60), later(300)]),
        },
    ),
    elapsed=st.floats(0, 700, allow_nan=False),
)
def test_the_short_way_plans_as_the_long_one(trigger: Any, policies: dict[str, Any], elapsed: float) -> None:
    one = schedule(trigger=trigger, **policies)
    assert one.definition is not None
    assert one.cursor.planned_until is not None
    known = fast_path.RevisionInfo(one.namespace, one.name, one.definition)
    short = fast_path.on_time(one.id, one.revision, known, one.cursor.planned_until, BASE + elapsed)
    if short is not None:
        long = plan(one, Facts(), BASE + elapsed)
        assert long.runs == (PlannedRun(short.tick, short.due_at, "schedule", "queued", short.start_by),)
        cursor = Cursor(short.tick, short.next_run_at, one.cursor.runs_planned + 1)
        assert long == Plan(cursor, "active", one.revision, runs=long.runs)


def test_a_tick_is_decided_after_those_before_it_though_it_was_moved_to_an_earlier_instant() -> None:
    """Nobody can ask for that, but another spread can lead to it."""
    known = moved(120, 50, overlap="allow")
    assert next_wakeup(known, known.cursor) == BASE + 60
    early = look(known, 55)
    assert (runs(early), early.cursor.tick_overrides) == ([], known.cursor.tick_overrides)
    made = look(known, 60)
    assert runs(made) == [(60, "schedule", "queued"), (120, "schedule", "queued")]
    # Nothing is later than what is decided before it.
    late = look(moved(120, 45, overlap="allow"), 60)
    assert runs(late) == [(60, "schedule", "queued"), (120, "schedule", "queued")]
    assert [run.due_at for run in late.runs] == [BASE + 60, BASE + 45]
