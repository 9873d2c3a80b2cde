"""Cron arithmetic compared with cronsim and croniter, in a zone with DST changes; and the time to refuse bad input."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bench.common import Options, Report, Samples, Table
from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.cron.cron import cron

try:
    import croniter
    import cronsim
except ImportError:  # the tests' environment has no peers
    croniter = cronsim = None

ZONE = "America/New_York"
# Name, expression, steps from one start, starts, and the required speedup over cronsim.
CASES = (
    ("dense", "*/5 * * * *", 500, 1, 5),
    ("daily", "30 2 * * *", 365, 1, 10),
    ("sparse", "0 0 29 2 *", 10, 5, 20),
)


def measure(options: Options, report: Report) -> None:
    """Microseconds per step, warm, each library in its fastest usage."""
    rows = []
    for name, expr, maximum, starts, bar in CASES:
        steps = options.size(maximum, 5)
        chains = _chains(expr, steps, starts)
        samples = Samples()
        for chain in chains.values():
            chain()  # warm
        for _ in range(options.size(9, 2)):
            for who, chain in chains.items():
                began = time.perf_counter()
                chain()
                samples.add(who, (time.perf_counter() - began) / (steps * starts) * 1e6)
        report.samples |= {f"cron {name}, {who}": values for who, values in samples.values.items()}
        rows.append([name, f"`{expr}`", *(samples.median(who) if who in chains else "–" for who in LIBRARIES)])
        if not options.quick:
            times = samples.ratio("cronsim", "Tickbird") if "cronsim" in chains else None
            work = f"cron `next_after`, {name}, {ZONE}, warm, compared with cronsim"
            report.hold(work, f"≥ {bar} × as fast", times, None if times is None else times >= bar)
    report.tables.append(
        Table(
            f"Cron: microseconds per step in {ZONE}, warm",
            ("grid", "expression", *LIBRARIES),
            rows,
            "Medians; lower is better.",
        )
    )
    refusals = [_refusal(minute) for minute in range(options.size(60, 5))]
    report.facts["refusing a cron expression without any date"] = (
        f"{1e6 * statistics.median(refusals):.0f} µs median, {1e6 * max(refusals):.0f} µs maximum"
    )
    if not options.quick:
        worst = 1e3 * max(refusals)
        report.hold("impossible dates refused (slowest of 60)", "< 1 ms", worst, worst < 1, "ms")


LIBRARIES = ("Tickbird", "Tickbird, whole seconds", "cronsim", "croniter")


def _chains(expr: str, steps: int, starts: int) -> dict[str, Callable[[], None]]:
    zone = ZoneInfo(ZONE)
    begins = [datetime(2026 + year, 1, 1, tzinfo=zone) for year in range(starts)]
    trigger = cron(expr, ZONE)

    def ours() -> None:
        for at in begins:
            tick: datetime | None = at
            for _ in range(steps):
                assert tick is not None
                tick = trigger.next_after(tick)

    def ours_seconds() -> None:
        for at in begins:
            tick: int | None = int(at.timestamp())
            for _ in range(steps):
                assert tick is not None
                tick = trigger.next_tick(tick)

    chains: dict[str, Callable[[], None]] = {"Tickbird": ours, "Tickbird, whole seconds": ours_seconds}
    if cronsim is not None:
        chains["cronsim"] = lambda: _walk([cronsim.CronSim(expr, at) for at in begins], steps, next)
        chains["croniter"] = lambda: _walk(
            [croniter.croniter(expr, at) for at in begins], steps, lambda it: it.get_next(datetime)
        )
    return chains


def _walk(iterators: list[Any], steps: int, step: Callable[[Any], Any]) -> None:
    for iterator in iterators:
        for _ in range(steps):
            step(iterator)


def _refusal(minute: int) -> float:
    began = time.perf_counter()
    try:
        cron(f"{minute} 0 30 2 *", ZONE)
    except TriggerError:
        return time.perf_counter() - began
    raise AssertionError("February 30 was accepted")
