"""A stored schedule: its definition, its state and its cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from tickbird.domain.errors import ConflictError, StaleError
from tickbird.domain.schedules.codec import definition_text, ignored_reason, unknown_kind_of
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.targets import registry as targets
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers import custom as triggers
from tickbird.domain.triggers.trigger import unregistered_customs

State = Literal["active", "paused", "parked", "ended", "deleted"]
# The states that a list shows by default.
LISTED_STATES: tuple[State, ...] = ("active", "paused", "parked", "ended")
# Per schedule, at least this many of the newest revisions stay. The index `schedules_prunable_revisions_idx` has
# the same number.
MIN_REVISIONS_KEPT = 100
# How many schedules one prune step reads.
PRUNE_BATCH = 100


@dataclass(frozen=True, slots=True)
class PauseState:
    """A pause: actor, note, and end in whole seconds since the epoch (None: no end)."""

    by: str
    note: str = ""
    until: int | None = None


# The app of schedules in files that do not name one.
FILES_APP = "files"
REMOVED_FROM_CODE = "removed from code"
SYNC_ACTOR = "sync"


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last decided instant of a schedule and its next planner pass; whole seconds since the epoch."""

    planned_until: int | None = None
    next_run_at: int | None = None
    runs_planned: int = 0
    # Set by `skip`: ticks up to this instant are skipped.
    skip_until: int | None = None
    skip_by: str | None = None
    skip_note: str = ""
    # Overrides of future ticks (reschedule, override), in order.
    tick_overrides: tuple[TickOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerReading:
    """Parts of a definition as described by a server that can read it."""

    trigger_description: str
    zone: str | None
    kind: str | None
    burst_allowed: bool


@dataclass(frozen=True)
class Schedule:
    """A stored schedule; `definition` is None if the stored text cannot be read."""

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
    # The stored definition, and the fields that an operator set over the declared ones.
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
    def in_memory(self) -> bool:
        """Whether workers compute its ticks in memory; its cursor has no next tick then."""
        return self.definition is not None and not self.definition.durable

    @property
    def next_run_at(self) -> datetime | None:
        """The next planner pass of this schedule."""
        return None if self.cursor.next_run_at is None else to_datetime(self.cursor.next_run_at)

    @property
    def planned_until(self) -> datetime | None:
        """The last decided instant."""
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
        """Whether it is neither paused nor deleted. A parked or ended schedule counts as enabled."""
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
        """Whether a tick may run while `max_concurrent` runs are active."""
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
    """A change of a definition by plain SQL: the schedule before it, and its time."""

    before: Schedule
    edited_at: int


def trigger_description(schedule: Schedule) -> str:
    """Describe the trigger; as JSON if this process ignores the schedule."""
    if schedule.trigger_description is not None:
        return schedule.trigger_description
    reason = ignored_reason(schedule.definition_json)
    encoded = schedule.definition_json.get("trigger")
    return f"{definition_text(encoded)}: {reason}" if reason and isinstance(encoded, Mapping) else "cannot be read"


def unreadable(schedule: Schedule) -> ConflictError:
    """Return the error about a schedule whose definition cannot be read."""
    if ignored_reason(schedule.definition_json):
        return ignored_error(schedule.name, schedule.definition_json)
    why = f" ({schedule.error.rstrip('.')})" if schedule.error else ""
    return ConflictError(
        f"schedule {schedule.name!r}: its definition cannot be read{why}.",
        hint=f"Repair it with `tickbird set {schedule.name} …`.",
    )


def ignored_error(name: str, definition: Mapping[str, Any]) -> ConflictError:
    """Return the error about a schedule that this process ignores."""
    hint = "Upgrade tickbird."
    if unknown_kind_of(definition) is not None:
        hint = targets.INSTALL
    elif unregistered_customs(definition.get("trigger")):
        hint = triggers.INSTALL
    return ConflictError(f"schedule {name!r} is ignored: {ignored_reason(definition)}.", hint=hint)


def check_readable(schedule: Schedule) -> None:
    """Raise ConflictError if this process ignores the schedule."""
    if ignored_reason(schedule.definition_json):
        raise ignored_error(schedule.name, schedule.definition_json)


def check_runs(schedule: Schedule) -> None:
    """Raise ConflictError if the schedule is a shadow."""
    if schedule.definition is not None and schedule.definition.shadow:
        raise ConflictError(
            f"schedule {schedule.name!r} is a shadow and never runs.",
            hint=f"Activate it with `tickbird set {schedule.name} shadow=false`, or apply its file without shadow.",
        )


def check_revision(schedule: Schedule, revision: int | None) -> None:
    """Raise StaleError unless the revision is the stored one; None accepts any."""
    if revision is not None and revision != schedule.revision:
        raise StaleError(
            f"schedule {schedule.name!r} is at revision {schedule.revision}, not {revision}: it has changed.",
            hint="Read it again and repeat the change.",
        )


@dataclass(frozen=True, slots=True)
class PutResult:
    """A schedule after a put, and whether it was created."""

    schedule: Schedule
    created: bool
