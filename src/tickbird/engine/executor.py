"""Where attempts are executed: in the loop of the user's code, as many at a time as there are slots."""

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
# What has waited here for so long may start sooner elsewhere.
_MAX_WAIT = 0.2


class RunExecutor:
    """Every method is called in the loop that executes; the engine's loop is told once per turn, for that is costly."""

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
        # Claimed ahead, with the instant since which they wait.
        self._waiting: deque[tuple[float, Attempt]] = deque()
        self._returned = 0
        self._endings: list[Ending] = []
        self._turning = False
        self._looking = False

    def start(self, attempts: Sequence[Attempt]) -> None:
        """Begin them all, or as many as there are slots; the others begin as slots become free."""
        now = self._loop.time()
        self._waiting.extend((now, attempt) for attempt in attempts)
        self._fill()

    def _fill(self) -> None:
        while self._waiting and self._executing < self._slots:
            _, attempt = self._waiting.popleft()
            if attempt.is_expiring:
                # The process stood still since it was leased: by now it may have begun elsewhere.
                log.error("run %d is left to others: its lease ends before it could begin", attempt.claimed.id)
                self._leave(attempt, "lease")
                continue
            self._executing += 1
            try:
                attempt.begin(self._loop, self._threads, self, self._children)
            except Exception as error:  # noqa: BLE001 - one that cannot begin keeps no other one waiting
                self.returned()
                self.ended(attempt, attempt.fail(error))
        if self._waiting and not self._looking:
            self._looking = True
            self._loop.call_later(_MAX_WAIT, self._requeue_delayed)

    def _requeue_delayed(self) -> None:
        """Put back what has waited too long: what is executing takes longer than it used to."""
        self._looking = False
        overdue = self._loop.time() - _MAX_WAIT
        while self._waiting and self._waiting[0][0] <= overdue:
            self._leave(self._waiting.popleft()[1], "drain")
        self._fill()

    def stop(self, attempt: Attempt, reason: StopReason) -> None:
        """Ask an attempt to stop; one that has not begun just ends."""
        waiting = next((each for each in self._waiting if each[1] is attempt), None)
        if waiting is None:
            attempt.request_stop(reason)
        else:
            self._waiting.remove(waiting)
            self._leave(attempt, reason)

    def put_back(self) -> None:
        """Keep nothing that has not begun."""
        while self._waiting:
            self._leave(self._waiting.popleft()[1], "drain")

    def _leave(self, attempt: Attempt, reason: StopReason) -> None:
        self._returned += 1
        self.ended(attempt, attempt.unstarted(reason))

    def returned(self) -> None:
        """A function is really done, and its slot is free."""
        self._executing -= 1
        self._returned += 1
        self._turn_soon()

    def ended(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """This is the outcome to record; None when the lease was lost."""
        self._endings.append((attempt, outcome))
        self._turn_soon()

    def _turn_soon(self) -> None:
        if not self._turning:
            self._turning = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        returned, endings = self._returned, self._endings
        self._returned, self._endings, self._turning = 0, [], False
        # A loop that has ended does not listen any more.
        with suppress(RuntimeError):
            self._engine_loop.call_soon_threadsafe(self._collect, returned, endings)
        self._fill()
