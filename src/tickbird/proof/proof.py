"""The proof: real workers under faults in a temporary store, and a verdict on every promise."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path
from random import Random
from typing import Any, Final

from tickbird.client import Client, StoreClient
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.runs.run import ACTIVE
from tickbird.proof.checker import Checker
from tickbird.proof.cleanup import CleanupProcess
from tickbird.proof.fleet import Fleet, Member, until
from tickbird.proof.journal import read_journals
from tickbird.proof.records import read_records
from tickbird.proof.report import Lateness, Report
from tickbird.proof.schedules import SCHEDULES, create_schedules
from tickbird.proof.slots import WorkerSlots
from tickbird.store.protocol.store import Store
from tickbird.stores import find_temp_stores, open_store

# Seconds.
LEASE: Final = 2.0
_MEAN_PAUSE: Final = 1.2
_MAX_START: Final = 60.0
_MAX_REST: Final = 90.0
# If the store's clock differs by more from this machine's, the two are not compared.
_MAX_CLOCK_DIFFERENCE: Final = 0.02
DEFAULT_COPIES: Final = 2
# Kind → weight, and its shortest and longest duration.
_FAULTS: Final = {"kill": (4, 0.0, 2.0), "freeze": (3, 0.5, 5.0), "drain": (2, 0.0, 1.0), "disturb": (2, 0.0, 0.0)}
# The wall clocks of the workers in slots 1 and 2 are ahead by this. The store's clock decides, so it changes nothing.
CLOCK_OFFSETS: Final = (6 * 3_600, -6 * 3_600)
_ACTOR: Final = "proof"


class Proof:
    """`await Proof(url, seconds=60, processes=4).run()`; leaves nothing behind, however it ends."""

    def __init__(
        self,
        url: str,
        *,
        seconds: float,
        processes: int = 4,
        seed: int | None = None,
        copies: int = DEFAULT_COPIES,
        **setup: Any,
    ) -> None:
        """`copies` of each schedule; `setup` of the workers, see `worker.Setup`."""
        self.seed = Random().randrange(1_000_000) if seed is None else seed
        self.seconds = seconds
        self.processes = processes
        self._copies = copies
        self._origin = url
        self._stores = find_temp_stores(url)
        self.url = self._stores.address()
        self.name = self._stores.name(self.url)
        self._setup: dict[str, Any] = {"lease": LEASE, "slots": 8, "drain": 3.0, **setup}
        # On SQLite, the machine's clock is the store's.
        self._clock_offsets = () if url.startswith("sqlite") else CLOCK_OFFSETS[: processes - 1]
        self._random = Random(f"proof {self.seed}")
        self._tasks: set[asyncio.Task[None]] = set()
        self.faults: Counter[str] = Counter()
        # Called with the seconds that are over, and an event or an empty text.
        self.on_progress: Callable[[float, str], None] = lambda _seconds, _event: None

    @property
    def schedules(self) -> dict[str, dict[str, Any]]:
        numbers = range(1, self._copies + 1)
        return {f"{name}-{number}": schedule for number in numbers for name, schedule in SCHEDULES.items()}

    async def run(self) -> Report:
        folder = Path(tempfile.mkdtemp(prefix="tickbird-proof-"))
        cleanup = CleanupProcess(self._origin, self.url, folder)
        try:
            with _planning_on():
                await self._stores.make(self.url)
                report = await self._prove(folder, cleanup)
        finally:
            # Shielded, because a second Ctrl-C must not stop the cleanup.
            leftovers = await asyncio.shield(asyncio.to_thread(cleanup.finish))
        report.leftovers = leftovers
        return report

    async def _prove(self, folder: Path, cleanup: CleanupProcess) -> Report:
        store = open_store(self.url)
        fleet = Fleet(self.url, folder, cleanup)
        await store.open()
        try:
            client = StoreClient(store)
            since = (await store.now()).timestamp()
            await create_schedules(client, self.schedules, _ACTOR)
            same_clock = await _has_same_clock(store)
            slots = WorkerSlots(self.processes, fleet, lambda slot: self.start_worker(fleet, slot))
            slots.fill()
            # The fork server has its socket there.
            cleanup.add_folder(get_temp_dir())
            await self._wait_for_start(fleet)
            await self._inflict_faults(fleet, slots)
            calm = await self._calm_down(slots, store)
            await self._settle(client, store)
            # The workers can change nothing after the records are read.
            await asyncio.to_thread(fleet.end_all)
            records = await read_records(store)
            checker = Checker(records, read_journals(folder), since, calm[1], same_clock=same_clock, calm=calm)
            return Report(
                seed=self.seed,
                store=self.url.partition(":")[0],
                scratch=self.name,
                seconds=self.seconds,
                processes=self.processes,
                schedules=len(self.schedules),
                verdict=checker.check(),
                lateness=Lateness.of(list(records.runs.values())),
                faults=self.faults,
                wrong_clocks=tuple(offset / 3_600 for offset in self._clock_offsets),
            )
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.to_thread(fleet.close)
            await store.close()

    def start_worker(self, fleet: Fleet, slot: int) -> Member:
        """Start a worker process for a slot."""
        offset = self._clock_offsets[slot - 1] if 0 < slot <= len(self._clock_offsets) else 0
        return fleet.start(clock_offset=offset, **self._setup)

    async def _wait_for_start(self, fleet: Fleet) -> None:
        self.on_progress(0.0, "starting workers")
        try:
            await until(lambda: len(fleet.entries("started")) >= self.processes, _MAX_START)
        except TimeoutError:
            last_line = fleet.logs().strip().rpartition("\n")[2]
            raise StoreError(f"the workers did not start within {_MAX_START:.0f} s: {last_line[:300]}.") from None

    async def _inflict_faults(self, fleet: Fleet, slots: WorkerSlots) -> None:
        began = time.monotonic()
        next_fault = self._random.expovariate(1 / _MEAN_PAUSE)
        while (elapsed := time.monotonic() - began) < self.seconds:
            event = ""
            if elapsed >= next_fault:
                next_fault += self._random.expovariate(1 / _MEAN_PAUSE)
                event = self._begin_fault(fleet, slots)
            slots.fill()
            self.on_progress(elapsed, event)
            await asyncio.sleep(0.1)
        self.on_progress(self.seconds, "calm")
        await asyncio.gather(*self._tasks)

    def _begin_fault(self, fleet: Fleet, slots: WorkerSlots) -> str:
        """The kind of the fault, which goes on in a task."""
        [kind] = self._random.choices(list(_FAULTS), [weight for weight, _, _ in _FAULTS.values()])
        slot, seconds = self._random.randrange(self.processes), self._random.uniform(*_FAULTS[kind][1:])
        fleet.journal.write("fault", kind=kind, slot=slot, seconds=seconds)
        task = asyncio.create_task(self._inflict(slots, kind, slot, seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return kind

    async def _inflict(self, slots: WorkerSlots, kind: str, slot: int, seconds: float) -> None:
        if kind == "disturb":
            with suppress(StoreError):
                self.faults[await self._stores.disturb(self.url)] += 1
        elif slots.member(slot) is not None:
            self.faults["kill -9" if kind == "kill" else kind] += 1
            inflict = {"kill": slots.kill, "freeze": slots.freeze, "drain": slots.drain}[kind]
            await inflict(slot, seconds)

    async def _calm_down(self, slots: WorkerSlots, store: Store) -> tuple[float, float]:
        """End all faults; an interval of the store's clock without any."""
        slots.thaw()
        slots.fill()
        lease = float(self._setup["lease"])
        # Until the leases of lost workers have expired, and late ticks are caught up.
        await asyncio.sleep(3 * lease)
        begins = (await store.now()).timestamp()
        await asyncio.sleep(2 * lease)
        return begins, (await store.now()).timestamp()

    async def _settle(self, client: Client, store: Store) -> None:
        """Pause all schedules, and wait until all runs are final."""
        self.on_progress(self.seconds, "coming to rest")
        for name in self.schedules:
            with suppress(TickbirdError):
                await client.schedules.pause(name, actor=_ACTOR)

        async def is_settled() -> bool:
            with suppress(StoreError):
                return not any([await store.runs.list("default", status=status, limit=1) for status in ACTIVE])
            return False

        # The checker reports runs that are not final then.
        with suppress(TimeoutError):
            await until(is_settled, _MAX_REST)
        self.on_progress(self.seconds, "comparing")


async def _has_same_clock(store: Store) -> bool:
    differences = []
    for _ in range(3):
        before = time.time()
        stored = (await store.now()).timestamp()
        differences.append(max(abs(stored - before), abs(time.time() - stored)))
    return min(differences) < _MAX_CLOCK_DIFFERENCE


@contextmanager
def _planning_on() -> Iterator[None]:
    """`TICKBIRD_PLANNING=off` is about the user's store, not about a temporary one."""
    before = os.environ.pop("TICKBIRD_PLANNING", None)
    try:
        yield
    finally:
        if before is not None:
            os.environ["TICKBIRD_PLANNING"] = before
