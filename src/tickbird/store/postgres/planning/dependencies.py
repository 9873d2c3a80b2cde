"""Dependencies between schedules: what is known of those that others depend on, and who waits for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

from tickbird.domain.schedules.dependencies import LastSuccess, needed_by
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.waiting_runs import hold_active
from tickbird.store.postgres.rows import numbers, texts

_MAX_NAMED: Final = 11

# Schedules by namespace and name.
Names = Collection[tuple[str, str]]
Successes = Mapping[str, Mapping[str, LastSuccess]]


async def read_successes(db: Session, names: Names) -> Successes:
    """When these schedules last succeeded, as far as it is noted, by namespace; without those that do not exist."""
    return (await _read(db, names))[0]


async def watch(db: Session, names: Names) -> Successes:
    """As read_successes; from now on their successes are noted."""
    found, unwatched = await _read(db, names)
    if not unwatched:
        return found
    ids = numbers(sorted(unwatched))
    await db.execute("watch", ids=ids)
    # A run that is just ending has not seen that its success is to be noted: it is waited for.
    await hold_active(db, unwatched)
    await db.execute("fill_successes", ids=ids)
    return await read_successes(db, names)


async def _read(db: Session, names: Names) -> tuple[Successes, list[int]]:
    columns = {"namespaces": texts([each[0] for each in names]), "names": texts([each[1] for each in names])}
    found: defaultdict[str, dict[str, LastSuccess]] = defaultdict(dict)
    unwatched = []
    for namespace, name, schedule_id, is_watched, at in await db.fetch("read_successes", **columns):
        found[namespace][name] = LastSuccess(schedule_id, at)
        if not is_watched:
            unwatched.append(schedule_id)
    return found, unwatched


async def hold_successes(db: Session, schedule_ids: Iterable[int]) -> set[int]:
    """Keep these schedules from succeeding until the end of the transaction; those that do not just do so."""
    return {row[0] for row in await db.fetch("hold_successes", ids=numbers(sorted(set(schedule_ids))))}


async def note_successes(
    db: Session, watched: Collection[int], freed: Collection[int], at: datetime
) -> Collection[int]:
    """Note that these schedules succeeded; the freed ones, and those of runs that wait for no other one any more."""
    ids = numbers(watched)
    await db.execute("note_successes", ids=ids, at=at)
    # In a later statement, which sees who began to wait before the notes were taken hold of.
    waiting = [row[0] for row in await db.fetch("awaiting_these", ids=ids, at=at)]
    if not waiting:
        return freed
    # Who ends another wait of the same run at this moment must see that this one is over.
    waiting += freed
    await db.fetch("lock_waiters", ids=numbers(waiting))
    met = await db.fetch("settle_awaits", ids=ids, at=at)
    await db.execute("end_waits", ids=numbers(row[0] for row in met))
    return waiting


async def cancel_unmet(db: Session, limit: int, now: datetime) -> list[int]:
    """Cancel runs that have waited too long for another schedule; let those go on that wait for none."""
    cancelled = await db.fetch("cancel_unmet", limit=limit, now=now)
    await db.execute("forget_awaits", now=now)
    # Nobody should be waiting for what has come; if it ever happens, it ends here.
    await db.execute("settle_missed")
    await db.execute("end_missed")
    return [row[0] for row in cancelled]


async def read_needs(db: Session, namespace: str, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """What these schedules depend on, and those in turn, as far as that goes; without those that do not exist."""
    needs: dict[str, tuple[str, ...]] = {}
    wanted = set(names)
    while wanted:
        rows = await db.fetch("read_needs", namespace=namespace, names=texts(sorted(wanted)))
        found = dict(rows)
        needs |= {name: needed_by(raw) if isinstance(raw, dict) else () for name, raw in found.items()}
        wanted = {each for name in found for each in needs[name]} - needs.keys() - wanted
    return needs


async def dependents(db: Session, namespace: str, name: str) -> tuple[str, ...]:
    """The first of the schedules that depend on this one."""
    rows = await db.fetch("dependents", namespace=namespace, name=name, limit=_MAX_NAMED)
    return tuple(row[0] for row in rows)
