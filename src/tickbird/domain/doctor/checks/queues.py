"""Queued runs, and whether a worker serves them."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

from tickbird.domain.doctor.checks.lateness import LATE, VERY_LATE, age
from tickbird.domain.doctor.checks.phrases import capped_count, sentence
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot, Workload
from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count
from tickbird.domain.targets.registry import describe_target, target_worker_command
from tickbird.domain.targets.target import TASK, Target
from tickbird.domain.time.durations import duration_text

# Seconds. Runs in a queue with a rate limit may wait longer, because the limit intends it.
RATED: Final = 600.0


def queues(condition: StoreSnapshot) -> Iterator[Finding]:
    work = condition.work
    assert work is not None
    oldest = max((age(condition, group.since) for group in work.waiting if group.queue not in work.rates), default=0.0)
    alive = any(worker.kind != "sync" for worker in condition.workers)
    if not alive and oldest <= LATE:
        # The check of the workers reports that there is none.
        yield ok("queues", "No run has waited for long.", oldest_seconds=round(oldest, 1))
        return
    reported: set[tuple[str, Target | None]] = set()
    for group in work.waiting:
        if why := unserved_reason(group.queue, group.target, condition.workers):
            reported.add((group.queue, group.target))
            yield _unserved(condition, group.queue, group.target, group.count, age(condition, group.since), why)
    if alive:
        yield from _unserved_schedules(condition, work, reported)
    for queue, rate in work.rates.items():
        waited = max((age(condition, group.since) for group in work.waiting if group.queue == queue), default=0.0)
        if waited > RATED and not any(queue == name for name, _ in reported):
            reported.add((queue, None))
            text = (
                f"The oldest run in queue {queue!r} has waited for {duration_text(waited)}: its rate limit is {rate}."
            )
            fix = f"tickbird queue {quote(queue)} --rate …   # a higher rate, if the downstream system can handle it"
            yield warning("queues", text, fix, queue=queue, rate=str(rate), oldest_seconds=round(waited, 1))
    if oldest > VERY_LATE and not reported:
        text = (
            f"The oldest run that could start has waited for {duration_text(oldest)}: "
            "the workers that serve it are busy."
        )
        yield warning("queues", text, "Start more workers, or give them more --slots.", oldest_seconds=round(oldest, 1))
    elif not reported:
        text = f"The oldest queued run has waited for {duration_text(oldest)}." if work.waiting else "No run is queued."
        yield ok("queues", text, oldest_seconds=round(oldest, 1))


def _unserved(condition: StoreSnapshot, queue: str, target: Target, number: int, waited: float, why: str) -> Finding:
    runs = f"{capped_count(number, 'run')} of {describe_target(target)} in queue {queue!r}"
    text = f"{runs} cannot start: {why}. The oldest has waited for {duration_text(waited)}."
    fix = target_worker_command(queue, target)
    figures = {"queue": queue, **_figures(target), "runs": number, "oldest_seconds": round(waited, 1)}
    return (problem if waited > VERY_LATE else warning)("queues", sentence(text), fix, **figures)


def _figures(target: Target) -> dict[str, str]:
    return {"task": target.name, **({} if target.kind == TASK else {"kind": target.kind})}


def _unserved_schedules(
    condition: StoreSnapshot, work: Workload, reported: set[tuple[str, Target | None]]
) -> Iterator[Finding]:
    """Yield schedules whose next run no worker would claim."""
    for group in work.scheduled:
        why = (
            ""
            if (group.queue, group.target) in reported
            else unserved_reason(group.queue, group.target, condition.workers)
        )
        if not why or why.startswith("every worker that could claim it is draining"):
            continue
        reported.add((group.queue, group.target))
        soon = (
            f"; the next is due in {duration_text(max(1.0, -age(condition, group.next_at)))}" if group.next_at else ""
        )
        schedules = count(group.count, "schedule")
        text = f"{schedules} of {describe_target(group.target)} in queue {group.queue!r} could not start: {why}{soon}."
        fix = target_worker_command(group.queue, group.target)
        yield warning("queues", text, fix, queue=group.queue, **_figures(group.target), schedules=group.count)
