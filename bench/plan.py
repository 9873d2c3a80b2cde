"""Planning rate: plan_due compared with bare SQL, on PostgreSQL and SQLite; and cron compared with other libraries."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from bench import bare, cron_speed, firing, held, plan_sqlite, stored
from bench.common import Options, Report, Samples, Table, figure, interleave, step
from bench.database import DUE, NOW, Schedules, server, version
from lab.servers import PostgresServer
from tickbird.engine.planner_step import PlannerStep
from tickbird.store.postgres import PostgresStore

Measure = Callable[[], Awaitable[float]]
OURS: Final = "Tickbird"
# The engine's default.
BATCH: Final = int(inspect.signature(PlannerStep).parameters["batch"].default)


async def measure(options: Options, report: Report) -> None:
    """All benchmarks of planning."""
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        report.facts["planners"] = "concurrent callers of plan_due on one store in one process, a connection each"
        with step("planned due schedules"):
            await _due(options, report, running)
        with step("planned with many processes"):
            await held.measure(options, report, running.create_database())
        with step("planned among a million"):
            await stored.measure(options, report, running.create_database(), running.create_database())
    with step("planned on SQLite"):
        await plan_sqlite.measure(options, report)
    with step("computed cron ticks"):
        cron_speed.measure(options, report)


async def _due(options: Options, report: Report, running: PostgresServer) -> None:
    maximum = options.size(10_000, 40)
    url = running.create_database()
    schedules = Schedules(url)
    await schedules.make(maximum)
    store = PostgresStore(url)
    await store.open()
    try:
        async with bare.Claimers(url, 4) as claimers:
            work = _Due(schedules, store, claimers)
            await work.tickbird(maximum, BATCH, 1)  # the first pass of a planner is cold
            small = [(count, BATCH, planners) for count in (1, 100, 1_000) for planners in (1, 2)]
            large = [(maximum, batch, planners) for batch in (100, BATCH, 1_000) for planners in (1, 2, 4)]
            cases = [(20, 10, 1), (maximum, 10, 2)] if options.quick else small + large
            rates = await interleave(options.size(5, 1), _variants(work, cases))
            await firing.measure(options, report, running, partial(work.tickbird, maximum, BATCH, 1))
            cold = await interleave(options.size(3, 1), {"cold": lambda: work.cold(maximum, BATCH)})
    finally:
        await store.close()
        schedules.close()
    report.samples |= rates.values | cold.values
    _tabulate(report, rates, cases)
    report.facts["planning without cached definitions (a new process)"] = (
        f"{figure(cold.median('cold'))} ticks/s, one planner, batches of {BATCH}"
    )
    if not options.quick:
        _judge(report, rates, maximum)


def _variants(work: _Due, cases: list[tuple[int, int, int]]) -> dict[str, Measure]:
    variants: dict[str, Measure] = {}
    for case in cases:
        variants[_key(OURS, *case)] = partial(work.tickbird, *case)
        for name in bare.CLAIMS:
            variants[_key(name, *case)] = partial(work.bare, name, *case)
    return variants


def _key(name: str, count: int, batch: int, planners: int) -> str:
    return f"{name}: {count} due, batch {batch}, {planners} planners"


class _Due:
    """One measurement: make schedules due, then plan them all; in ticks per second."""

    def __init__(self, schedules: Schedules, store: PostgresStore, claimers: bare.Claimers) -> None:
        self._schedules = schedules
        self._store = store
        self._claimers = claimers

    async def tickbird(self, count: int, batch: int, planners: int) -> float:
        self._schedules.restore(count)

        async def until_empty() -> int:
            total = 0
            while True:
                planned = await self._store.planning.plan_due(batch, now=NOW)
                total += planned.runs
                if not planned.more:
                    return total

        began = time.perf_counter()
        totals = await asyncio.gather(*(until_empty() for _ in range(planners)))
        seconds = time.perf_counter() - began
        self._check(sum(totals), count)
        return count / seconds

    async def cold(self, count: int, batch: int) -> float:
        """The rate after a start, without cached definitions."""
        self._store._database.revisions.clear()
        return await self.tickbird(count, batch, 1)

    async def bare(self, name: str, count: int, batch: int, planners: int) -> float:
        claim = bare.CLAIMS[name]
        if claim is bare.claim_narrow:
            self._schedules.restore_narrow(count)
        else:
            self._schedules.restore(count)
        total, seconds = await self._claimers.claim_all(claim, planners, batch, NOW)
        assert total == count, f"{name} claimed {total} of {count}"
        if claim is not bare.claim_narrow:
            self._check(total, count)
        return count / seconds

    def _check(self, total: int, count: int) -> None:
        runs, ticks = self._schedules.ticks()
        assert total == runs == ticks == count, f"{count} due, {total} planned, {runs} runs of {ticks} ticks"


def _tabulate(report: Report, rates: Samples, cases: list[tuple[int, int, int]]) -> None:
    rows = []
    for case in cases:
        ours = _key(OURS, *case)
        others = [_key(name, *case) for name in bare.CLAIMS]
        rows.append(
            [
                *(f"{number:,}" for number in case),
                rates.median(ours),
                rates.spread(ours),
                *(rates.median(other) for other in others),
                *(rates.ratio(ours, other) for other in others),
            ]
        )
    report.tables.append(
        Table(
            f"Ticks planned per second, all due at {DUE:%H:%M}",
            ("due", "batch", "planners", OURS, "min – max", *bare.CLAIMS, *(f"÷ {name}" for name in bare.CLAIMS)),
            rows,
            "Medians over interleaved rounds; a ratio is the median of the ratios of the rounds.",
        )
    )


def _judge(report: Report, rates: Samples, count: int) -> None:
    single, _, split = bare.CLAIMS
    work = f"{count:,} due, one process, batch {BATCH}"
    # A worker plans two batches in parallel; the bare claim has nothing to overlap with and uses one connection.
    for ours, theirs, bar in ((2, 1, "≥ 0.60 ×"), (1, 1, "(≥ 0.60 ×)"), (2, 2, "(≥ 0.60 ×)")):
        share = rates.ratio(_key(OURS, count, BATCH, ours), _key(single, count, BATCH, theirs))
        how = f"{work}: {ours} planner(s) compared with the bare one-statement claim on {theirs} connection(s)"
        report.hold(how, bar, share, share >= 0.60)
    for planners in (1, 2):
        case = (count, BATCH, planners)
        share = rates.ratio(_key(OURS, *case), _key(split, *case))
        how = f"{work}: compared with bare SQL that writes the same rows, {planners} connection(s) each"
        report.hold(how, "≥ 0.85 ×", share, share >= 0.85)
