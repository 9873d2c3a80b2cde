"""How a run got to where it is: planned, waiting, queued, tried; and what made it late."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from tickbird.domain.explain.context import RunContext
from tickbird.domain.explain.dependencies import DependencyExplainer
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.run import TICK_ORIGINS, AttemptRecord, RunRecord
from tickbird.domain.runs.unreadable_runs import Unreadable, published
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.workers import Worker

MAX_ERROR_LENGTH = 200
MAX_ATTEMPTS = 20
# Without a readable definition, lateness is measured against the default.
GRACE = 10
# A line of a traceback of several exceptions that names one; those of its frames are indented more.
_IN_GROUP = re.compile(r"\| ((?:\w+\.)*(?:[A-Z]\w*: .*|\w*(?:Error|Exception|Exit)))")


class RunHistory:
    """The steps of one run, from being due to its end."""

    def __init__(
        self, run: RunRecord, definition: Definition | None, evidence: RunContext, times: TimeFormatter
    ) -> None:
        self.run = run
        self.definition = definition
        self.evidence = evidence
        self.times = times
        self.grace = GRACE if definition is None else definition.grace
        self.attempts = sorted(evidence.attempts, key=lambda attempt: attempt.attempt)
        self.dependencies = DependencyExplainer(definition, to_seconds(run.due_at), evidence, times)

    def steps(self) -> Iterator[Step]:
        """Every step, in the order in which it happened."""
        yield self._planned()
        if step := self._held():
            yield step
        if self.run.origin in TICK_ORIGINS and not self.run.waiting_for_dependency and self.run.reason != "dependency":
            yield from self.dependencies.met(self.run)
        if step := self._waited():
            yield step
        if step := self._queued():
            yield step
        if (turn := self.evidence.turn) is not None:
            if pace := self.rate_limit_reason():
                yield Step(False, "rate", f"{_capital(pace)}.", self.run.id, turn.at)
            if line := self.line():
                yield Step(None, "line", f"{_capital(line)}.", self.run.id, turn.deferred_until)
        if step := self._worker():
            yield step
        yield from self._tried()
        if step := self._end():
            yield step

    def waiting_for(self) -> Iterator[Step]:
        """What keeps a run that has not begun from it, as things stand; nothing where a worker should take it now."""
        run, turn = self.run, self.evidence.turn
        if run.held and (held := self._held()):
            yield held
        elif run.status == "waiting":
            yield self._waiting()
        elif run.status == "queued":
            if run.available_at > self.evidence.now:
                yield self._in_queue()
            if turn is not None and (pace := self.rate_limit_reason()):
                yield Step(False, "rate", f"{_capital(pace)}.", run.id, turn.at)
            if turn is not None and (line := self.line()):
                yield Step(None, "line", f"{_capital(line)}.", run.id, turn.deferred_until)
            if obstacle := self.unserved_reason():
                yield Step(False, "worker", f"{_capital(obstacle)}.", run.id)

    @property
    def first_start(self) -> datetime | None:
        """When the first attempt began."""
        return self.attempts[0].started_at if self.attempts else self.run.began_at

    @property
    def late(self) -> float:
        """Seconds from `due_at` to the first attempt, or to now or the end while there was none."""
        begun = self.first_start or self.run.finished_at or self.evidence.now
        return _seconds(self.run.due_at, begun)

    def cause(self) -> str:
        """What most of the lateness came from, in words; nothing when it was on time."""
        if self.late <= self.grace or self.run.origin == "backfill":
            return ""
        planned = _seconds(self.run.due_at, self.run.created_at)
        waited = self._wait()
        queued = max(0.0, self.late - planned - waited)
        longest = max(planned, waited, queued)
        if self.run.released_at is not None:
            return f"it was held until {self.run.released_by} released it at {self.times(self.run.released_at)}"
        if longest == planned:
            return f"nothing planned it until {self.times(self.run.created_at)}"
        if longest == waited:
            blocker = self._waited_for()
            return f"it waited for {self._whose(blocker) if blocker else self._something()}"
        if self.attempts:
            # Another attempt overwrote whether it waited for a run or for a worker.
            return f"its first attempt began {duration_text(queued)} after it was planned"
        return f"no worker took it for {duration_text(queued)}"

    def _planned(self) -> Step:
        run, times = self.run, self.times
        after = _seconds(run.due_at, run.created_at)
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
        begun = [worker.started_at for worker in self.evidence.workers if worker.started_at is not None]
        if begun and min(begun) > run.due_at:
            text += f"; no worker alive now was running before {times(min(begun))}"
        return Step(False, "late", text + ".", run.id, run.created_at)

    def _wait(self) -> float:
        """Seconds it waited for another run; another attempt overwrites what tells of it."""
        since = self.run.released_at or self.run.created_at
        return 0.0 if self.attempts else max(0.0, _seconds(since, self.run.available_at))

    def _waited_for(self) -> RunRecord | None:
        """The run whose end released it, or one that was going on until shortly before."""
        run = self.run
        ended = [
            other
            for other in (*self.evidence.others, *self.evidence.active, *self.evidence.needed)
            if other.id != run.id
            and other.finished_at is not None
            and run.created_at <= other.finished_at <= run.available_at
        ]
        return max(ended, key=lambda other: (other.finished_at or run.created_at, -other.id), default=None)

    def _held(self) -> Step | None:
        run = self.run
        if run.held:
            limit = "" if self.definition is None else f" (hold_above={self.definition.hold_above})"
            text = (
                f"Held since {self.times(run.created_at)}, because the outage before left too many late ticks{limit}: "
                f"`tickbird release {run.schedule}` lets it run, `tickbird drop {run.schedule}` cancels it."
            )
            return Step(False, "held", text, run.id, run.created_at)
        if run.released_at is None:
            return None
        text = f"Held until {run.released_by} released it at {self.times(run.released_at)}."
        return Step(False, "held", text, run.id, run.released_at)

    def _waited(self) -> Step | None:
        run = self.run
        if run.held:
            return None
        if run.status == "waiting":
            return self._waiting()
        waited = self._wait()
        if not waited:
            return None
        blocker = self._waited_for()
        behind = self._whose(blocker) if blocker else self._something()
        needed = blocker is not None and blocker.schedule_id != run.schedule_id
        rule = "" if needed else self._policy()
        text = f"Waited {duration_text(waited)} for {behind}, until {self.times(run.available_at)}{rule}."
        name = "dependency" if needed else "overlap"
        return Step(waited <= self.grace, name, text, blocker.id if blocker else None, run.available_at)

    def _something(self) -> str:
        """What it must have waited for, where no row tells."""
        if self.run.concurrency_key is not None:
            return f"a slot of concurrency key {self.run.concurrency_key!r}"
        return "another run of its schedule"

    def _whose(self, run: RunRecord) -> str:
        """A run, told apart where it is of another schedule."""
        return self.name(run) + (f" of {run.schedule}" if run.schedule_id != self.run.schedule_id else "")

    def _waiting(self) -> Step:
        limit, definition = self.evidence.limit, self.definition
        if self.run.waiting_for_dependency:
            return self.dependencies.waiting(self.run)
        if limit is None or limit.active < limit.max_running:
            return self._waits_for_its_own()
        text = self._waits_for_slot(limit)
        going = sum(other.status != "waiting" for other in self.evidence.active if other.id != self.run.id)
        if definition is not None and definition.max_running is not None and going >= definition.max_running:
            own = self._waits_for_its_own()
            text += f" {own.text[:-1]} as well."
        holder = self.evidence.holders[0].id if self.evidence.holders else None
        return Step(False, "limit", text, holder, self.run.created_at)

    def _waits_for_slot(self, limit: ConcurrencyLimit) -> str:
        holders = self.evidence.holders
        named = ", ".join(self.active_run_text(other, whose=True) for other in holders[:3])
        more = f" and {limit.active - 3} more" if limit.active > 3 else ""
        others = f"; {count(limit.waiting, 'run')} wait for one" if limit.waiting > 1 else ""
        slots = f"all {limit.max_running} slots" if limit.max_running > 1 else "the only slot"
        return f"Waits for a slot of concurrency key {limit.key!r}: {slots} taken by {named}{more}{others}."

    def _waits_for_its_own(self) -> Step:
        run = self.run
        ahead = [other for other in self.evidence.active if other.id != run.id and other.status != "waiting"]
        aside = run.backfill_id is not None
        waiters = [
            other for other in self.evidence.active if other.status == "waiting" and not other.waiting_for_dependency
        ]
        earlier = sum(1 for other in waiters if aside or other.id < run.id)
        others = f", behind {count(earlier, 'other waiting run')}" if earlier else ""
        if not ahead:
            text = f"Waits{others}, though no other run is going on: the next rescue releases it."
            return Step(None, "overlap", text, None, run.created_at)
        named = " and ".join(self.active_run_text(other) for other in ahead[:3])
        more = f" and {len(ahead) - 3} more" if len(ahead) > 3 else ""
        turn = f" for its turn in backfill {run.backfill_id}," if aside else ""
        text = f"Waits{turn} for {named}{more}{others}{self._policy()}."
        return Step(False, "overlap", text, ahead[0].id, run.created_at)

    def _policy(self) -> str:
        definition = self.definition
        if definition is None:
            return ""
        return f" (overlap={definition.overlap}, max_concurrent={definition.max_concurrent})"

    def _queued(self) -> Step | None:
        run, times, now = self.run, self.times, self.evidence.now
        if run.status == "waiting":
            return None
        if run.status == "queued":
            return self._in_queue()
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
            text = f"Its first attempt began {duration_text(max(0.0, _seconds(since, begun)))} after it was planned."
            return Step(_seconds(since, begun) <= self.grace, "queue", text, run.id, begun)
        since = max(run.available_at, run.created_at)
        taken = max(0.0, _seconds(since, run.started_at))
        text = f"Taken from queue {run.queue!r} after {duration_text(taken)}, at {times(run.started_at)}."
        return Step(taken <= self.grace, "queue", text, run.id, run.started_at)

    def _in_queue(self) -> Step:
        run, now = self.run, self.evidence.now
        if run.available_at > now:
            text = f"Attempt {run.attempt + 1} may begin at {self.times(run.available_at)}."
            return Step(None, "queue", text, run.id, run.available_at)
        since = max(run.available_at, run.created_at)
        text = f"In queue {run.queue!r} since {self.times(since)} ({duration_text(_seconds(since, now))})"
        if run.start_by is not None:
            text += f"; it is cancelled unless it starts by {self.times(run.start_by)}"
        return Step(None, "queue", text + ".", run.id, since)

    def _worker(self) -> Step | None:
        run, times, now = self.run, self.times, self.evidence.now
        if run.status == "queued" and run.available_at <= now:
            obstacle = self.unserved_reason()
            if obstacle:
                return Step(False, "worker", f"{_capital(obstacle)}.", run.id)
            soon = "then" if self.rate_limit_reason() else "at any moment"
            text = f"A live worker serves it and has a free slot, so it should be taken {soon}."
            return Step(None, "worker", text, run.id)
        if run.status == "running":
            alive = any(worker.id == run.worker for worker in self.evidence.workers)
            since = f"Attempt {run.attempt} on worker {run.worker} since {times(run.started_at or run.created_at)}"
            if run.lease_until is not None and run.lease_until < now:
                text = f"{since}, but its lease ended at {times(run.lease_until)}: the next rescue takes it away."
                return Step(False, "worker", text, run.id, run.lease_until)
            if not alive:
                until = f" until its lease ends at {times(run.lease_until)}" if run.lease_until else ""
                text = f"{since}, but that worker is no longer live; nothing takes the run over{until}."
                return Step(False, "worker", text, run.id, run.lease_until)
            return Step(True, "worker", f"{since}.", run.id, run.started_at)
        if run.worker is not None:
            return Step(True, "worker", f"Attempt {run.attempt} was on worker {run.worker}.", run.id, run.started_at)
        return None

    def rate_limit_reason(self) -> str:
        """How the rate of its queue holds the queued run back, in words; nothing when it does not."""
        turn, run = self.evidence.turn, self.run
        if turn is None or run.status != "queued" or turn.at is None:
            return ""
        if turn.at <= max(self.evidence.now, run.available_at):
            return ""
        return f"it waits for the rate of queue {run.queue!r}, {in_turn(turn, self.times(turn.at))}"

    def line(self) -> str:
        """That the queued run stands behind the line of its queue, in words; nothing when it does not."""
        turn, run = self.evidence.turn, self.run
        if turn is None or run.status != "queued" or turn.deferred_until is None:
            return ""
        return f"in queue {run.queue!r} it {deferral_reason(turn, self.times(turn.deferred_until))}"

    def unserved_reason(self) -> str:
        """Why no worker takes the queued run, in words; nothing when one should."""
        busy = Counter(run.worker for run in self.evidence.running)
        return unserved_reason(self.run.queue, self.run.target.name, self.evidence.workers, busy, self.run)

    def _tried(self) -> Iterator[Step]:
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
            "drained": "was put back because its worker was stopping",
            "cancelled": "was cancelled",
        }.get(attempt.outcome, "failed")
        error = f": {brief(attempt.error)}" if attempt.error and attempt.outcome != "lost" else ""
        return f"Attempt {attempt.attempt}{where} {what} at {self.times(attempt.ended_at)}{error}."

    def _end(self) -> Step | None:
        run, times = self.run, self.times
        if run.status not in ("succeeded", "failed", "cancelled"):
            if run.cancel_requested_at is None:
                return None
            by = f" by {run.cancel_requested_by}" if run.cancel_requested_by else ""
            text = f"Asked to stop{by} at {times(run.cancel_requested_at)}, and has not stopped yet."
            return Step(False, "cancel", text, run.id, run.cancel_requested_at)
        at = run.finished_at or self.evidence.now
        if run.status == "succeeded":
            return Step(True, "result", f"Succeeded at {times(at)}, after {self._took()}.", run.id, at)
        if run.status == "failed":
            return Step(False, "result", f"Failed at {times(at)}: {self.failure()}.", run.id, at)
        return Step(False, "cancel", f"Cancelled at {times(at)}: {self.cancelled()}.", run.id, at)

    def _took(self) -> str:
        run = self.run
        return duration_text(_seconds(self.first_start or run.created_at, run.finished_at or self.evidence.now))

    def failure(self) -> str:
        """Why it failed, in words."""
        run = self.run
        tries = f"after {count(run.attempt, 'attempt')}"
        if run.failure_kind == "lost":
            return f"its worker was lost {tries}, and it is not tried again"
        kind = {"timeout": "timed out, ", "reported": "reported a failure, "}.get(run.failure_kind or "", "")
        return f"{kind}{tries}: {brief(run.error) or 'no error was recorded'}"

    def cancelled(self) -> str:
        """Why it was cancelled, in words."""
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
            return f"{self.name(newer)} of a newer tick replaced it" if newer else "a newer tick replaced it"
        by = f"by {run.cancel_requested_by}" if run.cancel_requested_by else ""
        if run.reason and by and by not in run.reason:
            return f"{by}: {folded(run.reason)}"
        return folded(run.reason) or by or "no reason was recorded"

    def replaced_by(self) -> RunRecord | None:
        """The run that was planned in the moment in which this one was cancelled."""
        newer = [
            other
            for other in (*self.evidence.others, *self.evidence.active)
            if other.id > self.run.id and other.scheduled_for is not None and other.created_at == self.run.finished_at
        ]
        return min(newer, key=lambda other: other.id, default=None)

    def name(self, run: RunRecord) -> str:
        """A run, told apart where it is not of a tick."""
        return f"run {run.id}" if run.scheduled_for is not None else f"{run.origin} run {run.id}"

    def active_run_text(self, run: RunRecord, *, whose: bool = False) -> str:
        """An active run and where it stands; with `whose`, of which schedule it is."""
        name = self.name(run) + (f" of {run.schedule}" if whose and run.schedule else "")
        if run.status == "running" and run.started_at is not None:
            where = f" on worker {run.worker}" if run.worker else ""
            asked = ", asked to stop" if run.cancel_requested_at else ""
            return f"{name}, running since {self.times(run.started_at)}{where}{asked}"
        return f"{name}, {run.status} since {self.times(run.created_at)}"


def unserved_reason(
    queue: str,
    target: str,
    workers: Sequence[Worker],
    busy: Counter[str | None] | None = None,
    run: RunRecord | None = None,
) -> str:
    """Why no worker would take a run of this queue and target, or this run of them, in words; empty if one would."""
    if nobody := unserved(queue, workers):
        return nobody
    executing = [worker for worker in workers if executes(worker)]
    serving = [worker for worker in executing if queue in worker.queues]
    takes = f"{'allows' if is_program(target) else 'knows'} {named(target)}"
    if not any(target in worker.tasks for worker in executing):
        return f"no live worker {takes}"
    able = [worker for worker in serving if target in worker.tasks]
    if not able:
        return f"no live worker that serves queue {queue!r} {takes}"
    ready = [worker for worker in able if not worker.draining]
    if not ready:
        return f"every worker that could take it is draining ({', '.join(sorted(worker.id for worker in able))})"
    if run is not None and (unreadable := [(worker, runs) for worker in ready for runs in _unreadable(worker, run)]):
        unable = {worker.id for worker, _ in unreadable}
        ready = [worker for worker in ready if worker.id not in unable]
        if not ready:
            worker, runs = unreadable[0]
            return f"no live worker can read it: {worker.id} reports {runs}; upgrade tickbird and tzdata there"
    if busy is not None and all(busy[worker.id] >= worker.slots for worker in ready):
        slots = sum(worker.slots for worker in ready)
        return f"all slots of the workers that could take it are busy ({count(slots, 'slot')} on {len(ready)})"
    return ""


def _unreadable(worker: Worker, run: RunRecord) -> list[Unreadable]:
    return [runs for runs in published(worker.health) if runs.covers(run)]


def is_program(target: str) -> bool:
    """Is this the program of a command, and no task? Only paths have a slash."""
    return target.startswith("/")


def named(target: str) -> str:
    """The target of a run, in words."""
    return f"command {target}" if is_program(target) else f"task {target!r}"


def unserved(queue: str, workers: Sequence[Worker]) -> str:
    """That no worker serves this queue, in words; nothing when one does."""
    executing = [worker for worker in workers if executes(worker)]
    if not executing:
        return "no worker that executes is alive"
    if any(queue in worker.queues for worker in executing):
        return ""
    served = ", ".join(sorted({name for worker in executing for name in worker.queues})) or "none"
    return f"no live worker serves queue {queue!r} (served: {served})"


def executes(worker: Worker) -> bool:
    """Does this worker execute runs?"""
    return worker.kind in ("worker", "executor") and worker.slots > 0


def in_turn(turn: QueuePosition, at: str) -> str:
    """A rate and when a run may begin by it, in words."""
    before = (
        f": {count(turn.runs_before, 'run')} {'comes' if turn.runs_before == 1 else 'come'} before it, and"
        if turn.runs_before
        else ":"
    )
    return f"{turn.rate}{before} it may begin at {at} at the earliest"


def deferral_reason(turn: QueuePosition, until: str) -> str:
    """Until when others may pass a run, in words."""
    before = f"; {count(turn.runs_before, 'run')} {'comes' if turn.runs_before == 1 else 'come'} before it now"
    return f"lets runs of others pass until {until}, since its schedule made many at once{before}"


def brief(error: str | None) -> str:
    """The last line of an error, which says what it was; of a group, its last exception."""
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    if lines and lines[-1].startswith("+--"):
        lines = [match[1] for line in lines if (match := _IN_GROUP.fullmatch(line))] or lines
    text = lines[-1].rstrip(".") if lines else ""
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def reason(error: str | None) -> str:
    """The error of a schedule on one line, without what PostgreSQL adds of where in the server it was raised."""
    text = folded((error or "").partition("\nCONTEXT:")[0])
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"


def folded(note: str | None) -> str:
    """All of what a person wrote, on one line."""
    return " ".join((note or "").split()).rstrip(".")


def count(number: int, thing: str) -> str:
    """So many things, in words."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _seconds(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds()
