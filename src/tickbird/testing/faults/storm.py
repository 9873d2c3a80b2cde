"""A fleet at work while seeded faults come down on it, until it is left alone and judged."""

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

from tickbird import cron, every
from tickbird.client import Client
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.runs.run import FINAL
from tickbird.stores import open_store
from tickbird.testing.faults.absent import Absent
from tickbird.testing.faults.checker import Verdict, judge
from tickbird.testing.faults.clock import SetClock
from tickbird.testing.faults.fleet import Fleet, Member, until
from tickbird.testing.faults.people import ACTOR, Person, create_all
from tickbird.testing.faults.plan import Fault, make_plan
from tickbird.testing.faults.proxy import Proxy
from tickbird.testing.faults.refusals import FINISHES, INSERTS, Refusals
from tickbird.testing.zones import write_zone, zones_of

PLACES: Final = 4
LEASE: Final = 2.0
SETUP: Final[dict[str, Any]] = {"lease": LEASE, "slots": 8, "drain": 5.0}
# Shorter time-outs than the defaults, so that many faults fit into a minute.
QUICK: Final = "connect_timeout=2&tcp_user_timeout=3000&options=-c%20idle_in_transaction_session_timeout%3D2000"
SCHEDULES: Final[dict[str, dict[str, Any]]] = {
    "all": {"trigger": every(seconds=1), "task": "brief", "overlap": "allow", "catch_up": "all", "grace": 2},
    "one": {"trigger": every(seconds=1), "task": "brief", "overlap": "allow", "grace": 1},
    "latest": {"trigger": every(seconds=1), "task": "brief", "overlap": "allow", "catch_up": "latest", "grace": 1},
    "missed": {"trigger": every(seconds=1), "task": "brief", "overlap": "allow", "catch_up": "skip", "grace": 1},
    "skip": {"trigger": every(seconds=1), "task": "steady", "payload": {"seconds": 1.5}},
    "queue": {"trigger": every(seconds=2), "task": "steady", "payload": {"seconds": 1.5}, "overlap": "queue"},
    "replace": {"trigger": every(seconds=2), "task": "steady", "payload": {"seconds": 2.5}, "overlap": "replace"},
    "two": {"trigger": every(seconds=1), "task": "steady", "payload": {"seconds": 1.5}, "max_concurrent": 2},
    "shaky": {"trigger": every(seconds=1), "task": "shaky", "overlap": "allow", "retries": 2},
    "never-twice": {"trigger": every(seconds=1), "task": "steady", "payload": {"seconds": 0.5}, "on_crash": "fail"},
    "thread": {"trigger": every(seconds=2), "task": "threaded", "payload": {"seconds": 0.5}},
    "awkward": {"trigger": every(seconds=1), "task": "awkward", "overlap": "allow"},
    "spread": {"trigger": every(seconds=5), "task": "brief", "spread": 3, "overlap": "allow"},
    "berlin": {"trigger": cron("* * * * *", "Europe/Berlin"), "task": "brief"},
}
# A zone that only some workers have: the others may neither plan its ticks nor execute their runs. Its trigger is made
# when this process has the zone.
ZONE: Final = "Tick/Bird"
ZONED: Final = {"task": "brief", "payload": {"edition": 7}, "overlap": "allow"}
EDITED: Final = ("edited-1", "edited-2", "edited-3")


@dataclass
class Report:
    """How a storm went."""

    seed: int
    store: str
    verdict: Verdict
    faults: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    edits: int = 0
    refused: int = 0


class Storm:
    """Some workers, each with its own wire to the store, people who edit, and a plan of faults."""

    def __init__(self, url: str, folder: Path, seed: int, seconds: float, *, server: Any = None) -> None:
        self.url = url
        self.seed = seed
        self.seconds = seconds
        self.on_a_file = url.startswith("sqlite")
        self.plan = make_plan(seed, seconds, places=PLACES, on_a_file=self.on_a_file)
        self.fleet = Fleet(url, folder)
        self.folder = folder
        self.server = server
        self.faults: Counter[str] = Counter()
        self.log: list[str] = []
        self._places: list[Member | None] = [None] * PLACES
        # Places that are to stay empty for a while.
        self._down: Counter[int] = Counter()
        self._clock: SetClock | None = None
        self._zones = write_zone(folder / "zones", ZONE, "TBT-3", "9999a")
        self._refusals = Refusals(url)
        self._proxies: list[Proxy] = []
        self._under_way: set[asyncio.Task[None]] = set()
        self._began = 0.0
        # Told with every fault and every second: how far it is, and what happens.
        self.on_progress: Callable[[float, str], None] = lambda _done, _text: None

    async def run(self) -> Report:
        """Play the plan, let everything come to rest, and judge it."""
        async with AsyncExitStack() as stack:
            stack.callback(self.fleet.close)
            stack.enter_context(zones_of(self._zones))
            if not self.on_a_file:
                self._proxies = [stack.enter_context(Proxy(self.url)) for _ in range(PLACES)]
            store = open_store(self.url)
            await store.migrate()
            await self._refusals.install()
            await store.open()
            stack.push_async_callback(store.close)
            client = Client(store)
            since = (await store.now()).timestamp()
            await create_all(client, {**SCHEDULES, "zoned": {**ZONED, "trigger": every(seconds=1, tz=ZONE)}})
            people = [Person(client, self.fleet.ledger, EDITED, f"people {self.seed} {n}") for n in range(2)]
            for name in EDITED:
                await people[0].create(name)
            with suppress(Absent):
                self._clock = None if self.on_a_file else stack.enter_context(SetClock(6 * 3_600))
            for place in range(PLACES):
                self._staff(place)
            await self.fleet.started(PLACES)
            self._began = time.monotonic()
            async with _working([self._supervise(), *(person.work(0.5) for person in people)]):
                await self._play()
            calm = await self._calm_down()
            await self._come_to_rest(client)
            verdict = await judge(self.url, self.folder, since, calm[1], calm=calm)
            done, refused = sum(person.done for person in people), sum(person.refused for person in people)
            return Report(
                self.seed, self.url.partition(":")[0], verdict, self.faults, self.log, edits=done, refused=refused
            )

    def _staff(self, place: int) -> None:
        """A worker at this place, if it has none."""
        member = self._places[place]
        if member is None or not member.alive:
            url = self.url
            if self._proxies:
                url = self._proxies[place].url
                url += ("&" if "?" in url else "?") + QUICK
            environment = {"PYTHONTZPATH": str(self._zones)} if place >= PLACES // 2 else {}
            if self._clock is not None and place == PLACES - 1:
                # One whose clock is hours ahead, which must change nothing.
                environment |= self._clock.environment
            if environment:
                member = self.fleet.start_apart(url=url, environment=environment, **SETUP)
            else:
                member = self.fleet.start(url=url, **SETUP)
            self._places[place] = member

    async def _supervise(self) -> None:
        """Start again what has ended by itself, as a worker does whose store is out of reach when it starts."""
        while True:
            await asyncio.sleep(1.0)
            for place, member in enumerate(self._places):
                if member is not None and not member.alive and not self._down[place]:
                    self._staff(place)

    async def _play(self) -> None:
        for fault in self.plan:
            await self._pass_until(fault.at)
            self.log.append(str(fault))
            self.faults[fault.kind] += 1
            self.fleet.ledger.note("fault", kind=fault.kind, place=fault.place, seconds=fault.seconds)
            self.on_progress(fault.at, fault.kind)
            task = asyncio.create_task(self._inflict(fault))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        await self._pass_until(self.seconds)
        await asyncio.gather(*self._under_way)

    async def _pass_until(self, at: float) -> None:
        while (left := self._began + at - time.monotonic()) > 0:
            await asyncio.sleep(min(1.0, left))
            self.on_progress(time.monotonic() - self._began, "")

    async def _inflict(self, fault: Fault) -> None:
        acts: dict[str, Callable[[Fault], Coroutine[Any, Any, None]]] = {
            "kill": self._kill,
            "freeze": self._freeze,
            "drain": self._drain,
            "cut": self._cut,
            "swallow": self._swallow,
            "slow": self._slow,
            "unanswered commit": self._trick,
            "unheard commit": self._trick,
            "kill in commit": self._kill_in_commit,
            "frozen backend": self._freeze_backend,
            "ended backends": self._end_backends,
            "server restart": self._restart_server,
            "locked file": self._lock_file,
            INSERTS: self._refuse,
            FINISHES: self._refuse,
        }
        await acts[fault.kind](fault)

    async def _kill(self, fault: Fault) -> None:
        self._down[fault.place] += 1
        if (member := self._places[fault.place]) is not None:
            await asyncio.to_thread(member.kill)
        await asyncio.sleep(fault.seconds)
        self._down[fault.place] -= 1

    async def _freeze(self, fault: Fault) -> None:
        member = self._places[fault.place]
        if member is not None and member.alive and not member.frozen:
            member.freeze()
            await asyncio.sleep(fault.seconds)
            member.thaw()

    async def _drain(self, fault: Fault) -> None:
        member = self._places[fault.place]
        self._down[fault.place] += 1
        if member is not None and member.alive and not member.frozen:
            member.drain()
            with suppress(TimeoutError):
                await until(lambda: not member.alive, 20.0)
            await asyncio.to_thread(member.kill)
        await asyncio.sleep(fault.seconds)
        self._down[fault.place] -= 1

    async def _cut(self, fault: Fault) -> None:
        self._proxies[fault.place].cut()

    async def _swallow(self, fault: Fault) -> None:
        self._proxies[fault.place].swallow()
        await asyncio.sleep(fault.seconds)
        self._proxies[fault.place].heal()

    async def _slow(self, fault: Fault) -> None:
        self._proxies[fault.place].delay = 0.25
        await asyncio.sleep(fault.seconds)
        self._proxies[fault.place].delay = 0.0

    async def _trick(self, fault: Fault) -> None:
        self._proxies[fault.place].trick("COMMIT", "unanswered" if fault.kind.startswith("unanswered") else "unheard")

    async def _kill_in_commit(self, fault: Fault) -> None:
        proxy = self._proxies[fault.place]
        proxy.trick("COMMIT", "hold")
        with suppress(TimeoutError):
            await until(lambda: proxy.held, 2.0)
        await self._kill(fault)
        proxy.heal()

    async def _freeze_backend(self, fault: Fault) -> None:
        for pid in (await self._backends())[fault.place : fault.place + 1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                await asyncio.sleep(fault.seconds)
                os.kill(pid, signal.SIGCONT)

    async def _backends(self) -> list[int]:
        """The server's processes that serve workers; none while it cannot be asked."""
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
        """Somebody else writes to the file, and takes long over it."""
        connection = sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=10.0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")
        finally:
            connection.close()

    async def _calm_down(self) -> tuple[float, float]:
        """No more faults; from when to when nothing was in the way."""
        self.on_progress(self.seconds, "calm")
        for proxy in self._proxies:
            proxy.heal()
        for place, member in enumerate(self._places):
            if member is not None:
                member.thaw()
            self._staff(place)
        # What was waiting for an answer gives up, and leases of the lost run out.
        await asyncio.sleep(3 * LEASE)
        begins = time.time()
        await asyncio.sleep(2 * LEASE)
        return begins, time.time()

    async def _come_to_rest(self, client: Client) -> None:
        self.on_progress(self.seconds, "coming to rest")
        for row in await client.list(limit=1_000):
            if row.schedule.state == "active":
                with suppress(TickbirdError):
                    await client.pause(row.schedule.name, actor=ACTOR)

        async def at_rest() -> bool:
            with suppress(StoreError):
                runs = await client.runs(limit=1_000)
                return all(run.status in FINAL for run in runs)
            return False

        with suppress(TimeoutError):
            await until(at_rest, 60.0)


@asynccontextmanager
async def _working(work: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended
