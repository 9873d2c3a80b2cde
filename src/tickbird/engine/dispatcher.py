"""The execution steps: claim runs for the free slots, and record their outcomes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from math import ceil, inf
from typing import NamedTuple

from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import ClaimedRun, Outcome
from tickbird.domain.runs.unreadable_runs import Unreadable
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.workers import HandOff, Worker
from tickbird.engine.attempt import NOT_COMMITTED, Attempt, StopReason
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.executor import Ending, RunExecutor
from tickbird.engine.leases import LeaseRenewer
from tickbird.engine.outbox import Outbox
from tickbird.engine.processes.pool import ProcessPool
from tickbird.store.protocol.store import Store
from tickbird.targets.protocol import Executable, RunSink

log = logging.getLogger("tickbird.engine")
# Prefetch at most the runs that start within _SOON seconds at the current rate, _PREFETCH_FACTOR times the slots, and
# _MAX_PREFETCH.
_SOON = 0.05
_PREFETCH_FACTOR = 4
_MAX_PREFETCH = 500
# Seconds that a draining worker gives to stopped runs to clean up, and to its own end.
_UNWINDING = 2.0
_UNTIL_GONE = 2.0
# Seconds until a transaction of a task that is still open is checked again.
_CONFIRM_INTERVAL = 0.2


class Offer(NamedTuple):
    """Slots that are reserved for runs that a planner hands off, and since when by the monotonic clock."""

    hand_off: HandOff
    offered_at: float


class Dispatcher:
    """Claims runs and records their outcomes. Lives in the engine's loop; the functions run in `work_loop`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        executables: Mapping[TargetKey, Executable],
        *,
        lease: float,
        work_loop: asyncio.AbstractEventLoop,
        threads: Executor | None,
        sink: RunSink | None = None,
        children: ProcessPool | None = None,
        clock_guard: ClockGuard | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._clock_guard = clock_guard or ClockGuard(clock)
        self.worker = worker
        self._executables = executables
        self._lease = lease
        # Work is stopped this long before its lease can have expired.
        self._margin = lease / 5
        self._work_loop = work_loop
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        self._claiming = True
        self.slots = worker.slots
        # Attempts whose outcome is not recorded yet. Their leases are renewed.
        self.held: dict[tuple[int, int], Attempt] = {}
        # Functions that have not returned. Each occupies a slot, also after its timeout. Prefetched runs count too.
        self.running = 0
        self._reserved = 0
        self._claim_has_priority = False
        self._executor = RunExecutor(self.slots, work_loop, threads, self._loop, self._collect, children)
        # The time in which as many runs ended as there are slots, and when that was measured.
        self._turnover_seconds, self._turnover_at, self._returned = inf, -inf, 0
        self._more = False
        self._outcomes: list[Outcome] = []
        # Outcomes of attempts whose own transaction may have finished the run, until the store has confirmed that.
        self._unconfirmed: list[Outcome] = []
        self._outbox = Outbox("outcomes", self._record, _without_content, clock.monotonic)
        self._finishing: set[tuple[int, int]] = set()
        self.leases = LeaseRenewer(self, store, clock, lease=lease, margin=self._margin)
        self.on_free_slots: Callable[[], None] = lambda: None
        self.on_outcome: Callable[[], None] = lambda: None
        # The log of an attempt is written before its outcome, because afterwards it may be dropped.
        self.before_finish: Callable[[], Awaitable[None]] | None = None
        self.on_over: Callable[[int, int], None] = lambda _run, _attempt: None
        # Queued runs that this worker cannot read and leaves to other workers.
        self.unreadable: tuple[Unreadable, ...] = ()
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def free_slots(self) -> int:
        return self._free()

    @property
    def stuck(self) -> int:
        """The number of slots occupied by functions that ignored a stop request and whose attempts are over."""
        return max(0, self.running - len(self.held))

    def _free(self, prefetch: int = 0) -> int:
        return (
            max(0, self.slots + prefetch - self.running - self._reserved) if self._claiming and self._executables else 0
        )

    def reserve(self, maximum: int, prefetch: int = 0) -> int:
        """Reserve free slots, and up to `prefetch` more, for runs about to be leased. `start_leased` ends it."""
        reserved = min(maximum, self._free(prefetch))
        self._reserved += reserved
        if reserved:
            # A drain must wait for runs that are about to be leased.
            self._idle.clear()
        return reserved

    def _prefetch(self) -> int:
        """The number of runs to claim ahead, so that free slots do not wait for the store.

        Only while the store has more runs than free slots, and slots become free so fast that a prefetched run would
        not start sooner on another worker.
        """
        if not self._more:
            return 0
        turnover = max(self._turnover_seconds, self._clock.monotonic() - self._turnover_at, 0.001)
        return int(min(self.slots * min(_PREFETCH_FACTOR, _SOON / turnover), _MAX_PREFETCH))

    def start_leased(self, runs: Sequence[ClaimedRun], reserved: int, began: float) -> bool:
        """Start runs that were leased after `began`, and end their reservation. False if their leases are too old."""
        self._reserved -= reserved
        if runs and self._clock.monotonic() > began + self._lease - self._margin:
            # The process or its network was frozen. By now the runs may have started elsewhere.
            log.error(
                "%d runs not started: the response to their claim came too late; other workers rescue them", len(runs)
            )
            self._signal_if_idle()
            return False
        attempts = [
            Attempt(
                run,
                self._executables[run.target_key],
                began + self._lease,
                self._sink,
                worker=self.worker.id,
                margin=self._margin,
                monotonic=self._clock.monotonic,
            )
            for run in runs
        ]
        if attempts:
            self.held.update((attempt.key, attempt) for attempt in attempts)
            self.running += len(attempts)
            self._idle.clear()
            take = self._executor.start if self._claiming else self._executor.requeue
            self._work_loop.call_soon_threadsafe(take, attempts)
        self._signal_if_idle()
        return True

    def offer(self, sharers: int = 1) -> Offer:
        """Offer a planner a share of the free slots, for runs that it hands off to this worker. `accept` ends it."""
        # Otherwise a planner that always has due schedules would starve the queued runs.
        reserved = 0 if self._claim_has_priority else self.reserve(ceil(self.free_slots / sharers))
        hand_off = HandOff(self.worker, reserved, self._lease, self.worker.queues, self._executables)
        return Offer(hand_off, self._clock.monotonic())

    def accept(self, offer: Offer, leased: Sequence[ClaimedRun]) -> None:
        """Start the runs that a planner has handed off to this worker."""
        self.start_leased(leased, offer.hand_off.room, offer.offered_at)
        if self._claim_has_priority and self.free_slots:
            self.on_free_slots()

    async def claim(self) -> float | None:
        at_once, prefetch = self.free_slots, self._prefetch()
        count = self._free(prefetch)
        if not at_once and count < self.slots:
            # All slots are occupied, and one larger claim later is cheaper.
            count = 0
        reserved = self.reserve(count, prefetch)
        # A planner has reserved all slots. The next claim gets the slots that it does not use.
        self._claim_has_priority = not reserved and self._reserved > 0
        if not reserved:
            return None
        began, expected = self._clock.monotonic(), self._clock_guard.expected()
        try:
            claimed = await self._store.leases.claim(
                self.worker,
                reserved,
                self._lease,
                queues=self.worker.queues,
                targets=self._executables,
                at_once=at_once,
                expected=expected,
                now=self._clock.now(),
            )
        except BaseException:
            self.start_leased((), reserved, began)
            raise
        self._more = len(claimed.runs) == reserved
        self._note_unreadable(claimed.unreadable)
        if not self.start_leased(claimed.runs, reserved, began):
            return 0.0
        is_trusted = self._clock_guard.trusts(claimed.now, began, expected)
        if self._more:
            return None
        if not is_trusted:
            # By this clock, the store has not claimed runs with a later start time.
            return self._clock_guard.recheck_after
        if claimed.next_at is None:
            return None
        return (claimed.next_at - claimed.now).total_seconds() - (self._clock.monotonic() - began)

    def _note_unreadable(self, unreadable: tuple[Unreadable, ...]) -> None:
        for runs in unreadable if unreadable != self.unreadable else ():
            if runs not in self.unreadable:
                log.warning("%s cannot be read here: left to other workers. Upgrade tickbird and tzdata", runs)
        self.unreadable = unreadable

    def _collect(self, returned: int, endings: Sequence[Ending]) -> None:
        """Called in the engine's loop with the reports of the executor."""
        self.running -= returned
        self._returned += returned
        if self._returned >= self.slots:
            now = self._clock.monotonic()
            self._turnover_seconds, self._turnover_at, self._returned = now - self._turnover_at, now, 0
        for attempt, outcome in endings:
            if outcome is None:
                # The lease is lost or about to expire; another worker rescues the run.
                self._release(attempt.key)
            else:
                if outcome.has_commit:
                    self._unconfirmed.append(outcome)
                    continue
                self._log_if_failed(attempt, outcome)
                if outcome.is_recorded:
                    self._release(attempt.key)
                else:
                    self._outcomes.append(outcome)
        if self._outcomes or self._unconfirmed:
            self.on_outcome()
        if returned:
            self.on_free_slots()

    def _log_if_failed(self, attempt: Attempt, outcome: Outcome) -> None:
        if outcome.error is not None and (outcome.failure_kind is not None or outcome.is_recorded):
            _log_failure(attempt, outcome.error, outcome)

    async def finish(self) -> float | None:
        """Record all outcomes. Leases are renewed until that has succeeded."""
        if self._unconfirmed:
            await self._confirm()
        wait = await self._finish()
        return wait if not self._unconfirmed else min(_CONFIRM_INTERVAL, _CONFIRM_INTERVAL if wait is None else wait)

    async def _confirm(self) -> None:
        """Find out which transactions of tasks were committed, and record the other outcomes."""
        outcomes, self._unconfirmed = self._unconfirmed, []
        try:
            if self.before_finish is not None:
                await self.before_finish()
            refs = [LeaseRef(outcome.run_id, outcome.attempt, outcome.incarnation) for outcome in outcomes]
            confirmed = await self._store.leases.confirm(refs, now=self._clock.now())
        except BaseException:
            self._unconfirmed += outcomes
            raise
        for outcome in outcomes:
            key = outcome.run_id, outcome.attempt
            if outcome.run_id in confirmed.succeeded:
                if outcome.error is not None and outcome.error != NOT_COMMITTED:
                    text = "run %d: attempt %d ended with an error after its transaction was committed: %s"
                    log.warning(text, *key, outcome.error.strip().rpartition("\n")[2][:500])
                self._release(key)
            elif outcome.run_id in confirmed.open:
                self._unconfirmed.append(outcome)
            else:
                if (attempt := self.held.get(key)) is not None:
                    self._log_if_failed(attempt, outcome)
                self._outcomes.append(outcome)
        if confirmed.released:
            self.on_free_slots()

    async def _finish(self) -> float | None:
        # Later outcomes wait for the next step, because their logs may not be written yet.
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
        finished = await self._store.leases.finish(batch, worker=self.worker, now=self._clock_guard.date())
        for outcome in batch:
            if outcome.run_id not in finished.accepted:
                log.warning(
                    "run %d: attempt %d finished too late, its outcome is discarded", outcome.run_id, outcome.attempt
                )
            self._release((outcome.run_id, outcome.attempt))
        if finished.released or any(outcome.status == "queued" for outcome in batch):
            self.on_free_slots()

    def _release(self, key: tuple[int, int]) -> None:
        self.held.pop(key, None)
        self.on_over(*key)
        self._signal_if_idle()

    def _signal_if_idle(self) -> None:
        if not self.held and not self._reserved:
            self._idle.set()

    def is_finishing(self, key: tuple[int, int]) -> bool:
        # A SQL function records its outcome in its own transaction.
        attempt = self.held.get(key)
        return key in self._finishing or (attempt is not None and attempt.run.is_recording)

    def stop(self, attempt: Attempt, reason: StopReason) -> None:
        self._work_loop.call_soon_threadsafe(self._executor.stop, attempt, reason)
        # User code may block that loop, but the lease still expires.
        attempt.end_child(reason)

    def stop_claiming(self) -> None:
        """Start to drain: claim nothing more, and requeue the runs that have not started."""
        self._claiming = False
        self._work_loop.call_soon_threadsafe(self._executor.requeue_unstarted)

    async def drain(self, seconds: float) -> None:
        """Wait for the running attempts; then stop them and requeue their runs."""
        if not await self._wait_idle(seconds):
            for attempt in list(self.held.values()):
                self.stop(attempt, "drain")
            if not await self._wait_idle(_UNWINDING):
                # Threads that do not stop end with the process. Their runs may start elsewhere after a delay.
                # An attempt that has ended keeps its outcome, even if the store refused to record it.
                unfinished = [attempt for attempt in self.held.values() if not attempt.has_outcome]
                outcomes = [(attempt.key, attempt.requeue(_UNTIL_GONE)) for attempt in unfinished]
                for key, outcome in outcomes:
                    if outcome is None:
                        self._release(key)
                requeued = [outcome for _, outcome in outcomes if outcome is not None]
                self._unconfirmed += [outcome for outcome in requeued if outcome.has_commit]
                self._outcomes += [outcome for outcome in requeued if not outcome.has_commit]
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
    """Return the outcome without the result and error, which the store cannot store."""
    result = None if outcome.result is None else {"unreadable": note}
    return replace(outcome, result=result, error=None if outcome.error is None else note, reason=None)


def _log_failure(attempt: Attempt, error: str, outcome: Outcome) -> None:
    """Log the last line of the error; the full traceback is stored with the run."""
    run, error = attempt.claimed, error.strip().rpartition("\n")[2][:500]
    name = run.schedule or run.target
    if outcome.status == "queued":
        text = "run %d of %s: attempt %d failed, retrying in %.1f s: %s"
        log.warning(text, run.id, name, run.attempt, outcome.delay, error)
    else:
        log.error("run %d of %s: attempt %d failed: %s", run.id, name, run.attempt, error)
