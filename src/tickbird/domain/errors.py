"""Every error that Tickbird raises on purpose.

TickbirdError
├── InvalidError (ValueError)     an invalid argument or value
│   ├── TriggerError              a cron expression, interval, instant or zone
│   ├── DefinitionError           a schedule's or task's name, policy or window
│   ├── PayloadError              a payload that does not fit the task
│   ├── PageTokenError            an invalid page token
│   └── DocumentError             errors in schedule files, each with its line and column (tickbird.files)
├── NotFoundError (LookupError)   no such schedule, run, task or app
├── ConflictError                 the object has changed, or its state forbids the change
│   ├── StaleError                the object has another revision than the expected one
│   ├── LeaseLostError            a run, or the events of a delivery, are no longer those of this worker
│   ├── CountChangedError         the change affects another number of objects than the caller expected
│   └── OwnedError                a file contains schedules of another owner (tickbird.files)
├── UnsupportedError              the store lacks a capability that this call needs
├── NotFinishedError (TimeoutError)  a run did not finish within the timeout
├── UnavailableError          a system that a consumer or sink needs is down; its events are delivered later
├── EventRefusedError         an event that no attempt can deliver; it becomes a dead letter at once
└── StoreError                    an error of the database, or of the server in front of it
    ├── StoreUnavailableError     the store cannot be reached, or timed out; a retry may help
    ├── SchemaError               missing, too old or too new for this code
    ├── TermEndedError            the leader's term has ended, so that it may not plan
    ├── SchedulesUnusableError    the store can be reached, but its schedules cannot be read or planned
    └── AccessError               the server rejects the token, or its role or namespaces are not sufficient
        └── ClosedNamespaceError  the token has no access to this namespace
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Final

# A reason that starts with one of these verbs continues the name of the field.
_VERBS: Final = ("must ", "is ", "has ", "needs ", "cannot ", "contains ", "removes ")


def name_field(field: str, reason: str) -> str:
    """Return a sentence: "count must be at least 1.", or with a colon if the reason has a subject."""
    return f"{field}{'' if reason.startswith(_VERBS) else ':'} {reason}."


class TickbirdError(Exception):
    """Base class: `str()` is the message and the hint; `hint` is the next step."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InvalidError(TickbirdError, ValueError):
    """An argument or value is invalid; `field` names it."""

    def __init__(self, message: str, *, field: str = "", reason: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.reason = reason or message


class TriggerError(InvalidError):
    """A trigger is invalid: a bad cron field, interval, instant or time zone."""


class DefinitionError(InvalidError):
    """A definition is invalid: a bad name, policy or window."""


class PayloadError(InvalidError):
    """A payload does not match the signature of its task."""


class PageTokenError(InvalidError):
    """A page token is invalid."""


class NotFoundError(TickbirdError, LookupError):
    """The schedule, run, task or app does not exist."""


class ConflictError(TickbirdError):
    """The object has changed since it was read, or its state forbids the change."""


class StaleError(ConflictError):
    """The object has another revision than the expected one."""


class LeaseLostError(ConflictError):
    """Another worker has the run, or the events of a delivery, by now; or they were handled already."""


class CountChangedError(ConflictError):
    """The change affects many more or fewer objects than the caller expected."""


class UnsupportedError(TickbirdError):
    """The store lacks a capability; `field` is its name, or the field of a definition that needs it."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class NotFinishedError(TickbirdError, TimeoutError):
    """The run did not finish within the timeout; it continues."""


class UnavailableError(TickbirdError):
    """A system that a consumer or sink needs is down. The partition is paused, and no event becomes a dead letter."""


class EventRefusedError(TickbirdError):
    """A consumer or sink can never handle an event: it becomes a dead letter without another attempt."""

    def __init__(
        self,
        message: str,
        *,
        reasons: Mapping[uuid.UUID, str] | None = None,
        unsent: Iterable[uuid.UUID] = (),
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        # Why a sink refuses events, by id. All others are acknowledged, except those in `unsent`.
        self.reasons = dict(reasons or {})
        # Later events with the key of a refused one, and those that were not acknowledged in time.
        self.unsent = frozenset(unsent)


class StoreError(TickbirdError):
    """The database, or the server in front of it, failed or rejected the call."""


class StoreUnavailableError(StoreError):
    """The database, or the server in front of it, cannot be reached or timed out."""


class SchemaError(StoreError):
    """The database's schema is missing, too old or too new for this code."""


class TermEndedError(StoreError):
    """The term has ended: this process is not the leader, and may not plan."""


class SchedulesUnusableError(StoreError):
    """The store can be reached, but its schedules cannot be read or planned: a table is missing, damaged or forbidden.

    Never raised for a slow store or a lost connection. Workers fall back to the rows that they last read.
    """


class AccessError(StoreError):
    """The server rejects the token, or its role or namespaces are not sufficient; `field` names the cause."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class ClosedNamespaceError(AccessError):
    """The token has no access to this namespace."""
