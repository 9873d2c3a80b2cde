"""What needs a person now: everything that fails, is late or is held, in one sentence each, the most serious first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tickbird.domain.dashboard_rows import FailureStreak, OverdueRun
from tickbird.domain.doctor.checks.lateness import LATE, VERY_LATE
from tickbird.domain.doctor.snapshot import FAILING
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.messages import brief, count, reason
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.registry import describe_target
from tickbird.domain.targets.target import Target
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker

Kind = Literal["worker", "lost", "late", "unplanned", "failing", "parked", "held"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFinding:
    """One thing that needs a person: what, of which schedule, run, queue or worker, since when, and what to do."""

    kind: Kind
    severity: Literal["problem", "warning"]
    text: str
    fix: str
    since: datetime | None = None
    schedule: str | None = None
    run_id: int | None = None
    queue: str | None = None
    worker: str | None = None
    # How many of it there are: failures in a row, runs that wait.
    count: int = 1


@dataclass(frozen=True, slots=True)
class FindingsOverview:
    """The most serious ones, and how many more there are; `capped`: at least as many."""

    findings: Sequence[OverviewFinding] = ()
    more: int = 0
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsInput:
    """What was looked at; `capped` where there was more to look at than was."""

    now: datetime
    workers: Sequence[Worker] = ()
    streaks: Sequence[FailureStreak] = ()
    parked: Sequence[Schedule] = ()
    late: Sequence[OverdueRun] = ()
    rates: Mapping[str, RateLimit] | None = None
    running: Sequence[RunRecord] = ()
    overdue: Sequence[Schedule] = ()
    held: Sequence[HeldSchedule] = ()
    capped: bool = False


def overview_findings(seen: FindingsInput, maximum: int) -> FindingsOverview:
    """The most serious first, in the order in which each kind was seen."""
    kinds = (_workers, _lost, _late, _unplanned, _failing, _parked, _held)
    found = [trouble for kind in kinds for trouble in kind(seen)]
    # Stable: what is of the same severity stays in the order of its kinds.
    found.sort(key=lambda trouble: trouble.severity != "problem")
    return FindingsOverview(tuple(found[:maximum]), max(0, len(found) - maximum), seen.capped)


def _workers(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for worker in seen.workers:
        if worker.standby_reason:
            text = f"Worker {worker.id} is held back: it {worker.standby_reason}."
            fix = "Do what it says; it goes on by itself then."
            yield OverviewFinding(kind="worker", severity="problem", text=text, fix=fix, worker=worker.id)
        kept = worker.health.get("stuck")
        if isinstance(kept, int) and kept > 0:
            text = f"Worker {worker.id}: {count(kept, 'function')} in threads did not stop when asked."
            fix = 'Give the task isolation="process", and start this worker anew to free the slots.'
            yield OverviewFinding(kind="worker", severity="warning", text=text, fix=fix, worker=worker.id, count=kept)
        if unreadable := published(worker.health):
            number = published_count(worker.health)
            others = f" and {number - 1} more" if number > 1 else ""
            text = f"Worker {worker.id} cannot read {unreadable[0]}{others}, and leaves the runs to other workers."
            fix = "pip install --upgrade tickbird tzdata   # on that machine; or repair the stored row"
            yield OverviewFinding(kind="worker", severity="warning", text=text, fix=fix, worker=worker.id, count=number)


def _lost(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for run in seen.running:
        late = 0.0 if run.lease_until is None else (seen.now - run.lease_until).total_seconds()
        if late > VERY_LATE:
            name = run.schedule or describe_target(run.target)
            text = f"Run {run.id} of {name} is left behind by a lost worker, and nobody"
            yield OverviewFinding(
                kind="lost",
                severity="problem",
                text=f"{text} takes it over, for {duration_text(late)}.",
                fix="tickbird worker MODULE:APP   # workers that plan also rescue",
                since=run.lease_until,
                schedule=run.schedule,
                run_id=run.id,
                worker=run.worker,
            )


def _late(seen: FindingsInput) -> Iterator[OverviewFinding]:
    busy = Counter(run.worker for run in seen.running)
    groups: dict[tuple[str, Target], list[OverdueRun]] = {}
    for run in seen.late:
        groups.setdefault((run.queue, run.target), []).append(run)
    for (queue, target), runs in groups.items():
        waited = (seen.now - runs[0].available_at).total_seconds()
        why = unserved_reason(queue, target, seen.workers, busy)
        rate = (seen.rates or {}).get(queue)
        if not why:
            why = f"the rate of queue {queue!r} is {rate}" if rate is not None else "workers have not come to it yet"
        names = {run.schedule for run in runs}
        one = next(iter(names)) if len(names) == 1 else None
        if len(runs) == 1:
            what = f"{one or f'Run {runs[0].id} of {describe_target(target)}'} is"
        else:
            what = f"{count(len(runs), 'run')} of {one or describe_target(target)} are up to"
        yield OverviewFinding(
            kind="late",
            severity="problem" if waited > VERY_LATE and rate is None else "warning",
            text=f"{what} {duration_text(waited)} late: {why}.",
            fix=f"tickbird worker MODULE:APP --queues {queue}",
            since=runs[0].available_at,
            schedule=one,
            run_id=runs[0].id,
            queue=queue,
            count=len(runs),
        )


def _unplanned(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for schedule in seen.overdue:
        due_at = schedule.next_run_at
        late = 0.0 if due_at is None else (seen.now - due_at).total_seconds()
        if late > LATE:
            yield OverviewFinding(
                kind="unplanned",
                severity="problem" if late > VERY_LATE else "warning",
                text=f"{schedule.name} is {duration_text(late)} late: no worker has planned it."
                if not schedule.error
                else f"{schedule.name} is {duration_text(late)} late: it cannot be planned ({reason(schedule.error)}).",
                fix="tickbird worker MODULE:APP   # and check that TICKBIRD_PLANNING is not off"
                if not schedule.error
                else "Remove the cause; the schedule is tried again by itself.",
                since=due_at,
                schedule=schedule.name,
            )


def _failing(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for streak in seen.streaks:
        often = "once" if streak.failures == 1 else f"{streak.failures} times in a row"
        said = brief(streak.error)
        yield OverviewFinding(
            kind="failing",
            severity="problem" if streak.failures >= FAILING else "warning",
            text=f"{streak.schedule} failed {often}{f': {said}' if said else ''}.",
            fix=f"tickbird runs {streak.run_id}",
            since=streak.since,
            schedule=streak.schedule,
            run_id=streak.run_id,
            count=streak.failures,
        )


def _parked(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for schedule in seen.parked:
        said = reason(schedule.error)
        yield OverviewFinding(
            kind="parked",
            severity="problem",
            text=f"{schedule.name} is parked and does not run{f': {said}' if said else ''}.",
            fix=f"tickbird resume {schedule.name}   # if it was repaired; else: tickbird set {schedule.name} …",
            schedule=schedule.name,
        )


def _held(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for held in seen.held:
        verb, them = ("is", "it") if held.count == 1 else ("are", "them")
        yield OverviewFinding(
            kind="held",
            severity="warning",
            text=f"{count(held.count, 'late run')} of {held.schedule} {verb} held: release or drop {them}.",
            fix=f"tickbird held {held.schedule}",
            since=held.since,
            schedule=held.schedule,
            count=held.count,
        )
