"""Dependencies between schedules: recorded successes, and the runs that wait for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

from tickbird.domain.schedules.dependencies import LastSuccess, needed_by
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs
from tickbird.store.postgres.rows import numbers, texts

_MAX_NAMED: Final = 11

# Schedules by namespace and name.
Names = Collection[tuple[str, str]]
Successes = Mapping[str, Mapping[str, LastSuccess]]


async def read_successes(db: Session, names: Names) -> Successes:
    """The recorded last successes of these schedules, by namespace; omits schedules that do not exist."""
    return (await _read(db, names))[0]


async def watch(db: Session, names: Names) -> Successes:
    """Like read_successes; from now on their successes are recorded."""
    successes, unwatched = await _read(db, names)
    if not unwatched:
        return successes
    ids = numbers(sorted(unwatched))
    await db.execute("watch", ids=ids)
    # Wait for runs that are just ending: they did not know that their success must be recorded.
    await lock_active_runs(db, unwatched)
    await db.execute("fill_successes", ids=ids)
    return await read_successes(db, names)


async def _read(db: Session, names: Names) -> tuple[Successes, list[int]]:
    columns = {"namespaces": texts([namespace for namespace, _ in names]), "names": texts([name for _, name in names])}
    successes: defaultdict[str, dict[str, LastSuccess]] = defaultdict(dict)
    unwatched = []
    for namespace, name, schedule_id, is_watched, at in await db.fetch("read_successes", **columns):
        successes[namespace][name] = LastSuccess(schedule_id, at)
        if not is_watched:
            unwatched.append(schedule_id)
    return successes, unwatched


async def lock_successes(db: Session, schedule_ids: Iterable[int]) -> set[int]:
    """Lock the records of these schedules until the end of the transaction; returns the ones that were free."""
    return {row[0] for row in await db.fetch("lock_successes", ids=numbers(sorted(set(schedule_ids))))}


async def record_successes(
    db: Session, watched: Collection[int], freed: Collection[int], at: datetime
) -> Collection[int]:
    """Record successes; returns the freed schedules, and the schedules whose runs waited for these successes."""
    ids = numbers(watched)
    await db.execute("record_successes", ids=ids, at=at)
    # In a later statement, which sees the runs that began to wait before the records were locked.
    waiting = [row[0] for row in await db.fetch("awaiting_schedules", ids=ids, at=at)]
    if not waiting:
        return freed
    # A session that ends another wait of the same run must see that this one is over.
    waiting += freed
    await db.fetch("lock_waiters", ids=numbers(waiting))
    met = await db.fetch("resolve_awaits", ids=ids, at=at)
    await db.execute("end_waits", ids=numbers(row[0] for row in met))
    return waiting


async def cancel_unmet(db: Session, limit: int, now: datetime) -> list[int]:
    """Cancel runs that have waited too long for another schedule; release those that wait for none."""
    cancelled = await db.fetch("cancel_unmet", limit=limit, now=now)
    await db.execute("delete_awaits", now=now)
    # Normally no run waits for a past success; if it happens, it ends here.
    await db.execute("resolve_missed_awaits")
    await db.execute("end_missed")
    return [row[0] for row in cancelled]


async def read_needs(db: Session, namespace: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The transitive dependencies of these schedules; omits schedules that do not exist."""
    needs: dict[str, tuple[str, ...]] = {}
    pending = set(names)
    while pending:
        rows = await db.fetch("read_needs", namespace=namespace, names=texts(sorted(pending)))
        rows_by_name = dict(rows)
        needs |= {name: needed_by(raw) if isinstance(raw, dict) else () for name, raw in rows_by_name.items()}
        pending = {needed for name in rows_by_name for needed in needs[name]} - needs.keys() - pending
    return needs


async def dependents(db: Session, namespace: str, name: str) -> tuple[str, ...]:
    """The first schedules that depend on this one."""
    rows = await db.fetch("dependents", namespace=namespace, name=name, limit=_MAX_NAMED)
    return tuple(row[0] for row in rows)
