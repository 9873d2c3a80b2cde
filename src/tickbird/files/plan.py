"""What applying a document would do: pure, from what the files say and what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Final, Literal

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.code_sync import AppSchedule, is_removed
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, Delete, RefreshCalendar, SyncFromCode
from tickbird.domain.planning.commands.pause import Resume
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.codec import decode_definition, encode_definition, fingerprint
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.dependencies import topological_order
from tickbird.domain.schedules.schedule import PauseState, Schedule
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.document import Document
from tickbird.files.shadow_notes import shadow_notes
from tickbird.files.tick_diff import NO_CHANGES, BusyMinute, TickBudget, TickChanges, compare, crowds

Kind = Literal["create", "change", "resume", "calendar", "delete"]
_BEYOND: Final = 2**53
# Parts of a definition under the names that files have for them.
_FILE_FIELDS: Final = {"trigger": ("any_of", "cron", "every", "at"), "target": ("task", "command")}


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


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A schedule that is as the files say, but for what people have done beside them, which stays."""

    name: str
    kept_overrides: tuple[KeptOverride, ...] = ()
    pause: PauseState | None = None


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

    @property
    def is_empty(self) -> bool:
        """Is there nothing to do?"""
        return not (self.schedules or self.settings or self.diagnostics or self.conflicts)

    @property
    def commands(self) -> list[tuple[str, Command]]:
        """The commands by schedule, in the order in which they can be made."""
        return [(change.name, change.command) for change in self.schedules if change.command is not None]

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
    limits: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, RateLimit] = field(default_factory=dict)


def plan_files(
    document: Document,
    known: StoredState,
    *,
    namespace: str,
    actor: str,
    now: float,
    prune: bool = False,
    adopt: bool = False,
) -> FilePlan:
    """What applying a document does; with `adopt`, schedules that a person made become the app's."""
    return _Planner(document, known, namespace, actor, now, adopt).plan(prune=prune)


class _Planner:
    def __init__(
        self, document: Document, known: StoredState, namespace: str, actor: str, now: float, adopt: bool
    ) -> None:
        self.document, self.known, self.namespace = document, known, namespace
        self.actor, self.now, self.adopt = actor, now, adopt
        self.diagnostics: list[Diagnostic] = []
        self.conflicts: list[Diagnostic] = []
        self.changes: list[ScheduleChange] = []
        self.circle = ""
        self.budget = TickBudget()
        self.same = 0
        self.stays: list[Unchanged] = []
        # All that will be there in the end, for what falls together.
        self.after: dict[str, Schedule] = {}
        self.needs = {name: [each.schedule for each in one.depends_on] for name, one in document.schedules.items()}
        self.all_needs = {**_stored_needs(known.schedules), **self.needs}

    def plan(self, *, prune: bool) -> FilePlan:
        settings = self._settings()
        gone = [
            name
            for name, each in self.known.schedules.items()
            if each.schedule.app == self.document.app
            and each.schedule.state != "deleted"
            and name not in self.document.schedules
        ]
        for name in self._ordered():
            self._declare(name, self.document.schedules[name], frozenset(gone) if prune else frozenset())
        if self.circle and not self.diagnostics:
            # Each schedule of a circle tells of it, if it is to change.
            at = next((name for name in self.needs if f"{name} →" in self.circle), "")
            self.wrong(at, self.circle, "depends_on")
        self._recalendar({setting.name for setting in settings if setting.part == "calendars"})
        if prune:
            self._delete(gone)
        found: tuple[BusyMinute, ...] = ()
        concerned = {change.name for change in self.changes if change.ticks}
        if concerned:
            found = crowds(self.after.values(), concerned, floor(self.now), TickBudget())
        return FilePlan(
            app=self.document.app,
            namespace=self.namespace,
            schedules=self.changes,
            settings=settings,
            same=self.same,
            stays=self.stays,
            not_in_files=() if prune else sorted(gone),
            crowds=found,
            diagnostics=self.diagnostics,
            conflicts=self.conflicts,
        )

    def wrong(self, name: str, text: str, field_name: str = "") -> None:
        """Note what keeps a schedule from being written."""
        said = next(
            (each for each in _FILE_FIELDS.get(field_name, ()) if ("schedules", name, each) in self.document.places), ""
        )
        place = self.document.location("schedules", name, said or field_name)
        self.diagnostics.append(Diagnostic(place, f"schedule {name}: {text}"))

    def _settings(self) -> list[SettingChange]:
        document, known = self.document, self.known
        pairs: tuple[tuple[Any, Mapping[str, Any], Mapping[str, Any]], ...] = (
            ("calendars", known.calendars, document.calendars),
            ("limits", known.limits, document.limits),
            ("queues", {name: str(rate) for name, rate in known.queues.items()}, _texts(document.queues)),
        )
        return [
            SettingChange(part, name, stored.get(name), said[name])
            for part, stored, said in pairs
            for name in sorted(said)
            if stored.get(name) != said[name]
        ]

    def _ordered(self) -> Iterable[str]:
        """Each schedule behind those of the document that it depends on."""
        try:
            return list(topological_order(self.needs))
        except InvalidError as error:
            self.circle = str(error)
            return self.document.schedules

    # Schedules that are declared

    def _declare(self, name: str, definition: Definition, gone: frozenset[str]) -> None:
        stored = self.known.schedules.get(name)
        schedule = None if stored is None or stored.schedule.state == "deleted" else stored.schedule
        if schedule is not None and not self._owns(schedule):
            return
        encoded = encode_definition(definition)
        if schedule is not None and schedule.app == self.document.app and _is_same(schedule, definition, encoded):
            self._leave(schedule, encoded)
            return
        mark = fingerprint(definition)
        command: Command
        if schedule is None:
            command = Create(
                actor=self.actor,
                namespace=self.namespace,
                definition=definition,
                app=self.document.app,
                fingerprint=mark,
            )
        else:
            command = SyncFromCode(
                actor=self.actor,
                revision=schedule.revision,
                definition=definition,
                app=self.document.app,
                fingerprint=mark,
            )
        if lost := next((each.schedule for each in definition.depends_on if each.schedule in gone), None):
            self.wrong(name, f"depends_on: {lost!r} is in no file and would be deleted.", "depends_on")
            return
        change = self._change(name, schedule, command, "change" if schedule else "create", encoded)
        if change is not None:
            self.changes.append(change)
            if schedule is not None and is_removed(schedule):
                self._resume(schedule, schedule.revision + 1)

    def _owns(self, schedule: Schedule) -> bool:
        app = self.document.app
        if schedule.app == app or (self.adopt and schedule.app is None):
            return True
        owner = "a person" if schedule.app is None else f"app {schedule.app!r}"
        hint = "rename one of them, or delete the stored one"
        if schedule.app is None:
            hint += ", or take it over with --adopt"
        self.conflicts.append(
            Diagnostic(
                self.document.location("schedules", schedule.name),
                f"schedule {schedule.name}: it was defined by {owner}, and app {app!r} cannot define it too; {hint}.",
            )
        )
        return False

    def _leave(self, schedule: Schedule, encoded: Mapping[str, Any]) -> None:
        """As the files say; paused perhaps by a deploy of code, which is over."""
        self.after[schedule.name] = schedule
        if is_removed(schedule):
            self._resume(schedule, schedule.revision)
            return
        self.same += 1
        if schedule.field_overrides or schedule.pause is not None:
            self.stays.append(Unchanged(schedule.name, _kept_overrides(schedule, encoded), schedule.pause))

    def _resume(self, schedule: Schedule, revision: int) -> None:
        command = Resume(actor=self.actor, revision=revision, note="in the files again")
        self.changes.append(ScheduleChange(schedule.name, "resume", command, schedule))

    def _change(
        self, name: str, schedule: Schedule | None, command: Command, kind: Kind, encoded: Mapping[str, Any]
    ) -> ScheduleChange | None:
        """The change that a command makes, or None with the reason noted."""
        facts = Facts(calendars=self.known.closed, needs=self.all_needs if command.ties else None)
        # One that was deleted goes on behind what was decided.
        before = self.known.schedules[name].schedule if name in self.known.schedules else schedule
        try:
            done = command.apply(before, name, facts, self.now)
        except (InvalidError, ConflictError, NotFoundError) as error:
            text, at = str(error), getattr(error, "field", "")
            if schedule is not None and at in schedule.field_overrides:
                text += f" An operator has set it; `tickbird set {name} --unset {at}` takes that back."
            self.wrong(name, text, at)
            return None
        after = done.schedule
        self.after[name] = after
        return ScheduleChange(
            name,
            kind,
            command,
            after,
            _fields(schedule, after) if schedule else (),
            _kept_overrides(schedule, encoded),
            schedule.pause if schedule and not is_removed(schedule) else None,
            compare(schedule, after, floor(self.now), self.budget),
            _late(schedule, self.now),
            len(done.plan.void),
            (*_notes(after, schedule), *shadow_notes(schedule, after, self.now), *self._waits_for_shadows(after)),
        )

    def _waits_for_shadows(self, schedule: Schedule) -> Iterable[str]:
        definition = schedule.definition
        for each in () if definition is None or definition.shadow else definition.depends_on:
            stored = self.known.schedules.get(each.schedule)
            needed = self.document.schedules.get(each.schedule) or (stored.schedule.definition if stored else None)
            if needed is not None and needed.shadow:
                yield f"it depends on {each.schedule}, which is a shadow and never succeeds"

    # Others

    def _recalendar(self, changed: set[str]) -> None:
        """Schedules that name a calendar which says something else now, and that are not written anyway."""
        written = {change.name for change in self.changes}
        for schedule in self.known.naming:
            if schedule.name in written or schedule.state == "deleted" or schedule.definition is None:
                continue
            names = [name for name in schedule.definition.calendars if name in changed]
            if not names:
                continue
            command = RefreshCalendar(actor=self.actor, calendar=names[0])
            change = self._change(schedule.name, schedule, command, "calendar", {})
            if change is not None:
                self.changes.append(replace(change, kept_overrides=(), fields=()))

    def _delete(self, names: Sequence[str]) -> None:
        """Each before those that it depends on."""
        needs = {name: self.all_needs[name] for name in names}
        for name in reversed(list(topological_order(needs))):
            schedule = self.known.schedules[name].schedule
            command = Delete(actor=self.actor, revision=schedule.revision)
            ticks = compare(schedule, None, floor(self.now), self.budget)
            late = _late(schedule, self.now)
            self.changes.append(
                ScheduleChange(name, "delete", command, schedule, pause=schedule.pause, ticks=ticks, late=late)
            )


def _stored_needs(schedules: Mapping[str, AppSchedule]) -> dict[str, list[str]]:
    """What the schedules that exist depend on."""
    there = ((name, each.schedule) for name, each in schedules.items() if each.schedule.state != "deleted")
    return {
        name: [each.schedule for each in one.definition.depends_on] if one.definition else [] for name, one in there
    }


def _texts(queues: Mapping[str, RateLimit]) -> dict[str, str]:
    return {name: str(rate) for name, rate in queues.items()}


def _is_same(schedule: Schedule, definition: Definition, encoded: Mapping[str, Any]) -> bool:
    """Does a schedule stand as it is declared, with what an operator has set over it?"""
    stored = schedule.definition
    if stored is None:
        return False
    if schedule.field_overrides:
        if schedule.fingerprint != fingerprint(definition):
            return False
        try:
            encoded = encode_definition(decode_definition({**encoded, **schedule.field_overrides}))
        except InvalidError:
            return False
    found = encode_definition(replace(stored, closed={}) if stored.closed else stored)
    return alike(found, encoded)


def alike(one: Any, other: Any) -> bool:
    """Are two JSON values the same to every store? Some write large numbers without saying whether they are whole."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    numbers = (int, float)
    if isinstance(one, numbers) and isinstance(other, numbers) and not isinstance(one, bool) | isinstance(other, bool):
        if type(one) is type(other):
            return one == other
        return abs(one) >= _BEYOND and float(one) == float(other)
    return type(one) is type(other) and bool(one == other)


def _fields(before: Schedule, after: Schedule) -> tuple[FieldChange, ...]:
    """The fields that will be another; what calendars say is none of them."""
    names = [name for name in {**before.definition_json, **after.definition_json} if name not in ("v", "closed")]
    pairs = ((name, before.definition_json.get(name), after.definition_json.get(name)) for name in names)
    return tuple(FieldChange(*each) for each in pairs if not alike(each[1], each[2]))


def _kept_overrides(schedule: Schedule | None, encoded: Mapping[str, Any]) -> tuple[KeptOverride, ...]:
    overrides = schedule.field_overrides if schedule else {}
    return tuple(KeptOverride(name, overrides[name], encoded.get(name)) for name in sorted(overrides))


def _late(schedule: Schedule | None, now: float) -> Late | None:
    """Ticks that nobody has planned yet although they are due."""
    if schedule is None or schedule.definition is None or schedule.state != "active" or schedule.definition.shadow:
        return None
    reached, due = schedule.cursor.planned_until, schedule.cursor.next_run_at
    if reached is None or due is None or due > now:
        return None
    ticks = schedule.grid.count(reached, floor(now) - schedule.offset)
    return Late(ticks, schedule.definition.catch_up) if ticks else None


def _inherited(definition: Definition) -> str:
    """The settings that it has from its task, in words."""
    encoded = encode_definition(definition)
    names = [name for name in TASK_SETTINGS if name in encoded and name not in definition.stated]
    values = ((name, encoded[name]) for name in names)
    return ", ".join(f"{name} {value if isinstance(value, str) else json.dumps(value)}" for name, value in values)


def _notes(after: Schedule, before: Schedule | None) -> Iterable[str]:
    """What a person should know of a schedule before it is written."""
    if before is None and after.definition is not None and (inherited := _inherited(after.definition)):
        yield f"from its task: {inherited}"
    if before is None and after.state == "ended":
        yield "it has no tick to come: it is recorded as missed, and ended"
    if before is not None and before.state == "ended" and after.state == "active":
        yield "it had ended, and goes on"
    if before is not None and before.state == "parked":
        yield f"it was parked ({before.error}), and goes on"
    if before is not None and before.app is None:
        yield f"it was made by a person, and belongs to app {after.app} from now on"
