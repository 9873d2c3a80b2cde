"""One attempt of one run: prepare the arguments, call the function, and derive the outcome."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, Final, Literal, Protocol

from tickbird.domain.errors import PayloadError
from tickbird.domain.runs.run import ClaimedRun, FailureKind, Outcome, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.text import clean_text
from tickbird.engine.monotonic import steady
from tickbird.engine.processes.pool import ChildRun, ProcessPool, Reason
from tickbird.engine.result_encoding import encode_value
from tickbird.engine.task_errors import LateStart, TaskFailure, encode_error, refuse_awaitable
from tickbird.targets.protocol import (
    CURRENT,
    EncodedResult,
    Executable,
    LostRun,
    PostponedRun,
    RecordedOutcome,
    Run,
    RunSink,
)

log = logging.getLogger("tickbird.engine")

StopReason = Literal["cancel", "drain", "lease"]
Result = EncodedResult | RecordedOutcome
# Seconds that a coroutine past its timeout has to clean up before the timeout is recorded.
_CLEANUP_SECONDS = 1.0
# The error of a run whose transaction was rolled back, although its function has returned.
NOT_COMMITTED: Final = "the transaction in which run.finish_in was called was not committed"


class AttemptListener(Protocol):
    """Called in the executing loop when an attempt returns or has an outcome."""

    def returned(self) -> None:
        """Release the slot of a function that has returned."""
        ...

    def ended(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """Record an outcome; None if the lease was lost."""
        ...


class Attempt:
    """A run on this worker, from claim to finish. Call its methods in the executing loop."""

    __slots__ = (
        "_call",
        "_child_run",
        "_listener",
        "_loop",
        "_margin",
        "_may_restart",
        "_monotonic",
        "_policy",
        "_timed_out",
        "_timer",
        "claimed",
        "executable",
        "has_outcome",
        "key",
        "lease_ends",
        "run",
        "stop_reason",
    )

    def __init__(
        self,
        claimed: ClaimedRun,
        executable: Executable,
        lease_ends: float,
        sink: RunSink | None = None,
        *,
        worker: str | None = None,
        margin: float = 0.0,
        monotonic: Callable[[], float] = steady,
    ) -> None:
        self.claimed = claimed
        # Run and attempt: the fencing token.
        self.key = claimed.id, claimed.attempt
        self.run = Run(claimed, sink, worker)
        self.executable = executable
        # The policies that the run was planned with; a run without a schedule has its task's policies.
        definition = claimed.definition
        self._policy: Definition | Executable = definition or executable
        self._may_restart = self._policy.on_crash == "retry"
        # On the worker's monotonic clock. Afterwards another worker may have the run.
        self.lease_ends = lease_ends
        self._margin, self._monotonic = margin, monotonic
        self.stop_reason: StopReason | None = None
        self._call: asyncio.Future[Result] | None = None
        # Set if a child process executes the run.
        self._child_run: ChildRun | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timed_out = False
        self.has_outcome = False

    @property
    def is_expiring(self) -> bool:
        """True if less than the margin of the lease is left: too late to start, time to stop."""
        return self._monotonic() > self.begin_by()

    def begin_by(self) -> float:
        """The latest instant at which its function may start, on the worker's monotonic clock."""
        return self.lease_ends - self._margin

    def request_stop(self, reason: StopReason) -> None:
        """Cancel a coroutine, end a child process, or set the stop flag of a thread."""
        # A lost lease outweighs everything: its outcome must not be sent.
        if self.stop_reason is None or reason == "lease":
            self.stop_reason = reason
        self._cancel(reason)

    def _cancel(self, reason: Reason) -> None:
        self.run.request_stop()
        if self._child_run is not None:
            self._child_run.stop(reason)
        elif self._call is not None and not self.executable.blocking:
            self._call.cancel()

    def end_child(self, reason: StopReason) -> None:
        """End a child process; callable from any thread, because user code may block the loop."""
        if self._child_run is not None:
            self._child_run.stop(reason)

    def begin(
        self,
        loop: asyncio.AbstractEventLoop,
        threads: Executor | None,
        listener: AttemptListener,
        children: ProcessPool | None = None,
    ) -> None:
        """Start the function; the listener is called when it returns and when it has an outcome."""
        self._loop, self._listener = loop, listener
        if children is not None and self.executable.isolation is not None:
            self._run_in_child(children)
            return
        # Each attempt has its own context, so that none sees the variables of another.
        context = contextvars.copy_context()
        context.run(CURRENT.set, self.run)
        try:
            arguments = context.run(self.executable.prepare, self.run)
        except BaseException as error:  # noqa: BLE001 - a payload or signature that is wrong stays wrong
            listener.returned()
            text = clean_text(str(error)) if isinstance(error, PayloadError) else encode_error(error).text
            self._report(self._failed("raised", text, may_retry=False))
            return
        self.run.pause_timeout, self.run.restart_timeout = self._pause_timer, self._set_timer
        self._call = self._start(arguments, threads, context)
        self._set_timer()
        self._call.add_done_callback(self._done)

    def _run_in_child(self, children: ProcessPool) -> None:
        self._child_run = children.execute(self.claimed, self.run, self.executable, self._on_started, self.begin_by)
        future: Future[Any] = self._child_run.future
        self._call = asyncio.wrap_future(future, loop=self._loop)
        self._call.add_done_callback(self._done)

    def _on_started(self) -> None:
        """Called in the children's thread: the timeout starts with the function, not with the child."""
        # The loop may have ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set_timer)

    def _set_timer(self) -> None:
        timeout = self._policy.timeout
        if timeout is not None and self._call is not None and not self._call.done():
            self._timer = self._loop.call_later(timeout, self._time_out)

    def _pause_timer(self) -> None:
        if self._timer is not None and not self._timed_out:
            self._timer.cancel()

    def _start(self, arguments: Any, threads: Executor | None, context: contextvars.Context) -> asyncio.Future[Result]:
        if not self.executable.blocking:
            return self._loop.create_task(self._await(arguments), context=context)
        if threads is not None:
            return self._loop.run_in_executor(threads, context.run, self._block, arguments)
        inline = self._loop.create_future()
        try:
            inline.set_result(context.run(self._block, arguments))
        except (TaskFailure, LateStart) as error:
            inline.set_exception(error)
        return inline

    def _check_lease(self) -> None:
        """Called directly before the function, because the process may have been frozen."""
        self.run.lease_checked_at = time.monotonic()
        if self.is_expiring:
            raise LateStart

    async def _await(self, arguments: Any) -> Result:
        self._check_lease()
        try:
            result = await self.executable.call(arguments)
            # Not isinstance: a result may have any `__class__`.
            return result if type(result) is RecordedOutcome else EncodedResult(encode_value(result))
        except (asyncio.CancelledError, PostponedRun, LostRun):
            raise
        except BaseException as error:  # noqa: BLE001 - any error of a task is its outcome
            raise encode_error(error) from None

    def _block(self, arguments: Any) -> EncodedResult:
        self._check_lease()
        try:
            result = self.executable.call(arguments)
            refuse_awaitable(result)
            return EncodedResult(encode_value(result))
        except BaseException as error:  # noqa: BLE001 - any error of a task is its outcome
            raise encode_error(error) from None

    def _time_out(self) -> None:
        """Give a coroutine a moment to clean up; a thread keeps its slot until it returns; a child process is ended."""
        assert self._call is not None
        if self._call.done():
            return
        self._timed_out = True
        self._cancel("timeout")
        if self._child_run is not None:
            # The timeout is reported when the child has ended.
            return
        if self.executable.blocking:
            self._report_time_out()
        else:
            self._timer = self._loop.call_later(_CLEANUP_SECONDS, self._report_time_out)

    def _report_time_out(self) -> None:
        if not self.has_outcome:
            self._report(self._failed("timeout", f"took longer than its timeout of {self._policy.timeout} s"))

    def _done(self, call: asyncio.Future[Result]) -> None:
        self._listener.returned()
        if self._timer is not None:
            self._timer.cancel()
        is_recorded = not call.cancelled() and call.exception() is None and isinstance(call.result(), RecordedOutcome)
        if self._timed_out and not is_recorded:
            # Retrieve the exception, so that asyncio does not log it.
            if not call.cancelled():
                call.exception()
            self._report_time_out()
            return
        if not self.has_outcome:
            self._report(self._outcome(call))

    def fail(self, error: BaseException) -> Outcome | None:
        """Return the outcome after an internal error; it counts as an error of the task."""
        log.error("run %d: internal error in attempt", self.claimed.id, exc_info=error)
        return self._failed("raised", encode_error(error).text)

    def _report(self, outcome: Outcome | None) -> None:
        self.has_outcome = True
        self._listener.ended(self, outcome)

    def _outcome(self, call: asyncio.Future[Result]) -> Outcome | None:
        error = None if call.cancelled() else call.exception()
        result = None if call.cancelled() or error is not None else call.result()
        if isinstance(result, RecordedOutcome):
            return self._make_outcome(result.status, error=result.error, is_recorded=True)
        if isinstance(error, LostRun):
            log.warning("run %d: attempt %d ended without an outcome: %s", *self.key, error)
            return None
        if self.stop_reason == "lease":
            return None
        if self.stop_reason == "cancel":
            # The store records the actor and the reason.
            return self._make_outcome("cancelled")
        if self.stop_reason == "drain" and (call.cancelled() or error is not None):
            return self.requeue()
        if call.cancelled():
            return self._failed("raised", "the coroutine was cancelled from inside")
        if isinstance(error, LateStart):
            log.error("run %d not started: its lease is about to expire. It is requeued", self.claimed.id)
            return self.outcome_if_unstarted("drain")
        if isinstance(error, TaskFailure) and error.is_lost and self._policy.on_crash == "ask":
            log.warning("run %d: attempt %d ended with its process: %s", *self.key, error.text)
            return None
        if isinstance(error, TaskFailure):
            return self._failed(error.kind, error.text, may_retry=error.may_retry)
        if isinstance(error, PostponedRun):
            reason = error.reason
            return self._make_outcome("queued", error=reason, reason=reason, delay=error.delay, started=False)
        if error is not None or result is None:
            return self.fail(error or RuntimeError("the call has no result"))
        if self.run.has_commit:
            return self._failed("raised", NOT_COMMITTED)
        return self._make_outcome("succeeded", result=result.value)

    def _make_outcome(self, status: Status, **fields: Any) -> Outcome:
        run = self.claimed
        releases_no_run = run.schedule_id is None and run.concurrency_key is None
        return Outcome(
            run.id,
            run.attempt,
            status,
            releases_no_run=releases_no_run,
            incarnation=run.incarnation,
            has_commit=self.run.has_commit,
            **fields,
        )

    def outcome_if_unstarted(self, reason: StopReason) -> Outcome | None:
        """Return the outcome of a run that has not started; None if its lease was lost."""
        if reason == "lease":
            return None
        if reason == "cancel":
            return self._make_outcome("cancelled")
        return self._make_outcome("queued", reason="requeued before it started", started=False)

    def requeue(self, delay: float = 0.0) -> Outcome | None:
        """Requeue the run because its worker stops, or fail it if it must not start twice.

        None if it is unknown whether it had its effect: it is rescued as the run of a lost worker.
        """
        if self._may_restart:
            return self._make_outcome("queued", reason="requeued: its worker was stopping", delay=delay)
        if self._policy.on_crash == "ask":
            return None
        reason = "its worker was stopping, and on_crash is 'fail'"
        return self._make_outcome("failed", error=reason, failure_kind="lost")

    def _failed(self, kind: FailureKind, error: str, *, may_retry: bool = True) -> Outcome | None:
        if self.stop_reason == "lease":
            return None
        failures = self.claimed.failures + 1
        if may_retry and failures <= self._policy.retries:
            delay = self._policy.backoff.delay(failures, random.random())  # noqa: S311
            return self._make_outcome("queued", error=error, failure_kind=kind, delay=delay, failures=1)
        return self._make_outcome("failed", error=error, failure_kind=kind, failures=1)
