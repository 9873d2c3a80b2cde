"""Simulated tasks, and the journal of their calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from tickbird import Run
from tickbird.domain.schedules.definition import Backoff
from tickbird.domain.schedules.fields import OnCrash
from tickbird.domain.targets.target import TASK
from tickbird.engine.task_errors import encode_error

if TYPE_CHECKING:
    from lab.simulation.host import Host
    from lab.simulation.timeline import SimulatedLoop


@dataclass
class TaskCall:
    """One call of a task's function: its worker, start, end and ending."""

    run_id: int
    attempt: int
    host: str
    thread: bool
    began: float
    # Set at the end: "done", "raised" or "stopped"; "died" if its process has ended.
    ended: float | None = None
    ending: str = ""


@dataclass
class TaskJournal:
    """The calls of all tasks, in the order in which they began."""

    calls: list[TaskCall] = field(default_factory=list)
    open: dict[str, list[TaskCall]] = field(default_factory=dict)

    def begin(self, host: str, run: Run, thread: bool, now: float) -> TaskCall:
        task_call = TaskCall(run.id, run.attempt, host, thread, now)
        self.calls.append(task_call)
        self.open.setdefault(host, []).append(task_call)
        return task_call

    def end(self, task_call: TaskCall, ending: str, now: float) -> None:
        if not task_call.ending:
            task_call.ended, task_call.ending = now, ending

    def is_busy(self, host: str) -> bool:
        """True if this process executes a task."""
        return any(not task_call.ending for task_call in self.open.get(host, []))

    def die(self, host: str, now: float) -> None:
        """End all calls of this process."""
        for task_call in self.open.pop(host, []):
            self.end(task_call, "died", now)


@dataclass(frozen=True)
class Behaviour:
    """How the tasks of a scenario behave; durations in seconds."""

    chance: Random
    lease: float

    def draw(self, *, calm: bool) -> tuple[float, bool]:
        """The duration of a call, and whether it raises."""
        if calm:
            return self.lease * 0.01 * self.chance.random(), False
        lengths = (0.0, 0.001, 0.02, 0.2, 1.0, 2.0, 4.0)
        duration = self.lease * self.chance.choice(lengths) * self.chance.random()
        return duration, self.chance.random() < 0.2


class SimulatedError(Exception):
    """The error of a simulated task."""


class SimulatedTask:
    """Implements the engine's Executable; a blocking one runs in simulated threads."""

    retries = 0
    backoff = Backoff()
    timeout: int | None = None
    isolation: None = None
    memory: None = None
    kind = TASK
    on_crash: OnCrash = "retry"

    def __init__(self, name: str, host: Host, *, blocking: bool) -> None:
        self.name = name
        self.blocking = blocking
        self._host = host

    def prepare(self, run: Run) -> Mapping[str, Any]:
        """Accept every payload."""
        return {"run": run}

    def describe(self) -> Mapping[str, Any]:
        return {"queue": "default", "schema": {}}

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """A coroutine; in a thread the outcome at once, which `SimulatedThreads` delays by its duration."""
        return arguments["enter"]() if self.blocking else self._work(arguments["run"])

    async def _work(self, run: Run) -> int:
        world = self._host.world
        duration, raises = world.behaviour.draw(calm=world.calm)
        task_call = world.journal.begin(self._host.id, run, False, world.elapsed)
        world.note(self._host.id, f"run {run.id} attempt {run.attempt} begins, for {duration:.3f} s")
        try:
            await asyncio.sleep(duration)
        except asyncio.CancelledError:
            world.journal.end(task_call, "stopped", world.elapsed)
            raise
        if raises:
            world.journal.end(task_call, "raised", world.elapsed)
            raise SimulatedError("simulated")
        world.journal.end(task_call, "done", world.elapsed)
        return run.id


class SimulatedThreads:
    """Simulates a thread pool: a call takes simulated time and checks only sometimes whether it should stop."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def begin(self, loop: SimulatedLoop, call: Callable[[], Any], arguments: Any) -> asyncio.Future[Any]:
        world, run = self._host.world, arguments["run"]
        duration, raises = world.behaviour.draw(calm=world.calm)
        polite = world.chance.random() < 0.5
        # The pool or the machine is busy: the process may be frozen before the function starts.
        waits = 0.0 if world.calm or world.chance.random() < 0.9 else world.behaviour.lease * world.chance.random()
        future: asyncio.Future[Any] = loop.create_future()
        calls: list[TaskCall] = []

        def enter() -> int:
            calls.append(world.journal.begin(self._host.id, run, True, world.elapsed))
            world.note(self._host.id, f"run {run.id} attempt {run.attempt} begins in a thread, for {duration:.3f} s")
            if raises:
                raise SimulatedError("simulated")
            return int(run.id)

        def start() -> None:
            outcome = _call(call)
            if not calls:
                # Refused before the function started.
                _set_outcome(future, outcome)
                return
            until = loop.time() + duration

            def poll() -> None:
                stopped = loop.time() < until and polite and run.cancelled
                if loop.time() < until and not stopped:
                    loop.call_at(min(until, loop.time() + max(duration / 4, 0.001)), poll)
                    return
                world.journal.end(calls[0], "stopped" if stopped else "raised" if raises else "done", world.elapsed)
                _set_outcome(future, encode_error(SimulatedError("simulated")) if stopped else outcome)

            loop.call_at(min(until, loop.time() + max(duration / 4, 0.001)) if polite else until, poll)

        arguments["enter"] = enter
        if waits:
            loop.call_at(loop.time() + waits, start)
        else:
            start()
        return future


def _call(call: Callable[[], Any]) -> Any:
    """Its result or its error."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - any error of a task is its outcome
        return error


def _set_outcome(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
