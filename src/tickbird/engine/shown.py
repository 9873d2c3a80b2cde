"""What a task returned or raised, as it can be stored and shown."""

from __future__ import annotations

import json
import traceback
from typing import Any

from tickbird.targets.protocol import Kept

_LONGEST_ERROR = 20_000
_LONGEST_RESULT = 100_000
# What a future cannot carry, or what an event loop would end for.
UNCARRIED = (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration)


class TaskExited(RuntimeError):
    """A task raised something that would end its loop or thread instead of itself: `sys.exit()`, for one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"the task raised {type(error).__name__}({str(error)[:200]})")


class Failed(Exception):
    """A failure whose text is ready to be stored; `again` is False where another attempt cannot go better."""

    def __init__(self, text: str, *, again: bool = True) -> None:
        super().__init__(text)
        self.text, self.again = text, again


def trace(error: BaseException) -> str:
    """The traceback of the task's own frames, its end kept when it is too long."""
    ours = ("tickbird.engine.", "tickbird.targets.")
    while error.__traceback__ and error.__traceback__.tb_frame.f_globals.get("__name__", "").startswith(ours):
        error = error.with_traceback(error.__traceback__.tb_next)
    text = "".join(traceback.format_exception(error)).replace("\0", "\\0")
    return text if len(text) <= _LONGEST_ERROR else "[…]\n" + text[-_LONGEST_ERROR:]


def as_json(result: Any) -> Any:
    """The result as JSON; what JSON cannot carry is shown by its repr, what is too long is cut."""
    if result is None or isinstance(result, bool | int):
        return result
    if isinstance(result, Kept):
        return result.value
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
