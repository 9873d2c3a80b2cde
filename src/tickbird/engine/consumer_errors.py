"""Errors of consumers: their text, and whether the event or a system around it is the cause."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

from tickbird.domain.errors import EventRefusedError, StoreError, UnavailableError
from tickbird.domain.events.dead_letters import MAX_ERROR
from tickbird.domain.events.delivery_progress import ConsumerError, ErrorKind
from tickbird.engine.task_errors import encode_error

Classes = tuple[type[BaseException], ...]
# Errors of drivers that mean: the database is down, busy, or has ended the transaction.
_DRIVERS: Final = {
    "psycopg": ("OperationalError", "InterfaceError"),
    "psycopg2": ("OperationalError", "InterfaceError"),
    "asyncpg": ("PostgresConnectionError", "InterfaceError"),
    "sqlite3": ("OperationalError",),
    "sqlalchemy.exc": ("OperationalError", "InterfaceError", "TimeoutError"),
    "django.db.utils": ("OperationalError", "InterfaceError"),
}
_MAX_LEAVES: Final = 100


def describe_error(error: BaseException, infrastructure: Classes = ()) -> ConsumerError:
    """Convert an exception of a consumer; never raises."""
    text = encode_error(error).text
    if len(text) > MAX_ERROR:
        text = "[…]\n" + text[-(MAX_ERROR - 4) :]
    return ConsumerError(text, _kind(error, infrastructure))


def _kind(error: BaseException, infrastructure: Classes) -> ErrorKind:
    try:
        # Not isinstance: an exception may have any `__class__`.
        kinds = [type(leaf) for leaf in _leaves(error)]
        if any(issubclass(kind, EventRefusedError) for kind in kinds):
            return "refused"
        names = (UnavailableError, StoreError, ConnectionError, *_driver_errors(), *infrastructure)
        if kinds and all(issubclass(kind, names) for kind in kinds):
            return "unavailable"
    except Exception:  # noqa: BLE001 - an exception, or its class, may override anything that is read here
        return "raised"
    return "raised"


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The error, or the errors of a group."""
    pending = [error]
    for _ in range(_MAX_LEAVES):
        if not pending:
            return
        item = pending.pop()
        if issubclass(type(item), BaseExceptionGroup):
            pending += BaseExceptionGroup.exceptions.__get__(item)
        else:
            yield item


def _driver_errors() -> Iterator[Any]:
    """The classes of the drivers that the app has imported."""
    for module, names in _DRIVERS.items():
        loaded = sys.modules.get(module)
        if loaded is not None:
            yield from (getattr(loaded, name) for name in names)
