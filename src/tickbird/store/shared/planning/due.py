"""Due schedules, as all stores read them: their cursors, and what the planner must know besides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.schedules.schedule import Cursor, Schedule, SqlEdit, State
from tickbird.domain.schedules.tick_overrides import read_overrides


class LockedCursor(NamedTuple):
    """All of a cursor."""

    schedule_id: int
    revision: int
    state: State
    planned_until: int | None
    next_run_at: int | None
    runs_planned: int
    skip_until: int | None
    skip_by: str | None
    skip_note: str
    tick_overrides: Any
    last_skip_id: int | None
    # The revision before an edit by plain SQL, and when that was.
    prior_revision: int | None
    edited_at: int | None
    zone_generation: int | None
    is_refused: bool

    @property
    def cursor(self) -> Cursor:
        """As the planner takes it."""
        return Cursor(
            self.planned_until,
            self.next_run_at,
            self.runs_planned,
            self.skip_until,
            self.skip_by,
            self.skip_note,
            read_overrides(self.tick_overrides),
        )

    @property
    def is_complete(self) -> bool:
        """Is the cursor enough to plan the schedule? If not, the schedule's own row is read: pause, edit, error."""
        return self.state == "active" and self.prior_revision is None and not self.is_refused


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose cursor is locked, with what the planner must know besides."""

    schedule: Schedule
    last_skip_id: int | None
    edited: SqlEdit | None = None
    # By which generation of zone rules its cursor was computed; None: all is in UTC.
    zones: int | None = None

    def has_old_zone_data(self, generation: int) -> bool:
        """Was its cursor computed by older zone rules?"""
        return self.zones is not None and self.zones < generation


def plain_schedule(row: LockedCursor, info: RevisionInfo) -> DueSchedule:
    """An active schedule of a known revision: its cursor tells all the rest."""
    schedule = Schedule(
        row.schedule_id, info.namespace, info.name, row.revision, row.state, info.definition, row.cursor
    )
    return DueSchedule(schedule, row.last_skip_id, zones=row.zone_generation)


def edited_by_sql(before: RevisionInfo | None, schedule: Schedule, prior: int, edited_at: int) -> SqlEdit:
    """What held before an edit by plain SQL, under the revision `prior`."""
    definition = None if before is None else before.definition
    return SqlEdit(replace(schedule, revision=prior, definition=definition), edited_at)
