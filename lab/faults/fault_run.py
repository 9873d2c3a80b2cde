"""A fault run: a fleet and clients under seeded faults, then an interval without faults, and a verdict."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lab.faults.checker import FaultChecker
from lab.faults.clients import ACTOR, RandomClient
from lab.faults.clock import SetClock
from lab.faults.definitions import read_spec
from lab.faults.fault_plan import Fault, make_plan
from lab.faults.fleet import Fleet
from lab.faults.missing_requirement import MissingRequirement
from lab.faults.proxy import Proxy
from lab.faults.refusals import FINISHES, INSERTS, Refusals
from lab.zones import write_zone, zones_of
from tickbird import every
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.leadership import SHARED, Coordination
from tickbird.domain.runs.run import FINAL
from tickbird.proof.checker import Verdict
from tickbird.proof.fleet import Member, until
from tickbird.proof.journal import read_journals
from tickbird.proof.records import read_records
from tickbird.proof.report import Lateness
from tickbird.proof.schedules import SCHEDULES, create_schedules
from tickbird.proof.slots import WorkerSlots
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

SLOTS: Final = 4
LEASE: Final = 2.0
SETUP: Final[dict[str, Any]] = {"lease": LEASE, "slots": 8, "drain": 5.0}
# Shorter timeouts than the defaults, so that many faults fit into a minute.
QUICK: Final = "connect_timeout=2&tcp_user_timeout=3000&options=-c%20idle_in_transaction_session_timeout%3D2000"
# A zone that only some workers have: the others may neither plan its ticks nor execute their runs. Its trigger is
# created after this process has the zone.
ZONE: Final = "Tick/Bird"
ZONED: Final = {"task": "succeed", "payload": {"edition": 7}, "overlap": "allow"}
EDITED: Final = ("edited-1", "edited-2", "edited-3")


@dataclass
class Report:
    """The verdict, and the faults and edits of the run."""

    seed: int
    store: str
    verdict: Verdict
    lateness: Lateness
    faults: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    edits: int = 0
    refused: int = 0


class FaultRun:
    """Workers with their own connection to the store, clients that edit, and a plan of faults."""

    def __init__(
        self,
        url: str,
        folder: Path,
        seed: int,
        seconds: float,
        *,
        server: Any = None,
        coordination: Coordination = SHARED,
    ) -> None:
        """`server` is the PostgreSQL server to restart, if any."""
        self._setup = {**SETUP, "coordination": coordination}
        self.url = url
        self.seed = seed
        self.seconds = seconds
        self.on_file = url.startswith("sqlite")
        self.plan = make_plan(seed, seconds, slots=SLOTS, on_file=self.on_file)
        self.fleet = Fleet(url, folder)
        self.folder = folder
        self.server = server
        self.faults: Counter[str] = Counter()
        self.log: list[str] = []
        self._slots = WorkerSlots(SLOTS, self.fleet, self._start_worker)
        self._clock: SetClock | None = None
        self._zones = write_zone(folder / "zones", ZONE, "TBT-3", "9999a")
        self._refusals = Refusals(url)
        self._proxies: list[Proxy] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._began = 0.0
        # Called with every fault and every second: the elapsed seconds, and an event or an empty text.
        self.on_progress: Callable[[float, str], None] = lambda _seconds, _event: None

    async def run(self) -> Report:
        """Follow the plan, wait for the last runs, and judge."""
        async with AsyncExitStack() as stack:
            stack.callback(self.fleet.close)
            stack.enter_context(zones_of(self._zones))
            if not self.on_file:
                self._proxies = [stack.enter_context(Proxy(self.url)) for _ in range(SLOTS)]
            store = open_store(self.url)
            await store.migrate()
            await self._refusals.install()
            await store.open()
            stack.push_async_callback(store.close)
            client = StoreClient(store)
            since = (await store.now()).timestamp()
            schedules = {**SCHEDULES, "zoned": {**ZONED, "trigger": every(seconds=1, tz=ZONE)}}
            await create_schedules(client, schedules, ACTOR)
            editors = [RandomClient(client, self.fleet.journal, EDITED, f"people {self.seed} {n}") for n in range(2)]
            for name in EDITED:
                await editors[0].create(name)
            with suppress(MissingRequirement):
                self._clock = None if self.on_file else stack.enter_context(SetClock(6 * 3_600))
            self._slots.fill()
            await self.fleet.wait_for_workers(SLOTS)
            self._began = time.monotonic()
            async with _background([self._supervise(), *(editor.work(0.5) for editor in editors)]):
                await self._follow_plan()
            calm = await self._calm_down()
            await self._finish_runs(client)
            verdict, lateness = await self._judge(store, since, calm)
            return Report(
                self.seed,
                self.url.partition(":")[0],
                verdict,
                lateness,
                self.faults,
                self.log,
                edits=sum(editor.done for editor in editors),
                refused=sum(editor.refused for editor in editors),
            )

    async def _judge(self, store: Store, since: float, calm: tuple[float, float]) -> tuple[Verdict, Lateness]:
        records = await read_records(store, read_spec)
        checker = FaultChecker(records, read_journals(self.folder), since, calm[1], calm=calm)
        return checker.check(), Lateness.of(list(records.runs.values()))

    def _start_worker(self, slot: int) -> Member:
        url = self.url
        if self._proxies:
            url = self._proxies[slot].url
            url += ("&" if "?" in url else "?") + QUICK
        environment = {"PYTHONTZPATH": str(self._zones)} if slot >= SLOTS // 2 else {}
        if self._clock is not None and slot == SLOTS - 1:
            # Its clock is hours ahead, which must have no effect.
            environment |= self._clock.environment
        if environment:
            return self.fleet.spawn(url=url, environment=environment, **self._setup)
        return self.fleet.start(url=url, **self._setup)

    async def _supervise(self) -> None:
        """Replace workers that have ended, for example because they could not reach the store at startup."""
        while True:
            await asyncio.sleep(1.0)
            self._slots.fill()

    async def _follow_plan(self) -> None:
        for fault in self.plan:
            await self._sleep_until(fault.at)
            self.log.append(str(fault))
            self.faults[fault.kind] += 1
            self.fleet.journal.write("fault", kind=fault.kind, slot=fault.slot, seconds=fault.seconds)
            self.on_progress(fault.at, fault.kind)
            task = asyncio.create_task(self._inflict(fault))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await self._sleep_until(self.seconds)
        await asyncio.gather(*self._tasks)

    async def _sleep_until(self, at: float) -> None:
        while (remaining := self._began + at - time.monotonic()) > 0:
            await asyncio.sleep(min(1.0, remaining))
            self.on_progress(time.monotonic() - self._began, "")

    async def _inflict(self, fault: Fault) -> None:
        actions: dict[str, Callable[[Fault], Coroutine[Any, Any, None]]] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "drain": self._drain,
            "cut": self._cut,
            "swallow": self._swallow,
            "slow": self._slow,
            "unanswered commit": self._lose_response,
            "unheard commit": self._lose_request,
            "kill in commit": self._kill_in_commit,
            "frozen backend": self._freeze_backend,
            "ended backends": self._end_backends,
            "server restart": self._restart_server,
            "locked file": self._lock_file,
            INSERTS: self._refuse,
            FINISHES: self._refuse,
        }
        await actions[fault.kind](fault)

    async def _kill(self, fault: Fault) -> None:
        await self._slots.kill(fault.slot, fault.seconds)

    async def _freeze(self, fault: Fault) -> None:
        await self._slots.freeze(fault.slot, fault.seconds)

    async def _drain(self, fault: Fault) -> None:
        await self._slots.drain(fault.slot, fault.seconds)

    async def _cut(self, fault: Fault) -> None:
        self._proxies[fault.slot].cut()

    async def _swallow(self, fault: Fault) -> None:
        self._proxies[fault.slot].swallow()
        await asyncio.sleep(fault.seconds)
        self._proxies[fault.slot].heal()

    async def _slow(self, fault: Fault) -> None:
        self._proxies[fault.slot].delay = 0.25
        await asyncio.sleep(fault.seconds)
        self._proxies[fault.slot].delay = 0.0

    async def _lose_response(self, fault: Fault) -> None:
        self._proxies[fault.slot].trick("COMMIT", "unanswered")

    async def _lose_request(self, fault: Fault) -> None:
        self._proxies[fault.slot].trick("COMMIT", "unheard")

    async def _kill_in_commit(self, fault: Fault) -> None:
        proxy = self._proxies[fault.slot]
        proxy.trick("COMMIT", "hold")
        with suppress(TimeoutError):
            await until(lambda: proxy.held, 2.0)
        await self._kill(fault)
        proxy.heal()

    async def _freeze_backend(self, fault: Fault) -> None:
        for pid in (await self._backends())[fault.slot : fault.slot + 1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                await asyncio.sleep(fault.seconds)
                os.kill(pid, signal.SIGCONT)

    async def _backends(self) -> list[int]:
        """The server's processes for workers; none while it cannot be queried."""
        import psycopg

        with suppress(psycopg.Error):
            async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
                rows = await connection.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tickbird' AND client_port IS NOT NULL"
                    " ORDER BY state_change DESC"
                )
                return [pid for (pid,) in await rows.fetchall()]
        return []

    async def _end_backends(self, fault: Fault) -> None:
        for pid in await self._backends():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    async def _restart_server(self, fault: Fault) -> None:
        if self.server is not None:
            await asyncio.to_thread(self.server.restart, immediate=True)

    async def _refuse(self, fault: Fault) -> None:
        await self._refusals.refuse(fault.kind, fault.seconds)

    async def _lock_file(self, fault: Fault) -> None:
        await asyncio.to_thread(self._hold_lock, fault.seconds)

    def _hold_lock(self, seconds: float) -> None:
        """Keep a write transaction open, like another program."""
        connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=10.0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")
        finally:
            connection.close()

    async def _calm_down(self) -> tuple[float, float]:
        """End all faults; returns an interval without faults."""
        self.on_progress(self.seconds, "calm")
        for proxy in self._proxies:
            proxy.heal()
        self._slots.thaw()
        self._slots.fill()
        # Wait until statements without a response time out, and the leases of lost workers have expired.
        await asyncio.sleep(3 * LEASE)
        begins = time.time()
        await asyncio.sleep(2 * LEASE)
        return begins, time.time()

    async def _finish_runs(self, client: Client) -> None:
        """Pause all schedules, and wait until all runs are final."""
        self.on_progress(self.seconds, "waiting for the last runs")
        for row in await client.schedules.list(limit=1_000):
            if row.schedule.state == "active":
                with suppress(TickbirdError):
                    await client.schedules.pause(row.schedule.name, actor=ACTOR)

        async def all_final() -> bool:
            with suppress(StoreError):
                runs = await client.runs.list(limit=1_000)
                return all(run.status in FINAL for run in runs)
            return False

        with suppress(TimeoutError):
            await until(all_final, 60.0)


@asynccontextmanager
async def _background(work: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run coroutines in the background; raises their errors at the end."""
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
