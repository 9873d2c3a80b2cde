"""Many processes with many planners each, while more is due than they can plan: every tick once, and the rate."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import psycopg

from bench import bare
from bench.common import Options, Report, Table, interleave, percentile
from bench.database import NOW, Schedules, warm
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.engine.planner_step import PlannerStep
from tickbird.store.postgres import PostgresStore

T = TypeVar("T")
SPAWN: Final = multiprocessing.get_context("spawn")
EARLY: Final = NOW - timedelta(days=1)
ONE, _, SPLIT = bare.CLAIMS
ENGINE: Final = "Tickbird, as a worker plans"
OURS: Final = "Tickbird, plan_due"


@dataclass(frozen=True, slots=True)
class Crowd:
    """The planners and their batch; Tickbird's engine has one planner per process and chooses its batch."""

    kind: str
    processes: int
    planners: int
    batch: int
    seconds: float
    warm_up: float
    stored: int

    @property
    def name(self) -> str:
        if self.kind == ENGINE:
            return f"{self.kind}, {self.processes} processes"
        return f"{self.kind}, {self.processes} × {self.planners}, batch {self.batch}"


@dataclass(slots=True)
class Worked:
    """The work of one process: ticks after the warm-up, all ticks, and durations of its transactions and calls."""

    began: float
    ticks: int = 0
    total: int = 0
    # Transactions that ended by a lock timeout.
    refused: int = 0
    transactions: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)


async def measure(options: Options, report: Report, url: str) -> None:
    """Ten processes with five planners each, compared with bare SQL that does the same."""
    schedules = Schedules(url)
    stored = options.size(500_000, 3_000)
    processes, planners = (2, 2) if options.quick else (10, 5)
    seconds, warm_up = (0.3, 0.0) if options.quick else (10.0, 1.0)
    crowds = [
        Crowd(kind, processes, each, batch, seconds, warm_up, stored)
        for kind, each, batch in (
            (ENGINE, 1, 500),
            (ONE, planners, 100),
            (SPLIT, planners, 100),
            (OURS, planners, 100),
        )
    ][: 3 if options.quick else None]
    await schedules.make(stored)
    times: dict[str, list[float]] = {crowd.name: [] for crowd in crowds}
    calls: dict[str, list[float]] = {crowd.name: [] for crowd in crowds}
    refused: Counter[str] = Counter()
    due_at_end: list[int] = []

    def one(crowd: Crowd) -> Callable[[], Awaitable[float]]:
        async def run() -> float:
            narrow = crowd.kind == ONE
            schedules.restore_narrow(2 * stored) if narrow else schedules.restore(stored)
            done = await asyncio.to_thread(_crowd, url, crowd)
            total = sum(worked.total for worked in done)
            for worked in done:
                times[crowd.name] += worked.transactions
                calls[crowd.name] += worked.calls
                refused[crowd.name] += worked.refused
            if not narrow:
                runs, ticks = schedules.ticks()
                assert runs == ticks == total, f"{crowd.name}: {total} planned, {runs} runs of {ticks} ticks"
                due_at_end.append(schedules.due())
            return sum(worked.ticks for worked in done) / crowd.seconds

        return run

    rates = await interleave(options.size(2, 1), {crowd.name: one(crowd) for crowd in crowds})
    schedules.close()
    report.samples |= rates.values
    report.tables.append(
        Table(
            f"At least 1,000 due at any time for {seconds:g} s, {processes} processes",
            ("variant", "ticks/s", "min – max", "transaction p50 ms", "p99 ms", "call p99 ms", "lock timeouts"),
            [
                [
                    name,
                    rates.median(name),
                    rates.spread(name),
                    1_000 * percentile(times[name], 0.5),
                    1_000 * percentile(times[name], 0.99),
                    1_000 * percentile(calls[name], 0.99),
                    refused[name],
                ]
                for name in rates.values
            ],
            f"{stored:,} schedules were due at the start and at least {min(due_at_end):,} at the end; definitions are "
            "cached; after each round every run was counted and every tick had exactly one.",
        )
    )
    if not options.quick:
        ours, one_name, split = (crowd.name for crowd in crowds[:3])
        how = f"{processes} processes (bare: × {planners} claimers), ≥ 1,000 due at any time for {seconds:g} s"
        once = min(due_at_end) >= 1_000
        report.hold(f"{how}: every tick once", "all", 1.0 if once else None, True if once else None)
        worst = 1_000 * percentile(times[ours], 0.99)
        report.hold(f"{how}: p99 of a planning transaction", "< 100 ms", worst, worst < 100, "ms")
        rate = rates.ratio(ours, one_name)
        report.hold(f"{how}: rate compared with the bare one-statement claim", "≥ 1 ×", rate, rate >= 1)
        rate = rates.ratio(ours, split)
        report.hold(f"{how}: rate compared with bare SQL that writes the same rows", "(≥ 1 ×)", rate, rate >= 1)


def _crowd(url: str, crowd: Crowd) -> list[Worked]:
    """Start all processes at the same moment, and collect their results."""
    gate = SPAWN.Barrier(crowd.processes)
    results: Any = SPAWN.SimpleQueue()
    workers = [SPAWN.Process(target=_process, args=(url, crowd, gate, results)) for _ in range(crowd.processes)]
    for worker in workers:
        worker.start()
    done = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    if broken := [result for result in done if not isinstance(result, Worked)]:
        raise RuntimeError(f"{crowd.name}: {broken[0]}")
    return done


def _process(url: str, crowd: Crowd, gate: Any, results: Any) -> None:
    try:
        results.put(asyncio.run(_plan(url, crowd, gate) if crowd.kind in (ENGINE, OURS) else _claim(url, crowd, gate)))
    except Exception as error:  # noqa: BLE001 - told to the process that waits for an answer
        gate.abort()
        results.put(f"{type(error).__name__}: {error}")


async def _plan(url: str, crowd: Crowd, gate: Any) -> Worked:
    store = PostgresStore(url)
    warm(store._database.revisions, crowd.stored)
    transactions: list[tuple[float, float]] = []
    transact = store._connections.transact

    attempts: list[float] = []

    async def timed(work: Callable[..., Awaitable[T]], *, begin: bool = True, patient: bool = True) -> T:
        if not begin:
            return await transact(work, begin=False, patient=patient)

        def counted(db: Any) -> Awaitable[T]:
            attempts.append(time.perf_counter())
            return work(db)

        began = time.perf_counter()
        result = await transact(counted, patient=patient)
        transactions.append((began, time.perf_counter()))
        return result

    await store.open()
    store._connections.transact = timed  # type: ignore[method-assign]
    await asyncio.gather(*(store.planning.plan_due(crowd.batch, now=EARLY) for _ in range(crowd.planners)))

    async def plan_some() -> int:
        return (await store.planning.plan_due(crowd.batch, now=NOW)).runs

    loops = [plan_some] * crowd.planners if crowd.kind == OURS else [_engine(store)]
    worked = await _until_over(crowd, gate, loops)
    await store.close()
    counted = worked.began + crowd.warm_up
    worked.refused = len(attempts) - len(transactions)
    worked.transactions = [ended - began for began, ended in transactions if began > counted]
    return worked


def _engine(store: PostgresStore) -> Callable[[], Awaitable[int]]:
    """The planning step of a worker, with its two connections and its choice of a batch."""
    created: list[int] = []
    plan_due = store.planning.plan_due

    async def counted(limit: int = 500, **options: Any) -> PlanResult:
        planned = await plan_due(limit, **options)
        created.append(planned.runs)
        return planned

    store.planning.plan_due = counted  # type: ignore[method-assign]
    planning = PlannerStep(store, _Noon(), lambda: None)

    async def step() -> int:
        created.clear()
        await planning.step()
        return sum(created)

    return step


class _Noon:
    """A clock that does not move for the store, but moves for the engine."""

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return time.monotonic()


async def _claim(url: str, crowd: Crowd, gate: Any) -> Worked:
    claim = bare.CLAIMS[crowd.kind]
    async with AsyncExitStack() as stack:
        claimers = await stack.enter_async_context(bare.Claimers(url, crowd.planners))
        for connection in claimers.connections:
            await claim(connection, crowd.batch, EARLY)
        waits: list[float] = []

        async def claim_some(connection: bare.Connection) -> int:
            try:
                return await claim(connection, crowd.batch, NOW)
            except psycopg.errors.LockNotAvailable:
                # SKIP LOCKED still waits if it follows a row to its updated version.
                waits.append(time.perf_counter())
                return 0

        loops = [partial(claim_some, connection) for connection in claimers.connections]
        worked = await _until_over(crowd, gate, loops)
    worked.transactions, worked.refused = worked.calls, len(waits)
    return worked


async def _until_over(crowd: Crowd, gate: Any, loops: Sequence[Callable[[], Awaitable[int]]]) -> Worked:
    await asyncio.to_thread(gate.wait)
    worked = Worked(began=time.perf_counter())
    counted = worked.began + crowd.warm_up
    end = counted + crowd.seconds

    async def work(step: Callable[[], Awaitable[int]]) -> None:
        while (before := time.perf_counter()) < end:
            ticks = await step()
            worked.total += ticks
            # Work that ended in time counts completely; work that began in the warm-up has no valid duration.
            if counted < (now := time.perf_counter()) <= end:
                worked.ticks += ticks
            if before > counted:
                worked.calls.append(now - before)

    await asyncio.gather(*map(work, loops))
    return worked
