"""Reconcile functions: called after a worker was lost, in a thread or in the loop of the user code."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from tickbird.domain.errors import PayloadError, StoreError
from tickbird.domain.runs.lost_runs import EFFECTS, Effect, ReconcileCall, ReconcileReport
from tickbird.domain.targets.target import TASK, TargetKey
from tickbird.domain.text import clean_text, describe
from tickbird.domain.workers import Worker
from tickbird.engine.clock import Clock
from tickbird.engine.task_errors import encode_error, refuse_awaitable
from tickbird.store.protocol.store import Store
from tickbird.targets.protocol import CURRENT, Executable, Reconcilable, Reconciler, Run

log = logging.getLogger("tickbird.engine")
# A function that does not return after its timeout occupies its place.
MAX_CALLS: Final = 4
# Seconds that a lease is longer than the timeout of the call.
_MARGIN: Final = 10.0
_MAX_SHOWN: Final = 100


def find_reconcilers(executables: Mapping[TargetKey, Executable]) -> dict[str, Reconciler]:
    """The reconcile functions of a worker, by task."""
    return {
        name: executable.reconciler
        for (kind, name), executable in executables.items()
        if kind == TASK and isinstance(executable, Reconcilable) and executable.reconciler is not None
    }


class ReconcileStep:
    """Claims calls of reconcile functions, and records their answers. Lives in the engine's loop."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        reconcilers: Mapping[str, Reconciler],
        work_loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker
        self._reconcilers = reconcilers
        self._work_loop = work_loop
        self._loop = asyncio.get_running_loop()
        self._lease = _MARGIN + max((reconciler.timeout for reconciler in reconcilers.values()), default=0)
        self._occupied = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_free: Callable[[], None] = lambda: None
        # Called after an answer that may have queued runs.
        self.on_runs: Callable[[], None] = lambda: None

    async def step(self) -> float | None:
        """Start as many calls as there are free places."""
        room = MAX_CALLS - self._occupied
        if not self._reconcilers or room <= 0:
            return None
        calls = await self._store.lost_runs.claim(
            self._worker, self._reconcilers, room, self._lease, now=self._clock.now()
        )
        for call in calls:
            self._occupied += 1
            task = asyncio.create_task(self._reconcile(call), name=f"tickbird reconcile {call.run.id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return None

    def stop(self) -> None:
        """Abandon the calls: when their leases have ended, other workers call again."""
        for task in self._tasks:
            task.cancel()

    async def _reconcile(self, call: ReconcileCall) -> None:
        run = call.run
        effect, error = await self._call(self._reconcilers[run.target], Run(run, None, self._worker.id))
        report = ReconcileReport(run_id=run.id, attempt=run.attempt, number=call.number, effect=effect, error=error)
        try:
            is_current = await self._store.lost_runs.report(report, now=self._clock.now())
        except StoreError as failure:
            log.warning("run %d: the answer of its reconcile function could not be recorded: %s", run.id, failure)
            return
        if not is_current:
            log.warning("run %d: the answer of its reconcile function came too late, it is discarded", run.id)
        elif effect == "unknown":
            reason = "" if error is None else f": {error.strip().rpartition(chr(10))[2][:500]}"
            log.warning("run %d: it is unknown whether it had its effect, a person decides%s", run.id, reason)
        else:
            log.info("run %d: its reconcile function answered %s", run.id, effect)
            self.on_runs()

    async def _call(self, reconciler: Reconciler, run: Run) -> tuple[Effect, str | None]:
        """The answer of the function, or "unknown" with the reason."""
        call = self._start(reconciler, run)
        call.add_done_callback(self._returned)
        waiting = asyncio.wrap_future(call)
        # The call may end later.
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        done, _ = await asyncio.wait([waiting], timeout=reconciler.timeout)
        if not done:
            call.cancel()
            return "unknown", f"the reconcile function took longer than its timeout of {reconciler.timeout} s"
        if waiting.cancelled():
            return "unknown", "the reconcile function was cancelled"
        error = waiting.exception()
        if isinstance(error, PayloadError):
            return "unknown", clean_text(str(error))
        if error is not None:
            return "unknown", encode_error(error).text
        for effect in EFFECTS:
            if waiting.result() == effect:
                return effect, None
        shown = clean_text(describe(waiting.result())[:_MAX_SHOWN])
        return "unknown", f'the reconcile function returned {shown}, which is neither "yes", "no" nor "unknown"'

    def _start(self, reconciler: Reconciler, run: Run) -> Future[Any]:
        context = contextvars.copy_context()
        context.run(CURRENT.set, run)
        if not reconciler.blocking:
            return asyncio.run_coroutine_threadsafe(_await(reconciler, run), self._work_loop)
        call: Future[Any] = Future()
        # Not of a pool: a process does not wait for a daemon thread that hangs.
        name = f"tickbird reconcile {run.id}"
        threading.Thread(target=context.run, args=(_block, reconciler, run, call), name=name, daemon=True).start()
        return call

    def _returned(self, _: Future[Any]) -> None:
        """Called in any thread."""
        # The engine's loop may have ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._free)

    def _free(self) -> None:
        self._occupied -= 1
        self.on_free()


async def _await(reconciler: Reconciler, run: Run) -> Any:
    return await reconciler.call(reconciler.prepare(run))


def _block(reconciler: Reconciler, run: Run, call: Future[Any]) -> None:
    try:
        result = reconciler.call(reconciler.prepare(run))
        refuse_awaitable(result)
    except BaseException as error:  # noqa: BLE001 - any error of user code is its answer
        _set(call.set_exception, error)
    else:
        _set(call.set_result, result)


def _set(end: Callable[[Any], None], value: Any) -> None:
    # The call was cancelled after its timeout.
    with suppress(Exception):
        end(value)
