"""The attempts of a run, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.explain.explanation import Step
from tickbird.domain.explain.run_steps import RunSteps, run_name, seconds_between
from tickbird.domain.messages import brief, count, folded
from tickbird.domain.runs.run import AttemptRecord, RunRecord
from tickbird.domain.time.durations import duration_text

MAX_ATTEMPTS = 20
_FAILURES = {
    "timeout": "timed out, ",
    "reported": "reported a failure, ",
    "contract": "broke the contract of its target, ",
}


class AttemptSteps(RunSteps):
    """The attempts and the end of one run."""

    def tried(self) -> Iterator[Step]:
        shown = self.attempts
        if len(shown) > MAX_ATTEMPTS:
            left_out = len(shown) - MAX_ATTEMPTS
            text = f"{count(left_out, 'earlier attempt')} ended without success, the first at "
            yield Step(False, "attempts", f"{text}{self.times(shown[0].ended_at)}.", self.run.id, shown[0].ended_at)
            shown = shown[left_out:]
        for attempt in shown:
            yield Step(False, "attempts", self._attempt(attempt), self.run.id, attempt.ended_at)

    def _attempt(self, attempt: AttemptRecord) -> str:
        where = f" on worker {attempt.worker}" if attempt.worker else ""
        what = {
            "lost": "lost its worker",
            "drained": "was requeued" + ("" if attempt.error else " because its worker was shutting down"),
            "cancelled": "was cancelled",
        }.get(attempt.outcome, "failed")
        error = f": {brief(attempt.error)}" if attempt.error and attempt.outcome != "lost" else ""
        return f"Attempt {attempt.attempt}{where} {what} at {self.times(attempt.ended_at)}{error}."

    def end(self) -> Step | None:
        run, times = self.run, self.times
        if run.status not in ("succeeded", "failed", "cancelled"):
            if run.cancel_requested_at is None:
                return None
            by = f" by {run.cancel_requested_by}" if run.cancel_requested_by else ""
            text = f"Cancellation was requested{by} at {times(run.cancel_requested_at)}. The run has not stopped yet."
            return Step(False, "cancel", text, run.id, run.cancel_requested_at)
        at = run.finished_at or self.context.now
        if run.status == "succeeded":
            because = f": {folded(run.reason)}" if run.reason else ""
            return Step(True, "result", f"Succeeded at {times(at)}, after {self._took()}{because}.", run.id, at)
        if run.status == "failed":
            return Step(False, "result", f"Failed at {times(at)}: {self.failure()}.", run.id, at)
        return Step(False, "cancel", f"Cancelled at {times(at)}: {self.cancelled()}.", run.id, at)

    def _took(self) -> str:
        run = self.run
        return duration_text(seconds_between(self.first_start or run.created_at, run.finished_at or self.context.now))

    def failure(self) -> str:
        """Return why the run failed."""
        run = self.run
        tries = f"after {count(run.attempt, 'attempt')}"
        if run.failure_kind == "lost":
            return f"its worker was lost {tries}, and it is not retried"
        kind = _FAILURES.get(run.failure_kind or "", "")
        return f"{kind}{tries}: {brief(run.error) or 'no error was recorded'}"

    def cancelled(self) -> str:
        """Return why the run was cancelled."""
        run, times = self.run, self.times
        if run.reason == "misfire":
            limit = self.definition.start_limit if self.definition else None
            within = "" if limit is None else f" within {duration_text(limit)}"
            until = "" if run.start_by is None else f", by {times(run.start_by)}"
            return f"it had not started{within} of being due{until} (misfire)"
        if run.reason == "dependency":
            return self.dependencies.cancelled(run.error)
        if run.reason == "replaced":
            newer = self.replaced_by()
            return f"{run_name(newer)} of a newer tick replaced it" if newer else "a newer tick replaced it"
        by = f"by {run.cancel_requested_by}" if run.cancel_requested_by else ""
        if run.reason and by and by not in run.reason:
            return f"{by}: {folded(run.reason)}"
        return folded(run.reason) or by or "no reason was recorded"

    def replaced_by(self) -> RunRecord | None:
        """Return the run that was planned at the instant at which this one was cancelled."""
        newer = [
            other
            for other in (*self.context.others, *self.context.active)
            if other.id > self.run.id and other.scheduled_for is not None and other.created_at == self.run.finished_at
        ]
        return min(newer, key=lambda other: other.id, default=None)
