"""Waiting runs, and letting the next of them go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime

from tickbird.domain.backfills import has_room
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
    own: Counter[int | None] = Counter()
    queue: list[tuple[int, int, int]] = []
    found = await db.fetch("read_places", ids=numbers(waiting))
    for schedule_id, run_id, status, revision, backfill_id in sorted(found):
        if status == "waiting":
            queue.append((schedule_id, run_id, revision))
        else:
            places[schedule_id] += 1
            own[backfill_id] += 1
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
    free += await _next_of_backfills(db, known, [one for one in waiting if one not in full], places, own)
    if not free:
        return []
    return [row[0] for row in await db.fetch("release_runs", ids=numbers(free), now=now)]


async def _next_of_backfills(
    db: Session,
    known: KnownRevisions,
    schedule_ids: Sequence[int],
    places: dict[int, int],
    own: Counter[int | None],
) -> list[int]:
    """The runs of backfills that fit in behind all others, in order."""
    if not schedule_ids:
        return []
    rows = await db.fetch("next_of_backfills", ids=numbers(schedule_ids))
    await learn(db, known, {(row[0], row[4]) for row in rows})
    free: list[int] = []
    for schedule_id, backfill_id, concurrency, run_id, revision in rows:
        revised = known.get(schedule_id, revision)
        if revised is None or not has_room(revised.definition, concurrency, own[backfill_id], places[schedule_id]):
            continue
        places[schedule_id] += 1
        own[backfill_id] += 1
        free.append(run_id)
    return free
