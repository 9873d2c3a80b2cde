"""What a task raised, as it can be stored and shown."""

from __future__ import annotations

import inspect
import traceback
from typing import Any, Final

from tickbird.domain.text import clean_text, describe, type_name

MAX_ERROR: Final = 20_000


class TaskExited(RuntimeError):
    """A task raised an exception that would end its loop or thread: `sys.exit()`, for example."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"the task raised {type_name(error)}({describe(error)[:200]})")


class TaskFailure(Exception):
    """A failure whose text is ready to be stored; if `again` is False, another attempt cannot succeed either."""

    def __init__(self, text: str, *, again: bool = True) -> None:
        super().__init__(text)
        self.text, self.again = text, again


class LateStart(Exception):
    """The lease of a run ended, or nearly, before its function could begin; so another worker may have begun it."""


def encode_error(error: BaseException) -> TaskFailure:
    """What a task raised, as a future can carry it and a store can keep it."""
    if isinstance(error, StopIteration) or not isinstance(error, Exception):
        exited = TaskExited(error)
        exited.__cause__ = error
        error = exited
    return TaskFailure(format_error(error))


def format_error(error: BaseException) -> str:
    """The traceback of the task's own frames; of a long one, the end."""
    try:
        ours = ("tickbird.engine.", "tickbird.targets.")
        frames = error.__traceback__
        while frames and frames.tb_frame.f_globals.get("__name__", "").startswith(ours):
            frames = frames.tb_next
        text = "".join(traceback.TracebackException(type(error), error, frames, compact=True).format())
    except BaseException as broken:  # noqa: BLE001 - an exception may override anything that a traceback reads
        text = f"{type_name(error)}: its traceback cannot be shown, because that raised {type_name(broken)}"
    mark = "" if len(text) <= MAX_ERROR else "[…]\n"
    return mark + clean_text(text[-MAX_ERROR:], nul="\\0")


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
            "the task returned a coroutine, so nothing ran: a decorator around an `async def` must be one too"
        )
