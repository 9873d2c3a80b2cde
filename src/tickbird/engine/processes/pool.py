"""The children of a worker: started when there is a run for them, kept warm, and ended with the worker.

They have a thread and a loop of their own, so that neither the engine nor user code in the worker keeps them waiting.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from math import inf
from typing import Any, Literal, TypeVar

from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.run import ClaimedRun
from tickbird.engine.processes.command_process import CommandProcess
from tickbird.engine.processes.supervised_process import Stopped, SupervisedProcess
from tickbird.engine.processes.task_process import App, Call, TaskProcess
from tickbird.engine.task_errors import TaskFailure
from tickbird.targets.protocol import CommandTarget, EncodedResult, Executable, LaunchError, Run

log = logging.getLogger("tickbird.isolation")

P = TypeVar("P", bound=SupervisedProcess)
Reason = Literal["cancel", "drain", "lease", "timeout"]
# How long a run may go on that was asked to stop: a person may wait, a time-out or a drain is over already.
_GRACES: Mapping[Reason, float] = {"cancel": 5.0, "drain": 1.0, "timeout": 1.0, "lease": 1.0}
# Between SIGTERM and SIGKILL of a program, which cannot be asked in another way and may have files to put away.
_PROGRAMS: Mapping[Reason, float] = {"cancel": 10.0, "drain": 1.5, "timeout": 10.0, "lease": 1.5}
_UNWINDING = 0.5
MAX_RUNS = 1_000
IDLE = 60.0
# How long a child may take to import the app.
_STARTING = 60.0


class ChildRun:
    """A run that executes in a child, as its attempt sees it."""

    def __init__(self, children: ProcessPool, call: Call, answer: Future[EncodedResult]) -> None:
        self._children, self._call = children, call
        self.answer = answer

    def stop(self, reason: Reason) -> None:
        """End it, first by asking; may be called in any thread, and again for a more pressing reason."""
        self._children.stop(self._call, reason)


class ProcessPool:
    """The only way to them; its methods may be called in any thread."""

    def __init__(
        self,
        app: App | None,
        modules: Mapping[str, str],
        *,
        lease: float,
        idle: float = IDLE,
        most_runs: int = MAX_RUNS,
    ) -> None:
        # None where only programs are started.
        self._app = app
        # Task → the module that defines its function.
        self._modules = modules
        # Work must end well within the fifth of a lease that is left when it is asked to stop.
        self._shorter = min(1.0, lease / 30)
        self._after = idle
        self._most_runs = most_runs
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._all: set[SupervisedProcess] = set()
        self._idle: list[TaskProcess] = []
        self._calls: set[Call] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def execute(
        self,
        claimed: ClaimedRun,
        run: Run,
        executable: Executable,
        started: Callable[[], None],
        begin_by: Callable[[], float] = lambda: inf,
    ) -> ChildRun:
        """Begin a run; `started` is called in the children's thread when its function is.

        It must not begin after `begin_by`, which moves as its lease is renewed.
        """
        call = Call(claimed, run, self._modules.get(claimed.target, ""), executable.memory, started, begin_by)
        if isinstance(executable, CommandTarget):
            call.program = True
            return ChildRun(self, call, self._submit(self._start_program(call, executable)))
        return ChildRun(self, call, self._submit(self._execute(call)))

    def stop(self, call: Call, reason: Reason) -> None:
        """End a run, first by asking."""
        with suppress(RuntimeError):
            grace = (_PROGRAMS if call.program else _GRACES)[reason]
            self._begun().call_soon_threadsafe(call.stop, grace * self._shorter)

    def _submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._begun())

    def _begun(self) -> asyncio.AbstractEventLoop:
        """The loop, in its thread since the first run."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # The system ends the children with the thread that started them, so it lives as long as they may.
                self._thread = threading.Thread(target=self._loop.run_forever, name="tickbird children", daemon=True)
                self._thread.start()
            return self._loop

    async def _execute(self, call: Call) -> EncodedResult:
        self._calls.add(call)
        try:
            child = self._warm(call.memory) or await self._start(call)
            try:
                return await child.execute(call)
            finally:
                await self._put_back(child, call)
        finally:
            self._calls.discard(call)

    async def _start_program(self, call: Call, executable: CommandTarget) -> EncodedResult:
        self._calls.add(call)
        try:
            try:
                # Users may have to be looked up in a directory far away.
                what = await asyncio.to_thread(executable.launch, call.run)
            except LaunchError as error:
                raise TaskFailure(str(error)) from None
            except InvalidError as error:
                raise TaskFailure(str(error), again=False) from None
            if self._closed or call.grace is not None:
                raise Stopped
            process = self._spawned(CommandProcess)
            try:
                return await process.execute(call, what)
            finally:
                await process.kill(0)
                self._all.discard(process)
        finally:
            self._calls.discard(call)

    def _spawned(self, make: Callable[[], P]) -> P:
        try:
            process = make()
        except OSError as error:
            raise TaskFailure(f"no child process could be started: {error}") from None
        self._all.add(process)
        return process

    def _warm(self, limit: int | None) -> TaskProcess | None:
        """An idle child, the one that worked last; those that will not do are ended."""
        while self._idle:
            child = self._idle.pop()
            if child.fits(limit):
                return child
            self._let_go(child)
        return None

    async def _start(self, call: Call) -> TaskProcess:
        if self._closed or call.grace is not None:
            raise Stopped
        app = self._app
        assert app is not None
        child = self._spawned(lambda: TaskProcess(app, _UNWINDING * self._shorter))
        try:
            await child.start(app, call, _STARTING)
        except BaseException:
            await child.kill(0)
            self._all.discard(child)
            raise
        return child

    async def _put_back(self, child: TaskProcess, call: Call) -> None:
        """Keep a child for the next run, unless it was stopped or has left something behind."""
        left = () if child.gone else child.orphans()
        if left:
            call.run.log.debug("processes that it left behind are killed: %s", sorted(left))
        if left or child.gone or self._closed or call.grace is not None:
            await child.kill(0)
            self._all.discard(child)
        elif child.runs >= self._most_runs or not child.fits(call.memory):
            self._let_go(child)
        else:
            self._idle.append(child)
            asyncio.get_running_loop().call_later(self._after, self._end_idle, child, child.runs)

    def _end_idle(self, child: TaskProcess, runs: int) -> None:
        if child in self._idle and child.runs == runs:
            self._idle.remove(child)
            self._let_go(child)

    def _let_go(self, child: TaskProcess) -> None:
        task = asyncio.get_running_loop().create_task(self._leave(child))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _leave(self, child: TaskProcess) -> None:
        await child.leave()
        self._all.discard(child)

    def close(self) -> None:
        """End them all and the thread; waits for that, so it is not for the thread of a busy loop."""
        if self._loop is None or self._thread is None:
            return
        self._submit(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._closed = True
        for call in self._calls:
            call.stop(0.0)
        while self._calls:  # noqa: ASYNC110 - each is killed within a moment
            await asyncio.sleep(0.005)
        idle, self._idle = self._idle, []
        for child in idle:
            self._let_go(child)
        while self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(*(child.kill(0) for child in list(self._all)))
