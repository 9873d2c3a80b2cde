"""Start lateness: many schedules that tick every second, planned and executed."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench import peers
from bench.bare import STATEMENTS as BARE
from bench.bare import connect
from bench.common import Options, Report, Samples, Table, percentile, say
from bench.contenders import SPAWN, Seen, process, run_worker
from bench.database import Schedules, server, version
from tickbird import Run, Tickbird, cron
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.worker import WorkerProcess

Start = tuple[int, int, float]
ABOUT = {
    "bare claimer": "one claim per second, executed at once, finished by another statement; no queue",
    "Tickbird": "the real worker, one slot per schedule",
    "PgQueuer": "its scheduler calls the function directly; it does not catch up missed ticks",
    "Procrastinate": "its cron takes seconds; every tick is deferred as a job and then executed",
}


@dataclass(frozen=True, slots=True)
class Late:
    """The results for the ticks of a window."""

    executed: float
    on_time: float
    early: int
    twice: int
    p50: float
    p99: float
    p999: float
    maximum: float


async def measure(options: Options, report: Report) -> None:
    """Each contender in a separate process, interleaved."""
    count, seconds = options.size(1_000, 5), options.size(20, 1)
    results: dict[str, list[Late]] = {}
    samples = Samples()
    with server() as running:
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        for _ in range(options.size(2, 1)):
            for name, prepare in _contenders().items():
                url = running.create_database()
                work = await prepare(url, count)
                watch = Watch(count, seconds, wait=options.size(5, 1), patience=options.size(60, 20))
                late = await watch.see(work, url)
                running.drop_database(url)
                results.setdefault(name, []).append(late)
                samples.add(f"{name}, p99 ms", 1e3 * late.p99)
                say(f"{name}: {late.on_time:.1%} on time, p99 {1e3 * late.p99:.0f} ms")
    report.samples |= samples.values
    rows = [[name, *_row(_middle(lates)), samples.spread(f"{name}, p99 ms")] for name, lates in results.items()]
    report.tables.append(
        Table(
            f"{count:,} schedules ticking every second, executed for {seconds} s: start lateness in ms",
            (
                "who",
                "ticks executed",
                "within their second",
                "early",
                "twice",
                "p50",
                "p99",
                "p99.9",
                "maximum",
                "p99, min – max",
            ),
            rows,
            "From the round with the median p99. " + "; ".join(f"{name}: {ABOUT[name]}" for name in results) + ".",
        )
    )
    if not options.quick:
        _judge(report, results, count)


def _judge(report: Report, results: dict[str, list[Late]], count: int) -> None:
    ours = _middle(results["Tickbird"])
    work = f"{count:,} schedules ticking every second, executed"
    minimum = min(late.on_time for late in results["Tickbird"])
    report.hold(f"{work}: within their second", "100 %", 100 * minimum, minimum == 1, "%")
    early = max(late.early for late in results["Tickbird"])
    report.hold(f"{work}: early", "none", float(early), early == 0, "")
    times = ours.p99 / _middle(results["bare claimer"]).p99
    report.hold(f"{work}: p99 lateness compared with the bare claimer", "≤ 2 ×", times, times <= 2)
    durable = [_middle(results[name]).p99 for name in ("PgQueuer", "Procrastinate") if name in results]
    times_best = ours.p99 / min(durable) if durable else None
    met = None if times_best is None else times_best < 0.1
    report.hold(f"{work}: p99 lateness compared with the best durable peer", "< 0.1 ×", times_best, met)


def _middle(lates: list[Late]) -> Late:
    return sorted(lates, key=lambda late: late.p99)[len(lates) // 2]


def _row(late: Late) -> list[Any]:
    times = [1e3 * value for value in (late.p50, late.p99, late.p999, late.maximum)]
    return [f"{late.executed:.2%}", f"{late.on_time:.2%}", late.early, late.twice, *times]


def _contenders() -> dict[str, Callable[[str, int], Any]]:
    preparations: dict[str, Callable[[str, int], Any]] = {"bare claimer": _prepare_bare, "Tickbird": _prepare_tickbird}
    if peers.PGQUEUER:
        preparations["PgQueuer"] = _prepare_pgqueuer
    if peers.PROCRASTINATE:
        preparations["Procrastinate"] = _prepare_procrastinate
    return preparations


async def _prepare_bare(url: str, count: int) -> Callable[[str, Seen], Any]:
    connection = await connect(url)
    await connection.execute(BARE["make_narrow"])
    due = math.ceil(time.time()) + 2
    await connection.execute(BARE["fill_narrow"], {"count": count, "due": due, "seconds": 1})
    await connection.close()
    return bare


async def bare(url: str, seen: Seen) -> None:
    """Claim due schedules in one statement, execute, finish in another; sleep until the next second."""
    connection = await connect(url)
    starts: list[Start] = []
    while not seen.stop.is_set():
        claimed = await connection.execute(BARE["tick_narrow"], {"limit": 1_000}, prepare=True, binary=True)
        rows = await claimed.fetchall()
        for _, schedule_id, tick in rows:
            starts.append((schedule_id, tick, time.time() - tick))
            seen.started()
        if rows:
            ids = "{" + ",".join(str(row[0]) for row in rows) + "}"
            await connection.execute(BARE["finish_narrow"], {"ids": ids}, prepare=True)
        wait = (await (await connection.execute(BARE["next_narrow"], prepare=True)).fetchall())[0][0]
        await asyncio.sleep(max(0.0, wait))
    await connection.close()
    seen.starts.put(starts)


async def _prepare_tickbird(url: str, count: int) -> Callable[[str, Seen], Any]:
    schedules = Schedules(url)
    await schedules.make(count, (Definition(trigger=cron("* * * * * *"), target=Target("noop")),))
    due = math.ceil(time.time()) + 2
    schedules.execute(
        "UPDATE tickbird.cursors SET next_run_at = to_timestamp(%s), planned_until = to_timestamp(%s)", (due, due - 1)
    )
    schedules.close()
    return tickbird


async def tickbird(url: str, seen: Seen) -> None:
    bird = Tickbird(url)
    starts: list[Start] = []

    @bird.task
    async def noop(run: Run) -> None:
        now = time.time()
        assert run.scheduled_for is not None
        tick = run.scheduled_for.timestamp()
        starts.append((int((run.schedule or "s0")[1:]), int(tick), now - tick))
        seen.started()

    await run_worker(WorkerProcess(bird, slots=1_000), seen)
    seen.starts.put(starts)


async def _prepare_pgqueuer(url: str, count: int) -> Callable[[str, Seen], Any]:
    from bench.peers.pgqueuer import PgQueuerWorker

    await PgQueuerWorker().prepare(url)
    return partial(_tick, PgQueuerWorker(), count)


async def _prepare_procrastinate(url: str, count: int) -> Callable[[str, Seen], Any]:
    from bench.peers.procrastinate import ProcrastinateWorker

    await ProcrastinateWorker().prepare(url)
    return partial(_tick, ProcrastinateWorker(), count)


async def _tick(peer: Any, count: int, url: str, seen: Seen) -> None:
    await peer.tick(url, count, seen)


@dataclass(frozen=True, slots=True)
class Watch:
    """Watches schedules for some seconds; starts up to `wait` seconds later still count for their tick."""

    count: int
    seconds: int
    wait: int
    patience: float

    async def see(self, work: Callable[[str, Seen], Any], url: str) -> Late:
        """Start it, wait for the first starts, watch, stop it; returns the results for that window."""
        seen = Seen(starts=SPAWN.SimpleQueue())
        worker = process(work, url, seen)
        try:
            deadline = time.monotonic() + self.patience
            while not seen.count.value and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
            first = math.ceil(time.time()) + min(3, self.wait)
            await asyncio.sleep(first + self.seconds + self.wait - time.time())
            seen.stop.set()
            starts: list[Start] = await asyncio.to_thread(seen.starts.get)
            worker.join(10)
        finally:
            if worker.is_alive():
                worker.kill()
                worker.join()
        return self._late([start for start in starts if first <= start[1] < first + self.seconds])

    def _late(self, starts: list[Start]) -> Late:
        late = [start[2] for start in starts] or [math.nan]
        ticks = {start[:2] for start in starts}
        expected = self.count * self.seconds
        return Late(
            executed=len(ticks) / expected,
            # Before the next second begins.
            on_time=len({start[:2] for start in starts if start[2] < 1}) / expected,
            early=sum(value < 0 for value in late),
            twice=len(starts) - len(ticks),
            p50=percentile(late, 0.5),
            p99=percentile(late, 0.99),
            p999=percentile(late, 0.999),
            maximum=max(late),
        )
