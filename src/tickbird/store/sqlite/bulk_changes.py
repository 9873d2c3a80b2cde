"""Many changes in one transaction."""

from __future__ import annotations

import sqlite3

from tickbird.domain.planning.changes import ChangeSet, Counted
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.zone_data import PlanningPermission
from tickbird.store.sqlite import calendars, queues
from tickbird.store.sqlite.planning import concurrency
from tickbird.store.sqlite.schedule_changes import change


def apply_changes(
    db: sqlite3.Connection,
    known: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    changes: ChangeSet,
    actor: str,
    now: int,
    counted: Counted | None,
) -> None:
    """Make all of them, in their order."""
    for each in changes.calendars:
        calendars.put(db, namespace, each.name, each.definition, each.closed, each.source, actor, each.revision, now)
    for key, max_running in changes.limits.items():
        concurrency.change(db, known, namespace, key, max_running, actor, now)
    for queue, rate in changes.queues.items():
        queues.limit(db, namespace, queue, rate, actor, now)
    for number, (name, command) in enumerate(changes.commands, 1):
        change(db, known, may, namespace, name, command, now)
        if counted is not None:
            counted(number)
