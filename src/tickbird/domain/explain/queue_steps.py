"""A run in its queue: rate limit, fairness, and the worker that claims it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.explain.run_steps import RunSteps, seconds_between
from tickbird.domain.explain.unserved_runs import last_server, unserved_reason
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.messages import brief, capital, count, folded
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker


class QueueSteps(RunSteps):
    """The steps of one run in its queue."""

    def queued(self) -> Step | None:
        run, times, now = self.run, self.times, self.context.now
        if run.status == "waiting":
            return None
        if run.status == "queued":
            return self.in_queue()
        if run.started_at is None:
            if run.status != "cancelled":
                return None
            until = run.finished_at or now
            text = f"Had not started by {times(until)}."
            return Step(False, "queue", text, run.id, until)
        if self.attempts:
            begun = self.first_start
            if begun is None:
                return None
            since = max(run.due_at, run.created_at)
            taken = seconds_between(since, begun)
            text = f"Its first attempt started {duration_text(max(0.0, taken))} after it was planned."
            return Step(taken <= self.grace, "queue", text, run.id, begun)
        since = max(run.available_at, run.created_at)
        taken = max(0.0, seconds_between(since, run.started_at))
        text = f"Claimed from queue {run.queue!r} after {duration_text(taken)}, at {times(run.started_at)}."
        return Step(taken <= self.grace, "queue", text, run.id, run.started_at)

    def in_queue(self) -> Step:
        run, now = self.run, self.context.now
        if run.available_at > now:
            postponed = f": {brief(run.error)}" if run.error and run.error == run.reason else ""
            text = f"Attempt {run.attempt + 1} may start at {self.times(run.available_at)}{postponed}."
            return Step(None, "queue", text, run.id, run.available_at)
        since = max(run.available_at, run.created_at)
        text = f"In queue {run.queue!r} since {self.times(since)} ({duration_text(seconds_between(since, now))})"
        if run.start_by is not None:
            text += f"; it is cancelled unless it starts by {self.times(run.start_by)}"
        return Step(None, "queue", text + ".", run.id, since)

    def worker(self) -> Step | None:
        run, times, now = self.run, self.times, self.context.now
        if run.status == "queued" and run.available_at <= now:
            obstacle = self.unserved_reason()
            if obstacle:
                return Step(False, "worker", f"{capital(obstacle)}.", run.id)
            soon = "then" if self.rate_limit_reason() else "at any moment"
            text = f"A live worker serves it and has a free slot, so it should be claimed {soon}."
            return Step(None, "worker", text, run.id)
        if run.status == "running":
            alive = any(worker.id == run.worker for worker in self.context.workers)
            since = f"Attempt {run.attempt} on worker {run.worker} since {times(run.started_at or run.created_at)}"
            if run.lease_until is not None and run.lease_until < now:
                text = (
                    f"{since}, but its lease expired at {times(run.lease_until)}. The next maintenance step rescues it."
                )
                return Step(False, "worker", text, run.id, run.lease_until)
            if not alive:
                until = f" until its lease expires at {times(run.lease_until)}" if run.lease_until else ""
                text = f"{since}, but that worker is no longer live. The run is not rescued{until}."
                return Step(False, "worker", text, run.id, run.lease_until)
            waits = f"; it {text}" if (text := self.reported_wait()) else ""
            return Step(True, "worker", f"{since}{waits}.", run.id, run.started_at)
        if run.worker is not None:
            return Step(True, "worker", f"Attempt {run.attempt} was on worker {run.worker}.", run.id, run.started_at)
        return None

    def reported_wait(self) -> str:
        """Return the progress that a running attempt reported, if it is a text."""
        progress = self.context.progress
        if progress is None or progress.attempt != self.run.attempt or not isinstance(progress.value, str):
            return ""
        return folded(progress.value)

    def deferred(self) -> Iterator[Step]:
        """Yield what delays a queued run that a worker could claim."""
        if (turn := self.context.turn) is None:
            return
        if rate := self.rate_limit_reason():
            yield Step(False, "rate", f"{capital(rate)}.", self.run.id, turn.at)
        if line := self.line():
            yield Step(None, "line", f"{capital(line)}.", self.run.id, turn.deferred_until)

    def rate_limit_reason(self) -> str:
        """Describe how the rate limit of the queue delays the run; empty if it does not."""
        turn, run = self.context.turn, self.run
        if turn is None or run.status != "queued" or turn.at is None:
            return ""
        if turn.at <= max(self.context.now, run.available_at):
            return ""
        return f"it waits for the rate limit of queue {run.queue!r}, {in_turn(turn, self.times(turn.at))}"

    def line(self) -> str:
        """Describe how fairness defers the queued run; empty if it does not."""
        turn, run = self.context.turn, self.run
        if turn is None or run.status != "queued" or turn.deferred_until is None:
            return ""
        return f"in queue {run.queue!r} it {deferral_reason(turn, self.times(turn.deferred_until))}"

    def unserved_reason(self) -> str:
        """Return why no worker claims the queued run; empty if one should."""
        busy = Counter(run.worker for run in self.context.running)
        queue, target = self.run.queue, self.run.target
        reason = unserved_reason(queue, target, self.context.workers, busy, self.run)
        if not reason.startswith("no live worker"):
            return reason
        return reason + lost_since(last_server(queue, target, self.context.lost), self.times)


def lost_since(worker: Worker | None, times: TimeFormatter) -> str:
    """Complete the sentence "no live worker …" with the worker that did it last; empty if none is known."""
    if worker is None or worker.last_heartbeat_at is None:
        return ""
    return f" since worker {worker.id} was lost (its last heartbeat was at {times(worker.last_heartbeat_at)})"


def in_turn(turn: QueuePosition, at: str) -> str:
    """Describe a rate limit and the earliest start that it allows."""
    before = (
        f": {count(turn.runs_before, 'run')} {'comes' if turn.runs_before == 1 else 'come'} before it, and"
        if turn.runs_before
        else ":"
    )
    return f"{turn.rate}{before} it may start at {at} at the earliest"


def deferral_reason(turn: QueuePosition, until: str) -> str:
    """Describe until when runs of other schedules go first."""
    before = f"; {count(turn.runs_before, 'run')} {'comes' if turn.runs_before == 1 else 'come'} before it now"
    return f"yields to runs of other schedules until {until}, because its schedule created many at once{before}"
