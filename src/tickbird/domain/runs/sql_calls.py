"""Calls of SQL functions: the request of an attempt, the contract of the return value, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

# Characters of a result, as JSON.
MAX_RESULT_LENGTH: Final = 100_000
_MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlCall:
    """One slice of an attempt: a call of its function in one transaction."""

    run_id: int
    attempt: int
    incarnation: int
    worker: str | None
    function: str
    # None: the owner of the store.
    role: str | None
    argument: Mapping[str, Any]
    # Seconds after which the server ends the call, even if its worker does not; None: never.
    timeout: float | None = None


# succeeded, reported: the outcome is recorded. again: the slice is committed. raised, contract, refused: rolled back.
# busy: an older attempt is still executed. lost: the attempt has lost its lease. disconnected: the connection was
# lost, so that the outcome is unknown.
SqlEnding = Literal[
    "succeeded", "reported", "again", "raised", "contract", "refused", "busy", "lost", "disconnected", "unreachable"
]


@dataclass(frozen=True, slots=True)
class SqlReport:
    """How a call ended; `error` is ready to be stored."""

    ending: SqlEnding
    result: Any = None
    error: str = ""


class SqlListener(Protocol):
    """Receives the messages of a function while it is executed. Called in the loop of the call; must not raise."""

    def line(self, level: int, text: str) -> None: ...

    def progress(self, value: float) -> None: ...

    async def before_finish(self) -> None:
        """Write the log lines, because the log of a final run is complete."""


class ContractError(Exception):
    """A return value that is not {"success": …, "message": …}."""


def read_result(text: str | None, length: int) -> Mapping[str, Any]:
    """Return the result of a function from the start of its JSON text and its full length; raises ContractError."""
    if text is None:
        raise ContractError(_broken("returned NULL", None))
    if length > MAX_RESULT_LENGTH:
        raise ContractError(
            _broken(f"returned {length:,} characters, more than the maximum of {MAX_RESULT_LENGTH:,}", text)
        )
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ContractError(_broken("returned JSON with too many levels or digits", text)) from None
    if not isinstance(value, dict):
        raise ContractError(_broken("did not return an object", text))
    if not isinstance(value.get("success"), bool):
        raise ContractError(_broken("returned no boolean success", text))
    if not isinstance(value.get("message", ""), str):
        raise ContractError(_broken("returned a message that is not a text", text))
    if not isinstance(value.get("again", False), bool):
        raise ContractError(_broken("returned an again that is not a boolean", text))
    return value


def _broken(problem: str, text: str | None) -> str:
    shown = "" if text is None else f" Value: {text[:_MAX_SHOWN]}{'…' if len(text) > _MAX_SHOWN else ''}"
    return f'the function {problem}. Return {{"success": true, "message": "…"}}, or use tickbird.result().{shown}'
