"""Virtual time: event loops that never wait, one per simulated process, run one at a time in seeded order."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from random import Random
from typing import Any, Protocol, cast

# A loop that runs this many callbacks at one instant never lets time pass.
_MAX_CALLBACKS = 50_000
# After this many errors, the simulation stops: it would repeat the error for months.
_MAX_ERRORS = 20


class Threads(Protocol):
    """A simulated thread pool: it decides how long a blocking call takes."""

    def begin(self, loop: SimulatedLoop, call: Callable[[], Any], arguments: Any) -> asyncio.Future[Any]:
        """Start a blocking call; returns the future of its result."""
        ...


class Stuck(Exception):
    """A process is busy forever at one instant."""


class Timeline:
    """The only clock, in seconds since the start of the simulation, and all its loops."""

    def __init__(self, chance: Random) -> None:
        self.elapsed = 0.0
        self._chance = chance
        self._timers: list[tuple[float, int, SimulatedLoop, asyncio.TimerHandle]] = []
        self._order = 0
        self._busy: list[SimulatedLoop] = []
        self._doomed: list[SimulatedLoop] = []
        self.errors: list[str] = []

    def add_timer(self, loop: SimulatedLoop, handle: asyncio.TimerHandle) -> None:
        """Call this handle at its time."""
        self._order += 1
        heapq.heappush(self._timers, (handle.when(), self._order, loop, handle))

    def is_ready(self, loop: SimulatedLoop) -> None:
        """Record that this loop has callbacks to run."""
        self._busy.append(loop)

    def doom(self, loop: SimulatedLoop) -> None:
        """End a process when the current callback returns."""
        self._doomed.append(loop)

    def run(self, until: float) -> None:
        """Run all events up to an instant."""
        while True:
            self._run_ready()
            if len(self.errors) > _MAX_ERRORS:
                return
            while self._timers and (self._timers[0][3].cancelled() or self._timers[0][2].dead):
                heapq.heappop(self._timers)
            if not self._timers or self._timers[0][0] > until:
                self.elapsed = max(self.elapsed, until)
                return
            when, _, loop, handle = heapq.heappop(self._timers)
            self.elapsed = max(self.elapsed, when)
            loop.add(handle)

    def _run_ready(self) -> None:
        """Run every loop with callbacks at this instant, in seeded order."""
        while self._busy or self._doomed:
            while self._doomed:
                self._doomed.pop().bury()
            if self._busy:
                index = self._chance.randrange(len(self._busy)) if len(self._busy) > 1 else 0
                self._busy.pop(index).run_ready()


class SimulatedLoop(asyncio.AbstractEventLoop):
    """The event loop of one simulated process, which can be frozen or killed."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._ready: deque[asyncio.Handle] = deque()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listed = False
        self.frozen = False
        self.dead = False

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start work in this process from outside."""
        return self.create_task(work)

    def add(self, handle: asyncio.Handle) -> None:
        """Run this callback as soon as the process gets to it."""
        self._ready.append(handle)
        if not self._listed and not self.frozen and not self.dead:
            self._listed = True
            self._timeline.is_ready(self)

    def run_ready(self) -> None:
        """Run callbacks until none is left, or the process stops."""
        self._listed = False
        asyncio._set_running_loop(self)
        try:
            done = 0
            while self._ready and not self.frozen and not self.dead:
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
                done += 1
                if done % 100 == 0:
                    # Work takes time; otherwise a wait that is shorter than the precision of floats would never end.
                    self._timeline.elapsed += 0.000_001
                if done > _MAX_CALLBACKS:
                    raise Stuck(f"busy forever at {self._timeline.elapsed}")
        finally:
            asyncio._set_running_loop(None)

    def freeze(self) -> None:
        """Stop at once, like SIGSTOP; its clock continues."""
        self.frozen = True

    def thaw(self) -> None:
        """Continue with everything that has become due meanwhile."""
        self.frozen = False
        if self._ready and not self._listed and not self.dead:
            self._listed = True
            self._timeline.is_ready(self)

    def die(self) -> None:
        """End at once: nothing of it runs any more."""
        if not self.dead:
            self.dead = True
            self._timeline.doom(self)

    def bury(self) -> None:
        """Unwind the coroutines of a dead process, whose effects do not matter, so that none is left pending."""
        asyncio._set_running_loop(self)
        try:
            for _ in range(20):
                for task in list(self._tasks):
                    task.cancel()
                while self._ready:
                    self._ready.popleft()._run()
                if not self._tasks:
                    return
        finally:
            asyncio._set_running_loop(None)

    # The interface of an asyncio loop

    def time(self) -> float:
        return self._timeline.elapsed

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:  # type: ignore[override]
        handle = asyncio.Handle(callback, args, self, context)
        self.add(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._timeline.add_timer(self, handle)
        return handle

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Cancelled timers are dropped at their time."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, *, name: str | None = None, context: Context | None = None) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        if executor is None:
            # A computation takes no simulated time.
            done: asyncio.Future[Any] = self.create_future()
            try:
                done.set_result(func(*args))
            except Exception as error:  # noqa: BLE001 - the caller of the computation raises it
                done.set_exception(error)
            return done
        future: asyncio.Future[Any] = executor.begin(self, lambda: func(*args), args[-1])
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is not None and not self.dead:
            self._timeline.errors.append(f"{context.get('message')}: {error!r}")


def new_loop(timeline: Timeline) -> SimulatedLoop:
    """A loop that implements only the part of asyncio's interface that coroutines need."""
    loop: SimulatedLoop = cast(Any, SimulatedLoop)(timeline)
    return loop
