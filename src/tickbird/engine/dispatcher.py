"""The execution steps: claim what there is room for, and record how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from math import ceil, inf
from typing import NamedTuple

from tickbird.domain.runs.run import ClaimedRun, Outcome
from tickbird.domain.runs.unreadable_runs import Unreadable
from tickbird.domain.workers import HandOff, Worker
from tickbird.engine.attempt import Attempt, StopReason
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.executor import Ending, RunExecutor
from tickbird.engine.leases import LeaseRenewer
from tickbird.engine.outbox import Outbox
from tickbird.engine.processes.pool import ProcessPool
from tickbird.store.protocol.store import Store
from tickbird.targets.protocol import Executable, RunSink

log = logging.getLogger("tickbird.engine")
# Claimed ahead is what begins within so many seconds at the present pace, so many times the slots, or so many at most.
_SOON = 0.05
_PREFETCH_FACTOR = 4
_MAX_PREFETCH = 500
# What a drained worker gives to work that was asked to stop, and to its own end.
_UNWINDING = 2.0
_UNTIL_GONE = 2.0


class Offer(NamedTuple):
    """Slots that are reserved for what a planner hands off, and since when by the monotonic clock."""

    hand_off: HandOff
    made_at: float


class Dispatcher:
    """Everything this worker is executing. Lives in the engine's loop; the functions run in `work_loop`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        executables: Mapping[str, Executable],
        *,
        lease: float,
        work_loop: asyncio.AbstractEventLoop,
        threads: Executor | None,
        on_crash: Mapping[str, str] | None = None,
        sink: RunSink | None = None,
        children: ProcessPool | None = None,
        watch: ClockGuard | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._watch = watch or ClockGuard(clock)
        self.worker = worker
        self._executables = executables
        self._lease = lease
        # Work is asked to stop this long before its lease can have expired.
        self._margin = lease / 5
        self._work_loop = work_loop
        self._on_crash = on_crash or {}
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._claiming = True
        self.slots = worker.slots
        # Attempts whose outcome is not recorded yet: their leases are kept.
        self.held: dict[tuple[int, int], Attempt] = {}
        # Functions that have not returned: each takes a slot, also one past its time-out. And what waits for a slot.
        self.busy = 0
        self._reserved = 0
        self._turned_away = False
        self._workplace = RunExecutor(self.slots, work_loop, threads, self._loop, self._collect, children)
        # How briskly slots become free: when and in what time as many runs ended as there are slots.
        self._turn, self._turned_at, self._returned = inf, -inf, 0
        self._more = False
        self._outcomes: list[Outcome] = []
        self._outbox = Outbox("outcomes", self._record, _without_content, clock.monotonic)
        self._finishing: set[tuple[int, int]] = set()
        self.leases = LeaseRenewer(self, store, clock, lease=lease, margin=self._margin)
        self.on_room: Callable[[], None] = lambda: None
        self.on_outcome: Callable[[], None] = lambda: None
        # What an attempt has said is written before its end is recorded, and then it may be forgotten.
        self.before_finish: Callable[[], Awaitable[None]] | None = None
        self.on_over: Callable[[int, int], None] = lambda _run, _attempt: None
        # Queued runs that this worker leaves to others.
        self.unreadable: tuple[Unreadable, ...] = ()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def room(self) -> int:
        """How many more runs could be started now."""
        return self._free()

    @property
    def stuck(self) -> int:
        """How many slots are kept by functions whose attempts are over: they did not stop when asked to."""
        return max(0, self.busy - len(self.held))

    def _free(self, ahead: int = 0) -> int:
        return max(0, self.slots + ahead - self.busy - self._reserved) if self._claiming and self._executables else 0

    def reserve(self, maximum: int, ahead: int = 0) -> int:
        """Reserve slots, and up to `ahead` places behind them, for runs about to be leased; `take` ends it."""
        reserved = min(maximum, self._free(ahead))
        self._reserved += reserved
        if reserved:
            # What is about to be leased must be waited for when this worker drains.
            self._idle.clear()
        return reserved

    def _prefetch(self) -> int:
        """How many runs to claim that begin only when others have ended.

        The next ones are then at hand, and the store is not waited for. Only while it has more than this worker can
        take, and slots become free so fast that what waits here would not start sooner elsewhere.
        """
        if not self._more:
            return 0
        turn = max(self._turn, self._clock.monotonic() - self._turned_at, 0.001)
        return int(min(self.slots * min(_PREFETCH_FACTOR, _SOON / turn), _MAX_PREFETCH))

    def take(self, runs: Sequence[ClaimedRun], reserved: int, began: float) -> bool:
        """Start runs that were leased to this worker since `began`, unless that is too long ago; end a reservation."""
        self._reserved -= reserved
        if runs and self._clock.monotonic() > began + self._lease - self._margin:
            # The process or its network stood still meanwhile: by now they may have begun elsewhere.
            log.error("%d runs are left to others: the answer to their claim came too late", len(runs))
            self._settle()
            return False
        attempts = [
            Attempt(
                run,
                self._executables[run.target],
                self._on_crash.get(run.target, "retry"),
                began + self._lease,
                self._sink,
                margin=self._margin,
                monotonic=self._clock.monotonic,
            )
            for run in runs
        ]
        if attempts:
            self.held.update((attempt.key, attempt) for attempt in attempts)
            self.busy += len(attempts)
            self._idle.clear()
            self._work_loop.call_soon_threadsafe(self._workplace.start, attempts)
        self._settle()
        return True

    def offer(self, sharers: int = 1) -> Offer:
        """Offer a planner a share of the free slots, for runs that it leases to this worker; `accept` ends that."""
        # Who was turned away comes first, or a planner that is never done would keep all others waiting.
        room = 0 if self._turned_away else self.reserve(ceil(self.room / sharers))
        hand_off = HandOff(self.worker, room, self._lease, self.worker.queues, self._executables)
        return Offer(hand_off, self._clock.monotonic())

    def accept(self, offer: Offer, leased: Sequence[ClaimedRun]) -> None:
        """Start the runs that a planner has leased to this worker."""
        self.take(leased, offer.hand_off.room, offer.made_at)
        if self._turned_away and self.room:
            self.on_room()

    async def claim(self) -> float | None:
        """Claim as many runs as there is room for, and start them."""
        at_once, ahead = self.room, self._prefetch()
        wanted = self._free(ahead)
        if not at_once and wanted < self.slots:
            # All slots are taken, and a larger claim a moment later costs less.
            wanted = 0
        room = self.reserve(wanted, ahead)
        # What a planner has reserved and then not used is free again.
        self._turned_away = not room and self._reserved > 0
        if not room:
            return None
        began, expected = self._clock.monotonic(), self._watch.expected()
        try:
            claimed = await self._store.leases.claim(
                self.worker,
                room,
                self._lease,
                queues=self.worker.queues,
                tasks=self._executables,
                at_once=at_once,
                expected=expected,
                now=self._clock.now(),
            )
        except BaseException:
            self.take((), room, began)
            raise
        self._more = len(claimed.runs) == room
        self._note_unreadable(claimed.unreadable)
        if not self.take(claimed.runs, room, began):
            return 0.0
        believed = self._watch.believes(claimed.now, began, expected)
        if self._more:
            return None
        if not believed:
            # Runs that wait for this clock are not claimed by it.
            return self._watch.recheck_after
        if claimed.next_at is None:
            return None
        return (claimed.next_at - claimed.now).total_seconds() - (self._clock.monotonic() - began)

    def _note_unreadable(self, unreadable: tuple[Unreadable, ...]) -> None:
        for runs in unreadable if unreadable != self.unreadable else ():
            if runs not in self.unreadable:
                log.warning("%s cannot be read here and is left to other workers; upgrade tickbird and tzdata", runs)
        self.unreadable = unreadable

    def _collect(self, returned: int, endings: Sequence[Ending]) -> None:
        """In the engine's loop: what the loop that executes has reported."""
        self.busy -= returned
        self._returned += returned
        if self._returned >= self.slots:
            now = self._clock.monotonic()
            self._turn, self._turned_at, self._returned = now - self._turned_at, now, 0
        for attempt, outcome in endings:
            if outcome is None:
                # The lease is lost or about to be: another worker takes the run over.
                self._let_go(attempt.key)
            else:
                if outcome.error is not None:
                    _log_failure(attempt, outcome.error, outcome)
                self._outcomes.append(outcome)
        if self._outcomes:
            self.on_outcome()
        if returned:
            self.on_room()

    async def finish(self) -> float | None:
        """Record all outcomes that have come in; leases are kept until that has succeeded."""
        # Those that come in from here on may have logged after the log is written.
        outcomes, self._outcomes = self._outcomes, []
        self._outbox.add(outcomes)
        if self._outbox.wait != 0.0:
            return self._outbox.wait
        if self.before_finish is not None:
            await self.before_finish()
        await self._outbox.write()
        return 0.0 if self._outcomes else self._outbox.wait

    async def _record(self, batch: Sequence[Outcome]) -> None:
        self._finishing = {(outcome.run_id, outcome.attempt) for outcome in batch}
        finished = await self._store.leases.finish(batch, worker=self.worker, now=self._watch.date())
        for outcome in batch:
            if outcome.run_id not in finished.accepted:
                log.warning("run %d: the finish of attempt %d came too late", outcome.run_id, outcome.attempt)
            self._let_go((outcome.run_id, outcome.attempt))
        if finished.released or any(outcome.status == "queued" for outcome in batch):
            self.on_room()

    def _let_go(self, key: tuple[int, int]) -> None:
        self.held.pop(key, None)
        self.on_over(*key)
        self._settle()

    def _settle(self) -> None:
        if not self.held and not self._reserved:
            self._idle.set()

    def is_finishing(self, key: tuple[int, int]) -> bool:
        """Whether the end of this attempt is being recorded."""
        return key in self._finishing

    def stop(self, attempt: Attempt, reason: StopReason) -> None:
        """Ask an attempt to stop."""
        self._work_loop.call_soon_threadsafe(self._workplace.stop, attempt, reason)
        # User code may block that loop, and a lease does not wait.
        attempt.end_child(reason)

    def stop_claiming(self) -> None:
        """Begin to drain: take nothing new."""
        self._claiming = False
        self._work_loop.call_soon_threadsafe(self._workplace.put_back)

    async def drain(self, seconds: float) -> None:
        """Wait for what is executing; then ask it to stop, and put it back."""
        if not await self._wait_idle(seconds):
            for attempt in list(self.held.values()):
                self.stop(attempt, "drain")
            if not await self._wait_idle(_UNWINDING):
                # Threads that do not stop end with the process; a moment later their runs may start elsewhere.
                self._outcomes += [attempt.put_back(_UNTIL_GONE) for attempt in self.held.values()]
                self.on_outcome()
                await self._wait_idle(_UNWINDING)

    async def _wait_idle(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


def _without_content(outcome: Outcome, note: str) -> Outcome:
    """An outcome whose result or error the store cannot keep."""
    result = None if outcome.result is None else {"unreadable": note}
    return replace(outcome, result=result, error=None if outcome.error is None else note, reason=None)


def _log_failure(attempt: Attempt, error: str, outcome: Outcome) -> None:
    """A line for what went wrong; the whole traceback is kept with the run."""
    run, error = attempt.claimed, error.strip().rpartition("\n")[2][:500]
    name = run.schedule or run.target
    if outcome.status == "queued":
        text = "run %d of %s: attempt %d failed and is tried again in %.1f s: %s"
        log.warning(text, run.id, name, run.attempt, outcome.delay, error)
    else:
        log.error("run %d of %s: attempt %d failed: %s", run.id, name, run.attempt, error)
