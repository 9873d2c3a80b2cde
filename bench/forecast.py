"""The duration of a forecast for a month of 5,000 schedules, compared with only iterating over the same ticks."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, datetime

from bench.common import Options, Report, Samples, Table, say
from tickbird.domain.forecast.forecast import ForecastInput, WhatIf, WorkerCapacity, simulate
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.time.instants import DAY, to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.trigger import Trigger

START = to_seconds(datetime(2026, 12, 1, tzinfo=UTC))
# The number of slots; None: as many as necessary.
VARIANTS = {"as many slots as are needed": None, "1,000 slots": 1_000, "200 slots, too few: most runs wait": 200}


async def measure(options: Options, report: Report) -> None:
    """Each variant once: CPU seconds, and wall-clock seconds."""
    count, days = options.size(5_000, 50), options.size(30, 1)
    ground = _ground(count, days)
    samples = Samples()
    ticks, late = 0, {}
    began, clock = time.process_time(), time.perf_counter()
    ticks = _step(ground)
    samples.add("bare stepping, CPU s", time.process_time() - began)
    samples.add("bare stepping, s", time.perf_counter() - clock)
    for name, slots in VARIANTS.items():
        workers = (
            [] if slots is None else [WorkerCapacity(slots, frozenset({"default"}), frozenset({("task", "work")}))]
        )
        began, clock = time.process_time(), time.perf_counter()
        forecast = simulate(replace(ground, workers=workers), WhatIf(), limit=0)
        samples.add(f"{name}, CPU s", time.process_time() - began)
        samples.add(f"{name}, s", time.perf_counter() - clock)
        late[name] = forecast.baseline.lateness["p99"]
        say(f"{name}: {time.process_time() - began:.1f} CPU seconds")
    report.samples |= samples.values
    rows = []
    for name in ("bare stepping", *VARIANTS):
        cpu_seconds = samples.median(f"{name}, CPU s")
        rows.append([name, samples.median(f"{name}, s"), cpu_seconds, 1e6 * cpu_seconds / ticks, late.get(name, "")])
    report.tables.append(
        Table(
            f"{count:,} schedules, {days} days, {ticks:,} ticks",
            ("variant", "seconds", "CPU seconds", "CPU µs per tick", "predicted p99 lateness, s"),
            rows,
            "Bare stepping iterates over the ticks of each grid and does nothing else.",
        )
    )
    if not options.quick:
        month = samples.median("as many slots as are needed, CPU s")
        report.hold("a month of 5,000 schedules, CPU seconds", "≤ 20 s", month, month <= 20, "s")


def _step(ground: ForecastInput) -> int:
    ticks = 0
    for schedule in ground.schedules:
        step, tick = schedule.grid.next, schedule.grid.next(ground.start - 1)
        while tick is not None and tick < ground.end:
            ticks += 1
            tick = step(tick)
    return ticks


def _ground(count: int, days: int) -> ForecastInput:
    """Most tick once a day, a quarter each hour, the others every 15 or 5 minutes; many at minute 0, as is common."""
    rng = random.Random(1)
    schedules, durations = [], {}
    for number in range(count):
        kind, minute = rng.random(), rng.choice([0, 0, 0, 5, 30, rng.randrange(60)])
        trigger: Trigger
        if kind < 0.6:
            trigger = cron(f"{minute} {rng.randrange(24)} * * *", rng.choice(["UTC", "Europe/Rome"]))
        elif kind < 0.85:
            trigger = cron(f"{minute} * * * *")
        else:
            trigger = cron("*/15 * * * *" if kind < 0.95 else "*/5 * * * *")
        definition = Definition(trigger=trigger, target=Target("work"))
        schedules.append(Schedule(number, "default", f"s{number}", 1, "active", definition, Cursor(START - 1)))
        seconds = float(rng.randrange(1, 60))
        durations[f"s{number}"] = DurationStats(seconds, seconds, 20)
    return ForecastInput(
        namespace="default", schedules=schedules, start=START, end=START + days * DAY, durations=durations
    )
