"""Manual runs and retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.due_decisions import must_wait
from tickbird.domain.planning.plan import Facts, Plan, PlannedRun
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Schedule, check_revision, check_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(Command):
    """Create a manual run now, or retry a run; the cursor does not change."""

    payload: Mapping[str, Any] | None = None
    # Retry this run of the schedule, with its payload unless another one is given.
    retry_of: int | None = None
    # Another trigger with the same key returns the existing run; the store ensures this.
    idempotency_key: str | None = None

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """Apply the command. A retry does not depend on the current schedule, so it works after a delete too."""
        if schedule is None or self.retry_of is None:
            return super(Trigger, self).apply(schedule, name, facts, now)
        check_revision(schedule, self.revision)
        return self._repeat(schedule, facts, now)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Create a manual run, in every state except parked; not for a shadow."""
        if schedule.state == "parked" or schedule.definition is None:
            raise ConflictError(
                f"schedule {schedule.name!r} is parked ({schedule.error}).", hint="Repair its definition first."
            )
        check_runs(schedule)
        if self.payload is not None:
            check_payload(self.payload)
        run = manual_run(schedule, facts, self.payload)
        plan = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error, runs=(run,))
        return Change("trigger", schedule, plan, self._detail, makes_revision=False)

    def _repeat(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Create a run with the target, payload and policies of the original run."""
        if facts.retried_run is None:
            raise NotFoundError(
                f"there is no run {self.retry_of} of schedule {schedule.name!r}.",
                hint="`tickbird runs` shows the newest runs.",
            )
        original, definition = facts.retried_run.run, facts.retried_run.definition
        if definition is None:
            raise ConflictError(
                f"run {original.id} cannot be retried: revision {original.revision} of schedule {schedule.name!r}, "
                "with which it was created, cannot be read here.",
                hint="Upgrade tickbird and tzdata, then retry it.",
            )
        if schedule.state != "deleted":
            check_runs(schedule)
        payload = original.payload if self.payload is None else self.payload
        check_payload(payload)
        definition.key(payload)
        # The retry has a start deadline only if the original run had one.
        within = None if original.start_by is None else definition.start_within
        run = PlannedRun(
            None,
            None,
            "retry",
            "waiting" if must_wait(definition, facts.active) else "queued",
            start_by=None if within is None else ceil(now) + within,
            payload=payload,
            retry_of=original.id,
        )
        revision = original.revision or schedule.revision
        plan = Plan(schedule.cursor, schedule.state, revision, schedule.pause, schedule.error, runs=(run,))
        return Change("retry", schedule, plan, self._detail, makes_revision=False, retried_definition=definition)

    @property
    def _detail(self) -> dict[str, Any]:
        return {"payload": None if self.payload is None else dict(self.payload), "retry_of": self.retry_of}


def manual_run(schedule: Schedule, facts: Facts, payload: Mapping[str, Any] | None = None) -> PlannedRun:
    assert schedule.definition is not None
    # Raises if the payload lacks a field of the key.
    schedule.definition.key(payload)
    waits = must_wait(schedule.definition, facts.active)
    return PlannedRun(None, None, "manual", "waiting" if waits else "queued", payload=payload)
