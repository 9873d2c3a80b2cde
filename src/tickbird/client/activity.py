"""Activity: runs that were planned or ended, and skips."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import OfSchedule
from tickbird.domain.ledger.activity import Activity
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
        limit: Annotated[int, Meta(ge=1, le=10_000, description="The maximum of each kind.")] = 1_000,
    ) -> Sequence[Activity]:
        """List recent activity in order of time: planned runs, ended runs and skips."""
        if schedule is not None:
            await self._find(schedule)
        activities: builtins.list[Activity] = []
        before: int | None = None
        while len(activities) < limit:
            page = await self._store.runs.list(self._namespace, schedule=schedule, before=before, limit=min(200, limit))
            created = [run for run in page if run.created_at >= since]
            activities += [Activity(run.created_at, "planned", run.schedule, run) for run in created]
            # Ids are assigned before the commit, so runs before and after `since` may be on the same page.
            if not created:
                break
            before = page[-1].id
        recent = await self._store.ledger.recent_outcomes(self._namespace, since, limit)
        activities += [Activity(run.finished_at or since, "ended", run.schedule, run) for run in recent.ended]
        activities += [Activity(skip.decided_at, "skipped", name, skip=skip) for name, skip in recent.skips]
        own = [activity for activity in activities if schedule in (None, activity.schedule)]
        return sorted(own, key=lambda activity: (activity.at, activity.kind != "planned"))
