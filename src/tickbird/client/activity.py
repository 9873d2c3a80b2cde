"""Activity: runs that were planned or ended, and skips."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from tickbird.client.base import ClientBase, page_size
from tickbird.client.parameters import OfSchedule
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.time.instants import to_seconds
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta


class ActivityLog(ClientBase):
    """Recent activity."""

    @viewer.get("list_activity", "/activity", "List recent activity")
    async def list(
        self,
        since: Annotated[datetime, Meta(description="Only activity since this instant.")],
        *,
        schedule: OfSchedule = None,
        limit: Annotated[
            int, Meta(schema={"minimum": 1, "maximum": 10_000}, description="The maximum of each kind.")
        ] = 1_000,
    ) -> Sequence[Activity]:
        """List the newest planned runs, ended runs and skips, oldest first."""
        to_seconds(since)
        if schedule is not None:
            await self._find(schedule)
        found: builtins.list[Activity] = []
        before: int | None = None
        while len(found) < limit:
            page = await self._store.runs.list(
                self._namespace, schedule=schedule, before=before, limit=min(200, page_size(limit))
            )
            made = [run for run in page if run.created_at >= since]
            found += [Activity(run.created_at, "planned", run.schedule, run) for run in made]
            # Ids are given out before their runs are written, so that one page may hold some of either side.
            if not made:
                break
            before = page[-1].id
        recent = await self._store.ledger.recent_outcomes(self._namespace, since, limit)
        found += [Activity(run.finished_at or since, "ended", run.schedule, run) for run in recent.ended]
        found += [Activity(skip.decided_at, "skipped", name, skip=skip) for name, skip in recent.skips]
        own = [activity for activity in found if schedule in (None, activity.schedule)]
        return sorted(own, key=lambda activity: (activity.at, activity.kind != "planned"))
