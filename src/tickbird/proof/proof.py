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
from tickbird.domain.leadership import LEADER
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
# If the difference between the store's clock and this machine's is larger, the two are not compared.
_MAX_CLOCK_DIFFERENCE: Final = 0.02
DEFAULT_COPIES: Final = 2
# Kind → weight, and its minimum and maximum duration.
_FAULTS: Final = {"kill": (4, 0.0, 2.0), "freeze": (3, 0.5, 5.0), "drain": (2, 0.0, 1.0), "disturb": (2, 0.0, 0.0)}
# Seconds by which the wall clocks of the workers in slots 1 and 2 are wrong; no effect, as the store's clock decides.
CLOCK_OFFSETS: Final = (6 * 3_600, -6 * 3_600)
_ACTOR: Final = "proof"


class Proof:
    """`await Proof(url, seconds=60, processes=4).run()`; removes everything, however it ends."""

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
        """Create a proof with `copies` of each schedule; `setup` has fields of `worker.Setup`."""
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
        # Called with the elapsed seconds, and an event or an empty text.
        self.on_progress: Callable[[float, str], None] = lambda _seconds, _event: None

    @property
    def schedules(self) -> dict[str, dict[str, Any]]:
        numbers = range(1, self._copies + 1)
        return {f"{name}-{number}": schedule for number in numbers for name, schedule in SCHEDULES.items()}

    async def run(self) -> Report:
        folder = Path(tempfile.mkdtemp(prefix="tickbird-proof-"))
        cleanup = CleanupProcess(self._origin, self.url, folder)
        try:
            with _own_settings():
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
            await self._finish_runs(client, store)
            # Now the workers cannot change records that are being read.
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
                terms=len(records.terms) if self._setup.get("coordination") == LEADER else None,
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
            raise StoreError(
                f"the workers did not start within {_MAX_START:.0f} s: {last_line[:300]}.",
                hint="Try again on a less busy machine.",
            ) from None

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
        """Start a fault in a task; returns its kind."""
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
        """End all faults; returns an interval of the store's clock without faults."""
        slots.thaw()
        slots.fill()
        lease = float(self._setup["lease"])
        # Wait until the leases of lost workers have expired, and late ticks are caught up.
        await asyncio.sleep(3 * lease)
        begins = (await store.now()).timestamp()
        await asyncio.sleep(2 * lease)
        return begins, (await store.now()).timestamp()

    async def _finish_runs(self, client: Client, store: Store) -> None:
        """Pause all schedules, and wait until all runs are final."""
        self.on_progress(self.seconds, "waiting for the last runs")
        for name in self.schedules:
            with suppress(TickbirdError):
                await client.schedules.pause(name, actor=_ACTOR)

        async def all_final() -> bool:
            with suppress(StoreError):
                return not any([await store.runs.list("default", status=status, limit=1) for status in ACTIVE])
            return False

        # The checker reports runs that are not final by then.
        with suppress(TimeoutError):
            await until(all_final, _MAX_REST)
        self.on_progress(self.seconds, "comparing")


async def _has_same_clock(store: Store) -> bool:
    differences = []
    for _ in range(3):
        before = time.time()
        stored = (await store.now()).timestamp()
        differences.append(max(abs(stored - before), abs(time.time() - stored)))
    return min(differences) < _MAX_CLOCK_DIFFERENCE


@contextmanager
def _own_settings() -> Iterator[None]:
    """Unset the variables of workers: they apply to the user's store, not to a temporary one."""
    before = {name: os.environ.pop(name, None) for name in ("TICKBIRD_PLANNING", "TICKBIRD_ROLE", "TICKBIRD_QUEUES")}
    try:
        yield
    finally:
        os.environ.update({name: value for name, value in before.items() if value is not None})
