"""Due schedules fired per second, compared with the durable peers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from bench import peers
from bench.common import Options, Report, Table, interleave
from lab.servers import PostgresServer

OURS = "Tickbird"
Fire = Callable[[], Awaitable[float]]


async def measure(options: Options, report: Report, running: PostgresServer, ours: Fire) -> None:
    """The same number due for each; `ours` is the planner as the engine calls it, in ticks per second."""
    count = options.size(10_000, 20)
    variants: dict[str, Fire] = {OURS: ours}
    for peer in _peers():
        url = running.create_database()
        await peer.prepare(url)
        variants[peer.name] = partial(_fire, peer, url, count)
    rates = await interleave(options.size(2, 1), variants)
    report.samples |= {f"fired: {name}": values for name, values in rates.values.items()}
    report.tables.append(
        Table(
            f"{count:,} due: fired per second",
            ("variant", "fires/s", "min – max"),
            [[name, rates.median(name), rates.spread(name)] for name in rates.values],
            "PgQueuer calls a function and records it; Procrastinate creates a job for each and executes none here.",
        )
    )
    if not options.quick:
        best = max((name for name in rates.values if name != OURS), key=rates.median, default=None)
        times = None if best is None else rates.ratio(OURS, best)
        work = f"{count:,} due, one process, compared with the best durable peer ({best or 'none installed'})"
        report.hold(work, "≥ 12 ×", times, None if times is None else times >= 12)


def _peers() -> list[Any]:
    workers: list[Any] = []
    if peers.PGQUEUER:
        from bench.peers.pgqueuer import PgQueuerWorker

        workers.append(PgQueuerWorker())
    if peers.PROCRASTINATE:
        from bench.peers.procrastinate import ProcrastinateWorker

        workers.append(ProcrastinateWorker())
    return workers


async def _fire(peer: Any, url: str, count: int) -> float:
    return float(count / await peer.fire(url, count))
