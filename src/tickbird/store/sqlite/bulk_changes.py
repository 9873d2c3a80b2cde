"""Many changes in one transaction."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from tickbird.domain.planning.changes import ChangeSet, ProgressCallback
from tickbird.store.protocol.bulk_changes import BulkChangeStore
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.zone_data import PlanningPermission, PlanningSwitch
from tickbird.store.sqlite.calendars import put_calendar
from tickbird.store.sqlite.database.database import Database, NounStore
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.planning.concurrency import set_limit
from tickbird.store.sqlite.queues import set_queue_rate
from tickbird.store.sqlite.schedule_changes import change


class SqliteBulkChanges(NounStore, BulkChangeStore):
    def __init__(self, database: Database, switch: PlanningSwitch) -> None:
        super().__init__(database)
        self._switch = switch

    async def apply(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: ProgressCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        permission = await self._switch.permission()
        await self._db.write(
            lambda db: _apply(db, self._db.revisions, permission, namespace, changes, actor, read_clock(now), counted)
        )
        self._db.signal()


def _apply(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    changes: ChangeSet,
    actor: str,
    now: datetime,
    counted: ProgressCallback | None,
) -> None:
    """Apply all changes in order."""
    for update in changes.calendars:
        put_calendar(db, namespace, update, actor, now)
    for key, max_running in changes.limits.items():
        set_limit(db, revisions, namespace, key, max_running, actor, now)
    for queue, rate in changes.queues.items():
        set_queue_rate(db, namespace, queue, rate, actor, now)
    for number, (name, command) in enumerate(changes.commands, 1):
        change(db, revisions, may, namespace, name, command, now)
        if counted is not None:
            counted(number)
