"""Queues and their rate limits on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from tickbird.domain.limits.rate_limits import MAX_POSITION, QueuePosition, QueueStatus, RateLimit, queues
from tickbird.domain.time.instants import EPOCH, to_micros
from tickbird.store.protocol.queues import QueueStore
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, waking_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.rate_limits import stored
from tickbird.store.sqlite.runs import get_run


class SqliteQueues(NounStore, QueueStore):
    @waking_transaction
    def set_rate(
        self,
        db: Session,
        namespace: str,
        queue: str,
        rate: RateLimit | None,
        actor: str,
        *,
        now: datetime | None = None,
    ) -> QueueStatus:
        return set_queue_rate(db, namespace, queue, rate, actor, read_clock(now))

    @read_transaction
    def list(
        self, db: Session, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        return _read_queues(db, namespace, queue, read_clock(now))

    @read_transaction
    def find_position(self, db: Session, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        run = get_run(db, run_id)
        if run is None or run.status != "queued":
            return None
        at = read_clock(now)
        [(minute,)] = db.execute(SQL["deferred_until_minute_of"], {"id": run_id})
        rate = stored(db, run.namespace, run.queue).get(run.queue)
        until = EPOCH + timedelta(minutes=minute)
        if rate is None and until <= at:
            return None
        location = {"namespace": run.namespace, "queue": run.queue, "id": run.id}
        [(ahead,)] = db.execute(SQL["runs_ahead"], {**location, "now": to_micros(at), "limit": MAX_POSITION})
        turn = None if rate is None else max(run.available_at, rate[0].turn_at(rate[1], at, ahead))
        return QueuePosition(None if rate is None else rate[0], ahead, turn, until if until > at else None)


def set_queue_rate(
    db: Session, namespace: str, queue: str, rate: RateLimit | None, actor: str, now: datetime
) -> QueueStatus:
    """Set or remove the rate limit of a queue; returns the queue's new status."""
    names = {"namespace": namespace, "queue": queue}
    before = stored(db, namespace, queue).get(queue)
    if rate is None:
        db.execute(SQL["remove_rate"], names)
    else:
        db.execute(SQL["set_rate"], {**names, "count": rate.count, "seconds": rate.seconds})
    detail = {"queue": queue, "before": before and str(before[0]), "after": rate and str(rate)}
    write_audit(db, now, actor, "rate", namespace, detail=detail)
    db.execute(SQL["wake_others"])
    return next(iter(_read_queues(db, namespace, queue, now)), QueueStatus(queue, None, None, 0, 0, 0))


def _read_queues(db: Session, namespace: str, queue: str | None, now: datetime) -> list[QueueStatus]:
    rows = db.execute(SQL["count_queues"], {"namespace": namespace, "queue": queue}).fetchall()
    return queues(stored(db, namespace, queue), {name: counts for name, *counts in rows}, now)
