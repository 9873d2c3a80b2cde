"""Runs the app in a process whose clock is wrong: `python wrong_clock.py SECONDS SETUP`."""

from __future__ import annotations

import datetime
import importlib
import json
import sys
import time
from typing import Any

AHEAD = int(sys.argv[1])
right, right_ns, Real = time.time, time.time_ns, datetime.datetime


class _AnyDatetime(type):
    """Datetimes made by compiled code are datetimes as well."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Real)

    def __getattr__(cls, name: str) -> Any:
        return getattr(Real, name)

    def __call__(cls, *args: Any, **fields: Any) -> datetime.datetime:
        return Real(*args, **fields)


class Wrong(metaclass=_AnyDatetime):
    """Stands for the class datetime, with a wrong idea of now."""

    @staticmethod
    def now(tz: datetime.tzinfo | None = None) -> datetime.datetime:
        """Hours away from what it is."""
        return Real.fromtimestamp(right() + AHEAD, tz)

    @staticmethod
    def utcnow() -> datetime.datetime:
        """The same, without a zone."""
        return Real.fromtimestamp(right() + AHEAD, datetime.UTC).replace(tzinfo=None)


if __name__ == "__main__":
    # Libraries that need the real class to be built come first; Tickbird comes after.
    for name in ("psycopg", "psycopg_pool", "pydantic"):
        importlib.import_module(name)

    time.time = lambda: right() + AHEAD
    time.time_ns = lambda: right_ns() + AHEAD * 1_000_000_000
    assert not any(name.startswith("tickbird") for name in sys.modules)
    datetime.datetime = Wrong  # type: ignore[assignment, misc]

    from tests.faults.app import Setup, work

    work(Setup(**json.loads(sys.argv[2])))
