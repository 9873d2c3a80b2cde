"""Tickbird: a durable distributed scheduler for Python teams."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tickbird.app import Run, Task, Tickbird
    from tickbird.consumers.event_batch import EventBatch
    from tickbird.domain.calendars.calendar import Calendar, exclude
    from tickbird.domain.errors import (
        ConflictError,
        DefinitionError,
        EventRefusedError,
        InvalidError,
        NotFinishedError,
        NotFoundError,
        PayloadError,
        SchemaError,
        StoreError,
        StoreUnavailableError,
        TickbirdError,
        TriggerError,
        UnavailableError,
        UnsupportedError,
    )
    from tickbird.domain.events.event import Event, NewEvent
    from tickbird.domain.runs.lost_runs import Effect
    from tickbird.domain.schedules.definition import Backoff
    from tickbird.domain.schedules.dependencies import After, after
    from tickbird.domain.targets.command import command
    from tickbird.domain.targets.event import event
    from tickbird.domain.targets.sql import sql
    from tickbird.domain.triggers.cron.cron import cron
    from tickbird.domain.triggers.custom import custom_trigger
    from tickbird.domain.triggers.every import every
    from tickbird.domain.triggers.rrule.rrule import rrule
    from tickbird.domain.triggers.trigger import any_of, at

__all__ = [
    "After",
    "Backoff",
    "Calendar",
    "ConflictError",
    "DefinitionError",
    "Effect",
    "Event",
    "EventBatch",
    "EventRefusedError",
    "InvalidError",
    "NewEvent",
    "NotFinishedError",
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
    "UnavailableError",
    "UnsupportedError",
    "after",
    "any_of",
    "at",
    "command",
    "cron",
    "custom_trigger",
    "event",
    "every",
    "exclude",
    "rrule",
    "sql",
]

# Names load on first use, so that `import tickbird` and `tickbird --help` stay fast.
_MODULES = {
    "tickbird.app": ("Run", "Task", "Tickbird"),
    "tickbird.consumers.event_batch": ("EventBatch",),
    "tickbird.domain.calendars.calendar": ("Calendar", "exclude"),
    "tickbird.domain.errors": tuple(name for name in __all__ if name.endswith("Error")),
    "tickbird.domain.events.event": ("Event", "NewEvent"),
    "tickbird.domain.runs.lost_runs": ("Effect",),
    "tickbird.domain.schedules.definition": ("Backoff",),
    "tickbird.domain.schedules.dependencies": ("After", "after"),
    "tickbird.domain.targets.command": ("command",),
    "tickbird.domain.targets.event": ("event",),
    "tickbird.domain.targets.sql": ("sql",),
    "tickbird.domain.triggers.cron.cron": ("cron",),
    "tickbird.domain.triggers.custom": ("custom_trigger",),
    "tickbird.domain.triggers.every": ("every",),
    "tickbird.domain.triggers.rrule.rrule": ("rrule",),
    "tickbird.domain.triggers.trigger": ("any_of", "at"),
}


def __getattr__(name: str) -> Any:
    for home, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'tickbird' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
