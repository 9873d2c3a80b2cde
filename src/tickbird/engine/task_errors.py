"""Errors of tasks, in the form that is stored and shown."""

from __future__ import annotations

import inspect
import traceback
from typing import Any, Final

from tickbird.domain.runs.run import FailureKind
from tickbird.domain.text import clean_text, describe, type_name
from tickbird.targets.protocol import RunFailure

MAX_ERROR: Final = 20_000


class TaskExited(RuntimeError):
    """A task raised an exception that would end its loop or thread: `sys.exit()`, for example."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"the function raised {type_name(error)}({describe(error)[:200]})")


class TaskFailure(Exception):
    """A failure whose text is ready to be stored. If `may_retry` is False, another attempt cannot succeed."""

    def __init__(
        self, text: str, *, may_retry: bool = True, kind: FailureKind = "raised", is_lost: bool = False
    ) -> None:
        super().__init__(text)
        self.text, self.may_retry, self.kind = text, may_retry, kind
        # Its process has ended, so that its progress is unknown.
        self.is_lost = is_lost


class LateStart(Exception):
    """The lease of a run ended, or nearly, before its function could start. Another worker may have started it."""


def encode_error(error: BaseException) -> TaskFailure:
    """Convert an exception of a task so that a future can carry it and a store can store it."""
    if isinstance(error, RunFailure):
        return TaskFailure(clean_text(error.text[:MAX_ERROR]), may_retry=error.may_retry, kind=error.kind)
    if isinstance(error, StopIteration) or not isinstance(error, Exception):
        exited = TaskExited(error)
        exited.__cause__ = error
        error = exited
    return TaskFailure(format_error(error))


def format_error(error: BaseException) -> str:
    """The traceback of the task's own frames; only the end of a long one."""
    try:
        ours = ("tickbird.engine.", "tickbird.targets.")
        frames = error.__traceback__
        while frames and frames.tb_frame.f_globals.get("__name__", "").startswith(ours):
            frames = frames.tb_next
        text = "".join(traceback.TracebackException(type(error), error, frames, compact=True).format())
    except BaseException as broken:  # noqa: BLE001 - an exception may override anything that a traceback reads
        text = f"{type_name(error)}: its traceback cannot be shown, because that raised {type_name(broken)}"
    prefix = "" if len(text) <= MAX_ERROR else "[…]\n"
    return prefix + clean_text(text[-MAX_ERROR:], nul="\\0")


def refuse_awaitable(result: Any) -> None:
    """Raise TypeError if a function that blocks has returned an awaitable."""
    try:
        awaitable = inspect.isawaitable(result)
    except BaseException:  # noqa: BLE001 - its `__class__` may be a property that raises
        return
    if awaitable:
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(
            "the function returned a coroutine, so nothing ran: a decorator around an `async def` must be one too"
        )
