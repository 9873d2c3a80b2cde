"""Errors of the driver as messages, each with the next step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg import errors

from tickbird.domain.errors import (
    DefinitionError,
    SchedulesUnusableError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from tickbird.store.shared.json_columns import MAX_ERROR_LENGTH, clean, error_text
from tickbird.store.shared.unstorable_values import VALUE_ERRORS

# A retry helps: serialization failure, deadlock, lock not available in time.
TRANSIENT: Final = frozenset(("40001", "40P01", "55P03"))
# The schedules cannot be read or planned, although the server responds. A slow server and a lost connection are not
# here: planning is only late then.
UNUSABLE: Final[Mapping[str, str]] = {
    "3F000": "the schema is missing",
    "42P01": "a table is missing",
    "42703": "a column is missing",
    "42883": "a function is missing",
    "42704": "a type or another object is missing",
    "42501": "a permission is missing",
    "55000": "an object is not usable",
    "XX001": "data is damaged",
    "XX002": "an index is damaged",
    "58P01": "a file of the database is missing",
}
_RUNS: Final = re.compile(r"\bruns\b")
# Raised by our own SQL functions, with the reason and the next step.
REFUSED: Final = "TB422"


def is_transient(error: psycopg.Error) -> bool:
    """True if the transaction was rolled back for a reason that may not occur again."""
    return error.sqlstate in TRANSIENT


def is_stale(error: psycopg.Error) -> bool:
    """True if a statement was prepared before a migration extended a view; a new connection prepares it again."""
    return isinstance(error, errors.FeatureNotSupported) and "cached plan" in str(error)


def is_of_row(error: Exception) -> bool:
    """True if the cause is in the planned row, so that only a change of the row can remove it."""
    if not isinstance(error, psycopg.Error):
        return isinstance(error, VALUE_ERRORS)
    # A user can change or remove a trigger. In every procedural language, the context names the function.
    context = error.diag.context or ""
    return is_data_error(error) and "SQL" not in context and "PL/" not in context


def unusable_schedules(error: Exception, location: str) -> SchedulesUnusableError | None:
    """The error if the schedules cannot be read or planned at all; None if it has another cause."""
    reason = UNUSABLE.get(error.sqlstate or "") if isinstance(error, psycopg.Error) else None
    if reason is None or not isinstance(error, psycopg.Error):
        return None
    # A trigger or function of a user concerns only the rows that it refuses. Without runs, there is no fallback.
    if "PL/" in (error.diag.context or "") or _RUNS.search(refusal_text(error)):
        return None
    return SchedulesUnusableError(
        f"the schedules in {location} cannot be planned, {reason}: {refusal_text(error)}.",
        hint="Run `tickbird migrate --repair`, or grant the permission again.",
    )


def refusal_text(error: Exception) -> str:
    """The server's message without its CONTEXT, or the text of another error."""
    message = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return clean(message)[:MAX_ERROR_LENGTH] if message else error_text(error)


def is_data_error(error: psycopg.Error) -> bool:
    """True if a value is at fault, not a constraint, trigger or setting: a retry would be refused too."""
    return isinstance(error, psycopg.DataError) or (error.sqlstate or "")[:2] in ("22", "54")


def translate(error: psycopg.Error, location: str) -> StoreError | DefinitionError:
    """The message for users; `location` names the server and database, without the password."""
    message = " ".join((error.diag.message_primary or str(error) or type(error).__name__).split())[:300].rstrip(".")
    if error.sqlstate == REFUSED:
        return DefinitionError(f"{message}.", field="target", hint=error.diag.message_hint or "")
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreError(
            f"the role of {location} lacks a permission: {message}.",
            hint="Grant it: USAGE on schema tickbird, and SELECT, INSERT, UPDATE, DELETE on its tables and sequences.",
        )
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.UndefinedFunction):
        return SchemaError(
            f"the Tickbird schema in {location} is missing or incomplete: {message}.",
            hint="Run `tickbird migrate --repair`.",
        )
    if isinstance(error, errors.QueryCanceled):
        return StoreUnavailableError(
            f"{location} did not respond in time: {message}.", hint="Check its load and try again."
        )
    if is_transient(error):
        return StoreUnavailableError(f"{location} is too busy: {message}.", hint="Try again.")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return _connection_error(message, location)
    return StoreError(
        f"{location} refused a statement: {message}.",
        hint="Run `tickbird doctor`. If the schema was not changed by hand, this is a bug in Tickbird.",
    )


def _connection_error(message: str, location: str) -> StoreError:
    """Convert the message of libpq, which gives the cause of a failed connection only as text."""
    if "password" in message or "authentication" in message or "no pg_hba.conf entry" in message:
        return StoreError(
            f"{location} refused the login: {message}.", hint="Check the user and the password in the URL."
        )
    if "database" in message and "does not exist" in message:
        return StoreError(
            f"{location} does not exist: {message}.", hint="Create the database, then run `tickbird migrate`."
        )
    if "role" in message and "does not exist" in message:
        return StoreError(
            f"{location} refused the login: {message}.", hint="Create the role, or check the user in the URL."
        )
    end = "" if message.endswith("?") else "."
    return StoreUnavailableError(
        f"{location} cannot be reached: {message}{end}",
        hint="Check that PostgreSQL is running and that the address is right.",
    )
