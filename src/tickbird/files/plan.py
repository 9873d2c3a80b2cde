"""The plan of `apply`: its changes, and the stored state that it is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.schedules.schedule import PauseState, Schedule
from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.tick_diff import NO_CHANGES, BusyMinute, TickChanges

Kind = Literal["create", "change", "resume", "calendar", "delete"]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field of a definition as JSON, before and after; None is the default."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class KeptOverride:
    """A field that an operator has set. It keeps its value, even if the files declare another."""

    name: str
    value: Any
    declared: Any


@dataclass(frozen=True, slots=True)
class Late:
    """Overdue ticks. They are decided under the current definition, before the change applies."""

    ticks: int
    catch_up: str


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """The change of one schedule."""

    name: str
    kind: Kind
    # None if a server created the plan.
    command: Command | None
    # The schedule after the change; a deleted one before it.
    schedule: Schedule
    fields: tuple[FieldChange, ...] = ()
    kept_overrides: tuple[KeptOverride, ...] = ()
    # The pause, which `apply` does not change.
    pause: PauseState | None = None
    ticks: TickChanges = NO_CHANGES
    late: Late | None = None
    # Number of tick overrides that become void.
    void: int = 0
    notes: tuple[str, ...] = ()
    # Further commands, which restore overrides and the pause of another store.
    restores: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A schedule that matches the files, except for operator overrides and a pause, which stay."""

    name: str
    kept_overrides: tuple[KeptOverride, ...] = ()
    pause: PauseState | None = None
    # Fields of `state`, and `paused`, that are not applied, because an operator has changed them since.
    ignored_state: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A changed calendar, concurrency limit or rate limit; `before` is None if it was not set."""

    part: Literal["calendars", "limits", "queues"]
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """All changes of a document. A plan with `diagnostics` or `conflicts` cannot be applied."""

    app: str
    namespace: str
    schedules: Sequence[ScheduleChange] = ()
    settings: Sequence[SettingChange] = ()
    # Tasks that no live worker registers.
    unserved: Sequence[str] = ()
    # Number of schedules that match the files.
    same: int = 0
    # Schedules of the app that are in no file. They stay, because the plan does not prune.
    not_in_files: Sequence[str] = ()
    # Schedules that match the files, but are paused or have operator overrides.
    stays: Sequence[Unchanged] = ()
    crowds: Sequence[BusyMinute] = ()
    diagnostics: Sequence[Diagnostic] = ()
    conflicts: Sequence[Diagnostic] = ()
    applied: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.schedules or self.settings or self.diagnostics or self.conflicts)

    @property
    def commands(self) -> list[tuple[str, Command]]:
        """Pairs of schedule and command, in the order in which they must be applied."""
        return [
            (change.name, command)
            for change in self.schedules
            if change.command is not None
            for command in (change.command, *change.restores)
        ]

    def check(self) -> None:
        """Raise DocumentError or OwnedError for a plan that cannot be applied."""
        if self.diagnostics:
            raise DocumentError([*self.diagnostics, *self.conflicts])
        if self.conflicts:
            raise OwnedError(self.conflicts)

    def count(self, kind: Kind) -> int:
        return sum(change.kind == kind for change in self.schedules)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """The stored state that a plan of one document needs."""

    # Schedules of the app and schedules that the document names, also as dependencies; including deleted ones.
    schedules: Mapping[str, AppSchedule]
    # Definitions of stored calendars.
    calendars: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Calendars after the change: the stored ones, replaced by those of the document.
    closed: Mapping[str, Calendar] = field(default_factory=dict)
    # Schedules that use a calendar which the document changes.
    naming: Sequence[Schedule] = ()
    # Fields, and `paused`, that operators have changed since the schedule was created; only of schedules with state.
    operated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
