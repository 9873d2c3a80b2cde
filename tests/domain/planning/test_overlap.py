"""Decisions about ticks while a run is active."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.planning.plans import facts, look, runs, schedule, skips
from tickbird.domain.planning.plan import Facts
from tickbird.domain.triggers.every import every

# overlap, max_concurrent, active runs, time of the pass; then runs, skips, cancelled runs, stopped runs.
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


def test_replace_within_a_pass_cancels_earlier_waiting_runs() -> None:
    made = look(schedule(every(seconds=1), overlap="replace", max_concurrent=3), 5, facts((7, "queued")))
    assert ([tick for tick, _, _ in runs(made)], made.cancel) == ([3, 4, 5], (7,))


def test_replace_and_all_never_cancel_a_run_of_the_same_plan() -> None:
    made = look(schedule(overlap="replace", catch_up="all"), 305)
    assert runs(made) == [(300, "schedule", "queued")]
    assert (skips(made), made.cancel) == ([("overlap", 60, 240, 4, "#0")], ())
    late = look(schedule(overlap="replace", catch_up="all"), 330, facts((7, "queued")))
    assert [status for _, _, status in runs(late)] == ["waiting"] * 5
    assert late.cancel == ()
