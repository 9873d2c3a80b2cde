"""Runs: enqueue, read, cancel, prune."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.doctor.snapshot import WaitingRuns
from tickbird.domain.runs.run import AttemptRecord, NewRun, RunRecord, Status


class RunStore(Protocol):
    """The verbs of runs that need no lease."""

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        """Insert runs without a schedule; for an idempotency key that was used before, returns the id of its run.

        A concurrency key is refused if the store lacks limits, see `check_fields`.
        """

    async def get(self, run_id: int) -> RunRecord | None:
        """A run by its id."""

    async def list(
        self,
        namespace: str,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first, with ids below `before`."""

    async def list_attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run, except a successful one."""

    async def list_active(self, schedule_id: int) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""

    async def list_waiting(
        self, namespace: str, *, limit: int = 100, now: datetime | None = None
    ) -> Sequence[WaitingRuns]:
        """Runs that could start now, by queue and target, the oldest first; each counts at most the first `limit`."""

    async def cancel(self, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None) -> RunRecord:
        """Cancel a run that has not started; request a running one to stop. ConflictError if it is final."""

    async def prune(self, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None) -> int:
        """Delete final runs that ended over `older_than` seconds ago, except the newest `keep` of each schedule.

        Also deletes revisions that were replaced before then, except the newest 100 of each schedule and revisions that
        runs, skips or backfills refer to. Deletes at most `limit` of both; returns the number of deleted rows.
        """
