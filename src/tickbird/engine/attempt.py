"""One attempt of one run: prepare, call, and turn what happened into an outcome."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import random
import traceback
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal

from tickbird.domain.definition import Backoff
from tickbird.domain.errors import PayloadError
from tickbird.domain.runs import ClaimedRun, FailureKind, Outcome
from tickbird.targets.protocol import Executable, Run

StopReason = Literal["cancel", "drain", "lease"]
_LONGEST_ERROR = 20_000
_LONGEST_RESULT = 100_000
# What a future cannot carry, or what an event loop would end for.
_UNCARRIED = (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration)


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides between another attempt and the end: from the run's definition, else from its task."""

    retries: int
    backoff: Backoff
    timeout: int | None
    may_start_again: bool


def policy_of(claimed: ClaimedRun, executable: Executable, on_crash: str) -> Policy:
    """The policies that a run was planned with."""
    source = claimed.definition or executable
    crash = claimed.definition.on_crash if claimed.definition else on_crash
    return Policy(source.retries, source.backoff, source.timeout, crash == "retry")


class TaskExited(RuntimeError):
    """A task raised something that would end its loop or thread instead of itself: `sys.exit()`, for one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"the task raised {type(error).__name__}({str(error)[:200]})")


class Attempt:
    """A run on this worker, from claim to finish."""

    def __init__(self, claimed: ClaimedRun, executable: Executable, policy: Policy, lease_ends: float) -> None:
        self.record = claimed.run
        self.run = Run(claimed.run)
        self.executable = executable
        self.policy = policy
        # On the worker's monotonic clock; past it the run may belong to somebody else.
        self.lease_ends = lease_ends
        self.stop_reason: StopReason | None = None
        self._call: asyncio.Future[Any] | None = None

    def ask_to_stop(self, reason: StopReason) -> None:
        """Cancel a coroutine; tell a thread, which can only be asked. Call it in the loop that executes."""
        # A lost lease outweighs everything: its outcome must not be sent.
        if self.stop_reason is None or reason == "lease":
            self.stop_reason = reason
        self.run.ask_to_stop()
        if self._call is not None and not self.executable.blocking:
            self._call.cancel()

    async def perform(self, threads: Executor | None, on_returned: Callable[[], None]) -> Outcome | None:
        """The outcome to record, or None when the lease was lost; `on_returned` once the function is really done."""
        try:
            arguments = self.executable.prepare(self.run)
        except Exception as error:  # noqa: BLE001 - a payload or signature that is wrong stays wrong
            on_returned()
            return self._failed("raised", str(error) if isinstance(error, PayloadError) else _trace(error), again=False)
        self._call = self._start(arguments, threads)
        self._call.add_done_callback(lambda _: on_returned())
        if self.stop_reason is not None:
            self.ask_to_stop(self.stop_reason)
        await asyncio.wait({self._call}, timeout=self.policy.timeout)
        if not self._call.done():
            await self._end_timed_out()
            return self._failed("timeout", f"took longer than its timeout of {self.policy.timeout} s")
        return self._outcome(self._call)

    def _start(self, arguments: Any, threads: Executor | None) -> asyncio.Future[Any]:
        if not self.executable.blocking:
            return asyncio.ensure_future(self._await(arguments))
        loop = asyncio.get_running_loop()
        if threads is not None:
            return loop.run_in_executor(threads, contextvars.copy_context().run, self._block, arguments)
        inline: asyncio.Future[Any] = loop.create_future()
        try:
            inline.set_result(self._block(arguments))
        except Exception as error:  # noqa: BLE001 - whatever a task raises is its outcome
            inline.set_exception(error)
        return inline

    async def _await(self, arguments: Any) -> Any:
        try:
            return await self.executable.call(arguments)
        except _UNCARRIED as error:
            raise TaskExited(error) from error

    def _block(self, arguments: Any) -> Any:
        try:
            result = self.executable.call(arguments)
            if inspect.isawaitable(result):
                if inspect.iscoroutine(result):
                    result.close()
                raise TypeError(
                    "the task returned a coroutine, so nothing ran: a decorator around an `async def` must be one too"
                )
            return result
        except _UNCARRIED as error:
            raise TaskExited(error) from error

    async def _end_timed_out(self) -> None:
        """Give a coroutine a moment to unwind; a thread keeps its slot until it returns."""
        assert self._call is not None
        self.run.ask_to_stop()
        if self.executable.blocking:
            # Nobody will read what it returns or raises in the end.
            self._call.add_done_callback(lambda call: call.cancelled() or call.exception())
            return
        self._call.cancel()
        await asyncio.wait({self._call}, timeout=1.0)
        if self._call.done() and not self._call.cancelled():
            self._call.exception()

    def _outcome(self, call: asyncio.Future[Any]) -> Outcome | None:
        error = None if call.cancelled() else call.exception()
        if self.stop_reason == "lease":
            return None
        if self.stop_reason == "cancel":
            # The store knows who asked for it, and why.
            return Outcome(self.record.id, self.record.attempt, "cancelled")
        if self.stop_reason == "drain" and (call.cancelled() or error is not None):
            return self.put_back()
        if call.cancelled():
            return self._failed("raised", "the coroutine was cancelled from inside")
        if error is not None:
            return self._failed("raised", _trace(error))
        return Outcome(self.record.id, self.record.attempt, "succeeded", result=_as_json(call.result()))

    def put_back(self, delay: float = 0.0) -> Outcome:
        """A worker that goes away: the run is tried elsewhere, unless it must never start twice."""
        if self.policy.may_start_again:
            reason = "put back: its worker was stopping"
            return Outcome(self.record.id, self.record.attempt, "queued", reason=reason, delay=delay)
        reason = "its worker was stopping, and on_crash is 'fail'"
        return Outcome(self.record.id, self.record.attempt, "failed", error=reason, failure_kind="lost")

    def _failed(self, kind: FailureKind, error: str, *, again: bool = True) -> Outcome | None:
        if self.stop_reason == "lease":
            return None
        failures = self.record.failures + 1
        run, attempt = self.record.id, self.record.attempt
        if again and failures <= self.policy.retries:
            delay = self.policy.backoff.delay(failures, random.random())  # noqa: S311
            return Outcome(run, attempt, "queued", error=error, failure_kind=kind, delay=delay, failures=1)
        return Outcome(run, attempt, "failed", error=error, failure_kind=kind, failures=1)


def _trace(error: BaseException) -> str:
    """The traceback of the task's own frames, its end kept when it is too long."""
    ours = ("tickbird.engine.", "tickbird.targets.")
    while error.__traceback__ and error.__traceback__.tb_frame.f_globals.get("__name__", "").startswith(ours):
        error = error.with_traceback(error.__traceback__.tb_next)
    text = "".join(traceback.format_exception(error)).replace("\0", "\\0")
    return text if len(text) <= _LONGEST_ERROR else "[…]\n" + text[-_LONGEST_ERROR:]


def _as_json(result: Any) -> Any:
    """The result as JSON; what JSON cannot carry is shown by its repr, what is too long is cut."""
    if result is None or isinstance(result, bool | int):
        return result
    from pydantic_core import to_json

    try:
        text = to_json(result, fallback=repr, inf_nan_mode="strings").decode()
    except Exception as error:  # noqa: BLE001 - the work is done; only its result cannot be shown
        return {"unreadable": f"{type(result).__name__}: {str(error)[:200]}"}
    if len(text) > _LONGEST_RESULT:
        return {"cut": text[:_LONGEST_RESULT].replace("\\u0000", ""), "characters": len(text)}
    value = json.loads(text)
    return _without_nul(value) if "\\u0000" in text else value


def _without_nul(value: Any) -> Any:
    """Databases refuse NUL characters."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    if isinstance(value, dict):
        return {_without_nul(key): _without_nul(item) for key, item in value.items()}
    return value
