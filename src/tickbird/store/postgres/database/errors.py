"""The driver's errors in plain words, each with the next step."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import errors

from tickbird.domain.errors import SchemaError, StoreError, StoreUnavailableError
from tickbird.store.shared.json_columns import MAX_ERROR_LENGTH, clean, error_text
from tickbird.store.shared.unstorable_values import VALUE_ERRORS

# Trying again helps: serialization failure, deadlock, lock not available in time.
TRANSIENT: Final = frozenset(("40001", "40P01", "55P03"))


def is_transient(error: psycopg.Error) -> bool:
    """Was the transaction rolled back for a reason that may be gone the next time?"""
    return error.sqlstate in TRANSIENT


def is_stale(error: psycopg.Error) -> bool:
    """Was a statement prepared before a migration gave a view more columns? On a new connection it is prepared anew."""
    return isinstance(error, errors.FeatureNotSupported) and "cached plan" in str(error)


def is_of_row(error: Exception) -> bool:
    """Is the cause in the row that was to be planned, so that only a change of the row can remove it?"""
    if not isinstance(error, psycopg.Error):
        return isinstance(error, VALUE_ERRORS)
    # A user can change or remove a trigger. In every language of the server, the context names its kind of function.
    context = error.diag.context or ""
    return is_data_error(error) and "SQL" not in context and "PL/" not in context


def refusal_text(error: Exception) -> str:
    """The server's message without its CONTEXT, or the text of another error."""
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return clean(said)[:MAX_ERROR_LENGTH] if said else error_text(error)


def is_data_error(error: psycopg.Error) -> bool:
    """Is a value at fault, and no constraint, trigger or setting? Then it is refused each time."""
    return isinstance(error, psycopg.DataError) or (error.sqlstate or "")[:2] in ("22", "54")


def translate(error: psycopg.Error, place: str) -> StoreError:
    """The one sentence for a person; `place` names the server and database without a password."""
    said = " ".join((error.diag.message_primary or str(error) or type(error).__name__).split())[:300].rstrip(".")
    if isinstance(error, errors.InsufficientPrivilege):
        return StoreError(
            f"the role of {place} lacks a right: {said}.",
            hint="Grant it: USAGE on schema tickbird, and SELECT, INSERT, UPDATE, DELETE on its tables and sequences.",
        )
    if isinstance(error, errors.UndefinedTable | errors.InvalidSchemaName | errors.UndefinedFunction):
        return SchemaError(
            f"the Tickbird schema in {place} is missing or incomplete: {said};", hint="run `tickbird migrate`."
        )
    if isinstance(error, errors.QueryCanceled):
        return StoreUnavailableError(f"{place} did not answer in time: {said}.", hint="Look at its load and try again.")
    if is_transient(error):
        return StoreUnavailableError(f"{place} is too busy: {said}.", hint="Try again.")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return _connection_error(said, place)
    return StoreError(
        f"{place} refused a statement: {said}.", hint="This is a bug unless the schema was changed by hand."
    )


def _connection_error(said: str, place: str) -> StoreError:
    """libpq tells why a connection failed only in words."""
    if "password" in said or "authentication" in said or "no pg_hba.conf entry" in said:
        return StoreError(f"{place} refused the login: {said}.", hint="Check user and password in the URL.")
    if "database" in said and "does not exist" in said:
        return StoreError(f"{place} does not exist: {said};", hint="create the database, then run `tickbird migrate`.")
    if "role" in said and "does not exist" in said:
        return StoreError(f"{place} refused the login: {said}.", hint="Create the role, or check the user in the URL.")
    end = "" if said.endswith("?") else "."
    return StoreUnavailableError(
        f"{place} cannot be reached: {said}{end}",
        hint="Check that PostgreSQL runs there and that the address is right.",
    )
