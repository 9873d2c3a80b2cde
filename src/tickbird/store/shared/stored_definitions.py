"""Definitions as they are stored: an error in one row must not concern another."""

from __future__ import annotations

from typing import Any

from tickbird.domain.errors import ConflictError
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.store.shared.json_columns import Undecodable, decode, error_text

# Of no row: the process cannot open a file, or has no memory left.
PROCESS_ERRORS = (OSError, MemoryError)


def read_definition(stored: str | None, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a stored JSON text, or None and the error; see decoded_definition."""
    if stored is None:
        return None, "its revision does not exist"
    return decoded_definition(decode(stored), to_plan=to_plan)


def decoded_definition(value: Any, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a decoded JSON value, or None and the error.

    With `to_plan`, errors of the process are raised: for those, nobody may park the schedule.
    """
    if isinstance(value, Undecodable):
        return None, value.error
    try:
        return decode_definition(value), None
    except Exception as error:
        # An error in one row must not concern another.
        if to_plan and isinstance(error, PROCESS_ERRORS):
            raise
        return None, error_text(error)


def newer_format(name: str) -> ConflictError:
    """A schedule in a format that this code does not know: it may neither be planned nor changed."""
    return ConflictError(
        f"schedule {name!r} was written by a newer tickbird, and this one cannot read it;", hint="upgrade tickbird."
    )
