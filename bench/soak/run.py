"""The soak: workers, manual triggers, faults, pruning and sampling."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.soak.leak import signal_leak
from bench.soak.samples import PostgresProbe, Samples, SqliteProbe, StoreProbe, of_process
from bench.soak.series import MIN_COUNT, WARM_UP, Judged, judge
from lab.faults import Fleet, Member, until
from lab.servers import PostgresServer
from tickbird.client import StoreClient
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.stores import open_store

# Workers without faults, whose resources are followed; the third is killed, frozen and drained.
STEADY: Final = 2
# Runs that ended this long ago are pruned, except the newest few of each schedule.
KEPT_SECONDS, KEPT_RUNS = 20.0, 5
LEASE: Final = 4.0


@dataclass
class Soaked:
    """The results of a soak."""

    seconds: float
    samples: Samples
    faults: list[tuple[float, str]]
    judged: list[Judged]
    # Ticks without a decision, runs that are not final, and workers that ended by themselves; normally empty.
    broken: list[str]
    executed: int
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def growing(self) -> list[Judged]:
        """The growing series."""
        return [series for series in self.judged if series.word == "growing"]

    @property
    def conclusive(self) -> bool:
        """True if it was long enough for a verdict."""
        return all(series.word != "too short" for series in self.judged)


class Soak:
    """One soak on one store."""

    def __init__(
        self,
        url: str,
        folder: Path,
        seconds: float,
        *,
        server: PostgresServer | None = None,
        every: float = 5.0,
        seed: int = 1,
        leak: int = 0,
    ) -> None:
        self.url = url
        self.seconds = seconds
        self.server = server
        self.every = every
        self.fleet = Fleet(url, folder)
        self.samples = Samples()
        self.faults: list[tuple[float, str]] = []
        self.on_progress: Callable[[float, str], None] = lambda at, text: None
        self._chance = random.Random(seed)
        self._leak = leak
        self._environment = {"TICKBIRD_URL": url, "SOAK_LEAK": str(leak), "PYTHONUNBUFFERED": "1"}
        self._probe: StoreProbe
        self._probe = PostgresProbe(url) if server else SqliteProbe(Path(url.removeprefix("sqlite:///")))
        self._began = 0.0
        self._triggered = 0

    async def run(self) -> Soaked:
        """Work, inject faults and sample; then wait for the last runs, and judge."""
        store = open_store(self.url)
        await store.migrate()
        await store.open()
        client = StoreClient(store)
        try:
            with self.fleet:
                steady = [self._start() for _ in range(STEADY)]
                await until(lambda: self._workers(client, STEADY))
                self._began = time.monotonic()
                over = asyncio.Event()
                harming = asyncio.create_task(self._harm(over))
                work = [self._trigger(client), self._prune(client)]
                # Only the followed workers leak, and not through their runs, which depend on load and faults.
                work += [self._lose(steady)] if self._leak else []
                async with _working(work):
                    await self._watch(steady)
                seconds = time.monotonic() - self._began
                # Wait for faults in progress: a server that is being restarted is up again.
                over.set()
                await harming
                broken = [
                    f"worker {number} ended by itself, with exit code {member.exitcode}"
                    for number, member in enumerate(steady, 1)
                    if not member.alive
                ]
                broken += await self._finish_runs(client)
                executed = max((run.id for run in await client.runs.list(limit=1)), default=0)
                for member in self.fleet.alive:
                    member.drain()
                for member in self.fleet.alive:
                    await member.wait()
        finally:
            await store.close()
        judged = [judge(series, seconds) for series in self.samples.series]
        counts = Counter(what for _, what in self.faults)
        return Soaked(seconds, self.samples, self.faults, judged, broken, executed, counts)

    @property
    def _now(self) -> float:
        return time.monotonic() - self._began

    def _start(self) -> Member:
        return self.fleet.run([sys.executable, "-m", "bench.soak.worker"], self._environment)

    async def _workers(self, client: StoreClient, count: int) -> bool:
        return len(await client.workers.list()) >= count

    async def _watch(self, steady: list[Member]) -> None:
        sample_times: list[float] = []
        # A slow machine continues until there are enough samples.
        while (at := self._now) < self.seconds or sum(
            sampled_at >= WARM_UP * at for sampled_at in sample_times
        ) < MIN_COUNT:
            sample_times.append(at)
            for number, member in enumerate(steady, 1):
                if member.alive:
                    self.samples.add(at, of_process(member.pid, f"worker {number}"))
            self.samples.add(at, await asyncio.to_thread(self._probe.sample))
            self.on_progress(at, "")
            remaining, pause = self.seconds - self._now, self.every - (self._now - at)
            await asyncio.sleep(max(0.0, min(pause, remaining) if remaining > 0 else pause))

    async def _lose(self, steady: list[Member]) -> None:
        await asyncio.sleep(WARM_UP * self.seconds)
        signal_leak(steady)
        try:
            await asyncio.Event().wait()
        finally:
            signal_leak(steady)

    async def _trigger(self, client: StoreClient) -> None:
        """Operators: a manual run from time to time, some with a payload and a key, and some that are cancelled."""
        while True:
            await asyncio.sleep(0.5)
            with suppress(TickbirdError):
                self._triggered += 1
                name = self._chance.choice(["chatty", "threaded", "brief-1"])
                payload = {"lines": 5} if name == "chatty" else None
                # Keys outlive the retention by a day, so only a few are used, repeatedly.
                key = f"{name}-{self._triggered % 20}" if self._chance.random() < 0.2 else None
                run = await client.schedules.trigger(name, actor="soak", payload=payload, idempotency_key=key)
                if self._chance.random() < 0.1:
                    await client.runs.cancel(run.id, actor="soak", reason="one of ten")

    async def _prune(self, client: StoreClient) -> None:
        store = client._store
        while True:
            await asyncio.sleep(1.0)
            with suppress(StoreError):
                while await store.runs.prune(older_than=KEPT_SECONDS, keep=KEPT_RUNS, limit=1_000) >= 1_000:
                    pass

    async def _harm(self, over: asyncio.Event) -> None:
        """Inject one fault after the other, into the third worker and into the store."""
        member = self._start()
        acts: list[Callable[[Member], Coroutine[Any, Any, Member]]] = [self._kill, self._freeze, self._drain]
        if self.server is not None:
            acts += [self._restart_server, self._end_backends]
        else:
            acts.append(self._lock_file)
        pause = max(2.0, min(15.0, self.seconds / 20))
        while not over.is_set():
            try:
                await asyncio.wait_for(over.wait(), pause * self._chance.uniform(0.5, 1.5))
            except TimeoutError:
                member = await self._chance.choice(acts)(member)

    def _note(self, what: str) -> None:
        self.faults.append((self._now, what))
        self.on_progress(self._now, what)

    async def _kill(self, member: Member) -> Member:
        self._note("worker killed")
        await asyncio.to_thread(member.kill)
        return self._start()

    async def _freeze(self, member: Member) -> Member:
        self._note("worker frozen")
        member.freeze()
        await asyncio.sleep(2 * LEASE)
        member.thaw()
        return member

    async def _drain(self, member: Member) -> Member:
        self._note("worker drained")
        member.drain()
        with suppress(TimeoutError):
            await until(lambda: not member.alive, 15.0)
        await asyncio.to_thread(member.kill)
        return self._start()

    async def _restart_server(self, member: Member) -> Member:
        self._note("server restarted")
        assert self.server is not None
        await asyncio.to_thread(self.server.restart, immediate=True)
        return member

    async def _end_backends(self, member: Member) -> Member:
        self._note("connections ended")
        import psycopg

        with suppress(psycopg.Error):
            async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
                ask = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tickbird'"
                await connection.execute(ask)
        return member

    async def _lock_file(self, member: Member) -> Member:
        self._note("file locked")
        await asyncio.to_thread(self._hold_lock)
        return member

    def _hold_lock(self) -> None:
        db = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=10.0, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            time.sleep(2.0)
            db.execute("ROLLBACK")
        finally:
            db.close()

    async def _finish_runs(self, client: StoreClient) -> list[str]:
        """Pause every schedule and wait for all runs; then each schedule's ticks must be accounted for."""
        self.on_progress(self.seconds, "waiting for the last runs")
        rows = await client.schedules.list(limit=1_000)
        for row in rows:
            await client.schedules.pause(row.schedule.name, actor="soak")

        async def at_rest() -> bool:
            return not any([await client.runs.list(status=status) for status in ("waiting", "queued", "running")])

        try:
            await until(at_rest, 60.0)
        except TimeoutError:
            return ["not every run was final within a minute"]
        audits = [await client.ticks.verify(row.schedule.name) for row in rows]
        return [f"{audit.schedule}: {audit.finding_count} ticks without a decision" for audit in audits if not audit.ok]


@asynccontextmanager
async def _working(work: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        # Errors of the tasks must be raised, not lost.
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
