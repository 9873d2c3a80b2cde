"""One delivery on this worker: call the consumer until its events are handled, one fails, or it has to stop."""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, Final, Literal

from tickbird.consumers.consumer import Consumer
from tickbird.consumers.event_batch import EventBatch
from tickbird.domain.events.deliveries import Delivery, DeliveryOutcome, Unit
from tickbird.domain.events.delivery_progress import ConsumerError, DeliveryProgress
from tickbird.engine.consumer_errors import describe_error
from tickbird.engine.task_errors import refuse_awaitable

# Seconds after which a delivery ends early, so that its progress is recorded.
_MAX_SECONDS: Final = 1.0
# Seconds after which a consumer that awaits nothing lets other tasks of its loop continue.
_MAX_HOLD: Final = 0.01
# Seconds that a coroutine past its timeout has to clean up before the timeout is recorded.
_CLEANUP_SECONDS: Final = 1.0
# Seconds between two checks whether a call has begun.
_CHECK_INTERVAL: Final = 0.05

StopReason = Literal["drain", "cancel", "lease", "stale"]


class DeliveryCall:
    """A delivery from claim to finish. Its consumer runs in the loop of the user code, or in a thread."""

    def __init__(
        self,
        delivery: Delivery,
        consumer: Consumer,
        lease_ends: float,
        *,
        margin: float,
        monotonic: Callable[[], float],
        loop: asyncio.AbstractEventLoop,
        on_outcome: Callable[[DeliveryCall], None],
        on_returned: Callable[[DeliveryCall], None],
    ) -> None:
        self.delivery = delivery
        self.consumer = consumer
        # On the worker's monotonic clock. Afterwards another worker may have the partition.
        self.lease_ends = lease_ends
        self._margin, self._monotonic, self._loop = margin, monotonic, loop
        self._on_outcome, self._on_returned = on_outcome, on_returned
        self.progress = DeliveryProgress(delivery, is_batch=consumer.batch is not None, retry_in=self._retry_in)
        # Guards what the thread of a consumer and the loop change.
        self._lock = threading.Lock()
        self.outcome: DeliveryOutcome | None = None
        self.stop_reason: StopReason | None = None
        self._call: tuple[Unit, ...] = ()
        self._batch: EventBatch | None = None
        self._call_began = 0.0
        self._calls = 0
        # The number of the call whose timeout has passed.
        self._timed_out = 0
        self._began = self._held_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._running: asyncio.Future[None] | None = None

    @property
    def is_expiring(self) -> bool:
        """True if less than the margin of the lease is left: too late for another call."""
        return self._monotonic() > self.lease_ends - self._margin

    @property
    def is_committed(self) -> bool:
        """True if the consumer has committed what it was called with, so that its lease may end at any moment."""
        batch = self._batch
        return self.progress.is_committed or (batch is not None and batch.is_committed)

    def begin(self, threads: Executor | None) -> None:
        """Start to call the consumer. Called in the loop of the user code."""
        self._began = self._held_since = time.monotonic()
        context = contextvars.copy_context()
        if not self.consumer.blocking:
            self._running = self._loop.create_task(self._await_calls(), context=context)
        elif threads is not None:
            self._running = self._loop.run_in_executor(threads, context.run, self._block_calls)
        else:
            context.run(self._block_calls)
            self._returned(None)
            return
        self._running.add_done_callback(self._returned)
        self._check_timeout()

    def request_stop(self, reason: StopReason) -> None:
        """Make no further call; unless the reason is "drain", also cancel the current one. Callable from any thread."""
        with self._lock:
            if self.stop_reason != "lease":
                self.stop_reason = reason
        if reason != "drain":
            # The loop may have ended.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._cancel)

    def give_up(self) -> None:
        """Record what was handled so far, although the consumer does not return. Callable from any thread."""
        self._seal()

    def _cancel(self) -> None:
        if self._running is not None and not self.consumer.blocking:
            self._running.cancel()

    async def _await_calls(self) -> None:
        function = self.consumer.function
        try:
            while arguments := self._next_call():
                try:
                    for argument in arguments:
                        self._call_began = time.monotonic()
                        await function(argument)
                except BaseException as error:  # noqa: BLE001 - any error of a consumer is its outcome
                    self._ended(error)
                else:
                    self._ended(None)
                if time.monotonic() - self._held_since > _MAX_HOLD:
                    await asyncio.sleep(0)
                    self._held_since = time.monotonic()
        except asyncio.CancelledError:
            # Stopped between two calls.
            pass

    def _block_calls(self) -> None:
        function = self.consumer.function
        while arguments := self._next_call():
            try:
                for argument in arguments:
                    self._call_began = time.monotonic()
                    refuse_awaitable(function(argument))
            except BaseException as error:  # noqa: BLE001 - any error of a consumer is its outcome
                self._ended(error)
            else:
                self._ended(None)

    def _next_call(self) -> Sequence[Any]:
        """The arguments of the next calls, which succeed or fail together; empty at the end."""
        with self._lock:
            if self.outcome is not None or self.stop_reason is not None or self.is_expiring:
                return ()
            if self._calls and time.monotonic() - self._began > _MAX_SECONDS:
                return ()
            self._call = call = self.progress.next_call()
            self._batch = None
            if not call:
                return ()
            self._calls += 1
            events = [event for unit in call for event in unit.events]
            if self.consumer.batch is None:
                return events
            lease = self.delivery.lease
            outcome = self.progress.commit_outcome(call)
            self._batch = EventBatch(
                events,
                group=lease.group,
                consumer=self.delivery.consumer,
                partition=lease.partition,
                attempt=1 + self.delivery.crashes + max(unit.failures for unit in call),
                commit=lambda connection: self.consumer.commit(connection, outcome),
            )
            return (self._batch,)

    def _ended(self, error: BaseException | None) -> None:
        """Record the result of a call."""
        described = None if error is None else describe_error(error, self.consumer.infrastructure)
        with self._lock:
            if self.outcome is not None:
                return
            if self._timed_out == self._calls:
                described = self._timeout_error()
                if (task := self._running) is not None and not self.consumer.blocking:
                    task.uncancel()  # type: ignore[attr-defined]
            elif isinstance(error, asyncio.CancelledError):
                if self.stop_reason is not None:
                    return
                described = ConsumerError("the coroutine was cancelled from inside")
            elif described is not None and self.stop_reason in ("cancel", "lease"):
                # The error of a call that was stopped says nothing about its events.
                return
            elif described is not None and self._batch is not None and self._batch.is_stale:
                # The next delivery begins at the offset that is stored.
                self.stop_reason = self.stop_reason or "stale"
                return
            if described is None:
                is_committed = self._batch is not None and self._batch.is_committed
                self.progress.succeed(self._call, is_committed=is_committed)
            else:
                self.progress.fail(self._call, described)
            self._end_batch()

    def _check_timeout(self) -> None:
        """Stop a call that takes too long. A thread cannot be stopped, but its partition continues without it."""
        timeout = self.consumer.policies.timeout
        if timeout is None or self.outcome is not None or self._running is None or self._running.done():
            return
        began = self._call_began
        remaining = began + timeout - time.monotonic() if began else _CHECK_INTERVAL
        if remaining > 0:
            self._timer = self._loop.call_later(remaining, self._check_timeout)
            return
        self._timed_out = self._calls
        if self.consumer.blocking:
            self._fail_late(self._calls)
        else:
            self._running.cancel()
            self._timer = self._loop.call_later(_CLEANUP_SECONDS, self._fail_late, self._calls)

    def _fail_late(self, number: int) -> None:
        """Record a timeout although the call is still running."""
        with self._lock:
            is_late = self.outcome is None and number == self._calls and self._call_began > 0
            if is_late:
                self.progress.fail(self._call, self._timeout_error(), has_ended=False)
        if is_late:
            self._seal()
        else:
            self._check_timeout()

    def _timeout_error(self) -> ConsumerError:
        return ConsumerError(f"took longer than its timeout of {self.consumer.policies.timeout} s")

    def _retry_in(self, failures: int) -> float | None:
        policies = self.consumer.policies
        if failures > policies.retries:
            return None
        return policies.backoff.delay(failures, random.random())  # noqa: S311

    def _end_batch(self) -> None:
        self._call_began = 0.0
        if self._batch is not None:
            self._batch.end()

    def _seal(self) -> None:
        with self._lock:
            if self.outcome is not None:
                return
            self._end_batch()
            self.outcome = self.progress.outcome(self.delivery.pauses)
        self._on_outcome(self)

    def _returned(self, _: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._seal()
        self._on_returned(self)
