"""History of a run: planned, waiting, queued, attempted; and the cause of its lateness."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.explain.attempt_steps import AttemptSteps
from tickbird.domain.explain.context import RunContext
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.explain.queue_steps import QueueSteps
from tickbird.domain.explain.run_steps import RunSteps, planned_in_term, seconds_between
from tickbird.domain.explain.wait_steps import WaitSteps
from tickbird.domain.messages import capital
from tickbird.domain.runs.run import TICK_ORIGINS, RunRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.durations import duration_text


class RunHistory(RunSteps):
    """The steps of one run, from its due time to its end."""

    def __init__(
        self, run: RunRecord, definition: Definition | None, context: RunContext, times: TimeFormatter
    ) -> None:
        super().__init__(run, definition, context, times)
        self.wait = WaitSteps(run, definition, context, times)
        self.queue = QueueSteps(run, definition, context, times)
        self.tries = AttemptSteps(run, definition, context, times)

    def steps(self) -> Iterator[Step]:
        """Yield every step in chronological order."""
        yield self._planned()
        if self.run.term is not None:
            yield planned_in_term(self.run.term, self.run.created_at, self.run.id)
        if step := self.wait.held():
            yield step
        if self.run.origin in TICK_ORIGINS and not self.run.waiting_for_dependency and self.run.reason != "dependency":
            yield from self.dependencies.met(self.run)
        if step := self.wait.waited():
            yield step
        if step := self.queue.queued():
            yield step
        yield from self.queue.deferred()
        if step := self.queue.worker():
            yield step
        yield from self.tries.tried()
        if step := self.wait.undecided():
            yield step
        if step := self.tries.end():
            yield step

    def waiting_for(self) -> Iterator[Step]:
        """Yield what delays a run that has not started; nothing if a worker should claim it now."""
        run = self.run
        if run.held and (held := self.wait.held()):
            yield held
        elif undecided := self.wait.undecided():
            yield undecided
        elif run.status == "waiting":
            yield self.wait.waiting()
        elif run.status == "queued":
            if run.available_at > self.context.now:
                yield self.queue.in_queue()
            yield from self.queue.deferred()
            if obstacle := self.queue.unserved_reason():
                yield Step(False, "worker", f"{capital(obstacle)}.", run.id)

    @property
    def late(self) -> float:
        """Seconds from `due_at` to the first attempt, or to the end or now if there was none."""
        begun = self.first_start or self.run.finished_at or self.context.now
        return seconds_between(self.run.due_at, begun)

    def cause(self) -> str:
        """Return the main cause of the lateness; empty if the run was on time."""
        if self.late <= self.grace or self.run.origin == "backfill":
            return ""
        planned = seconds_between(self.run.due_at, self.run.created_at)
        waited = self.wait.seconds()
        queued = max(0.0, self.late - planned - waited)
        longest = max(planned, waited, queued)
        if self.run.released_at is not None:
            return f"it was held until {self.run.released_by} released it at {self.times(self.run.released_at)}"
        if longest == planned:
            return f"no worker planned it until {self.times(self.run.created_at)}"
        if longest == waited:
            return f"it waited for {self.wait.reason()}"
        if self.attempts:
            # The next attempt has overwritten whether the first one waited for a run or for a worker.
            return f"its first attempt started {duration_text(queued)} after it was planned"
        return f"no worker claimed it for {duration_text(queued)}"

    def _planned(self) -> Step:
        run, times = self.run, self.times
        after = seconds_between(run.due_at, run.created_at)
        if run.origin == "backfill":
            by = f" by {run.actor}" if run.actor else ""
            return Step(None, "late", f"Backfilled{by} at {times(run.created_at)}.", run.id, run.created_at)
        if after <= self.grace:
            text = f"Planned {duration_text(max(0.0, after))} after it was due at {times(run.due_at)}."
            return Step(True, "late", text, run.id, run.created_at)
        text = (
            f"Planned {duration_text(after)} late: it was due at {times(run.due_at)}, and no worker planned it "
            f"until {times(run.created_at)}"
        )
        begun = [worker.started_at for worker in self.context.workers if worker.started_at is not None]
        if begun and min(begun) > run.due_at:
            text += f"; no worker alive now was running before {times(min(begun))}"
        return Step(False, "late", text + ".", run.id, run.created_at)
