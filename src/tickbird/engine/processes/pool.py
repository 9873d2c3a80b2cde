"""The child processes of a worker: started for a run, reused for further runs, and ended with the worker.

They have their own thread and loop, so that neither the engine nor user code in the worker delays them.
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
from tickbird.engine.processes.supervised_process import RunStopped, SupervisedProcess
from tickbird.engine.processes.task_process import ChildConfig, RunRequest, TaskProcess
from tickbird.engine.task_errors import TaskFailure
from tickbird.targets.protocol import CommandTarget, EncodedResult, Executable, LaunchError, Run

log = logging.getLogger("tickbird.isolation")

P = TypeVar("P", bound=SupervisedProcess)
Reason = Literal["cancel", "drain", "lease", "timeout"]
# Seconds from the request to stop a task to SIGTERM.
_TASK_GRACE: Mapping[Reason, float] = {"cancel": 5.0, "drain": 1.0, "timeout": 1.0, "lease": 1.0}
# Seconds from SIGTERM to SIGKILL of a command; a command has no other way to be stopped.
_COMMAND_GRACE: Mapping[Reason, float] = {"cancel": 10.0, "drain": 1.5, "timeout": 10.0, "lease": 1.5}
_UNWINDING = 0.5
MAX_RUNS = 1_000
IDLE = 60.0
# Seconds that a child may take to import the app.
_STARTING = 60.0


class ChildRun:
    """The handle of a run in a child, for its attempt."""

    def __init__(self, children: ProcessPool, request: RunRequest, future: Future[EncodedResult]) -> None:
        self._children, self._request = children, request
        self.future = future

    def stop(self, reason: Reason) -> None:
        """Request a stop, then kill it; callable from any thread, and again for a more urgent reason."""
        self._children.stop(self._request, reason)


class ProcessPool:
    """The pool of children. Call its methods from any thread."""

    def __init__(
        self,
        config: ChildConfig | None,
        modules: Mapping[str, str],
        *,
        lease: float,
        idle: float = IDLE,
        max_runs: int = MAX_RUNS,
    ) -> None:
        # None if only commands are executed.
        self._config = config
        # Task → the module that defines its function.
        self._modules = modules
        # A run is stopped when a fifth of its lease is left, and must end well within that time.
        self._grace_factor = min(1.0, lease / 30)
        self._idle_seconds = idle
        self._max_runs = max_runs
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._all: set[SupervisedProcess] = set()
        self._idle: list[TaskProcess] = []
        self._requests: set[RunRequest] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def execute(
        self,
        claimed: ClaimedRun,
        run: Run,
        executable: Executable,
        started: Callable[[], None],
        begin_by: Callable[[], float] = lambda: inf,
    ) -> ChildRun:
        """Start a run; `started` is called in the children's thread when its function starts.

        The function must not start after `begin_by`, which moves when the lease is renewed.
        """
        request = RunRequest(claimed, run, self._modules.get(claimed.target, ""), executable.memory, started, begin_by)
        if isinstance(executable, CommandTarget):
            request.program = True
            return ChildRun(self, request, self._submit(self._execute_command(request, executable)))
        return ChildRun(self, request, self._submit(self._execute(request)))

    def stop(self, request: RunRequest, reason: Reason) -> None:
        """Request a stop, then kill the run."""
        with suppress(RuntimeError):
            grace = (_COMMAND_GRACE if request.program else _TASK_GRACE)[reason]
            self._ensure_loop().call_soon_threadsafe(request.stop, grace * self._grace_factor)

    def _submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._ensure_loop())

    def _ensure_loop(self) -> asyncio.AbstractEventLoop:
        """Start the loop and its thread with the first run."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # The kernel ends the children together with the thread that started them: the thread must outlive them.
                self._thread = threading.Thread(target=self._loop.run_forever, name="tickbird children", daemon=True)
                self._thread.start()
            return self._loop

    async def _execute(self, request: RunRequest) -> EncodedResult:
        self._requests.add(request)
        try:
            child = self._warm(request.memory) or await self._start(request)
            try:
                return await child.execute(request)
            finally:
                await self._reuse_or_end(child, request)
        finally:
            self._requests.discard(request)

    async def _execute_command(self, request: RunRequest, executable: CommandTarget) -> EncodedResult:
        self._requests.add(request)
        try:
            try:
                # Looking up users may query a directory service.
                spec = await asyncio.to_thread(executable.launch, request.run)
            except LaunchError as error:
                raise TaskFailure(str(error)) from None
            except InvalidError as error:
                raise TaskFailure(str(error), may_retry=False) from None
            if self._closed or request.grace is not None:
                raise RunStopped
            process = self._spawn(CommandProcess)
            try:
                return await process.execute(request, spec)
            finally:
                await process.kill(0)
                self._all.discard(process)
        finally:
            self._requests.discard(request)

    def _spawn(self, make: Callable[[], P]) -> P:
        try:
            process = make()
        except OSError as error:
            raise TaskFailure(f"no child process could be started: {error}") from None
        self._all.add(process)
        return process

    def _warm(self, limit: int | None) -> TaskProcess | None:
        """Return the idle child that was used last; end children that use too much memory for `limit`."""
        while self._idle:
            child = self._idle.pop()
            if child.fits(limit):
                return child
            self._leave_soon(child)
        return None

    async def _start(self, request: RunRequest) -> TaskProcess:
        if self._closed or request.grace is not None:
            raise RunStopped
        config = self._config
        assert config is not None
        child = self._spawn(lambda: TaskProcess(config, _UNWINDING * self._grace_factor))
        try:
            await child.start(config, request, _STARTING)
        except BaseException:
            await child.kill(0)
            self._all.discard(child)
            raise
        return child

    async def _reuse_or_end(self, child: TaskProcess, request: RunRequest) -> None:
        """Reuse a child for the next run, unless it was stopped or has left processes behind."""
        orphans = () if child.gone else child.orphans()
        if orphans:
            request.run.log.debug("killing processes that the run left behind: %s", sorted(orphans))
        if orphans or child.gone or self._closed or request.grace is not None:
            await child.kill(0)
            self._all.discard(child)
        elif child.runs >= self._max_runs or not child.fits(request.memory):
            self._leave_soon(child)
        else:
            self._idle.append(child)
            asyncio.get_running_loop().call_later(self._idle_seconds, self._end_idle, child, child.runs)

    def _end_idle(self, child: TaskProcess, runs: int) -> None:
        if child in self._idle and child.runs == runs:
            self._idle.remove(child)
            self._leave_soon(child)

    def _leave_soon(self, child: TaskProcess) -> None:
        task = asyncio.get_running_loop().create_task(self._leave(child))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _leave(self, child: TaskProcess) -> None:
        await child.leave()
        self._all.discard(child)

    def close(self) -> None:
        """End all children and the thread. It blocks, so do not call it from an event loop."""
        if self._loop is None or self._thread is None:
            return
        self._submit(self._close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._closed = True
        for request in self._requests:
            request.stop(0.0)
        while self._requests:  # noqa: ASYNC110 - each is killed within a moment
            await asyncio.sleep(0.005)
        idle, self._idle = self._idle, []
        for child in idle:
            self._leave_soon(child)
        while self._tasks:
            await asyncio.wait(self._tasks)
        await asyncio.gather(*(child.kill(0) for child in list(self._all)))
