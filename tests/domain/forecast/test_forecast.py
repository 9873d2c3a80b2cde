"""The forecast: statistics, changed conditions, quiet minutes, and the chart."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.chart import forecast_chart
from tickbird.domain.forecast.forecast import (
    Forecast,
    ForecastComparison,
    ForecastInput,
    WhatIf,
    WorkerCapacity,
    simulate,
)
from tickbird.domain.forecast.model import RunningRun
from tickbird.domain.runs.durations import DurationStats, duration_stats
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.time.instants import DAY
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.wire.codec import decode, encode

# A Sunday, at midnight.
START = 1_798_329_600
HOUR = 3_600


def schedule(name: str, trigger: Any, number: int = 1, **options: Any) -> Schedule:
    """An active schedule that has been planned up to the start."""
    definition = Definition(trigger=trigger, target=Target("work"), **options)
    return Schedule(number, "default", name, 1, "active", definition, Cursor(START - 1))


def lengths(**seconds: float) -> dict[str, DurationStats]:
    """Input with these durations of runs."""
    return {name: DurationStats(value, value, 20) for name, value in seconds.items()}


def expect(*schedules: Schedule, hours: int = 24, what_if: WhatIf | None = None, **ground: Any) -> Forecast:
    """The forecast with changed conditions."""
    whole = ForecastInput(namespace="default", schedules=schedules, start=START, end=START + hours * HOUR, **ground)
    found = simulate(whole, what_if or WhatIf())
    return found.changed or found.baseline


def test_ticks_runs_and_busy_slots_by_the_hour() -> None:
    """A run of 90 minutes is busy in two hours, and every hour has its ticks."""
    found = expect(
        schedule("long", cron("30 2 * * *")), schedule("often", cron("*/15 * * * *")), durations=lengths(long=5_400)
    )
    assert (found.ticks, found.runs, found.skips, found.without_history) == (97, 97, {}, 1)
    assert [hour.ticks for hour in found.hours] == [4, 4, 5, *[4] * 21]
    assert [hour.busy for hour in found.hours[:6]] == [1, 1, 2, 2, 1, 1]
    assert (found.peak, found.peak_at) == (2, START + 2 * HOUR + 1_800)
    assert found.slots is None


@pytest.mark.parametrize(
    "overlap, runs, skips", [("skip", 12, 12), ("allow", 24, 0), ("queue", 16, 7), ("replace", 24, 0)]
)
def test_overlap_policies(overlap: Any, runs: int, skips: int) -> None:
    """A run of 90 minutes each hour; every other tick comes while one is active, or all of them do."""
    found = expect(schedule("a", cron("0 * * * *"), overlap=overlap), durations=lengths(a=5_400))
    assert (found.runs, found.skips.get("overlap", 0)) == (runs, skips)
    assert (found.overlaps >= skips, found.left_over) == (True, int(overlap == "queue"))
    assert found.cancelled == ({"replaced": 23} if overlap == "replace" else {})


@pytest.mark.parametrize(
    "catch_up, runs, skips",
    [("one", 22, {"coalesced": 1, "overlap": 1}), ("all", 23, {"overlap": 1}), ("skip", 22, {"misfire": 2})],
)
def test_an_outage(catch_up: Any, runs: int, skips: dict[str, int]) -> None:
    """An outage of two hours: missed ticks follow the catch_up policy."""
    what_if = WhatIf(outages=[(START + 2 * HOUR, START + 4 * HOUR)])
    found = expect(schedule("a", cron("0 * * * *"), catch_up=catch_up), what_if=what_if)
    assert (found.runs, found.skips) == (runs, skips)
    assert [hour.runs for hour in found.hours[2:4]] == [0, 0]
    assert found.ticks == 24
    if catch_up == "one":
        assert (found.lateness["max"], found.latest) == (2 * HOUR, ("a", START + 4 * HOUR))


def test_run_lost_in_an_outage_restarts_or_fails() -> None:
    """The on_crash policy decides."""
    what_if = WhatIf(outages=[(START + 1_800, START + 2_400)])
    again, never = schedule("a", cron("0 0 * * *")), schedule("b", cron("0 0 * * *"), on_crash="fail")
    found = expect(again, never, what_if=what_if, durations=lengths(a=2_000, b=2_000))
    assert (found.runs, found.lost, found.cancelled) == (2, 2, {"lost": 1})


def test_fewer_slots_make_runs_late() -> None:
    """Ten runs of a minute at one instant on two slots: the last begins after four."""
    ten = [schedule(f"s{number}", cron("0 * * * *"), number) for number in range(10)]
    found = expect(*ten, hours=1, what_if=WhatIf(slots=2), assumed=60)
    assert (found.peak, found.slots, found.max_queued) == (2, 2, 8)
    assert found.lateness["max"] == 240
    assert found.lateness["p50"] == pytest.approx(120, rel=0.01)
    found = expect(*ten, hours=1, what_if=WhatIf(slots=2, slower=2), assumed=60)
    assert found.lateness["max"] == 480


def test_workers_serve_their_queues_and_tasks() -> None:
    """Unserved runs never start; half the workers have half the slots."""
    workers = [
        WorkerCapacity(4, frozenset({"default"}), frozenset({("task", "work")})),
        WorkerCapacity(2, frozenset({"slow"}), frozenset({("task", "work")})),
    ]
    plain, slow, lost = (
        schedule(name, cron("0 * * * *"), queue=queue) for name, queue in (("a", "default"), ("b", "slow"), ("c", "x"))
    )
    found = expect(plain, slow, lost, workers=workers)
    assert ([(each.name, each.slots, each.runs) for each in found.queues], found.unserved) == (
        [("default", 4, 24), ("slow", 2, 24), ("x", 0, 0)],
        ["x"],
    )
    assert (found.workers, found.slots, found.left_over, found.skips) == (2, 6, 1, {"overlap": 23})
    half = expect(plain, workers=workers, what_if=WhatIf(share=0.5))
    assert (half.workers, half.slots) == (1, 4)
    assert expect(plain, workers=workers, what_if=WhatIf(workers=6)).slots == 18
    assert expect(plain, what_if=WhatIf(workers=2)).slots == 20


def test_more_schedules_copy_existing_ones() -> None:
    """Copies are distributed evenly, with the durations of their models."""
    two = schedule("a", cron("0 * * * *")), schedule("b", cron("0 0 * * *"))
    found = expect(*two, what_if=WhatIf(more=4), durations=lengths(a=5, b=7))
    assert (found.schedules, found.ticks, found.without_history) == (6, 25 * 3, 0)
    assert {each.name: each.duration for each in found.rows}["b.more-4"] == 7


def test_paused_ended_and_shadow_schedules_run_nothing() -> None:
    """A pause with an end continues after it."""
    minute = cron("0 * * * *")
    paused = replace(schedule("p", minute), state="paused", pause=PauseState("ann", until=START + 3 * HOUR))
    for_ever = replace(schedule("q", minute), state="paused", pause=PauseState("ann"))
    parked = replace(schedule("r", minute), state="parked")
    found = expect(paused, for_ever, parked, schedule("s", minute, shadow=True), schedule("t", minute, max_runs=2))
    assert {each.name: each.runs for each in found.rows} == {"p": 21, "q": 0, "s": 0, "t": 2}
    assert found.skips == {"paused": 3, "shadow": 24}


def test_active_runs_occupy_slots() -> None:
    """A run that began an hour ago and takes two keeps the first tick from running."""
    going = [RunningRun("a", "running", "schedule", START - HOUR, START - HOUR)]
    found = expect(schedule("a", cron("30 * * * *")), going=going, durations=lengths(a=2 * HOUR), hours=2)
    assert (found.runs, found.skips) == (1, {"overlap": 1})


def test_quiet_minutes() -> None:
    """Schedules in a crowded minute get different minutes, as cron expressions."""
    crowd = [schedule(f"s{number}", cron("0 * * * *"), number) for number in range(5)]
    taken = schedule("taken", cron("1 * * * *"))
    found = expect(*crowd, taken, schedule("step", cron("*/20 * * * *")))
    told = [(each.schedule, each.after, each.crowd, each.left) for each in found.suggestions]
    assert told == [
        ("step", "2-59/20 * * * *", 5, 0),
        ("s0", "3 * * * *", 4, 0),
        ("s1", "4 * * * *", 3, 0),
        ("s2", "5 * * * *", 2, 0),
    ]
    assert found.busiest[0] == (START, 6)
    assert expect(schedule("alone", cron("0 * * * *"))).suggestions == []


def test_a_month_is_bounded() -> None:
    """Too many ticks are refused before the simulation, with the limit and a hint."""
    each_second = schedule("a", every(seconds=1))
    with pytest.raises(InvalidError, match=r"31,536,001 ticks are too many; at most 30,000,000 .* fewer days"):
        expect(each_second, hours=365 * 24)
    for wrong in ({"more": -1}, {"slots": 0}, {"slower": 0}, {"share": 0.0}, {"slots": 1, "workers": 1}):
        with pytest.raises(InvalidError):
            WhatIf(**wrong)
    with pytest.raises(InvalidError, match="Combine them into one"):
        WhatIf(outages=[(1, 5), (4, 9)])
    with pytest.raises(InvalidError, match="at most 366"):
        expect(each_second, hours=367 * 24)
    with pytest.raises(InvalidError, match="at least one live worker"):
        expect(each_second, what_if=WhatIf(share=0.5))


def test_forecast_is_deterministic_and_survives_the_wire() -> None:
    """The same input gives the same result, and its JSON is read back."""
    crowd = [schedule(f"s{number}", cron(f"{number % 3} * * * *"), number) for number in range(9)]
    ground = ForecastInput(namespace="default", schedules=crowd, start=START + 7, end=START + DAY)
    what_if = WhatIf(slots=2, outages=[(START + HOUR, START + 2 * HOUR)], slower=3)
    once, again = simulate(ground, what_if), simulate(ground, what_if)
    assert once == again
    assert decode(ForecastComparison, encode(once)) == once


@settings(deadline=None, max_examples=30)
@given(st.text(max_size=40))
def test_chart_is_valid_xml_for_any_title(title: str) -> None:
    """It has a text alternative, both forecasts, and the line of the slots."""
    drawn = ElementTree.fromstring(forecast_chart(SMALL, title))
    names = {name: drawn.find(f"{{http://www.w3.org/2000/svg}}{name}") for name in ("title", "desc")}
    assert all(found is not None for found in names.values())
    assert sum(each.get("class") == "slots" for each in drawn.iter()) == 1
    assert "<script" not in forecast_chart(SMALL, "</title><script>")


def test_duration_stats() -> None:
    """The median of the newest twenty."""
    assert duration_stats([4.0]) == DurationStats(4.0, 4.0, 1)
    assert duration_stats([float(number) for number in range(40)]) == DurationStats(9.5, 18.0, 20)


SMALL: ForecastComparison = simulate(
    ForecastInput(namespace="default", schedules=[schedule("a", cron("0 * * * *"))], start=START, end=START + DAY),
    WhatIf(slots=2),
)
