"""Due schedules fired per second, beside the durable peers."""

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
    """As many due for each; `ours` is the planner as the engine calls it, in ticks per second."""
    count = options.size(10_000, 20)
    variants: dict[str, Fire] = {OURS: ours}
    for peer in _peers():
        url = running.create_database()
        await peer.prepare(url)
        variants[peer.name] = partial(_fire, peer, url, count)
    taken = await interleave(options.size(2, 1), variants)
    report.samples |= {f"fired: {name}": values for name, values in taken.taken.items()}
    report.tables.append(
        Table(
            f"{count:,} due: fired per second",
            ("who", "fires/s", "least – most"),
            [[name, taken.median(name), taken.spread(name)] for name in taken.taken],
            "PgQueuer calls a function and records that; Procrastinate makes a job of each and executes none here.",
        )
    )
    if not options.quick:
        best = max((name for name in taken.taken if name != OURS), key=taken.median, default=None)
        times = None if best is None else taken.ratio(OURS, best)
        work = f"{count:,} due, one process, beside the best durable peer ({best or 'none installed'})"
        report.hold(work, "≥ 12 ×", times, None if times is None else times >= 12)


def _peers() -> list[Any]:
    found: list[Any] = []
    if peers.PGQUEUER:
        from bench.peers.pgqueuer import PgQueuerWorker

        found.append(PgQueuerWorker())
    if peers.PROCRASTINATE:
        from bench.peers.procrastinate import ProcrastinateWorker

        found.append(ProcrastinateWorker())
    return found


async def _fire(peer: Any, url: str, count: int) -> float:
    return float(count / await peer.fire(url, count))
