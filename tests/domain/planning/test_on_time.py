"""Punctual ticks: with a spread, too many for one plan, and by the fast path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.planning.plans import BASE, later, look, runs, schedule
from tickbird.domain.planning import due_decisions, fast_path
from tickbird.domain.planning.plan import Facts, Plan, PlannedRun
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.schedule import Cursor
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at


def test_a_plan_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_decisions, "MAX_RUNS", 3)
    made = look(schedule(every(seconds=1), overlap="allow"), 8)
    assert [tick for tick, _, _ in runs(made)] == [1, 2, 3]
    assert (made.cursor.next_run_at, made.state) == (BASE + 4, "active")


def test_spread_delays_every_pass() -> None:
    spread = schedule(every(seconds=3600), spread=600)
    offset = spread.offset
    assert 0 < offset < 600
    assert runs(look(spread, 3600 + offset - 1)) == []
    made = look(spread, 3600 + offset + 10)
    assert (runs(made), made.runs[0].due_at) == ([(3600, "schedule", "queued")], BASE + 3600 + offset)
    assert runs(look(spread, 3600 + offset + 11)) == [(3600, "catch_up", "queued")]
    assert made.cursor.next_run_at == BASE + 7200 + offset


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
def test_fast_path_plans_like_the_planner(trigger: Any, policies: dict[str, Any], elapsed: float) -> None:
    one = schedule(trigger=trigger, **policies)
    assert one.definition is not None
    assert one.cursor.planned_until is not None
    info = fast_path.RevisionInfo(one.namespace, one.name, one.definition)
    cursor = fast_path.DueCursor(one.id, one.revision, one.cursor.planned_until, has_fast_path=True)
    short = fast_path.plan_on_time_tick(cursor, info, BASE + elapsed)
    if short is not None:
        long = plan(one, Facts(), BASE + elapsed)
        assert long.runs == (PlannedRun(short.tick, short.due_at, "schedule", "queued", short.start_by),)
        moved = Cursor(short.tick, short.next_run_at, one.cursor.runs_planned + 1)
        assert long == Plan(moved, "active", one.revision, runs=long.runs)
