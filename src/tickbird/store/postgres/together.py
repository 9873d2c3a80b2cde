"""Many changes in one transaction."""

from __future__ import annotations

from datetime import datetime

from tickbird.store.plans import KnownRevisions
from tickbird.store.postgres import calendars, limits, queues
from tickbird.store.postgres.changes import change
from tickbird.store.postgres.connection import Session
from tickbird.store.protocol import Changes, Counted
from tickbird.store.zones import MayPlan


async def change_all(
    db: Session,
    known: KnownRevisions,
    may: MayPlan,
    namespace: str,
    changes: Changes,
    actor: str,
    now: datetime | None,
    counted: Counted | None,
) -> None:
    """Make all of them, in their order."""
    for each in changes.calendars:
        await calendars.put(
            db, namespace, each.name, each.definition, each.closed, each.source, actor, each.revision, now
        )
    for key, most in changes.limits.items():
        await limits.change(db, known, namespace, key, most, actor, now)
    for queue, rate in changes.queues.items():
        await queues.limit(db, namespace, queue, rate, actor, now)
    for number, (name, command) in enumerate(changes.commands, 1):
        await change(db, known, may, namespace, name, command, now)
        if counted is not None:
            counted(number)
