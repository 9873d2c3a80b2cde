"""Queues on SQLite: what stands in them, and their rates."""

from __future__ import annotations

import sqlite3

from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.limits.rate_limits import MAX_POSITION, QueuePosition, QueueStatus, RateLimit, queues
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.instants import MICROS, to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.rate_limits import stored
from tickbird.store.sqlite.runs import get_run


def limit(
    db: sqlite3.Connection, namespace: str, name: str, rate: RateLimit | None, actor: str, now: int
) -> QueueStatus:
    """Set or remove the rate of a queue; the queue as it stands then."""
    names = {"namespace": namespace, "queue": name}
    before = stored(db, namespace, name).get(name)
    if rate is None:
        db.execute(SQL["remove_rate"], names)
    else:
        db.execute(SQL["set_rate"], {**names, "count": rate.count, "seconds": rate.seconds})
    detail = {"queue": name, "before": before and str(before[0]), "after": rate and str(rate)}
    write_audit(db, now, actor, "rate", namespace, detail=detail)
    db.execute(SQL["wake_others"])
    return next(iter(listed(db, namespace, name, now)), QueueStatus(name, None, None, 0, 0, 0))


def listed(db: sqlite3.Connection, namespace: str, name: str | None, now: int) -> list[QueueStatus]:
    """The queues that have a rate or active runs, by name; or one of them."""
    rows = db.execute(SQL["count_queues"], {"namespace": namespace, "queue": name}).fetchall()
    return queues(stored(db, namespace, name), {queue: counts for queue, *counts in rows}, now)


def turn(db: sqlite3.Connection, run_id: int, now: int) -> QueuePosition | None:
    """What keeps a queued run back in its queue."""
    run = get_run(db, run_id)
    if run is None or run.status != "queued":
        return None
    [(deferred_until,)] = db.execute(SQL["deferred_until_of"], {"id": run_id})
    pace = stored(db, run.namespace, run.queue).get(run.queue)
    until = deferred_until * MINUTE * MICROS
    if pace is None and until <= now:
        return None
    where = {"namespace": run.namespace, "queue": run.queue, "id": run.id, "now": now, "limit": MAX_POSITION}
    [(ahead,)] = db.execute(SQL["runs_ahead"], where)
    at = None if pace is None else to_instant(max(to_micros(run.available_at), pace[0].turn_at(pace[1], now, ahead)))
    return QueuePosition(None if pace is None else pace[0], ahead, at, to_instant(until) if until > now else None)
