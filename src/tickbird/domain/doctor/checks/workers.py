"""The live workers: their versions, and what holds them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tickbird.domain.doctor.checks.phrases import name_list
from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.messages import count
from tickbird.domain.runs.unreadable_runs import published, published_count
from tickbird.domain.workers import Worker


def versions(condition: StoreSnapshot) -> Iterator[Finding]:
    versions = Counter(worker.version for worker in condition.workers if worker.kind != "sync")
    figures = {"here": condition.version, "workers": dict(versions)}
    told = ", ".join(f"{version} ({number})" for version, number in sorted(versions.items()))
    if len(versions) > 1:
        text = f"Live workers have different versions of tickbird: {told}. That is meant for a deploy, not for long."
        yield warning("versions", text, "Finish the deploy, or end the workers of the old version.", **figures)
    elif versions and condition.version not in versions:
        text = f"This tickbird is {condition.version}, and the live workers have {told}."
        yield warning("versions", text, f"pip install tickbird=={next(iter(versions))}", **figures)
    else:
        yield ok("versions", f"tickbird {condition.version} here" + (", as in all workers." if versions else "."))


def workers(condition: StoreSnapshot) -> Iterator[Finding]:
    live = [worker for worker in condition.workers if worker.kind != "sync"]
    work = condition.work
    if not live:
        left_alone = sum(bool(each.left_alone) for each in work.refused) if work is not None else 0
        if work is not None and (work.scheduled or work.waiting or left_alone):
            number = sum(each.count for each in work.scheduled) or left_alone
            text = f"No worker is alive, and {count(number, 'active schedule')} and what waits in queues need one."
            yield problem("workers", text, "tickbird worker MODULE:APP", live=0, schedules=number)
        else:
            yield ok("workers", "None is alive, and none is needed yet.", live=0)
        return
    held = [worker for worker in live if worker.standby_reason]
    for worker in held:
        text = f"{worker.id} is held back: it {worker.standby_reason}."
        # Meant so, where others plan.
        meant = worker.standby_reason.endswith("TICKBIRD_PLANNING is off") and condition.planners
        yield (warning if meant else problem)(
            "workers", text, "Do what it says; it goes on by itself then.", worker=worker.id
        )
    stuck = 0
    for worker in live:
        kept = worker.health.get("stuck")
        number = kept if isinstance(kept, int) else 0
        if number > 0:
            stuck += number
            text = (
                f"{worker.id}: {count(number, 'function')} in threads did not stop when asked, past a time-out or a "
                f"cancellation, and keep {number} of its {count(worker.slots, 'slot')}."
            )
            fix = 'Give the task isolation="process", where it can be killed; start this worker anew to free the slots.'
            yield warning("workers", text, fix, worker=worker.id, stuck=number, slots=worker.slots)
    unreadable = [worker for worker in live if published(worker.health)]
    for worker in unreadable:
        yield _unreadable(worker, live)
    draining = sum(worker.draining for worker in live)
    if not held and not stuck and not unreadable:
        drains = f", {draining} of them draining" if draining else ""
        yield ok("workers", f"{count(len(live), 'worker')} alive{drains}; none is held back.", live=len(live))


def _unreadable(worker: Worker, live: Sequence[Worker]) -> Finding:
    number, named = published_count(worker.health), published(worker.health)
    # Without the errors, which each worker words for itself.
    elsewhere = [{str(replace(runs, error="")) for runs in published(other.health)} for other in live]
    nobody = any(all(str(replace(runs, error="")) in other for other in elsewhere) for runs in named)
    text = (
        f"{worker.id} cannot read {name_list([str(runs) for runs in named])}, and leaves what is queued of it to others"
        + ("; no live worker can read it." if nobody else ".")
    )
    fix = "pip install --upgrade tickbird tzdata   # on that machine; or repair the stored row"
    return (problem if nobody else warning)("workers", text, fix, worker=worker.id, unreadable=number)
