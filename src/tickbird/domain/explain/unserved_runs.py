"""Why no live worker would claim a run, or plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tickbird.domain.messages import count
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.runs.unreadable_runs import Unreadable, published
from tickbird.domain.targets.registry import runs_in_store, target_requirement
from tickbird.domain.targets.target import Target
from tickbird.domain.workers import Worker, executes, is_planner


def unserved_reason(
    queue: str,
    target: Target,
    workers: Sequence[Worker],
    busy: Counter[str | None] | None = None,
    run: RunRecord | None = None,
) -> str:
    """Return why no worker would claim a run of this queue and target (or this run); empty if one would."""
    if runs_in_store(target):
        return _unplanned_reason(target, workers)
    if unserved_queue := unserved(queue, workers):
        return unserved_queue
    executing = [worker for worker in workers if executes(worker)]
    serving = [worker for worker in executing if queue in worker.queues]
    requirement = target_requirement(target)
    if not any(worker.serves(target.key) for worker in executing):
        return f"no live worker {requirement}"
    able = [worker for worker in serving if worker.serves(target.key)]
    if not able:
        return f"no live worker that serves queue {queue!r} {requirement}"
    ready = [worker for worker in able if not worker.draining]
    if not ready:
        return _draining(able)
    if run is not None and (unreadable := [(worker, runs) for worker in ready for runs in _unreadable(worker, run)]):
        unable = {worker.id for worker, _ in unreadable}
        ready = [worker for worker in ready if worker.id not in unable]
        if not ready:
            worker, runs = unreadable[0]
            return (
                f"no live worker can read it: {worker.id} reports {runs}. Upgrade tickbird and tzdata on that machine"
            )
    if busy is not None and all(busy[worker.id] >= worker.slots for worker in ready):
        slots = sum(worker.slots for worker in ready)
        return f"all slots of the workers that could claim it are busy ({count(slots, 'slot')} on {len(ready)})"
    return ""


def last_server(queue: str, target: Target, lost: Iterable[Worker]) -> Worker | None:
    """Return the first of these workers that would have claimed a run of this queue and target."""
    if runs_in_store(target):
        return next(filter(is_planner, lost), None)
    able = (worker for worker in lost if executes(worker) and queue in worker.queues and worker.serves(target.key))
    return next(able, None)


def unplanned_reason(workers: Iterable[Worker], planners: int) -> str:
    """Return why nothing is planned; empty if there are `planners`, which may be workers of other namespaces."""
    if planners:
        return ""
    live = [worker for worker in workers if worker.kind != "sync"]
    if draining := [worker.id for worker in live if is_planner(worker)]:
        return f"every live worker that plans is draining ({', '.join(sorted(draining))})"
    if live:
        return f"no live worker plans ({count(len(live), 'worker')} only execute{'s' if len(live) == 1 else ''})"
    return "no worker is alive to plan it"


def _unplanned_reason(target: Target, workers: Sequence[Worker]) -> str:
    planning = [worker for worker in workers if is_planner(worker)]
    if not planning:
        return f"no live worker {target_requirement(target)}"
    return _draining(planning) if all(worker.draining for worker in planning) else ""


def _draining(able: Sequence[Worker]) -> str:
    return f"every worker that could claim it is draining ({', '.join(sorted(worker.id for worker in able))})"


def _unreadable(worker: Worker, run: RunRecord) -> list[Unreadable]:
    return [runs for runs in published(worker.health) if runs.covers(run)]


def unserved(queue: str, workers: Sequence[Worker]) -> str:
    """Return why no worker serves this queue; empty if one does."""
    executing = [worker for worker in workers if executes(worker)]
    if not executing:
        return "no live worker executes runs"
    if any(queue in worker.queues for worker in executing):
        return ""
    served = ", ".join(sorted({name for worker in executing for name in worker.queues})) or "none"
    return f"no live worker serves queue {queue!r} (served: {served})"
