"""Real workers under faults in a store of their own, and whether every promise was kept."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from multiprocessing.util import get_temp_dir
from pathlib import Path
from random import Random
from subprocess import Popen
from typing import Any, Final

from tickbird.client import Client
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.runs.run import ACTIVE
from tickbird.store.protocol.store import Store
from tickbird.stores import find_temp_stores, open_store
from tickbird.testing.faults.checker import Checker
from tickbird.testing.faults.evidence import read_evidence
from tickbird.testing.faults.fleet import Fleet, Member, until
from tickbird.testing.faults.ledger import read_notes
from tickbird.testing.faults.people import ACTOR, create_all
from tickbird.testing.faults.storm import SCHEDULES
from tickbird.testing.proof.keeper import Keeper
from tickbird.testing.proof.report import Lateness, Report

# Seconds.
LEASE: Final = 2.0
_PAUSE: Final = 1.2
_START: Final = 60.0
_REST: Final = 90.0
# By more than so much, this machine's clock is not the store's, and the two are not compared.
_SAME_CLOCK: Final = 0.02
COPIES: Final = 2
# Kind → how often, and the seconds that it lasts: from, to.
_FAULTS: Final = {"kill": (4, 0.0, 2.0), "freeze": (3, 0.5, 5.0), "drain": (2, 0.0, 1.0), "disturb": (2, 0.0, 0.0)}
# What two workers take for the time is so many seconds ahead of it; the store's clock decides, so nothing may change.
AHEAD: Final = (6 * 3_600, -6 * 3_600)


class _Fleet(Fleet):
    """One whose members the keeper knows of."""

    def __init__(self, url: str, folder: Path, keeper: Keeper) -> None:
        super().__init__(url, folder)
        self._keeper = keeper

    def _add(self, process: BaseProcess | Popen[bytes]) -> Member:
        member = super()._add(process)
        self._keeper.started(member.pid)
        return member

    def end(self, member: Member) -> None:
        """Kill it, if it has not ended; from then on its number may be another's."""
        member.kill()
        self._keeper.gone(member.pid)

    def end_all(self) -> None:
        """Kill whoever is left."""
        for member in self.alive:
            self.end(member)


class Proof:
    """`await Proof(url, seconds=60, processes=4).run()`; leaves nothing behind, however it ends."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float,
        processes: int = 4,
        seed: int | None = None,
        copies: int = COPIES,
        **setup: Any,
    ) -> None:
        self.seed = Random().randrange(1_000_000) if seed is None else seed
        self.seconds = seconds
        self.processes = processes
        self._copies = copies
        self._beside = url
        self._scratches = find_temp_stores(url)
        self.url = self._scratches.address()
        self.name = self._scratches.name(self.url)
        self._on_a_file = url.startswith("sqlite")
        self._setup: dict[str, Any] = {"lease": LEASE, "slots": 8, "drain": 3.0, **setup}
        self._chance = Random(f"proof {self.seed}")
        self._places: list[Member | None] = [None] * processes
        self._down: Counter[int] = Counter()
        self._under_way: set[asyncio.Task[None]] = set()
        self.faults: Counter[str] = Counter()
        # Told as it goes: how many seconds of faults are over, and what happens.
        self.on_progress: Callable[[float, str], None] = lambda _done, _text: None

    @property
    def schedules(self) -> dict[str, dict[str, Any]]:
        """Every policy, some times over."""
        return {f"{name}-{copy}": told for copy in range(1, self._copies + 1) for name, told in SCHEDULES.items()}

    async def run(self) -> Report:
        """Work under faults, come to rest, and judge."""
        folder = Path(tempfile.mkdtemp(prefix="tickbird-proof-"))
        keeper = Keeper(self._beside, self.url, folder)
        left = ""
        try:
            with _planning_on():
                await self._scratches.make(self.url)
                report = await self._prove(folder, keeper)
        finally:
            # A person who is tired of waiting may interrupt this too; it is done all the same.
            left = await asyncio.shield(asyncio.to_thread(keeper.clean))
        report.left = left
        return report

    async def _prove(self, folder: Path, keeper: Keeper) -> Report:
        store = open_store(self.url)
        fleet = _Fleet(self.url, folder, keeper)
        await store.open()
        try:
            client = Client(store)
            since = (await store.now()).timestamp()
            await create_all(client, self.schedules)
            honest = await _same_clock(store)
            for place in range(self.processes):
                self._staff(fleet, place)
            # Where the process that forks the workers has its socket.
            keeper.beside(get_temp_dir())
            await self._started(fleet)
            await self._play(fleet)
            calm = await self._calm_down(fleet, store)
            await self._come_to_rest(client, store)
            # Nothing that they still might do is to be missed.
            await asyncio.to_thread(fleet.end_all)
            evidence = await read_evidence(self.url)
            checker = Checker(evidence, read_notes(folder), since, calm[1], honest_clock=honest)
            checker.calm = calm
            return Report(
                seed=self.seed,
                store=self.url.partition(":")[0],
                scratch=self.name,
                seconds=self.seconds,
                processes=self.processes,
                schedules=len(self.schedules),
                verdict=checker.check(),
                lateness=Lateness.of(list(evidence.runs.values())),
                faults=self.faults,
                wrong_clocks=() if self._on_a_file else tuple(ahead / 3_600 for ahead in AHEAD[: self.processes - 1]),
            )
        finally:
            for task in self._under_way:
                task.cancel()
            await asyncio.to_thread(fleet.close)
            await store.close()

    def _staff(self, fleet: _Fleet, place: int) -> None:
        """A worker at this place, if it has none. On a file, the machine's clock is the store's, and all have it."""
        member = self._places[place]
        if member is None or not member.alive:
            if member is not None:
                fleet.end(member)
            ahead = 0 if self._on_a_file or not 0 < place <= len(AHEAD) else AHEAD[place - 1]
            self._places[place] = self.start(fleet, ahead=ahead, **self._setup)

    def start(self, fleet: Fleet, **setup: Any) -> Member:
        """One worker process."""
        return fleet.start(**setup)

    async def _started(self, fleet: _Fleet) -> None:
        self.on_progress(0.0, "starting workers")
        try:
            await until(lambda: len(fleet.notes("started")) >= self.processes, _START)
        except TimeoutError:
            said = fleet.logs().strip().rpartition("\n")[2]
            raise StoreError(f"the workers did not start within {_START:.0f} s: {said[:300]}.") from None

    async def _play(self, fleet: _Fleet) -> None:
        began = time.monotonic()
        next_fault = self._chance.expovariate(1 / _PAUSE)
        while (passed := time.monotonic() - began) < self.seconds:
            text = ""
            if passed >= next_fault:
                next_fault += self._chance.expovariate(1 / _PAUSE)
                text = self._draw(fleet)
            for place in range(self.processes):
                if not self._down[place]:
                    self._staff(fleet, place)
            self.on_progress(passed, text)
            await asyncio.sleep(0.1)
        self.on_progress(self.seconds, "calm")
        await asyncio.gather(*self._under_way)

    def _draw(self, fleet: _Fleet) -> str:
        """Begin one fault."""
        [kind] = self._chance.choices(list(_FAULTS), [often for often, _, _ in _FAULTS.values()])
        place, lasts = self._chance.randrange(self.processes), self._chance.uniform(*_FAULTS[kind][1:])
        fleet.ledger.note("fault", kind=kind, place=place, seconds=lasts)
        task = asyncio.create_task(self._inflict(fleet, kind, place, lasts))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return kind

    async def _inflict(self, fleet: _Fleet, kind: str, place: int, lasts: float) -> None:
        member = self._places[place]
        if kind == "disturb":
            with suppress(StoreError):
                self.faults[await self._scratches.disturb(self.url)] += 1
        elif member is None or not member.alive or member.frozen:
            return
        elif kind == "freeze":
            self.faults["freeze"] += 1
            member.freeze()
            await asyncio.sleep(lasts)
            member.thaw()
        else:
            self.faults["kill -9" if kind == "kill" else "drain"] += 1
            self._down[place] += 1
            if kind == "drain":
                member.drain()
                with suppress(TimeoutError):
                    await until(lambda: not member.alive, 15.0)
            await asyncio.to_thread(fleet.end, member)
            await asyncio.sleep(lasts)
            self._down[place] -= 1

    async def _calm_down(self, fleet: _Fleet, store: Store) -> tuple[float, float]:
        """No more faults; from when to when nothing was in the way, by the store's clock."""
        for place, member in enumerate(self._places):
            if member is not None:
                member.thaw()
            self._staff(fleet, place)
        lease = float(self._setup["lease"])
        # Leases of the lost run out, and what was late is caught up.
        await asyncio.sleep(3 * lease)
        begins = (await store.now()).timestamp()
        await asyncio.sleep(2 * lease)
        return begins, (await store.now()).timestamp()

    async def _come_to_rest(self, client: Client, store: Store) -> None:
        self.on_progress(self.seconds, "coming to rest")
        for name in self.schedules:
            with suppress(TickbirdError):
                await client.pause(name, actor=ACTOR)

        async def at_rest() -> bool:
            with suppress(StoreError):
                return not any([await store.list_runs("default", status=status, limit=1) for status in ACTIVE])
            return False

        # What has not come to rest by then, the checker names.
        with suppress(TimeoutError):
            await until(at_rest, _REST)
        self.on_progress(self.seconds, "comparing")


async def _same_clock(store: Store) -> bool:
    """Does the store's clock show what this machine's does?"""
    apart = []
    for _ in range(3):
        asked_at = time.time()
        shown = (await store.now()).timestamp()
        apart.append(max(abs(shown - asked_at), abs(time.time() - shown)))
    return min(apart) < _SAME_CLOCK


@contextmanager
def _planning_on() -> Iterator[None]:
    """Where a shell has planning switched off, that is not meant for a store of its own."""
    before = os.environ.pop("TICKBIRD_PLANNING", None)
    try:
        yield
    finally:
        if before is not None:
            os.environ["TICKBIRD_PLANNING"] = before
