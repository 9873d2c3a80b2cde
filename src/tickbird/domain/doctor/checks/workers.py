"""Live workers: their versions, and what keeps them from working."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from tickbird.domain.doctor.checks.phrases import name_list
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.messages import count
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.workers import FALLBACK, Worker

FALLBACK_FIX: Final = (
    "tickbird migrate --repair   # if a table is missing; otherwise, grant the permission or restore the data"
)


def versions(condition: StoreSnapshot) -> Iterator[Finding]:
    versions = Counter(worker.version for worker in condition.workers if worker.kind != "sync")
    figures = {"here": condition.version, "workers": dict(versions)}
    listed = ", ".join(f"{version} ({number})" for version, number in sorted(versions.items()))
    if len(versions) > 1:
        text = f"Live workers have different versions of tickbird: {listed}. This is normal only during a deploy."
        yield warning("versions", text, "Finish the deploy, or stop the workers of the old version.", **figures)
    elif versions and condition.version not in versions:
        text = f"This tickbird is {condition.version}, and the live workers have {listed}."
        yield warning("versions", text, f"pip install tickbird=={next(iter(versions))}", **figures)
    else:
        yield ok("versions", f"tickbird {condition.version} here" + (", as in all workers." if versions else "."))


def workers(condition: StoreSnapshot) -> Iterator[Finding]:
    live = [worker for worker in condition.workers if worker.kind != "sync"]
    work = condition.work
    if not live:
        ignored = sum(bool(schedule.ignored) for schedule in work.refused) if work is not None else 0
        if work is not None and (work.scheduled or work.waiting or ignored):
            number = sum(group.count for group in work.scheduled) or ignored
            text = f"No worker is alive, but {count(number, 'active schedule')} and the queued runs need one."
            yield problem("workers", text, "tickbird worker MODULE:APP", live=0, schedules=number)
        else:
            yield ok("workers", "None is alive, and none is needed yet.", live=0)
        return
    held = [worker for worker in live if worker.standby_reason and FALLBACK not in worker.standby_reason]
    for worker in held:
        text = f"{worker.id} is held back: it {worker.standby_reason}."
        # This is intended if other workers plan.
        intended = worker.standby_reason.endswith("TICKBIRD_PLANNING is off") and condition.planners
        yield (warning if intended else problem)(
            "workers", text, "Remove the cause. The worker then continues by itself.", worker=worker.id
        )
    stuck = 0
    for worker in live:
        reported = worker.health.get("stuck")
        number = reported if isinstance(reported, int) else 0
        if number > 0:
            stuck += number
            text = (
                f"{worker.id}: {count(number, 'function')} in threads did not stop after a timeout or a "
                f"cancellation. They occupy {number} of its {count(worker.slots, 'slot')}."
            )
            fix = (
                'Set isolation="process" for the task, so that it can be killed. Restart this worker to free the slots.'
            )
            yield warning("workers", text, fix, worker=worker.id, stuck=number, slots=worker.slots)
    unreadable = [worker for worker in live if published(worker.health)]
    for worker in unreadable:
        yield _unreadable(worker, live)
    draining = sum(worker.draining for worker in live)
    if not held and not stuck and not unreadable:
        drains = f", {draining} of them draining" if draining else ""
        yield ok("workers", f"{count(len(live), 'worker')} alive{drains}; none is held back.", live=len(live))


def fallback(condition: StoreSnapshot) -> Iterator[Finding]:
    """Workers that run ticks themselves, because the store cannot plan."""
    held = [worker for worker in condition.workers if FALLBACK in worker.standby_reason]
    if not held:
        yield ok("fallback", "The store plans all durable schedules.", workers=0)
        return
    first = held[0]
    more = f", and so {'does' if len(held) == 2 else 'do'} {count(len(held) - 1, 'other worker')}" if held[1:] else ""
    text = f"{first.id} is in {first.standby_reason}{more}."
    yield problem("fallback", text, FALLBACK_FIX, workers=len(held))


def _unreadable(worker: Worker, live: Sequence[Worker]) -> Finding:
    number, named = published_count(worker.health), published(worker.health)
    # Compare without the errors, which differ from worker to worker.
    elsewhere = [{str(replace(runs, error="")) for runs in published(other.health)} for other in live]
    unserved = any(all(str(replace(runs, error="")) in other for other in elsewhere) for runs in named)
    text = (
        f"{worker.id} cannot read {name_list([str(runs) for runs in named])}, and leaves these runs to other workers"
        + ("; no live worker can read them." if unserved else ".")
    )
    fix = "pip install --upgrade tickbird tzdata   # on that machine, or repair the stored row"
    return (problem if unserved else warning)("workers", text, fix, worker=worker.id, unreadable=number)
