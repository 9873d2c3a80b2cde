"""Requests per second of the API, compared with a bare FastAPI route that reads one row by its key."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from bench.common import Options, Report, Table, interleave, percentile
from bench.database import Schedules, server, version

# Concurrent clients, each on a persistent connection.
CLIENTS: Final = 16
PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Server:
    """A server and its token."""

    port: int
    token: str

    def request(self, method: str, path: str, body: str = "") -> bytes:
        """The bytes of a request."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.token}\r\n"
        return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


async def measure(options: Options, report: Report) -> None:
    """List, get and trigger, interleaved with the bare lookup, all on one PostgreSQL with durability on."""
    count, seconds = options.size(10_000, 50), options.size(4, 1) / (1 if not options.quick else 5)
    latencies: dict[str, list[float]] = {}
    with server() as running, ExitStack() as stack:
        url = running.create_database()
        schedules = Schedules(url)
        await schedules.make(count)
        # Nothing is due, so that only the requests are measured.
        schedules.execute("UPDATE tickbird.cursors SET next_run_at = now() + interval '1 day'")
        schedules.execute("VACUUM (ANALYZE) tickbird.cursors")
        schedules.close()
        report.facts["PostgreSQL"] = f"{version(running.url)}, fsync on, loopback TCP"
        report.facts["load"] = (
            f"{CLIENTS} clients on persistent connections; {count:,} schedules; a list is {PAGE} of them"
        )
        ours, bare = (stack.enter_context(serving(which, url)) for which in ("ours", "bare"))
        # A page in the middle, and each schedule in turn.
        middle = f"/api/v1/schedules?limit={PAGE}&after=n.s{count // 2}"
        sent = {
            "bare lookup": [bare.request("GET", f"/schedules/s{n}") for n in range(1, count + 1)],
            "get": [ours.request("GET", f"/api/v1/schedules/s{n}") for n in range(1, count + 1)],
            "list": [ours.request("GET", middle)],
            "trigger": [ours.request("POST", f"/api/v1/schedules/s{n}/trigger", "{}") for n in range(1, count + 1)],
        }
        ports = {"bare lookup": bare.port}
        variants = {
            name: partial(_rate, ports.get(name, ours.port), requests, seconds, latencies.setdefault(name, []))
            for name, requests in sent.items()
        }
        await interleave(1, variants)
        for samples in latencies.values():
            samples.clear()
        rates = await interleave(options.size(7, 1), variants)
    report.samples |= rates.values
    rows = [
        [
            name,
            rates.median(name),
            rates.spread(name),
            rates.ratio(name, "bare lookup"),
            *(1e3 * percentile(latencies[name], share) for share in (0.5, 0.99)),
        ]
        for name in sent
    ]
    columns = ("request", "per second", "spread", "ratio to the bare lookup", "p50 ms", "p99 ms")
    report.tables.append(Table("Requests per second, one server process each", columns, rows))


@contextmanager
def serving(which: str, url: str) -> Iterator[Server]:
    """A server of `bench.api_server` in a separate process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.api_server", which, url], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port, token = process.stdout.readline().split()
        yield Server(int(port), token)
    finally:
        process.terminate()
        process.wait(30)


async def _rate(port: int, requests: list[bytes], seconds: float, latencies: list[float]) -> float:
    """Responses per second with all clients sending without pause."""
    until = time.perf_counter() + seconds
    began = time.perf_counter()
    share = max(1, len(requests) // CLIENTS)
    counts = await asyncio.gather(
        *(
            _send_requests(port, requests[n * share % len(requests) :] or requests, until, latencies)
            for n in range(CLIENTS)
        )
    )
    return sum(counts) / (time.perf_counter() - began)


async def _send_requests(port: int, requests: list[bytes], until: float, latencies: list[float]) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    try:
        while (began := time.perf_counter()) < until:
            writer.write(requests[done % len(requests)])
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            if not 200 <= status < 300:
                raise RuntimeError(f"the server responded {status}: {head!r}")
            latencies.append(time.perf_counter() - began)
            done += 1
    finally:
        writer.close()
    return done
