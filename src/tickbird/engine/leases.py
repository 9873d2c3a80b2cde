"""Leases: renew them well before they expire, and stop work whose lease cannot be renewed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeVar

from tickbird.domain.errors import StoreError
from tickbird.domain.runs.leases import LeaseRef, RenewResult
from tickbird.domain.workers import Worker
from tickbird.engine.attempt import Attempt, StopReason
from tickbird.engine.clock import Clock
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")
T = TypeVar("T")
_MIN_RENEWAL_INTERVAL = 0.25


class LeaseHolder(Protocol):
    """The owner of the attempts: the dispatcher."""

    worker: Worker

    @property
    def held(self) -> Mapping[tuple[int, int], Attempt]:
        """Attempts whose outcome is not recorded yet, by run and attempt."""
        ...

    def is_finishing(self, key: tuple[int, int]) -> bool:
        """True while the outcome of this attempt is being recorded."""
        ...

    def stop(self, attempt: Attempt, reason: StopReason) -> None: ...


class LeaseRenewer:
    """Renews the leases of all attempts of a worker. Stops work `margin` seconds before its lease ends."""

    def __init__(self, holder: LeaseHolder, store: Store, clock: Clock, *, lease: float, margin: float) -> None:
        self._holder = holder
        self._store = store
        self._clock = clock
        self._lease = lease
        self._margin = margin
        self._renewed_at = 0.0

    async def renew(self) -> float | None:
        """Renew every lease well before it ends; stop work whose lease cannot be renewed."""
        self._stop_expiring()
        if not self._holder.held:
            return self._lease / 3
        began = self._clock.monotonic()
        if began - self._renewed_at < _MIN_RENEWAL_INTERVAL:
            # A wake-up for a cancellation, perhaps for many: one renewal serves them all.
            return _MIN_RENEWAL_INTERVAL - (began - self._renewed_at)
        self._renewed_at = began
        refs = {LeaseRef(*key, attempt.claimed.incarnation): attempt for key, attempt in self._holder.held.items()}
        committing = [ref for ref, attempt in refs.items() if attempt.run.has_commit]
        held = list(refs)
        try:
            if committing:
                committed = await self._committed(committing, began)
                held = [ref for ref in held if ref not in committed]
            request = asyncio.ensure_future(
                self._store.leases.renew(self._holder.worker, held, self._lease, now=self._clock.now())
            )
            renewed: RenewResult = await response_within(request, self._renewal_timeout())
        except (StoreError, TimeoutError) as error:
            log.warning("leases of %d runs could not be renewed: %s", len(held), str(error) or "no response in time")
            return min(1.0, self._lease / 10)
        for item in held:
            attempt = self._holder.held.get((item.run_id, item.attempt))
            if attempt is None:
                continue
            if item.run_id not in renewed.held:
                # The attempt may have lost its lease because its outcome is just being recorded.
                if not self._holder.is_finishing((item.run_id, item.attempt)):
                    log.warning("run %d: attempt %d lost its lease", item.run_id, item.attempt)
                    self._holder.stop(attempt, "lease")
            else:
                attempt.lease_ends = began + self._lease
                if item.run_id in renewed.cancelled:
                    self._holder.stop(attempt, "cancel")
        # A lease starts with the request: after a slow response, the next renewal is due soon.
        return self._lease / 3 - (self._clock.monotonic() - began)

    async def _committed(self, refs: Sequence[LeaseRef], began: float) -> Collection[LeaseRef]:
        """The runs of these that a transaction of their task has finished, or is about to.

        Their rows are locked until that transaction ends, so a renewal would wait for it.
        """
        request = asyncio.ensure_future(self._store.leases.confirm(refs, now=self._clock.now()))
        confirmed = await response_within(request, self._renewal_timeout())
        for ref in refs:
            if ref.run_id in confirmed.succeeded and (ref.run_id, ref.attempt) in self._holder.held:
                # No worker will start it, so its function may continue after its commit.
                self._holder.held[ref.run_id, ref.attempt].lease_ends = began + self._lease
        return [ref for ref in refs if ref.run_id in confirmed.succeeded or ref.run_id in confirmed.open]

    def _renewal_timeout(self) -> float:
        """Seconds to wait for a renewal; it ends before work must stop because of a missing renewal."""
        ends = [attempt.lease_ends for attempt in self._holder.held.values() if attempt.stop_reason != "lease"]
        remaining = min(ends, default=self._clock.monotonic() + self._lease) - self._margin - self._clock.monotonic()
        return min(self._lease / 3, max(self._lease / 20, remaining))

    def _stop_expiring(self) -> None:
        """Stop work before its lease can have expired, because it may then start elsewhere."""
        for attempt in self._holder.held.values():
            if attempt.stop_reason != "lease" and attempt.is_expiring:
                log.error("run %d: its lease could not be renewed, stopping it", attempt.claimed.id)
                self._holder.stop(attempt, "lease")


async def response_within(request: asyncio.Future[T], seconds: float) -> T:
    """Wait for the response to a renewal; raises TimeoutError. A cancelled request may take long to unwind."""
    try:
        done, _ = await asyncio.wait([request], timeout=seconds)
    except asyncio.CancelledError:
        request.cancel()
        raise
    if not done:
        request.cancel()
        # Retrieve the exception, so that asyncio does not log it.
        request.add_done_callback(lambda call: call.cancelled() or call.exception())
        raise TimeoutError
    return request.result()
