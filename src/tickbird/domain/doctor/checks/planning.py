"""Checks of planning and of the rescue of lost runs."""

from __future__ import annotations

from collections.abc import Iterator

from tickbird.domain.doctor.checks.lateness import LATE, VERY_LATE, age
from tickbird.domain.doctor.checks.phrases import MAX_NAMES, capped_count, name_list, sentence
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot, UnplannedSchedule, Workload
from tickbird.domain.explain.unserved_runs import unplanned_reason
from tickbird.domain.messages import capital, count
from tickbird.domain.time.durations import duration_text


def planning(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    unplanned = list(_unplanned(condition, condition.work))
    yield from unplanned
    due, late = condition.work.due, age(condition, condition.work.due.since)
    figures = {"due": due.count, "late_seconds": round(late, 1), "new": due.new, "planners": condition.planners}
    if not condition.planners and (late > LATE or due.new):
        what = f"{capped_count(due.count + due.new, 'schedule')} due for planning"
        since = f", the oldest for {duration_text(late)}" if due.count else ""
        verb = "are" if due.count + due.new != 1 else "is"
        text = f"No live worker plans{_executing(condition)}, but there {verb} {what}{since}."
        yield problem(
            "planning",
            text,
            "tickbird worker MODULE:APP   # and check TICKBIRD_PLANNING and TICKBIRD_ROLE",
            **figures,
        )
    elif reason := _unplanned_reason(condition, condition.work):
        yield warning("planning", reason, "tickbird worker MODULE:APP   # without --execute-only", **figures)
    elif late > LATE:
        text = f"{capped_count(due.count, 'schedule')} due and not planned, the oldest for {duration_text(late)}."
        fix = "Check the logs of the workers and the findings about locks and time zone data. Start more workers."
        yield (problem if late > VERY_LATE else warning)("planning", sentence(text), fix, **figures)
    elif not unplanned:
        number = count(condition.planners, "worker")
        who = f"{number} plan{'s' if condition.planners == 1 else ''}" if condition.planners else "no worker plans"
        yield ok("planning", f"Nothing is overdue; {who}.", **figures)


def _unplanned_reason(condition: StoreSnapshot, work: Workload) -> str:
    """Return which schedules wait for a worker that plans while workers only execute; empty if none do."""
    executing = [worker for worker in condition.workers if worker.kind == "executor" and not worker.draining]
    schedules = sum(group.count for group in work.scheduled)
    if condition.planners or not executing or not schedules:
        return ""
    next_at = min((group.next_at for group in work.scheduled if group.next_at), default=None)
    due = f", and the next is due in {duration_text(max(1.0, -age(condition, next_at)))}" if next_at else ""
    reason = unplanned_reason(condition.workers, 0)
    return f"{capital(reason)}, but {count(schedules, 'active schedule')} need{'s' if schedules == 1 else ''} one{due}."


def _unplanned(condition: StoreSnapshot, work: Workload) -> Iterator[Finding]:
    """Yield late schedules that need a plug-in, which no live worker seems to have."""
    late: dict[str, list[UnplannedSchedule]] = {}
    for schedule in work.unplanned:
        if age(condition, schedule.since) > LATE:
            late.setdefault(schedule.requirement, []).append(schedule)
    for requirement, schedules in late.items():
        names = [
            item.name if item.namespace == condition.namespace else f"{item.namespace}/{item.name}"
            for item in schedules
        ]
        oldest = age(condition, schedules[0].since)
        what = f"{capped_count(len(names), 'schedule')} that need{'s' if len(names) == 1 else ''} {requirement}"
        text = f"No live worker has planned {what}, due for {duration_text(oldest)}: {name_list(names)}."
        fix = f"tickbird worker MODULE:APP   # on a machine with the package of {requirement}"
        figures = {"needs": requirement, "schedules": names[:MAX_NAMES], "late_seconds": round(oldest, 1)}
        yield (problem if oldest > VERY_LATE else warning)("planning", text, fix, **figures)


def _executing(condition: StoreSnapshot) -> str:
    number = sum(worker.kind == "executor" for worker in condition.workers)
    return f" ({count(number, 'worker')} only execute{'s' if number == 1 else ''})" if number else ""


def leases(condition: StoreSnapshot) -> Iterator[Finding]:
    assert condition.work is not None
    expired, late = condition.work.expired, age(condition, condition.work.expired.since)
    figures = {"expired": expired.count, "late_seconds": round(late, 1)}
    if late > VERY_LATE:
        runs = capped_count(expired.count, "run")
        text = f"{runs} of lost workers not rescued, the oldest for {duration_text(late)}."
        yield problem(
            "leases", sentence(text), "tickbird worker MODULE:APP   # workers that plan also rescue", **figures
        )
    else:
        yield ok("leases", "All runs of lost workers have been rescued.", **figures)
