"""The executor: runs attempts in the loop of the user code, at most one per slot."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress

from tickbird.domain.runs.run import Outcome
from tickbird.engine.attempt import Attempt, StopReason
from tickbird.engine.processes.pool import ProcessPool

log = logging.getLogger("tickbird.engine")

Ending = tuple[Attempt, Outcome | None]
Collect = Callable[[int, Sequence[Ending]], None]
# Seconds after which a prefetched run is requeued, because it may start sooner on another worker.
_MAX_WAIT = 0.2


class RunExecutor:
    """Runs in the loop of the user code. Batches reports to the engine's loop, because each costs a thread switch."""

    def __init__(
        self,
        slots: int,
        loop: asyncio.AbstractEventLoop,
        threads: Executor | None,
        engine_loop: asyncio.AbstractEventLoop,
        collect: Collect,
        children: ProcessPool | None = None,
    ) -> None:
        self._slots = slots
        self._loop = loop
        self._threads = threads
        self._engine_loop = engine_loop
        self._collect = collect
        self._children = children
        self._executing = 0
        # Prefetched runs, each with the start of its wait.
        self._waiting: deque[tuple[float, Attempt]] = deque()
        self._returned = 0
        self._endings: list[Ending] = []
        self._flushing = False
        self._timer_is_set = False

    def start(self, attempts: Sequence[Attempt]) -> None:
        """Start as many attempts as there are free slots; the others start when slots become free."""
        now = self._loop.time()
        self._waiting.extend((now, attempt) for attempt in attempts)
        self._fill()

    def _fill(self) -> None:
        while self._waiting and self._executing < self._slots:
            _, attempt = self._waiting.popleft()
            if attempt.is_expiring:
                # The process was frozen after the claim. By now the run may have started elsewhere.
                log.error(
                    "run %d not started: its lease is about to expire; another worker rescues it", attempt.claimed.id
                )
                self._abandon(attempt, "lease")
                continue
            self._executing += 1
            try:
                attempt.begin(self._loop, self._threads, self, self._children)
            except Exception as error:  # noqa: BLE001 - an attempt that cannot start must not stop the others
                self.returned()
                self.ended(attempt, attempt.fail(error))
        if self._waiting and not self._timer_is_set:
            self._timer_is_set = True
            self._loop.call_later(_MAX_WAIT, self._requeue_delayed)

    def _requeue_delayed(self) -> None:
        """Requeue runs that have waited too long, because the running ones take longer than before."""
        self._timer_is_set = False
        overdue = self._loop.time() - _MAX_WAIT
        while self._waiting and self._waiting[0][0] <= overdue:
            self._abandon(self._waiting.popleft()[1], "drain")
        self._fill()

    def stop(self, attempt: Attempt, reason: StopReason) -> None:
        """Stop an attempt; an attempt that has not started just ends."""
        waiting = next((item for item in self._waiting if item[1] is attempt), None)
        if waiting is None:
            attempt.request_stop(reason)
        else:
            self._waiting.remove(waiting)
            self._abandon(attempt, reason)

    def requeue_unstarted(self) -> None:
        while self._waiting:
            self._abandon(self._waiting.popleft()[1], "drain")

    def requeue(self, attempts: Sequence[Attempt]) -> None:
        """Requeue runs that a claim leased while the worker began to drain."""
        for attempt in attempts:
            self._abandon(attempt, "drain")

    def _abandon(self, attempt: Attempt, reason: StopReason) -> None:
        self._returned += 1
        self.ended(attempt, attempt.outcome_if_unstarted(reason))

    def returned(self) -> None:
        self._executing -= 1
        self._returned += 1
        self._flush_soon()

    def ended(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self._endings.append((attempt, outcome))
        self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        returned, endings = self._returned, self._endings
        self._returned, self._endings, self._flushing = 0, [], False
        # The engine's loop may have ended.
        with suppress(RuntimeError):
            self._engine_loop.call_soon_threadsafe(self._collect, returned, endings)
        self._fill()
