"""Every error that Tickbird raises on purpose.

TickbirdError
├── InvalidError (ValueError)     what was asked for makes no sense
│   ├── TriggerError              a cron expression, interval, instant or zone
│   ├── DefinitionError           a schedule's or task's name, policy or window
│   ├── PayloadError              a payload that does not fit the task
│   ├── PageTokenError            what is no key of a page
│   └── DocumentError             files of schedules with mistakes, each with its place (tickbird.files)
├── NotFoundError (LookupError)   no such schedule, run, task or app
├── ConflictError                 the thing changed meanwhile, or its state forbids the change
│   ├── StaleError                it is at another revision than the one named
│   ├── CountChangedError         so many are concerned as nobody had seen
│   └── OwnedError                files with schedules that are somebody else's (tickbird.files)
├── UnsupportedError              the store lacks the capability that this needs
├── NotFinishedError (TimeoutError)  a run that was waited for has not come to its end in time
└── StoreError                    the database, or the server in front of it
    ├── StoreUnavailableError     cannot be reached, or timed out; trying again may help
    ├── SchemaError               missing, too old or too new for this code
    └── AccessError               a server refuses the token, or its role or namespaces do not suffice
        └── ClosedNamespaceError  the token does not open this namespace
"""

from __future__ import annotations


class TickbirdError(Exception):
    """The root: `str()` is one sentence for a person, `hint` the next step."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InvalidError(TickbirdError, ValueError):
    """What was asked for makes no sense; `field` names the part at fault."""

    def __init__(self, message: str, *, field: str = "", reason: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.reason = reason or message


class TriggerError(InvalidError):
    """A trigger that cannot be: a bad cron field, interval, instant or zone."""


class DefinitionError(InvalidError):
    """A definition that cannot be: a bad name, policy or window."""


class PayloadError(InvalidError):
    """A payload that does not fit its task."""


class PageTokenError(InvalidError):
    """The key of a page cannot be read."""


class NotFoundError(TickbirdError, LookupError):
    """No such schedule, run, task or app."""


class ConflictError(TickbirdError):
    """The thing changed meanwhile, or its state forbids the change."""


class StaleError(ConflictError):
    """The thing is at another revision than the one that the change was meant for."""


class CountChangedError(ConflictError):
    """Many more or fewer things are concerned than were seen by whoever asked."""


class UnsupportedError(TickbirdError):
    """The store lacks a capability; `field` is its name, or the field of a definition that needs it."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class NotFinishedError(TickbirdError, TimeoutError):
    """A run that was waited for has not come to its end in time; it goes on."""


class StoreError(TickbirdError):
    """The database, or the server in front of it, refused or failed."""


class StoreUnavailableError(StoreError):
    """The database, or the server in front of it, cannot be reached or did not answer in time."""


class SchemaError(StoreError):
    """The database's schema is missing, too old or too new for this code."""


class AccessError(StoreError):
    """A server refuses the token, or its role or namespaces do not suffice; `field` names the part at fault."""

    def __init__(self, message: str, *, field: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class ClosedNamespaceError(AccessError):
    """The token does not open this namespace."""
