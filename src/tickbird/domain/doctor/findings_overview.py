"""Findings of the Now page: failures, lateness and held runs, one sentence each, the most serious first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote
from typing import Literal

from tickbird.domain.dashboard_rows import FailureStreak, OverdueRun
from tickbird.domain.doctor.checks.lateness import LATE, VERY_LATE
from tickbird.domain.doctor.checks.workers import FALLBACK_FIX
from tickbird.domain.doctor.snapshot import FAILING
from tickbird.domain.events.groups import MAX_COUNTED, ConsumerGroup
from tickbird.domain.explain.unserved_runs import unplanned_reason, unserved_reason
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.messages import brief, count, reason
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.registry import describe_target
from tickbird.domain.targets.target import Target
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import FALLBACK, Worker

Kind = Literal["worker", "lost", "late", "unplanned", "failing", "parked", "stopped", "dead letters", "held"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewFinding:
    """A finding with its fix, and the schedule, run, queue, worker or consumer group that it concerns."""

    kind: Kind
    severity: Literal["problem", "warning"]
    text: str
    fix: str
    since: datetime | None = None
    schedule: str | None = None
    run_id: int | None = None
    queue: str | None = None
    worker: str | None = None
    group: str | None = None
    # Number of occurrences: failures in a row, waiting runs, or dead letters.
    count: int = 1


@dataclass(frozen=True, slots=True)
class FindingsOverview:
    """The most serious findings, and the number of others; `capped` means "at least"."""

    findings: Sequence[OverviewFinding] = ()
    more: int = 0
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsInput:
    """The rows that were examined; `capped` if some were left out."""

    now: datetime
    workers: Sequence[Worker] = ()
    # The number of live workers of all namespaces that plan.
    planners: int = 0
    streaks: Sequence[FailureStreak] = ()
    parked: Sequence[Schedule] = ()
    late: Sequence[OverdueRun] = ()
    rates: Mapping[str, RateLimit] | None = None
    running: Sequence[RunRecord] = ()
    overdue: Sequence[Schedule] = ()
    held: Sequence[HeldSchedule] = ()
    groups: Sequence[ConsumerGroup] = ()
    capped: bool = False


def overview_findings(seen: FindingsInput, maximum: int) -> FindingsOverview:
    """Return the findings, the most serious first, then by kind."""
    kinds = (_workers, _lost, _late, _unplanned, _failing, _parked, _stopped, _dead_letters, _held)
    findings = [finding for kind in kinds for finding in kind(seen)]
    # The sort is stable, so findings of the same severity keep the order of their kinds.
    findings.sort(key=lambda finding: finding.severity != "problem")
    return FindingsOverview(tuple(findings[:maximum]), max(0, len(findings) - maximum), seen.capped)


def _workers(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for worker in seen.workers:
        if worker.standby_reason:
            falls_back = FALLBACK in worker.standby_reason
            state = f"in {worker.standby_reason}" if falls_back else f"held back: it {worker.standby_reason}"
            text = f"Worker {worker.id} is {state}."
            fix = FALLBACK_FIX if falls_back else "Remove the cause. The worker then continues by itself."
            yield OverviewFinding(kind="worker", severity="problem", text=text, fix=fix, worker=worker.id)
        stuck = worker.health.get("stuck")
        if isinstance(stuck, int) and stuck > 0:
            text = f"Worker {worker.id}: {count(stuck, 'function')} in threads did not stop when cancelled."
            fix = 'Set isolation="process" for the task. Restart this worker to free the slots.'
            yield OverviewFinding(kind="worker", severity="warning", text=text, fix=fix, worker=worker.id, count=stuck)
        if unreadable := published(worker.health):
            number = published_count(worker.health)
            others = f" and {number - 1} more" if number > 1 else ""
            text = f"Worker {worker.id} cannot read {unreadable[0]}{others}, and leaves the runs to other workers."
            fix = "pip install --upgrade tickbird tzdata   # on that machine, or repair the stored row"
            yield OverviewFinding(kind="worker", severity="warning", text=text, fix=fix, worker=worker.id, count=number)


def _lost(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for run in seen.running:
        late = 0.0 if run.lease_until is None else (seen.now - run.lease_until).total_seconds()
        if late > VERY_LATE:
            name = run.schedule or describe_target(run.target)
            text = f"Run {run.id} of {name} belongs to a lost worker and has not been rescued"
            yield OverviewFinding(
                kind="lost",
                severity="problem",
                text=f"{text} for {duration_text(late)}.",
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
            why = (
                f"the rate limit of queue {queue!r} is {rate}"
                if rate is not None
                else "workers have not claimed it yet"
            )
        names = {run.schedule for run in runs}
        schedule = next(iter(names)) if len(names) == 1 else None
        if len(runs) == 1:
            what = f"{schedule or f'Run {runs[0].id} of {describe_target(target)}'} is"
        else:
            what = f"{count(len(runs), 'run')} of {schedule or describe_target(target)} are up to"
        yield OverviewFinding(
            kind="late",
            severity="problem" if waited > VERY_LATE and rate is None else "warning",
            text=f"{what} {duration_text(waited)} late: {why}.",
            fix=f"tickbird worker MODULE:APP --queues {queue}",
            since=runs[0].available_at,
            schedule=schedule,
            run_id=runs[0].id,
            queue=queue,
            count=len(runs),
        )


def _unplanned(seen: FindingsInput) -> Iterator[OverviewFinding]:
    why = unplanned_reason(seen.workers, seen.planners) or "no worker has planned it"
    for schedule in seen.overdue:
        due_at = schedule.next_run_at
        late = 0.0 if due_at is None else (seen.now - due_at).total_seconds()
        if late > LATE:
            yield OverviewFinding(
                kind="unplanned",
                severity="problem" if late > VERY_LATE else "warning",
                text=f"{schedule.name} is {duration_text(late)} late: {why}."
                if not schedule.error
                else f"{schedule.name} is {duration_text(late)} late: it cannot be planned ({reason(schedule.error)}).",
                fix="tickbird worker MODULE:APP   # and check that TICKBIRD_PLANNING is not off"
                if not schedule.error
                else "Remove the cause. The schedule is then retried automatically.",
                since=due_at,
                schedule=schedule.name,
            )


def _failing(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for streak in seen.streaks:
        often = "once" if streak.failures == 1 else f"{streak.failures} times in a row"
        error = brief(streak.error)
        yield OverviewFinding(
            kind="failing",
            severity="problem" if streak.failures >= FAILING else "warning",
            text=f"{streak.schedule} failed {often}{f': {error}' if error else ''}.",
            fix=f"tickbird runs {streak.run_id}",
            since=streak.since,
            schedule=streak.schedule,
            run_id=streak.run_id,
            count=streak.failures,
        )


def _parked(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for schedule in seen.parked:
        error = reason(schedule.error)
        yield OverviewFinding(
            kind="parked",
            severity="problem",
            text=f"{schedule.name} is parked and does not run{f': {error}' if error else ''}.",
            fix=f"tickbird resume {schedule.name}   # if it was repaired, otherwise: tickbird set {schedule.name} …",
            schedule=schedule.name,
        )


def _stopped(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for group in seen.groups:
        if group.state == "stopped":
            why = reason(group.reason)
            yield OverviewFinding(
                kind="stopped",
                severity="problem",
                text=f"Consumer group {group.name} is stopped{f': {why}' if why else ''}.",
                fix=f"tickbird consumers resume {quote(group.name)}",
                group=group.name,
            )


def _dead_letters(seen: FindingsInput) -> Iterator[OverviewFinding]:
    for group in seen.groups:
        if failed := group.dead_letters.get("failed", 0):
            number = f"{MAX_COUNTED:,}+ dead letters" if failed > MAX_COUNTED else count(failed, "dead letter")
            yield OverviewFinding(
                kind="dead letters",
                severity="problem",
                text=f"{number} of group {group.name} failed, and later events of the same keys wait.",
                fix=f"tickbird dead-letters ls --group {quote(group.name)}",
                group=group.name,
                count=failed,
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
