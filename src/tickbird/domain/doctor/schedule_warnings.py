"""Problems of a schedule, as lists and responses show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.messages import count, reason
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.workers import Worker


class ProblemFinder:
    """Finds the problems of many schedules; caches whether a target is served."""

    def __init__(self, workers: Sequence[Worker], now: datetime) -> None:
        self._workers = workers
        self._now = now
        self._now_second = to_seconds(now)
        # By queue, kind and name: why no worker serves it; empty if one does.
        self._unserved: dict[tuple[str, str, str], tuple[str, ...]] = {}

    def find(self, schedule: Schedule, held: int = 0) -> tuple[str, ...]:
        """Return why an active schedule does not run, and the number of its held runs."""
        definition, due = schedule.definition, schedule.cursor.next_run_at
        if schedule.state != "active" or definition is None:
            return (*_held(schedule, held), *_unreadable(schedule), *self._ignored_late(schedule))
        # A shadow creates no runs, so no worker has to serve it.
        unserved = () if definition.shadow else self._unserved_reason(definition)
        late = due is not None and self._now_second - due >= definition.grace
        if not (held or schedule.error or late):
            return unserved
        return (*_held(schedule, held), *unserved, *self._planning(schedule, definition))

    def _unserved_reason(self, definition: Definition) -> tuple[str, ...]:
        queue, target = definition.queue, definition.target
        key = (queue, target.kind, target.name)
        problems = self._unserved.get(key)
        if problems is None:
            reason = unserved_reason(queue, target, self._workers)
            problems = self._unserved[key] = (reason,) if reason else ()
        return problems

    def _ignored_late(self, schedule: Schedule) -> list[str]:
        """Report that no other worker has planned it either."""
        if schedule.state != "active" or not ignored_reason(schedule.definition_json):
            return []
        return self._late(schedule, POLICIES["grace"].default)

    def _late(self, schedule: Schedule, grace: float) -> list[str]:
        late = 0.0 if schedule.next_run_at is None else (self._now - schedule.next_run_at).total_seconds()
        return [f"{duration_text(late)} late: no worker has planned it"] if late > grace else []

    def _planning(self, schedule: Schedule, definition: Definition) -> list[str]:
        refused = f"it cannot be planned, and is retried: {reason(schedule.error)}"
        return [*([refused] if schedule.error else []), *self._late(schedule, definition.grace)]


def problems(schedule: Schedule, workers: Sequence[Worker], now: datetime, held: int = 0) -> list[str]:
    return list(ProblemFinder(workers, now).find(schedule, held))


def _held(schedule: Schedule, held: int) -> list[str]:
    return [f"{count(held, 'run')} held: see `tickbird held {schedule.name}`"] if held else []


def _unreadable(schedule: Schedule) -> list[str]:
    if schedule.state != "active" or schedule.definition is not None or schedule.reading is not None:
        return []
    # Any other unreadable definition is parked when it is planned.
    reason = ignored_reason(schedule.definition_json)
    return [f"ignored: {reason}" if reason else "cannot be read"]
