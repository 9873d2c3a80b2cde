"""Pause and resume."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.base import Change, Command, cancel_active_runs, new_revision
from tickbird.domain.planning.edits import unpark
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.planning.planner import first_plan
from tickbird.domain.planning.skip_ranges import skip_all
from tickbird.domain.schedules.schedule import REMOVED_FROM_CODE, SYNC_ACTOR, PauseState, Schedule, unreadable
from tickbird.domain.time.instants import to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Command):
    """Stop planning until resumed, or until an instant."""

    note: str = ""
    until: int | None = None
    cancel_runs: bool = False
    # Who paused it in the store of origin, for an import; None: the actor.
    by: str | None = None

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Pause the schedule; a parked one stays parked and is paused after its repair."""
        if schedule.state == "ended":
            raise ConflictError(
                f"schedule {schedule.name!r} has ended, so there is nothing to pause.",
                hint="`tickbird ls` lists the active schedules.",
            )
        if self.until is not None and self.until <= now:
            raise InvalidError(
                f"until: {to_datetime(self.until).isoformat()} is in the past.",
                field="until",
                hint="Choose a later instant.",
            )
        pause = PauseState(self.by or self.actor, self.note, self.until)
        if schedule.state == "parked":
            plan = Plan(schedule.cursor, "parked", schedule.revision, pause, schedule.error)
        else:
            plan = settle(replace(schedule, state="paused", pause=pause), schedule.cursor)
        if self.cancel_runs:
            plan = cancel_active_runs(plan, facts)
        return new_revision("pause", schedule, plan, note=self.note, until=self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Command):
    """Continue after the ticks that passed during the pause; they are one skip and are never caught up.

    A parked schedule resumes too if it can be planned again; otherwise it only loses its pause, if it has one.
    """

    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        detail = {"paused_by": schedule.pause.by if schedule.pause else None, "note": self.note}
        if schedule.state == "parked" and schedule.definition is not None:
            active = replace(schedule, pause=None)
            return new_revision("resume", active, unpark(active, active, now), **detail, error=schedule.error)
        if schedule.pause is None and schedule.state == "parked":
            raise unreadable(schedule)
        if schedule.pause is None:
            raise ConflictError(
                f"schedule {schedule.name!r} is {schedule.state}, not paused.", hint="There is nothing to resume."
            )
        if schedule.state == "parked":
            plan = Plan(schedule.cursor, "parked", schedule.revision, None, schedule.error)
            return new_revision("resume", schedule, plan, **detail)
        active = replace(schedule, state="active", pause=None)
        if schedule.cursor.planned_until is None:
            return new_revision("resume", active, first_plan(active, now), **detail)
        note = f"paused by {schedule.pause.by}" + (f": {schedule.pause.note}" if schedule.pause.note else "")
        plan = skip_all(active, "paused", floor(now) - active.offset, actor=schedule.pause.by, note=note)
        # The ticks passed under the revision that paused them.
        skips = tuple(replace(skip, revision=schedule.revision) for skip in plan.skips)
        return new_revision("resume", active, replace(plan, skips=skips), **detail)


def removed_from_code(revision: int | None = None) -> Pause:
    """Return the pause that a deploy sets on a schedule that was removed from code."""
    return Pause(actor=SYNC_ACTOR, revision=revision, note=REMOVED_FROM_CODE)
