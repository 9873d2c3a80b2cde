"""A plan: what applying a document would change, and what is stored of it."""

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
    """A field of a definition as JSON, before and after; None: its default."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class KeptOverride:
    """A field that an operator has set: it stays as it is, whatever the files say."""

    name: str
    value: Any
    declared: Any


@dataclass(frozen=True, slots=True)
class Late:
    """Ticks that are due and not decided yet: before the change they are, as the schedule stands."""

    ticks: int
    catch_up: str


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """What becomes of one schedule, by one command."""

    name: str
    kind: Kind
    # None where a server made the plan.
    command: Command | None
    # As it will be; one that is deleted, as it was.
    schedule: Schedule
    fields: tuple[FieldChange, ...] = ()
    kept_overrides: tuple[KeptOverride, ...] = ()
    # A pause stays, whoever made it.
    pause: PauseState | None = None
    ticks: TickChanges = NO_CHANGES
    late: Late | None = None
    # Single ticks for which something was decided that makes no sense any more.
    void: int = 0
    notes: tuple[str, ...] = ()
    # Commands after the first, which restore what operators did in another store.
    restores: tuple[Command, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A schedule that is as the files say, but for what people have done beside them, which stays."""

    name: str
    kept_overrides: tuple[KeptOverride, ...] = ()
    pause: PauseState | None = None
    # Fields of `state`, and `paused`, that are not applied, because an operator has changed them since.
    ignored_state: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A calendar, a limit or the rate of a queue that is set to something else; before is None where it was not set."""

    part: Literal["calendars", "limits", "queues"]
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlan:
    """All that would change; `diagnostics` and `conflicts` keep it from being applied."""

    app: str
    namespace: str
    schedules: Sequence[ScheduleChange] = ()
    settings: Sequence[SettingChange] = ()
    # Tasks that no live worker has.
    unserved: Sequence[str] = ()
    # Schedules that are as the files say, and those of the app that no file has and that stay all the same.
    same: int = 0
    not_in_files: Sequence[str] = ()
    # Of those that are as the files say, the ones that are paused, or have fields that operators set.
    stays: Sequence[Unchanged] = ()
    crowds: Sequence[BusyMinute] = ()
    diagnostics: Sequence[Diagnostic] = ()
    conflicts: Sequence[Diagnostic] = ()
    applied: bool = False

    @property
    def is_empty(self) -> bool:
        """Is there nothing to do?"""
        return not (self.schedules or self.settings or self.diagnostics or self.conflicts)

    @property
    def commands(self) -> list[tuple[str, Command]]:
        """The commands by schedule, in the order in which they can be made."""
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
        """How many schedules are changed in this way."""
        return sum(change.kind == kind for change in self.schedules)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """What is stored, as far as it matters for a document."""

    # Schedules of the app, and others that the document names, be it as dependencies; with deleted ones.
    schedules: Mapping[str, AppSchedule]
    # Definitions of stored calendars; what all of them close, with those of the document over the stored ones; and the
    # schedules that name one which the document changes.
    calendars: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    closed: Mapping[str, Calendar] = field(default_factory=dict)
    naming: Sequence[Schedule] = ()
    # Fields, and `paused`, that operators have changed since the schedule was created; only of schedules with state.
    operated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)
