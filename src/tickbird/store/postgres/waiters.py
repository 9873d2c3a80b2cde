"""Waiting runs, and letting the next of them go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from tickbird.domain.planner import starts_waiting
from tickbird.store.plans import KnownRevisions
from tickbird.store.postgres.connection import Session
from tickbird.store.postgres.revisions import learn
from tickbird.store.postgres.rows import numbers


async def release(db: Session, known: KnownRevisions, schedule_ids: Collection[int], now: datetime) -> list[int]:
    """Queue the oldest waiting runs of these schedules as far as there is room; call it after what made the room."""
    if not schedule_ids:
        return []
    # Who finishes another run of the same schedule at this moment must see what is released here, and the reverse:
    # both must hold the oldest waiter, and count in a later statement.
    waiting = [row[0] for row in await db.fetch("lock_waiters", ids=numbers(schedule_ids))]
    if not waiting:
        return []
    places: defaultdict[int, int] = defaultdict(int)
    queue: list[tuple[int, int, int]] = []
    for schedule_id, run_id, status, revision in sorted(await db.fetch("read_places", ids=numbers(waiting))):
        if status == "waiting":
            queue.append((schedule_id, run_id, revision))
        else:
            places[schedule_id] += 1
    await learn(db, known, {(schedule_id, revision) for schedule_id, _, revision in queue})
    free: list[int] = []
    full: set[int] = set()
    for schedule_id, run_id, revision in queue:
        revised = known.get(schedule_id, revision)
        if schedule_id in full:
            continue
        if places[schedule_id] and (revised is None or starts_waiting(revised.definition, places[schedule_id])):
            full.add(schedule_id)
            continue
        places[schedule_id] += 1
        free.append(run_id)
    if not free:
        return []
    return [row[0] for row in await db.fetch("release_runs", ids=numbers(free), now=now)]
