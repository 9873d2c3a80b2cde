"""Rate limits of queues on SQLite: their budgets and start times."""

from __future__ import annotations

import sqlite3

from tickbird.domain.limits.rate_limits import RateLimit, RateState, StartTimes, read_starts
from tickbird.store.shared.json_columns import decode
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


def stored(db: sqlite3.Connection, namespace: str, queue: str | None = None) -> dict[str, RateState]:
    """The queues with a rate limit, or one of them."""
    rows = db.execute(SQL["stored_rates"], {"namespace": namespace, "queue": queue})
    return {name: rate_state(*row) for name, *row in rows}


def rate_state(count: int, seconds: int, starts: str) -> RateState:
    return RateLimit(count, seconds), read_starts(decode(starts))


def save_starts(db: sqlite3.Connection, namespace: str, queue: str, starts: StartTimes) -> None:
    db.execute(SQL["save_starts"], {"namespace": namespace, "queue": queue, "starts": dump(starts)})
