"""Queues on PostgreSQL: what stands in them, and their rates."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Json, Jsonb

from tickbird.domain.limits.rate_limits import (
    MAX_POSITION,
    QueuePosition,
    QueueStatus,
    RateLimit,
    RateState,
    StartTimes,
    instant,
    micros,
    queues,
    read_starts,
)
from tickbird.domain.time.instants import EPOCH
from tickbird.store.postgres.database.connection import Session


async def limit(
    db: Session, namespace: str, name: str, rate: RateLimit | None, actor: str, now: datetime | None
) -> QueueStatus:
    """Set or remove the rate of a queue; the queue as it stands then."""
    before = (await stored(db, namespace, name)).get(name)
    if rate is None:
        await db.execute("remove_rate", namespace=namespace, queue=name)
    else:
        await db.execute("set_rate", namespace=namespace, queue=name, count=rate.count, seconds=rate.seconds)
    [(now,)] = await db.fetch("clock", now=now)
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action="rate",
        namespace=namespace,
        schedule_id=None,
        schedule=None,
        run_id=None,
        detail=Jsonb({"queue": name, "before": before and str(before[0]), "after": rate and str(rate)}),
    )
    await db.execute("wake")
    return next(iter(await listed(db, namespace, name, now)), QueueStatus(name, None, None, 0, 0, 0))


async def stored(db: Session, namespace: str, name: str | None = None) -> dict[str, RateState]:
    """The queues that have a rate, or one of them."""
    return {queue: rate_state(*row) for queue, *row in await db.fetch("stored_rates", namespace=namespace, queue=name)}


def rate_state(count: int, seconds: int, starts: Any) -> RateState:
    """A queue's rate as it is stored."""
    return RateLimit(count, seconds), read_starts(starts)


async def save_starts(db: Session, namespace: str, queue: str, starts: StartTimes) -> None:
    """Keep what has begun."""
    await db.execute("save_starts", namespace=namespace, queue=queue, starts=Json(starts))


async def listed(db: Session, namespace: str, name: str | None, now: datetime | None) -> list[QueueStatus]:
    """The queues that have a rate or active runs, by name; or one of them."""
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    rows = await db.fetch("count_queues", namespace=namespace, queue=name)
    return queues(await stored(db, namespace, name), {queue: counts for queue, *counts in rows}, micros(now))


async def turn(db: Session, run_id: int, now: datetime | None) -> QueuePosition | None:
    """What keeps a queued run back in its queue."""
    found = await db.fetch_named("get_run", id=run_id)
    if not found or found[0]["status"] != "queued":
        return None
    run = found[0]
    pace = (await stored(db, run["namespace"], run["queue"])).get(run["queue"])
    [(now,)] = await db.fetch("clock", now=now)
    [(deferred_until,)] = await db.fetch("deferred_until_of", id=run_id)
    assert now is not None
    until = EPOCH + timedelta(minutes=deferred_until)
    if pace is None and until <= now:
        return None
    where = {"namespace": run["namespace"], "queue": run["queue"], "id": run_id}
    [(ahead,)] = await db.fetch("runs_ahead", now=now, limit=MAX_POSITION, **where)
    at = None if pace is None else max(run["available_at"], instant(pace[0].turn_at(pace[1], micros(now), ahead)))
    return QueuePosition(None if pace is None else pace[0], ahead, at, until if until > now else None)
