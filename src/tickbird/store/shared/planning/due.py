"""Due schedules, for every store: their cursors, and other facts for the planner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.schedules.schedule import Cursor, Schedule, SqlEdit, State
from tickbird.domain.schedules.tick_overrides import read_overrides


class LockedCursor(NamedTuple):
    """A complete cursor row."""

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
    # The revision before an edit by plain SQL, and the instant of the edit.
    prior_revision: int | None
    edited_at: int | None
    zone_generation: int | None
    is_refused: bool

    @property
    def cursor(self) -> Cursor:
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
        """True if the cursor suffices to plan the schedule; otherwise its row is read too (pause, edit, error)."""
        return self.state == "active" and self.prior_revision is None and not self.is_refused


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose cursor is locked, with facts for the planner."""

    schedule: Schedule
    last_skip_id: int | None
    edited: SqlEdit | None = None
    # The generation of time zone data that its cursor was computed with; None: all is in UTC.
    zones: int | None = None

    def has_old_zone_data(self, generation: int) -> bool:
        """True if its cursor was computed with older time zone data."""
        return self.zones is not None and self.zones < generation


def plain_schedule(row: LockedCursor, info: RevisionInfo) -> DueSchedule:
    """An active schedule whose revision is cached; its cursor has all other values."""
    schedule = Schedule(
        row.schedule_id, info.namespace, info.name, row.revision, row.state, info.definition, row.cursor
    )
    return DueSchedule(schedule, row.last_skip_id, zones=row.zone_generation)


def edited_by_sql(before: RevisionInfo | None, schedule: Schedule, prior: int, edited_at: int) -> SqlEdit:
    """The state before an edit by plain SQL, under the revision `prior`."""
    definition = None if before is None else before.definition
    return SqlEdit(replace(schedule, revision=prior, definition=definition), edited_at)
