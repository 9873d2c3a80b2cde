"""How long a month of 5,000 schedules takes to simulate, beside only stepping through the same ticks."""

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
# So many slots; None: as many as are needed.
VARIANTS = {"as many slots as are needed": None, "1,000 slots": 1_000, "200 slots, too few: most runs wait": 200}


async def measure(options: Options, report: Report) -> None:
    """Each variant once: CPU seconds, and seconds on the clock."""
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
        found = simulate(replace(ground, workers=workers), WhatIf(), limit=0)
        samples.add(f"{name}, CPU s", time.process_time() - began)
        samples.add(f"{name}, s", time.perf_counter() - clock)
        late[name] = found.baseline.lateness["p99"]
        say(f"{name}: {time.process_time() - began:.1f} CPU seconds")
    report.samples |= samples.taken
    rows = []
    for name in ("bare stepping", *VARIANTS):
        taken = samples.median(f"{name}, CPU s")
        rows.append([name, samples.median(f"{name}, s"), taken, 1e6 * taken / ticks, late.get(name, "")])
    report.tables.append(
        Table(
            f"{count:,} schedules, {days} days, {ticks:,} ticks",
            ("what", "seconds", "CPU seconds", "CPU µs a tick", "p99 lateness it foretells, s"),
            rows,
            "Bare stepping asks each grid for its ticks and does nothing with them.",
        )
    )
    if not options.quick:
        whole = samples.median("as many slots as are needed, CPU s")
        report.hold("a month of 5,000 schedules, CPU seconds", "≤ 20 s", whole, whole <= 20, "s")


def _step(ground: ForecastInput) -> int:
    ticks = 0
    for schedule in ground.schedules:
        step, tick = schedule.grid.next, schedule.grid.next(ground.start - 1)
        while tick is not None and tick < ground.end:
            ticks += 1
            tick = step(tick)
    return ticks


def _ground(count: int, days: int) -> ForecastInput:
    """Most tick once a day, a quarter each hour, the others every 15 or 5 minutes; many at minute 0, as people do."""
    rng = random.Random(1)
    schedules, lengths = [], {}
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
        lengths[f"s{number}"] = DurationStats(seconds, seconds, 20)
    return ForecastInput(
        namespace="default", schedules=schedules, start=START, end=START + days * DAY, durations=lengths
    )
