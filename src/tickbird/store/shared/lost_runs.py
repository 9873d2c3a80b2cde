"""Lost runs, for every store."""

from __future__ import annotations

from tickbird.domain.runs.run import ClaimedRun, RunRecord


def claimed_run(run: RunRecord) -> ClaimedRun:
    """The lost attempt of a run, as its reconcile function receives it."""
    return ClaimedRun(
        run.id,
        run.attempt,
        run.failures,
        run.target.name,
        run.origin,
        run.due_at,
        run.payload,
        run.scheduled_for,
        run.covers,
        run.schedule_id,
        run.schedule,
        target_kind=run.target.kind,
    )
