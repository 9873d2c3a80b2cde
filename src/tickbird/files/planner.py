"""Planner of `apply`: a pure function of the document and the stored state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Any, Final

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.code_sync import AppSchedule, is_removed
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.commands.define import Create, Delete, RefreshCalendar, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.codec import encode_definition, fingerprint
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import topological_order
from tickbird.domain.schedules.event_schedule import INACTIVE
from tickbird.domain.schedules.schedule import PauseState, Schedule, check_readable
from tickbird.files.change_notes import change_notes
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.document import Document
from tickbird.files.field_diff import changed_fields, is_declared, kept_overrides
from tickbird.files.fields import target_names
from tickbird.files.plan import FilePlan, Kind, Late, ScheduleChange, SettingChange, StoredState, Unchanged
from tickbird.files.schedule_state import NO_STATE
from tickbird.files.shadow_notes import shadow_notes
from tickbird.files.tick_diff import BusyMinute, TickBudget, compare, crowds

# Field of a definition → its possible names in files.
_FILE_FIELDS: Final = {"trigger": lambda: ("any_of", "cron", "every", "rrule", "at"), "target": target_names}


def plan_files(
    document: Document,
    stored: StoredState,
    *,
    namespace: str,
    actor: str,
    now: float,
    prune: bool = False,
    adopt: bool = False,
) -> FilePlan:
    """Plan the changes of a document. With `adopt`, the app takes over schedules that a person created."""
    return _Planner(document, stored, namespace, actor, now, adopt).plan(prune=prune)


class _Planner:
    def __init__(
        self, document: Document, stored: StoredState, namespace: str, actor: str, now: float, adopt: bool
    ) -> None:
        self.document, self.stored, self.namespace = document, stored, namespace
        self.actor, self.now, self.adopt = actor, now, adopt
        self.diagnostics: list[Diagnostic] = []
        self.conflicts: list[Diagnostic] = []
        self.changes: list[ScheduleChange] = []
        self.cycle = ""
        self.budget = TickBudget()
        self.same = 0
        self.stays: list[Unchanged] = []
        # All schedules after the change, to find busy minutes.
        self.after: dict[str, Schedule] = {}
        self.needs = {
            name: [dependency.schedule for dependency in definition.depends_on]
            for name, definition in document.schedules.items()
        }
        self.all_needs = {**_stored_needs(stored.schedules), **self.needs}

    def plan(self, *, prune: bool) -> FilePlan:
        settings = self._settings()
        gone = [
            name
            for name, owned in self.stored.schedules.items()
            if owned.schedule.app == self.document.app
            and owned.schedule.state != "deleted"
            and name not in self.document.schedules
        ]
        for name in self._ordered():
            self._declare(name, self.document.schedules[name], frozenset(gone) if prune else frozenset())
        if self.cycle and not self.diagnostics:
            # A changed schedule of the cycle would have reported it.
            at = next((name for name in self.needs if f"{name} →" in self.cycle), "")
            self.wrong(at, self.cycle, "depends_on")
        self._recalendar({setting.name for setting in settings if setting.part == "calendars"})
        if prune:
            self._delete(gone)
        busy: tuple[BusyMinute, ...] = ()
        changed = {change.name for change in self.changes if change.ticks}
        if changed:
            busy = crowds(self.after.values(), changed, floor(self.now), TickBudget())
        return FilePlan(
            app=self.document.app,
            namespace=self.namespace,
            schedules=self.changes,
            settings=settings,
            same=self.same,
            stays=self.stays,
            not_in_files=() if prune else sorted(gone),
            crowds=busy,
            diagnostics=self.diagnostics,
            conflicts=self.conflicts,
        )

    def wrong(self, name: str, text: str, field_name: str = "") -> None:
        """Add a diagnostic that prevents the plan from being applied."""
        written = next(
            (
                field
                for field in _FILE_FIELDS.get(field_name, tuple)()
                if ("schedules", name, field) in self.document.places
            ),
            "",
        )
        location = self.document.location("schedules", name, written or field_name)
        self.diagnostics.append(Diagnostic(location, f"schedule {name}: {text.removeprefix(f'schedule {name!r} ')}"))

    def _settings(self) -> list[SettingChange]:
        document, stored = self.document, self.stored
        pairs: tuple[tuple[Any, Mapping[str, Any], Mapping[str, Any]], ...] = (
            ("calendars", stored.calendars, document.calendars),
            ("limits", stored.limits, document.limits),
            ("queues", _texts(stored.queues), _texts(document.queues)),
        )
        return [
            SettingChange(part, name, before.get(name), after[name])
            for part, before, after in pairs
            for name in sorted(after)
            if before.get(name) != after[name]
        ]

    def _ordered(self) -> Iterable[str]:
        """Return the schedules in dependency order, or in file order if there is a cycle."""
        try:
            return list(topological_order(self.needs))
        except InvalidError as error:
            self.cycle = str(error)
            return self.document.schedules

    # Schedules in the document

    def _declare(self, name: str, definition: Definition, gone: frozenset[str]) -> None:
        stored = self.stored.schedules.get(name)
        schedule = None if stored is None or stored.schedule.state == "deleted" else stored.schedule
        owner = self._owner(name)
        if schedule is not None and not self._owns(schedule, owner):
            return
        encoded = encode_definition(definition)
        # A schedule of another app is only created: that app declares it, and changes it.
        ours = owner == self.document.app
        if schedule is not None and schedule.app == owner and (not ours or is_declared(schedule, definition, encoded)):
            self._leave(schedule, encoded, resumes=ours)
            return
        mark = fingerprint(definition)
        command: Command
        if schedule is None:
            command = Create(
                actor=self.actor,
                namespace=self.namespace,
                definition=definition,
                app=owner,
                fingerprint=mark,
            )
        else:
            command = SyncFromCode(
                actor=self.actor,
                revision=schedule.revision,
                definition=definition,
                app=owner,
                fingerprint=mark,
            )
        if lost := next((needed.schedule for needed in definition.depends_on if needed.schedule in gone), None):
            self.wrong(
                name,
                f"depends_on: {lost!r} is in no file and would be deleted. Keep it, or remove the dependency.",
                "depends_on",
            )
            return
        change = self._change(name, schedule, command, "change" if schedule else "create", encoded)
        if change is not None:
            self.changes.append(change)
            if schedule is not None and self._ends_pause(schedule):
                self._resume(schedule, change.schedule.revision)

    def _owner(self, name: str) -> str:
        return self.document.state.get(name, NO_STATE).app or self.document.app

    def _owns(self, schedule: Schedule, app: str) -> bool:
        if schedule.app == app or (self.adopt and schedule.app is None):
            return True
        owner = "a person" if schedule.app is None else f"app {schedule.app!r}"
        hint = "Rename one of them, or delete the stored one, or "
        if schedule.app is None:
            hint += "take it over with --adopt"
        else:
            hint += f"write it in a file with app {schedule.app!r} "
            hint += "(--adopt takes over only schedules that a person created)"
        self.conflicts.append(
            Diagnostic(
                self.document.location("schedules", schedule.name),
                f"schedule {schedule.name}: {owner} already defines it, so app {app!r} cannot. {hint}.",
            )
        )
        return False

    def _leave(self, schedule: Schedule, encoded: Mapping[str, Any], *, resumes: bool) -> None:
        """Leave an unchanged schedule, but resume it if a deploy paused it as removed from code."""
        self.after[schedule.name] = schedule
        if resumes and self._ends_pause(schedule):
            self._resume(schedule, schedule.revision)
            return
        if (restore := self._next_restore(schedule, self._operated(schedule))) is not None:
            change = self._change(schedule.name, schedule, restore, "change", encoded)
            self.changes += [] if change is None else [change]
            return
        self.same += 1
        ignored = self._ignored_state(schedule)
        if schedule.field_overrides or schedule.pause is not None or ignored:
            self.stays.append(Unchanged(schedule.name, kept_overrides(schedule, encoded), schedule.pause, ignored))

    def _ignored_state(self, schedule: Schedule) -> tuple[str, ...]:
        """The parts of the document's state that operators have undone since: fields, and `paused`."""
        state = self.document.state.get(schedule.name, NO_STATE)
        operated = self._operated(schedule)
        fields = [name for name in state.overrides if name in operated and name not in schedule.field_overrides]
        resumed = "paused" in operated and state.pause is not None and schedule.pause is None
        return (*fields, "paused") if resumed else tuple(fields)

    def _operated(self, schedule: Schedule | None) -> frozenset[str]:
        return frozenset() if schedule is None else self.stored.operated.get(schedule.name, frozenset())

    def _next_restore(self, schedule: Schedule, operated: frozenset[str]) -> Command | None:
        """Return the command that restores the next missing part of the exported state: overrides, then the pause.

        Parts that operators have changed in this store are not restored, because they may have undone them.
        """
        state = self.document.state.get(schedule.name, NO_STATE)
        present = {*schedule.field_overrides, *operated}
        missing = {name: value for name, value in state.overrides.items() if name not in present}
        if missing:
            return Update(actor=self.actor, revision=schedule.revision, fields=missing)
        pause = state.pause
        if self.document.active.get(schedule.name) is False:
            # Unlike the state of another store, it is a part of what the document declares.
            pause, operated = PauseState(self.actor, INACTIVE), frozenset()
        if (
            pause is None
            or "paused" in operated
            or schedule.pause is not None
            or schedule.state not in ("active", "parked")
        ):
            return None
        if pause.until is not None and pause.until <= self.now:
            return None
        return Pause(actor=self.actor, revision=schedule.revision, by=pause.by, note=pause.note, until=pause.until)

    def _ends_pause(self, schedule: Schedule) -> bool:
        """True if the document ends the pause of a schedule that was removed from code, or not active."""
        if schedule.name in self.document.active and schedule.pause is not None and schedule.pause.note == INACTIVE:
            return self.document.active[schedule.name] is not False
        return is_removed(schedule)

    def _resume(self, schedule: Schedule, revision: int) -> None:
        note = "in the files again" if is_removed(schedule) else "active in the files"
        command = Resume(actor=self.actor, revision=revision, note=note)
        self.changes.append(ScheduleChange(schedule.name, "resume", command, schedule))

    def _change(
        self, name: str, schedule: Schedule | None, command: Command, kind: Kind, encoded: Mapping[str, Any]
    ) -> ScheduleChange | None:
        """Return the change of a command, or None after a diagnostic was added."""
        # A deleted schedule continues after its last decided tick.
        before = self.stored.schedules[name].schedule if name in self.stored.schedules else schedule
        restores: list[Command] = []
        try:
            done = self._apply(command, before, name)
            after = done.schedule
            operated = self._operated(schedule)
            while kind != "calendar" and (restore := self._next_restore(after, operated)) is not None:
                restores.append(restore)
                after = self._apply(restore, after, name).schedule
        except (InvalidError, ConflictError, NotFoundError) as error:
            text, at = str(error), getattr(error, "field", "")
            if schedule is not None and at in schedule.field_overrides:
                text += f" An operator has set it. Remove that with `tickbird set {name} --unset {at}`."
            self.wrong(name, text, at)
            return None
        self.after[name] = after
        return ScheduleChange(
            name,
            kind,
            command,
            after,
            changed_fields(schedule, after) if schedule else (),
            kept_overrides(after, encoded),
            None if self._ends_pause(after) else after.pause,
            compare(schedule, after, floor(self.now), self.budget),
            _late(schedule, self.now),
            len(done.plan.void),
            (*change_notes(after, schedule), *shadow_notes(schedule, after, self.now), *self._waits_for_shadows(after)),
            tuple(restores),
        )

    def _apply(self, command: Command, schedule: Schedule | None, name: str) -> Change:
        if schedule is not None:
            check_readable(schedule)
        facts = Facts(calendars=self.stored.closed, needs=self.all_needs if command.changes_dependencies else None)
        return command.apply(schedule, name, facts, self.now)

    def _waits_for_shadows(self, schedule: Schedule) -> Iterable[str]:
        definition = schedule.definition
        for dependency in () if definition is None or definition.shadow else definition.depends_on:
            stored = self.stored.schedules.get(dependency.schedule)
            needed = self.document.schedules.get(dependency.schedule) or (
                stored.schedule.definition if stored else None
            )
            if needed is not None and needed.shadow:
                yield f"it depends on {dependency.schedule}, which is a shadow and never succeeds"

    # Schedules that are not in the document

    def _recalendar(self, changed: set[str]) -> None:
        """Refresh schedules that use a changed calendar and are not changed otherwise."""
        written = {change.name for change in self.changes}
        for schedule in self.stored.naming:
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
        """Delete schedules before their dependencies."""
        needs = {name: self.all_needs[name] for name in names}
        for name in reversed(list(topological_order(needs))):
            schedule = self.stored.schedules[name].schedule
            try:
                check_readable(schedule)
            except ConflictError as error:
                self.wrong(name, str(error))
                continue
            command = Delete(actor=self.actor, revision=schedule.revision)
            ticks = compare(schedule, None, floor(self.now), self.budget)
            late = _late(schedule, self.now)
            self.changes.append(
                ScheduleChange(name, "delete", command, schedule, pause=schedule.pause, ticks=ticks, late=late)
            )


def _stored_needs(schedules: Mapping[str, AppSchedule]) -> dict[str, list[str]]:
    """Return the dependencies by schedule, without deleted schedules."""
    definitions = (
        (name, owned.schedule.definition) for name, owned in schedules.items() if owned.schedule.state != "deleted"
    )
    return {
        name: [dependency.schedule for dependency in definition.depends_on] if definition else []
        for name, definition in definitions
    }


def _texts(queues: Mapping[str, RateLimit]) -> dict[str, str]:
    return {name: str(rate) for name, rate in queues.items()}


def _late(schedule: Schedule | None, now: float) -> Late | None:
    """Count overdue ticks that are not planned yet; None if there are none."""
    if schedule is None or schedule.definition is None or schedule.state != "active" or schedule.definition.shadow:
        return None
    reached, due = schedule.cursor.planned_until, schedule.cursor.next_run_at
    if reached is None or due is None or due > now:
        return None
    ticks = schedule.grid.count(reached, floor(now) - schedule.offset)
    return Late(ticks, schedule.definition.catch_up) if ticks else None
