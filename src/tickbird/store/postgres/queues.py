"""Queues and their rate limits on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Json

from tickbird.domain.limits.rate_limits import (
    MAX_POSITION,
    QueuePosition,
    QueueStatus,
    RateLimit,
    RateState,
    StartTimes,
    queues,
    read_starts,
)
from tickbird.domain.time.instants import EPOCH
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.protocol.queues import QueueStore


class PostgresQueues(NounStore, QueueStore):
    @transaction
    async def set_rate(
        self,
        db: Session,
        namespace: str,
        queue: str,
        rate: RateLimit | None,
        actor: str,
        *,
        now: datetime | None = None,
    ) -> QueueStatus:
        return await set_queue_rate(db, namespace, queue, rate, actor, now)

    @transaction
    async def list(
        self, db: Session, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        return await _read_queues(db, namespace, queue, now)

    @transaction
    async def find_position(self, db: Session, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        rows = await db.fetch_named("get_run", id=run_id)
        if not rows or rows[0]["status"] != "queued":
            return None
        run = rows[0]
        rate = (await _stored_rates(db, run["namespace"], run["queue"])).get(run["queue"])
        [(at,)] = await db.fetch("clock", now=now)
        [(minute,)] = await db.fetch("deferred_until_minute_of", id=run_id)
        until = EPOCH + timedelta(minutes=minute)
        if rate is None and until <= at:
            return None
        location = {"namespace": run["namespace"], "queue": run["queue"], "id": run_id}
        [(ahead,)] = await db.fetch("runs_ahead", now=at, limit=MAX_POSITION, **location)
        turn = None if rate is None else max(run["available_at"], rate[0].turn_at(rate[1], at, ahead))
        return QueuePosition(None if rate is None else rate[0], ahead, turn, until if until > at else None)


async def set_queue_rate(
    db: Session, namespace: str, queue: str, rate: RateLimit | None, actor: str, now: datetime | None
) -> QueueStatus:
    """Set or remove the rate limit of a queue; returns the queue's new status."""
    before = (await _stored_rates(db, namespace, queue)).get(queue)
    if rate is None:
        await db.execute("remove_rate", namespace=namespace, queue=queue)
    else:
        await db.execute("set_rate", namespace=namespace, queue=queue, count=rate.count, seconds=rate.seconds)
    [(at,)] = await db.fetch("clock", now=now)
    detail = {"queue": queue, "before": before and str(before[0]), "after": rate and str(rate)}
    await write_audit(db, at, actor, "rate", namespace, detail=detail)
    await db.execute("wake")
    return next(iter(await _read_queues(db, namespace, queue, at)), QueueStatus(queue, None, None, 0, 0, 0))


async def save_starts(db: Session, namespace: str, queue: str, starts: StartTimes) -> None:
    await db.execute("save_starts", namespace=namespace, queue=queue, starts=Json(starts))


def rate_state(count: int, seconds: int, starts: Any) -> RateState:
    return RateLimit(count, seconds), read_starts(starts)


async def _stored_rates(db: Session, namespace: str, queue: str | None) -> dict[str, RateState]:
    rows = await db.fetch("stored_rates", namespace=namespace, queue=queue)
    return {name: rate_state(*row) for name, *row in rows}


async def _read_queues(db: Session, namespace: str, queue: str | None, now: datetime | None) -> list[QueueStatus]:
    [(at,)] = await db.fetch("clock", now=now)
    counts = {name: row for name, *row in await db.fetch("count_queues", namespace=namespace, queue=queue)}
    return queues(await _stored_rates(db, namespace, queue), counts, at)
