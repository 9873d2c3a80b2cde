"""Move time without sleeping: the real planner, store and engine steps, called directly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from tickbird.app import Tickbird
from tickbird.client import Client
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.targets.target import TASK
from tickbird.engine.consumers import ConsumerSet, ConsumerSteps
from tickbird.engine.dispatcher import Dispatcher
from tickbird.engine.fallback import Fallback
from tickbird.engine.maintenance import Maintenance, Retention
from tickbird.engine.planner_step import PlannerStep
from tickbird.engine.worker_ticks import WorkerTickStep
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.targets.protocol import RunSink
from tickbird.testing.clock import ManualClock
from tickbird.worker import describe_worker

_MIN_STEP = timedelta(microseconds=1)


class Harness:
    """An app on an in-memory store, with a clock that only `advance` moves.

    Async tasks run in the test's loop, sync ones inline. The harness waits for a task that awaits something real (a
    socket, a sleep); simulated time does not move meanwhile.
    """

    def __init__(
        self,
        bird: Tickbird,
        start: datetime = datetime(2026, 1, 1, tzinfo=UTC),
        *,
        store: Store | None = None,
        slots: int = 100,
        lease: float = 30.0,
        sink: RunSink | None = None,
    ) -> None:
        self.bird = bird
        self.clock = ManualClock(start)
        self.store = store or open_store("sqlite://:memory:")
        self._slots = slots
        self._lease = lease
        self._sink = sink
        self.client: Client

    async def __aenter__(self) -> Self:
        await self.store.open()
        self.client = self.bird.client_on(_AtManualTime(self.store, self.clock))
        self.worker = describe_worker(self.bird, slots=self._slots)
        self._execution = Dispatcher(
            self.store,
            self.clock,
            self.worker,
            {(TASK, name): task for name, task in self.bird.tasks.items()},
            lease=self._lease,
            work_loop=asyncio.get_running_loop(),
            threads=None,
            sink=self._sink,
        )
        self._planning = PlannerStep(self.store, self.clock, lambda: None)
        fallback = Fallback(self.clock, max_age=None)
        self._ticks = WorkerTickStep(self.store, self.clock, self.worker, lambda: None, fallback=fallback)
        self._upkeep = Maintenance(
            self.store,
            self.clock,
            self.worker,
            self.bird.declarations,
            lease=self._lease,
            heartbeat=15.0,
            retention=Retention(),
            on_runs=lambda: None,
        )
        self._consuming: ConsumerSteps | None = None
        if self.bird.consumers:
            self._consuming = ConsumerSteps(
                self.store,
                self.clock,
                self.worker,
                ConsumerSet(self.bird.consumers, None),
                lease=self._lease,
                work_loop=asyncio.get_running_loop(),
            )
        self.bird.adopt_client(self.client)
        await self._upkeep.begin()
        await self.settle()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bird.adopt_client(None)
        if self._consuming is not None:
            await self._consuming.drain(self._lease)
        await self.store.close()

    @property
    def now(self) -> datetime:
        return self.clock.now()

    async def settle(self) -> None:
        """Do all work that is due at this instant."""
        await self._due()

    async def advance(self, **duration: float) -> None:
        """Move time, and stop at every instant at which work is due: advance(weeks=3)."""
        await self.advance_to(self.now + timedelta(**duration))

    async def advance_to(self, end: datetime) -> None:
        """Move time to an instant, and stop at every instant at which work is due."""
        upcoming = await self._due()
        while upcoming is not None and upcoming <= end:
            # Otherwise a step that returns the same instant again would stop time forever.
            self.clock.move_to(max(upcoming, self.now + _MIN_STEP))
            upcoming = await self._due()
        self.clock.move_to(max(end, self.now))
        await self._due()

    async def consume(self) -> int:
        """Deliver all events that are due at this instant, in order; returns how many the consumers have handled.

        An event that failed is due again after its backoff: `advance`, then consume again.
        """
        consuming = self._consuming
        if consuming is None:
            return 0
        before = consuming.delivered
        while True:
            while (await self.store.events.stamp(now=self.now)).more:
                pass
            wait = await consuming.claim()
            began = bool(consuming.held)
            while consuming.held or consuming.running:
                await consuming.finish()
                await asyncio.sleep(0)
            if not began and wait != 0.0:
                return consuming.delivered - before

    async def _due(self) -> datetime | None:
        """Call every step until none has work; returns the next instant at which one is due."""
        while True:
            self._ticks.read_again()
            waits = [await self._planning.step(), await self._upkeep.rescue(), await self._execution.claim()]
            waits.append(await self._ticks.step())
            began = self._execution.running or self._execution.held
            while self._execution.held or self._execution.running:
                await self._execution.finish()
                await asyncio.sleep(0)
            if not began and 0.0 not in waits:
                break
        delays = [wait for wait in (waits[0], *waits[2:]) if wait is not None]
        return self.now + timedelta(seconds=max(0.0, min(delays))) if delays else None

    async def runs(self, schedule: str | None = None) -> Sequence[RunRecord]:
        """All runs, oldest first."""
        records: list[RunRecord] = []
        before: int | None = None
        while page := await self.client.runs.list(schedule=schedule, before=before, limit=1_000):
            records += page
            before = page[-1].id
        return records[::-1]

    async def skips(self, schedule: str) -> Sequence[SkipRecord]:
        """All skips of a schedule, oldest first."""
        stored = await self.client.schedules.get(schedule)
        first, last = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
        return (await self.store.ledger.tick_decisions(stored.id, first, last, limit=100_000)).skips


# The verbs of a store that take `now`.
_TIMED = {
    "inspect",
    "backfills.cancel",
    "backfills.create",
    "consumers.copy",
    "consumers.delete",
    "consumers.list",
    "consumers.resume",
    "consumers.seek",
    "consumers.stop",
    "dead_letters.approve",
    "dead_letters.repair",
    "dead_letters.replay",
    "dead_letters.replay_group",
    "dead_letters.set_approval",
    "dead_letters.skip",
    "events.publish",
    "held.resolve",
    "lost_runs.resolve",
    "pings.add",
    "queues.find_position",
    "queues.list",
    "queues.set_rate",
    "runs.cancel",
    "runs.enqueue",
    "schedules.change",
    "workers.drain",
    "workers.list",
    "workers.snapshot",
}
_NOUNS = {verb.partition(".")[0] for verb in _TIMED if "." in verb}


class _AtManualTime:
    """A store, or a noun of it, whose verbs receive the manual clock's instant."""

    def __init__(self, part: Any, clock: ManualClock, path: str = "") -> None:
        self._part = part
        self._clock = clock
        self._path = path

    async def now(self) -> datetime:
        return self._clock.now()

    def __getattr__(self, name: str) -> Any:
        attribute, path = getattr(self._part, name), f"{self._path}{name}"
        if path in _NOUNS:
            return _AtManualTime(attribute, self._clock, f"{path}.")
        if path not in _TIMED:
            return attribute

        async def at_manual_time(*args: Any, **options: Any) -> Any:
            return await attribute(*args, **{"now": self._clock.now(), **options})

        return at_manual_time
