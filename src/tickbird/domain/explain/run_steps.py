"""Common base of the steps of a run."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.explain.context import RunContext
from tickbird.domain.explain.dependencies import DependencyExplainer
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.instants import to_seconds

# Without a readable definition, lateness is measured against the default.
GRACE = 10


class RunSteps:
    """A run, its definition (None if it cannot be read), and the related rows."""

    def __init__(
        self, run: RunRecord, definition: Definition | None, context: RunContext, times: TimeFormatter
    ) -> None:
        self.run = run
        self.definition = definition
        self.context = context
        self.times = times
        self.grace = GRACE if definition is None else definition.grace
        self.attempts = sorted(context.attempts, key=lambda attempt: attempt.attempt)
        self.dependencies = DependencyExplainer(definition, to_seconds(run.due_at), context, times)

    @property
    def first_start(self) -> datetime | None:
        return self.attempts[0].started_at if self.attempts else self.run.began_at


def planned_in_term(term: int, at: datetime, run_id: int | None = None) -> Step:
    """Return the step about the leader that planned a tick."""
    return Step(None, "leader", f"The leader of term {term} planned it.", run_id, at)


def run_name(run: RunRecord) -> str:
    """Return the name of a run, with its origin if it is not the run of a tick."""
    return f"run {run.id}" if run.scheduled_for is not None else f"{run.origin} run {run.id}"


def active_run_text(run: RunRecord, times: TimeFormatter, *, whose: bool = False) -> str:
    """Describe an active run and its status; with `whose`, also its schedule."""
    name = run_name(run) + (f" of {run.schedule}" if whose and run.schedule else "")
    if run.status == "running" and run.started_at is not None:
        where = f" on worker {run.worker}" if run.worker else ""
        stopping = ", cancellation requested" if run.cancel_requested_at else ""
        return f"{name}, running since {times(run.started_at)}{where}{stopping}"
    return f"{name}, {run.status} since {times(run.created_at)}"


def seconds_between(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds()
