"""What waits in queues, and whether a worker serves it."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

from tickbird.domain.doctor.checks.lateness import LATE, VERY_LATE, age
from tickbird.domain.doctor.checks.phrases import capped_count, sentence
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot, Workload
from tickbird.domain.explain.unserved_runs import unserved_reason, worker_command
from tickbird.domain.messages import count
from tickbird.domain.targets.registry import describe_target
from tickbird.domain.targets.target import TASK, Target
from tickbird.domain.time.durations import duration_text

# What a rate holds back may wait longer: that is what it is for.
RATED: Final = 600.0


def queues(condition: StoreSnapshot) -> Iterator[Finding]:
    work = condition.work
    assert work is not None
    oldest = max((age(condition, each.since) for each in work.waiting if each.queue not in work.rates), default=0.0)
    alive = any(worker.kind != "sync" for worker in condition.workers)
    if not alive and oldest <= LATE:
        # That there is none, the check of the workers tells.
        yield ok("queues", "Nothing has waited for long.", oldest_seconds=round(oldest, 1))
        return
    told: set[tuple[str, Target | None]] = set()
    for each in work.waiting:
        if why := unserved_reason(each.queue, each.target, condition.workers):
            told.add((each.queue, each.target))
            yield _unserved(condition, each.queue, each.target, each.count, age(condition, each.since), why)
    if alive:
        yield from _unserved_schedules(condition, work, told)
    for queue, rate in work.rates.items():
        waited = max((age(condition, each.since) for each in work.waiting if each.queue == queue), default=0.0)
        if waited > RATED and not any(queue == one for one, _ in told):
            told.add((queue, None))
            text = f"The oldest run in queue {queue!r} has waited for {duration_text(waited)}: its rate is {rate}."
            fix = f"tickbird queue {quote(queue)} --rate …   # a higher one, if what is behind it can take that"
            yield warning("queues", text, fix, queue=queue, rate=str(rate), oldest_seconds=round(waited, 1))
    if oldest > VERY_LATE and not told:
        text = (
            f"The oldest run that could start has waited for {duration_text(oldest)}: "
            "the workers that serve it are busy."
        )
        yield warning("queues", text, "Start more workers, or give them more --slots.", oldest_seconds=round(oldest, 1))
    elif not told:
        text = f"The oldest run in line has waited for {duration_text(oldest)}." if work.waiting else "Nothing waits."
        yield ok("queues", text, oldest_seconds=round(oldest, 1))


def _unserved(condition: StoreSnapshot, queue: str, target: Target, number: int, waited: float, why: str) -> Finding:
    runs = f"{capped_count(number, 'run')} of {describe_target(target)} in queue {queue!r}"
    text = f"{runs} wait{'s' if number == 1 else ''} for nobody: {why}; the oldest for {duration_text(waited)}."
    fix = worker_command(queue, target)
    figures = {"queue": queue, **_figures(target), "runs": number, "oldest_seconds": round(waited, 1)}
    return (problem if waited > VERY_LATE else warning)("queues", sentence(text), fix, **figures)


def _figures(target: Target) -> dict[str, str]:
    return {"task": target.name, **({} if target.kind == TASK else {"kind": target.kind})}


def _unserved_schedules(
    condition: StoreSnapshot, work: Workload, told: set[tuple[str, Target | None]]
) -> Iterator[Finding]:
    """Schedules that will find nobody when their time comes, which may be at night."""
    for each in work.scheduled:
        why = "" if (each.queue, each.target) in told else unserved_reason(each.queue, each.target, condition.workers)
        if not why or why.startswith("every worker that could take it is draining"):
            continue
        told.add((each.queue, each.target))
        soon = f"; the next is due in {duration_text(max(1.0, -age(condition, each.next_at)))}" if each.next_at else ""
        schedules = count(each.count, "schedule")
        text = (
            f"{schedules} of {describe_target(each.target)} in queue {each.queue!r} would wait for nobody: {why}{soon}."
        )
        fix = worker_command(each.queue, each.target)
        yield warning("queues", text, fix, queue=each.queue, **_figures(each.target), schedules=each.count)
