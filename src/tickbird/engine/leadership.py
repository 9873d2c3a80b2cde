"""Leader mode: this worker plans only while it is the leader, under a term that the store has issued."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Final

from tickbird.domain.errors import SchedulesUnusableError, StoreError, TermEndedError
from tickbird.domain.leadership import Election
from tickbird.domain.workers import Worker
from tickbird.engine.clock import Clock
from tickbird.engine.leases import response_within
from tickbird.engine.planner_step import PlannerStep
from tickbird.store.protocol.leadership import LeadershipStore

log = logging.getLogger("tickbird.engine")

# As parts of the timeout: the time between heartbeats, the pause after a heartbeat without a response, the time before
# the end of the lease at which a leader no longer trusts it, and the maximum delay of a candidate.
_HEARTBEAT: Final = 1 / 3
_RETRY: Final = 1 / 30
_MARGIN: Final = 1 / 10
_JITTER: Final = 1 / 20
_MAX_MARGIN: Final = 5.0
_MAX_RETRY: Final = 1.0
# Seconds that a worker leaves to other candidates after its term has ended.
_YIELD: Final = 2.0
# Planning steps that failed in a row, after which the leader resigns.
_MAX_FAILURES: Final = 3
# Seconds to wait for the end of a planning step, and for the store's response to a resignation.
_MAX_STEP: Final = 5.0
_MAX_RESIGNATION: Final = 5.0


class Leadership:
    """Elects this worker if there is no leader, renews its lease, and plans while it is trusted.

    Any doubt means that this worker is not the leader: planning is cut off first, then the rest is cleaned up.
    """

    def __init__(
        self,
        store: LeadershipStore,
        clock: Clock,
        worker: Callable[[], Worker],
        planner: PlannerStep,
        *,
        timeout: float,
        may_lead: Callable[[], bool],
        is_second_choice: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker
        self._planner = planner
        self._timeout = timeout
        self._may_lead = may_lead
        # True if other workers should lead, for example because this one plans only schedules in UTC.
        self._is_second_choice = is_second_choice
        self._term: int | None = None
        # Monotonic instants: until when the lease is trusted, and from when on this worker is a candidate.
        self._trusted_until = float("-inf")
        self._candidate_at = float("-inf")
        self._planning: asyncio.Future[float | None] | None = None
        self._runs = self._skips = self._failures = 0
        self._ending = False
        # A second choice leaves a vacant lease to other candidates for a moment.
        self._has_yielded = False
        # The tables of the leader cannot be used, so no worker can plan.
        self.is_unusable = False
        self.on_unusable: Callable[[SchedulesUnusableError], object] = lambda error: None
        # Called when a term of this worker has begun.
        self.on_elected: Callable[[], None] = lambda: None

    @property
    def term(self) -> int | None:
        """The term of this worker; None if it is not the leader, or not certain to be."""
        return self._term if self._clock.monotonic() < self._trusted_until else None

    async def step(self) -> float | None:
        """Elect this worker, or renew its lease; returns the seconds until the next attempt."""
        if not self._may_lead() or self._ending:
            await self.resign("this worker cannot plan")
            return None
        try:
            delay = await (self._elect() if self._term is None else self._renew())
        except SchedulesUnusableError as error:
            self.is_unusable = True
            self.on_unusable(error)
            raise
        return delay

    async def plan(self) -> float | None:
        """Plan if this worker is the leader; returns the seconds until the next schedule is due."""
        term = self.term
        if term is None or self._ending:
            return None
        planning = self._planning = asyncio.ensure_future(self._planner.step(term))
        try:
            delay = await asyncio.shield(planning)
        except asyncio.CancelledError:
            if not planning.cancelled():
                planning.cancel()
                raise
            # It was cut off.
            return None
        except TermEndedError:
            self._lose(term, "the store does not have it any more")
            return None
        except SchedulesUnusableError:
            # No other worker could plan either. This one continues in fallback.
            raise
        except (StoreError, OSError) as error:
            self._failures += 1
            # Without a response to a heartbeat, the store is the problem, and another leader could not plan either.
            if self._failures >= _MAX_FAILURES and await self._reaches_store(term):
                await self._hand_over(term, f"planning failed: {error}")
                return None
            raise
        finally:
            self._planning = None
        self._failures = 0
        return delay

    def count(self, runs: int, skips: int) -> None:
        """Count the runs and skips of a planning step; the next heartbeat reports them."""
        self._runs, self._skips = self._runs + runs, self._skips + skips

    async def resign(self, note: str) -> None:
        """End the term, so that another worker takes over at once; no effect if this worker is not the leader."""
        term = self._term
        if term is None:
            return
        # No planning step begins any more; the current one is short, and may have leased runs to this worker.
        self._term = None
        await self._end_planning()
        worker = self._worker()
        request = asyncio.ensure_future(
            self._store.resign(term, worker.id, note=note, runs=self._runs, skips=self._skips, now=self._clock.now())
        )
        try:
            await response_within(request, min(_MAX_RESIGNATION, self._timeout))
        except (StoreError, TimeoutError) as error:
            log.warning(
                "leader: could not resign from term %d: %s; another worker takes over in %.0f s",
                term,
                str(error) or "no response in time",
                self._timeout,
            )
        else:
            log.info("leader: resigned from term %d: %s", term, note)

    async def end(self, note: str) -> None:
        """Resign, and do not become the leader again."""
        self._ending = True
        await self.resign(note)

    async def _reaches_store(self, term: int) -> bool:
        """True if a heartbeat succeeds although planning fails."""
        remaining = self._trusted_until - self._clock.monotonic()
        request = asyncio.ensure_future(self._store.renew(term, self._worker().id, now=self._clock.now()))
        try:
            return await response_within(request, min(_MAX_STEP, max(0.0, remaining))) is not None
        except (StoreError, TimeoutError):
            return False

    async def _hand_over(self, term: int, note: str) -> None:
        """Resign and leave the next term to another worker, if there is one."""
        log.error("leader: resigning from term %d: %s", term, note)
        self._failures = 0
        self._candidate_at = self._clock.monotonic() + self._timeout * _HEARTBEAT
        await self.resign(note[:500])

    async def _elect(self) -> float:
        wait = self._candidate_at - self._clock.monotonic()
        if wait > 0:
            return wait
        if self._is_second_choice() and not self._has_yielded:
            self._has_yielded = True
            return _YIELD
        self._has_yielded = False
        began = self._clock.monotonic()
        request = asyncio.ensure_future(self._store.elect(self._worker(), self._timeout, now=self._clock.now()))
        try:
            election: Election = await response_within(request, self._timeout * _HEARTBEAT)
            self.is_unusable = False
        except TimeoutError:
            # If it succeeded, the next attempt replaces the term.
            log.warning("leader: the election had no response in time")
            return self._timeout * _HEARTBEAT
        if not election.elected:
            delay = election.lease.expires_in(election.now) + random.uniform(0, self._timeout * _JITTER)  # noqa: S311
            return delay + (self._timeout * _HEARTBEAT if self._is_second_choice() else 0.0)
        self._runs = self._skips = self._failures = 0
        self._trust(began)
        self._term = election.lease.term
        if self.term is None:
            self._lose(election.lease.term, "the response to the election was too slow")
            return 0.0
        log.info("leader: term %d began", election.lease.term)
        if self._ending:
            await self.resign("the worker drains")
            return 0.0
        self.on_elected()
        return self._next_heartbeat(began)

    async def _renew(self) -> float:
        began, term = self._clock.monotonic(), self._term
        if term is None or self.term is None:
            self._lose(term, "no heartbeat succeeded in time")
            return 0.0
        request = asyncio.ensure_future(
            self._store.renew(term, self._worker().id, runs=self._runs, skips=self._skips, now=self._clock.now())
        )
        try:
            lease = await response_within(request, self._trusted_until - began)
            self.is_unusable = False
        except TimeoutError:
            self._lose(term, "the heartbeat had no response in time")
            return 0.0
        except StoreError as error:
            log.warning("leader: heartbeat of term %d failed: %s", term, error)
            self.is_unusable = isinstance(error, SchedulesUnusableError)
            # It may have been written or not: the lease is trusted until its end, and no longer.
            return min(_MAX_RETRY, self._timeout * _RETRY)
        if self._term != term:
            return 0.0
        if lease is None:
            self._lose(term, "the store does not have it any more")
            return _YIELD
        self._trust(began)
        if self.term is None:
            self._lose(term, "the response to the heartbeat was too slow")
            return 0.0
        return self._next_heartbeat(began)

    def _trust(self, began: float) -> None:
        """Trust the lease from the start of the attempt, so that a slow response does not make it longer."""
        self._trusted_until = began + self._timeout - min(_MAX_MARGIN, self._timeout * _MARGIN)

    def _next_heartbeat(self, began: float) -> float:
        return max(0.0, self._timeout * _HEARTBEAT - (self._clock.monotonic() - began))

    def _lose(self, term: int | None, reason: str) -> None:
        """Be the leader no longer; the store's lease expires by itself, or has gone to another worker."""
        self._term = None
        if self._planning is not None:
            self._planning.cancel()
        self._candidate_at = self._clock.monotonic() + min(_YIELD, self._timeout * _HEARTBEAT)
        log.warning("leader: term %s ended here: %s", term, reason)

    async def _end_planning(self) -> None:
        """Wait for the current planning step; cut it off if it takes long."""
        planning = self._planning
        if planning is None or planning.done():
            return
        await asyncio.wait([planning], timeout=min(_MAX_STEP, self._timeout * _HEARTBEAT))
        if not planning.done():
            planning.cancel()
            await asyncio.wait([planning], timeout=_MAX_STEP)
