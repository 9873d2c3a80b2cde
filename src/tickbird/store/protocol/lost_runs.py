"""Lost runs: runs with `on_crash="ask"` that wait for the answer whether their lost attempt had its effect."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.runs.lost_runs import LostRun, ReconcileCall, ReconcileReport, Resolution
from tickbird.domain.workers import Worker


class LostRunStore(Protocol):
    async def list(self, namespace: str, *, before: int | None = None, limit: int = 100) -> Sequence[LostRun]:
        """The runs that wait for an answer, newest first, with ids below `before`."""

    async def get(self, run_id: int) -> LostRun | None:
        """The last loss of a run and its answer; None if the run was never asked about."""

    async def claim(
        self, worker: Worker, tasks: Collection[str], limit: int, lease: float, *, now: datetime | None = None
    ) -> Sequence[ReconcileCall]:
        """Lease calls of the reconcile functions of these tasks for `lease` seconds: oldest unanswered runs first.

        A run whose calls have lost their worker MAX_CALLS times gets the answer "unknown" instead.
        """

    async def report(self, report: ReconcileReport, *, now: datetime | None = None) -> bool:
        """Record the answer of the current call; False if it is no longer current.

        After "yes" the run has succeeded. After "no" it gets another attempt, unless it has lost too many workers.
        """

    async def resolve(self, run_id: int, resolution: Resolution, *, now: datetime | None = None) -> None:
        """Record a person's answer, like `report`; ConflictError if the run waits for none."""
