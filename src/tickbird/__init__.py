"""Tickbird: a durable distributed scheduler for Python teams."""

from tickbird.app import Run, Task, Tickbird
from tickbird.domain.calendars import Calendar, exclude
from tickbird.domain.cron import cron
from tickbird.domain.definition import Backoff
from tickbird.domain.errors import (
    ConflictError,
    DefinitionError,
    InvalidError,
    NotFoundError,
    PayloadError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
    TickbirdError,
    TriggerError,
)
from tickbird.domain.every import every
from tickbird.domain.triggers import any_of, at

__all__ = [
    "Backoff",
    "Calendar",
    "ConflictError",
    "DefinitionError",
    "InvalidError",
    "NotFoundError",
    "PayloadError",
    "Run",
    "SchemaError",
    "StoreError",
    "StoreUnavailableError",
    "Task",
    "Tickbird",
    "TickbirdError",
    "TriggerError",
    "any_of",
    "at",
    "cron",
    "every",
    "exclude",
]
