"""How long a month of 5,000 schedules takes to simulate, beside only stepping through the same ticks."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

from bench.common import Options, Report, Samples, Table, say
from tickbird.domain.cron import cron
from tickbird.domain.definition import Definition, Target
from tickbird.domain.forecast import Ground, WhatIf, simulate
from tickbird.domain.instants import DAY, to_seconds
from tickbird.domain.run_lengths import RunLength
from tickbird.domain.schedule import Cursor, Schedule
from tickbird.domain.triggers import Trigger

START = to_seconds(datetime(2026, 12, 1, tzinfo=UTC))
VARIANTS = {
    "as many slots as are needed": WhatIf(),
    "1,000 slots": WhatIf(slots=1_000),
    "1,000 slots, an outage of two hours": WhatIf(slots=1_000, outages=[(START + 7_200, START + 14_400)]),
    "200 slots, too few: runs stand in line": WhatIf(slots=200),
}


async def measure(options: Options, report: Report) -> None:
    """Each variant once in a round: CPU seconds, and seconds on the clock."""
    count, days = options.size(5_000, 50), options.size(30, 1)
    ground = _ground(count, days)
    samples, rows = Samples(), []
    ticks = 0
    for _ in range(options.size(2, 1)):
        began, clock = time.process_time(), time.perf_counter()
        ticks = _step(ground)
        samples.add("bare stepping, CPU s", time.process_time() - began)
        samples.add("bare stepping, s", time.perf_counter() - clock)
        for name, what_if in VARIANTS.items():
            began, clock = time.process_time(), time.perf_counter()
            # A what-if is played beside what is: here only it counts.
            simulate(ground, what_if, limit=0)
            samples.add(f"{name}, CPU s", time.process_time() - began)
            samples.add(f"{name}, s", time.perf_counter() - clock)
            say(f"{name}: {time.process_time() - began:.1f} s")
    report.samples |= samples.taken
    plain = "as many slots as are needed"
    for name in ("bare stepping", *VARIANTS):
        # Beside a what-if, what is has been played as well.
        beside = samples.median(f"{plain}, CPU s") if VARIANTS.get(name) else 0.0
        own = samples.median(f"{name}, CPU s") - beside
        rows.append([name, samples.median(f"{name}, s"), samples.median(f"{name}, CPU s"), own, 1e6 * own / ticks])
    report.tables.append(
        Table(
            f"{count:,} schedules, {days} days, {ticks:,} ticks",
            ("what", "seconds", "CPU seconds", "CPU seconds of its own", "µs a tick"),
            rows,
            "A what-if is played beside what is; of its own: without that. Bare stepping asks each grid for its ticks "
            "and does nothing with them.",
        )
    )
    if not options.quick:
        whole = samples.median(f"{plain}, CPU s")
        report.hold("a month of 5,000 schedules, CPU seconds", "≤ 20 s", whole, whole <= 20, "s")


def _step(ground: Ground) -> int:
    ticks = 0
    for schedule in ground.schedules:
        step, tick = schedule.grid.next, schedule.grid.next(ground.start - 1)
        while tick is not None and tick < ground.end:
            ticks += 1
            tick = step(tick)
    return ticks


def _ground(count: int, days: int) -> Ground:
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
        lengths[f"s{number}"] = RunLength(seconds, seconds, 20)
    return Ground(namespace="default", schedules=schedules, start=START, end=START + days * DAY, durations=lengths)
