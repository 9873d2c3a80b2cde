"""Backfills: runs for past ticks of a range that have no run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord, NewBackfill


class BackfillStore(Protocol):
    async def create(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        """Create a run for each tick of the range that has none. The runs wait in order, after all other runs.

        Plans due ticks first. With `dry_run`, only the plan is returned.
        """

    async def cancel(
        self,
        namespace: str,
        backfill_id: int,
        actor: str,
        *,
        note: str = "",
        stop_running: bool = False,
        now: datetime | None = None,
    ) -> BackfillRecord:
        """Cancel the runs of a backfill that have not started; with `stop_running`, also stop running ones."""

    async def get(self, namespace: str, backfill_id: int) -> BackfillRecord:
        """A backfill by its id, with the number of its runs by status. NotFoundError if there is none."""

    async def list(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, with ids below `before`."""
