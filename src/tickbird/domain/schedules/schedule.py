"""A stored schedule: its definition, its state and its cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from tickbird.domain.errors import ConflictError, StaleError
from tickbird.domain.schedules.codec import definition_text, left_alone_reason, unknown_kind_of
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.targets import registry as targets
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers import custom as triggers
from tickbird.domain.triggers.trigger import unregistered_customs

State = Literal["active", "paused", "parked", "ended", "deleted"]
# What a list shows unless asked otherwise.
LISTED_STATES: tuple[State, ...] = ("active", "paused", "parked", "ended")
# Per schedule, at least this many of the newest revisions are kept. The index `schedules_prunable_revisions_idx` has
# the same number.
MIN_REVISIONS_KEPT = 100
# How many schedules one prune step reads.
PRUNE_BATCH = 100


@dataclass(frozen=True, slots=True)
class PauseState:
    """Who paused a schedule, why, and until when (whole seconds since the epoch)."""

    by: str
    note: str = ""
    until: int | None = None


# The app of schedules in files that name no other.
FILES_APP = "files"
REMOVED_FROM_CODE = "removed from code"
SYNC_ACTOR = "sync"


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a schedule has been decided, and when the planner must look next; whole seconds since the epoch."""

    planned_until: int | None = None
    next_run_at: int | None = None
    runs_planned: int = 0
    # Set by skip: ticks up to here are not run when they come.
    skip_until: int | None = None
    skip_by: str | None = None
    skip_note: str = ""
    # What was decided for single ticks to come, by reschedule or override; in order.
    tick_overrides: tuple[TickOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerReading:
    """The parts of a definition in the words of a server that can read it."""

    trigger_description: str
    zone: str | None
    kind: str | None
    burst_allowed: bool


@dataclass(frozen=True)
class Schedule:
    """One schedule as the store holds it; `definition` is None while the stored text cannot be read."""

    id: int
    namespace: str
    name: str
    revision: int
    state: State
    definition: Definition | None
    cursor: Cursor = Cursor()
    pause: PauseState | None = None
    error: str | None = None
    app: str | None = None
    fingerprint: str | None = None
    # The definition as stored, and the fields of it that an operator set over what code declares.
    definition_json: Mapping[str, Any] = field(default_factory=dict)
    field_overrides: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    changed_at: datetime | None = None
    # Set if a server can read the definition, and this process cannot.
    reading: ServerReading | None = None

    @property
    def grid(self) -> TickGrid:
        """The ticks of the definition in force."""
        return self._readable.grid

    @property
    def offset(self) -> int:
        """Seconds from a tick to its `due_at`."""
        return spread_offset(self.namespace, self.name, self._readable.spread)

    @property
    def _readable(self) -> Definition:
        if self.definition is None:
            raise unreadable(self)
        return self.definition

    @property
    def next_run_at(self) -> datetime | None:
        """When the planner will look at this schedule next."""
        return None if self.cursor.next_run_at is None else to_datetime(self.cursor.next_run_at)

    @property
    def planned_until(self) -> datetime | None:
        """The last instant that has been decided."""
        return None if self.cursor.planned_until is None else to_datetime(self.cursor.planned_until)

    @property
    def trigger_description(self) -> str | None:
        """Its trigger in words; None if the definition cannot be read."""
        if self.reading is not None:
            return self.reading.trigger_description
        return None if self.definition is None else self.definition.trigger.describe()

    @property
    def zone(self) -> str | None:
        """The time zone of its trigger; None if the definition cannot be read."""
        if self.reading is not None:
            return self.reading.zone
        return None if self.definition is None else self.definition.trigger.tz

    @property
    def enabled(self) -> bool:
        """Is it neither paused nor deleted? A parked or ended one is enabled, though it does not run."""
        return self.state not in ("paused", "deleted")

    @property
    def kind(self) -> str | None:
        """The kind of its target, such as `task`; None if the definition cannot be read."""
        if self.reading is not None:
            return self.reading.kind
        return None if self.definition is None else self.definition.target.kind

    @property
    def cron_spec(self) -> str | None:
        """The cron expression as stored, also one that cannot be read; None if it has another trigger."""
        trigger = self.definition_json.get("trigger")
        spec = trigger.get("cron") if isinstance(trigger, Mapping) else None
        return spec if isinstance(spec, str) else None

    @property
    def burst_allowed(self) -> bool:
        """May a tick run while `max_concurrent` runs of it are active?"""
        if self.reading is not None:
            return self.reading.burst_allowed
        return self.definition is not None and self.definition.overlap == "allow"

    def due_at(self, tick: int) -> int:
        """When a run of this tick becomes due: the tick plus the spread, unless it was moved."""
        for override in self.cursor.tick_overrides:
            if override.tick == tick and override.due_at is not None:
                return override.due_at
        return tick + self.offset


@dataclass(frozen=True)
class SqlEdit:
    """A definition that was changed by plain SQL: what held before, and when it changed."""

    before: Schedule
    edited_at: int


def trigger_description(schedule: Schedule) -> str:
    """The trigger in words; as JSON if this process leaves the schedule to others."""
    if schedule.trigger_description is not None:
        return schedule.trigger_description
    reason = left_alone_reason(schedule.definition_json)
    encoded = schedule.definition_json.get("trigger")
    return f"{definition_text(encoded)}: {reason}" if reason and isinstance(encoded, Mapping) else "cannot be read"


def unreadable(schedule: Schedule) -> ConflictError:
    """Why nothing can be told of the ticks of a schedule whose definition cannot be read."""
    if left_alone_reason(schedule.definition_json):
        return left_alone(schedule.name, schedule.definition_json)
    why = f" ({schedule.error.rstrip('.')})" if schedule.error else ""
    return ConflictError(
        f"schedule {schedule.name!r}: its definition cannot be read{why}.",
        hint=f"Repair it with `tickbird set {schedule.name} …`.",
    )


def left_alone(name: str, definition: Mapping[str, Any]) -> ConflictError:
    """The refusal to plan or change a schedule that this process leaves to others."""
    if (kind := unknown_kind_of(definition)) is not None:
        text = f"schedule {name!r} is left alone: target kind {kind!r} is not known here;"
        return ConflictError(text, hint=targets.INSTALL)
    if unknown := unregistered_customs(definition.get("trigger")):
        text = f"schedule {name!r} is left alone: custom trigger {unknown[0][:60]!r} is not known here."
        return ConflictError(text, hint=triggers.INSTALL)
    return ConflictError(
        f"schedule {name!r} was written by a newer tickbird, and this one cannot read it;", hint="upgrade tickbird."
    )


def check_readable(schedule: Schedule) -> None:
    """Refuse to change a schedule that this process leaves to others."""
    if left_alone_reason(schedule.definition_json):
        raise left_alone(schedule.name, schedule.definition_json)


def check_runs(schedule: Schedule) -> None:
    """Refuse to make a run of a shadow, which runs nothing."""
    if schedule.definition is not None and schedule.definition.shadow:
        raise ConflictError(
            f"schedule {schedule.name!r} is a shadow and runs nothing;",
            hint=f"cut over with `tickbird set {schedule.name} shadow=false`, or apply its file without shadow.",
        )


def check_revision(schedule: Schedule, revision: int | None) -> None:
    """Refuse what was meant for another revision than the stored one; None is meant for any."""
    if revision is not None and revision != schedule.revision:
        raise StaleError(
            f"schedule {schedule.name!r} is at revision {schedule.revision}, not {revision}: it changed meanwhile.",
            hint="Read it again and repeat the change.",
        )


@dataclass(frozen=True, slots=True)
class PutResult:
    """A schedule after a put, and whether it was created."""

    schedule: Schedule
    created: bool
