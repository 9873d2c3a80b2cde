"""The consumer steps: lease partitions with events, deliver these, and record the outcomes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from tickbird.consumers.consumer import Consumer
from tickbird.domain.errors import StoreError
from tickbird.domain.events.deliveries import Delivery, DeliveryOutcome, GroupRequest, PartitionLease
from tickbird.domain.workers import Worker
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.delivery_call import DeliveryCall
from tickbird.engine.leases import response_within
from tickbird.engine.outbox import Outbox
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# Calls that do not return occupy at most this many times the concurrency of their consumer, the others included.
STUCK_FACTOR: Final = 4
# Seconds between two declarations of the groups, which show that they are in use.
_DECLARE_PAUSE: Final = 600.0
# Seconds that a draining worker gives to stopped calls to clean up, and to a sink to close.
_UNWINDING: Final = 2.0
_CLOSING: Final = 5.0


@dataclass(frozen=True, slots=True)
class ConsumerSet:
    """The consumers of a worker by group, and the threads of blocking ones."""

    consumers: Mapping[str, Consumer]
    threads: Executor | None


class ConsumerSteps:
    """Delivers events. Lives in the engine's loop; the consumers run in `work_loop`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        consumers: ConsumerSet,
        *,
        lease: float,
        work_loop: asyncio.AbstractEventLoop,
        clock_guard: ClockGuard | None = None,
    ) -> None:
        self._store, self._clock, self._worker = store, clock, worker
        self._clock_guard = clock_guard or ClockGuard(clock)
        self._consumers, self._threads = consumers.consumers, consumers.threads
        self._lease = lease
        # Work is stopped this long before its lease can have expired.
        self._margin = lease / 5
        self._work_loop = work_loop
        self._loop = asyncio.get_running_loop()
        self._claiming = True
        self._is_claiming = False
        # Deliveries whose outcome is not recorded yet. Their leases are renewed.
        self.held: dict[PartitionLease, DeliveryCall] = {}
        # By group of the consumer: deliveries without an outcome, and calls that have not returned.
        self._active: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._outcomes: list[DeliveryOutcome] = []
        self._outbox = Outbox("outcomes of consumers", self._record, _without_error, clock.monotonic)
        self._finishing: set[PartitionLease] = set()
        self._declared_at = float("-inf")
        # Stopped groups that were logged.
        self._stopped: dict[str, str | None] = {}
        self.on_free: Callable[[], None] = lambda: None
        self.on_outcome: Callable[[], None] = lambda: None
        # Events that were handled since the start.
        self.delivered = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def running(self) -> int:
        """The number of calls that have not returned."""
        return self._running.total()

    async def declare(self) -> None:
        """Create the groups, or update their topics. Raises ConflictError if another app has one of them."""
        stopped = await self._store.consumers.declare(
            self._worker.namespace,
            [consumer.group for consumer in self._consumers.values()],
            app=self._worker.app,
            now=self._clock.now(),
        )
        self._declared_at = self._clock.monotonic()
        reasons = {group.name: group.reason for group in stopped}
        for name, reason in reasons.items():
            if name not in self._stopped or self._stopped[name] != reason:
                text = (
                    "group %s is stopped, its events wait: %s. Continue with `tickbird consumers resume %s`, or choose "
                    "a position with `tickbird consumers seek %s`"
                )
                log.error(text, name, reason or "no reason given", name, name)
        self._stopped = reasons

    def _free(self, consumer: Consumer) -> int:
        stuck = self._running[consumer.name] - self._active[consumer.name]
        return min(
            consumer.concurrency - self._active[consumer.name],
            STUCK_FACTOR * consumer.concurrency - self._active[consumer.name] - stuck,
        )

    async def claim(self) -> float | None:
        """Lease partitions that have something to deliver, up to the free concurrency, and start to deliver."""
        if self._clock_guard.alarmed:
            return self._clock_guard.recheck_after
        if self._clock.monotonic() > self._declared_at + _DECLARE_PAUSE:
            await self.declare()
        free = {name: self._free(consumer) for name, consumer in self._consumers.items()}
        requests = [GroupRequest(name, self._consumers[name].read_limit) for name, count in free.items() if count > 0]
        if not requests or not self._claiming:
            return None
        # A claim may return partitions of only one group.
        limit = min(free[request.name] for request in requests)
        began = self._clock.monotonic()
        self._is_claiming = True
        self._idle.clear()
        try:
            claimed = await self._store.consumers.claim(
                self._worker.namespace,
                requests,
                # Only shown: the token of a lease identifies its holder.
                self._worker.id,
                limit=limit,
                lease=self._lease,
                now=self._clock.now(),
            )
            self._start(claimed.deliveries, began)
        finally:
            self._is_claiming = False
            self._signal_if_idle()
        if claimed.more:
            # Without a free slot, the next claim waits until a delivery ends.
            return 0.0
        if claimed.next_at is None:
            return None
        return (claimed.next_at - claimed.now).total_seconds() - (self._clock.monotonic() - began)

    def _start(self, deliveries: Sequence[Delivery], began: float) -> None:
        is_late = self._clock.monotonic() > began + self._lease - self._margin
        if is_late and deliveries:
            # The process or its network was frozen. By now the events may be delivered elsewhere.
            log.error("%d deliveries not started: the response to their claim came too late", len(deliveries))
        for delivery in deliveries:
            call = DeliveryCall(
                delivery,
                self._consumers[delivery.consumer],
                began + self._lease,
                margin=self._margin,
                monotonic=self._clock.monotonic,
                loop=self._work_loop,
                on_outcome=self._on_outcome,
                on_returned=self._on_returned,
            )
            self.held[delivery.lease] = call
            self._active[delivery.consumer] += 1
            self._running[delivery.consumer] += 1
            if is_late or not self._claiming:
                call.request_stop("drain")
            self._work_loop.call_soon_threadsafe(call.begin, self._threads)

    def _on_outcome(self, call: DeliveryCall) -> None:
        self._to_engine(self._collect, call)

    def _on_returned(self, call: DeliveryCall) -> None:
        self._to_engine(self._release_slot, call)

    def _to_engine(self, do: Callable[[DeliveryCall], None], call: DeliveryCall) -> None:
        # The engine's loop may have ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(do, call)

    def _release_slot(self, call: DeliveryCall) -> None:
        self._running[call.consumer.name] -= 1
        self.on_free()

    def _collect(self, call: DeliveryCall) -> None:
        assert call.outcome is not None
        self._active[call.consumer.name] -= 1
        self.delivered += len(call.outcome.delivered)
        _log_result(call)
        self._outcomes.append(call.outcome)
        self.on_outcome()

    async def finish(self) -> float | None:
        """Record all outcomes. Leases are renewed until that has succeeded."""
        outcomes, self._outcomes = self._outcomes, []
        self._outbox.add(outcomes)
        if self._outbox.wait != 0.0:
            return self._outbox.wait
        await self._outbox.write()
        return 0.0 if self._outcomes else self._outbox.wait

    async def _record(self, batch: Sequence[DeliveryOutcome]) -> None:
        self._finishing = {outcome.lease for outcome in batch}
        accepted = await self._store.consumers.finish(batch, now=self._clock_guard.date())
        for outcome in batch:
            lease = outcome.lease
            call = self.held.pop(lease, None)
            if lease not in accepted and call is not None and not call.is_committed:
                log.warning(
                    "group %s, partition %d: its delivery ended too late, the events are delivered again",
                    lease.group,
                    lease.partition,
                )
        self._signal_if_idle()
        self.on_free()

    async def renew(self) -> float | None:
        """Renew every lease well before it ends; stop deliveries whose lease cannot be renewed."""
        now = self._clock.monotonic()
        for call in list(self.held.values()):
            if call.is_expiring and call.stop_reason != "lease":
                log.error("%s: its lease could not be renewed, stopping it", _name(call))
                call.request_stop("lease")
        leases = [lease for lease, call in self.held.items() if call.stop_reason != "lease"]
        if not leases:
            return self._lease / 3
        first_end = min(self.held[lease].lease_ends for lease in leases) - self._margin - now
        request = asyncio.ensure_future(self._store.consumers.renew(leases, self._lease, now=self._clock.now()))
        try:
            renewed = await response_within(request, min(self._lease / 3, max(self._lease / 20, first_end)))
        except (StoreError, TimeoutError) as error:
            log.warning(
                "leases of %d partitions could not be renewed: %s", len(leases), str(error) or "no response in time"
            )
            return min(1.0, self._lease / 10)
        for lease in leases:
            held = self.held.get(lease)
            if held is None:
                continue
            if lease in renewed:
                held.lease_ends = now + self._lease
            elif lease not in self._finishing and not held.is_committed:
                log.warning("%s: its lease is lost, stopping it", _name(held))
                held.request_stop("lease")
        return self._lease / 3 - (self._clock.monotonic() - now)

    def stop_claiming(self) -> None:
        """Start to drain: claim nothing more, and end each delivery after its current call."""
        self._claiming = False
        for call in list(self.held.values()):
            call.request_stop("drain")

    async def drain(self, seconds: float) -> None:
        """Wait for the current calls, then stop them, and release the partitions."""
        if not await self._wait_idle(seconds):
            for call in list(self.held.values()):
                call.request_stop("cancel")
            if not await self._wait_idle(_UNWINDING):
                # Threads that do not stop end with the process.
                for call in list(self.held.values()):
                    call.give_up()
                await self._wait_idle(_UNWINDING)
        await self._close_all()

    async def _close_all(self) -> None:
        for consumer in self._consumers.values():
            closing = asyncio.run_coroutine_threadsafe(_close(consumer), self._work_loop)
            try:
                async with asyncio.timeout(_CLOSING):
                    await asyncio.wrap_future(closing)
            except TimeoutError:
                log.warning("the sink of group %s could not be closed in time", consumer.name)

    def _signal_if_idle(self) -> None:
        if not self.held and not self._is_claiming:
            self._idle.set()

    async def _wait_idle(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


async def _close(consumer: Consumer) -> None:
    """Close what a consumer has opened. It is user code, so that it may raise anything."""
    try:
        await consumer.close()
    except BaseException as error:  # noqa: BLE001 - it must not end the loop
        log.warning("the sink of group %s could not be closed: %s", consumer.name, type(error).__name__)


def _without_error(outcome: DeliveryOutcome, note: str) -> DeliveryOutcome:
    """The outcome without the error text, which the store cannot store."""
    failure = None if outcome.failure is None else replace(outcome.failure, error=note)
    return replace(outcome, failure=failure, error=None if outcome.error is None else note)


def _name(call: DeliveryCall) -> str:
    return f"group {call.delivery.lease.group}, partition {call.delivery.lease.partition}"


def _log_result(call: DeliveryCall) -> None:
    """Log the last line of an error; the full traceback is stored with the dead letter."""
    outcome = call.outcome
    assert outcome is not None
    if (failure := outcome.failure) is not None:
        error = _last_line(failure.error)
        first = failure.positions[0]
        if failure.retry_in is None:
            log.error("%s: the event at position %d is a dead letter: %s", _name(call), first, error)
        else:
            text = "%s: the event at position %d failed, retrying in %.1f s: %s"
            log.warning(text, _name(call), first, failure.retry_in, error)
    if outcome.pause is not None:
        text = "%s: paused for %.0f s, because a system is unavailable: %s"
        log.warning(text, _name(call), outcome.pause, _last_line(outcome.error or ""))


def _last_line(error: str) -> str:
    return error.strip().rpartition("\n")[2][:500]
