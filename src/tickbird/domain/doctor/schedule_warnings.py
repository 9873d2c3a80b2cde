"""What keeps a schedule from running as it should, as lists and answers tell it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count, reason
from tickbird.domain.schedules.codec import left_alone_reason
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.durations import duration_text
from tickbird.domain.workers import Worker


class ProblemFinder:
    """Finds the problems of many schedules; whether a target is served is looked up once for all that have it."""

    def __init__(self, workers: Sequence[Worker], now: datetime) -> None:
        self._workers = workers
        self._now = now
        self._unserved: dict[tuple[str, str, str], str] = {}

    def find(self, schedule: Schedule, held: int = 0) -> list[str]:
        """The same as `problems`."""
        return problems(schedule, self._workers, self._now, held, self._unserved)


def problems(
    schedule: Schedule,
    workers: Sequence[Worker],
    now: datetime,
    held: int = 0,
    unserved_reasons: dict[tuple[str, str, str], str] | None = None,
) -> list[str]:
    """What keeps an active schedule from running as it should, and how many of its runs a person must decide about.

    `unserved_reasons` are those of targets that were looked up before, by queue, kind and name.
    """
    found = [f"{count(held, 'run')} held: see `tickbird held {schedule.name}`"] if held else []
    definition, due_at = schedule.definition, schedule.next_run_at
    if schedule.state != "active":
        return found
    if definition is None:
        # Whatever else cannot be read is parked as soon as it is planned.
        left_alone = left_alone_reason(schedule.definition_json)
        return [*found, f"left alone: {left_alone}" if left_alone else "cannot be read"]
    # A shadow runs nothing that anybody would have to serve.
    if not definition.shadow:
        queue, target = definition.queue, definition.target
        known = {} if unserved_reasons is None else unserved_reasons
        key = (queue, target.kind, target.name)
        if key not in known:
            known[key] = unserved_reason(queue, target, workers)
        found += [known[key]] if known[key] else []
    if schedule.error:
        found.append(f"it cannot be planned, and is tried again: {reason(schedule.error)}")
    if due_at is not None and (late := (now - due_at).total_seconds()) > definition.grace:
        found.append(f"{duration_text(late)} late: no worker has planned it")
    return found
