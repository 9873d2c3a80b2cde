"""Commands that change the definition of a schedule: by users, by a deploy, by a calendar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any, Literal, NoReturn

from tickbird.domain.errors import ConflictError, DefinitionError, InvalidError
from tickbird.domain.planning.commands.base import Change, Command, cancel_active_runs, new_revision, unchanged
from tickbird.domain.planning.commands.calendars import calendar_names, resolve_calendars, with_calendars
from tickbird.domain.planning.commands.run import manual_run
from tickbird.domain.planning.edits import keeps_cursor, plan_new_grid, plan_same_grid, skip_passed_ticks, unpark
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import restart_grid
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.planning.planner import first_plan
from tickbird.domain.schedules.codec import (
    decode_definition,
    default_field,
    definition_text,
    encode_definition,
    encode_stated,
)
from tickbird.domain.schedules.definition import FIELDS, Definition
from tickbird.domain.schedules.dependencies import check_dependencies, check_dependents, needed_by
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, State, check_runs
from tickbird.domain.time.instants import to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Command):
    """Create a schedule; it continues from the tombstone of a deleted one of its name."""

    namespace: str
    definition: Definition
    app: str | None = None
    fingerprint: str | None = None
    first: Literal["now"] | None = None
    # Create it paused.
    pause: PauseState | None = None

    def change(self, schedule: Schedule, facts: Facts, now: float) -> NoReturn:
        raise ConflictError(
            f"schedule {schedule.name!r} already exists.", hint="Update it, delete it first, or choose another name."
        )

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """Reject a schedule without upcoming ticks; if code declares it, it ends at once with a misfire instead."""
        if schedule is not None and schedule.state != "deleted":
            self.change(schedule, facts, now)
        definition = self.definition
        if definition.calendars:
            definition = replace(definition, closed=resolve_calendars(definition.calendars, facts.calendars))
        check_dependencies(name, definition.depends_on, facts.needs or {})
        tombstone = schedule or Schedule(0, self.namespace, name, 0, "deleted", None)
        restarted = restart_grid(tombstone, floor(now))
        fresh = Schedule(
            id=tombstone.id,
            namespace=self.namespace,
            name=name,
            revision=tombstone.revision,
            state="active",
            definition=definition,
            cursor=Cursor(tick_overrides=restarted.tick_overrides),
            app=self.app,
            fingerprint=self.fingerprint,
            definition_json=encode_stated(definition),
            created_at=tombstone.created_at,
        )
        if self.app is None and fresh.grid.next(floor(now)) is None:
            raise DefinitionError(
                f"trigger: {self.definition.trigger!r} has no tick after {to_datetime(floor(now)).isoformat()}"
                + (f" and until end_at ({self.definition.end_at.isoformat()})." if self.definition.end_at else "."),
                field="trigger",
                hint="Choose a trigger that has a future tick.",
            )
        plan = first_plan(fresh, now)
        if restarted.planned_until != floor(now):
            plan = settle(fresh, restarted)
        # The ticks up to the tombstone's cursor, and its early ones, are already decided.
        reached, early = tombstone.cursor.planned_until or 0, {item.tick for item in tombstone.cursor.tick_overrides}
        skips = (skip for skip in plan.skips if skip.first > reached and skip.first not in early)
        plan = replace(plan, skips=tuple(skips))
        if self.first == "now":
            check_runs(fresh)
            plan = replace(plan, runs=(manual_run(fresh, facts),))
        if self.pause is not None:
            paused = settle(replace(fresh, state="paused", pause=self.pause), plan.cursor)
            plan = replace(plan, cursor=paused.cursor, state=paused.state, pause=paused.pause)
        return new_revision("create", fresh, plan, definition=dict(fresh.definition_json))

    @property
    def stated_fields(self) -> Mapping[str, Any]:
        return encode_stated(self.definition)

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return self.definition.calendars

    @property
    def changes_dependencies(self) -> bool:
        return bool(self.definition.depends_on)

    def dependencies_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return tuple(dependency.schedule for dependency in self.definition.depends_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Command):
    """Set some fields of the definition, given as JSON; on a schedule from code they become overrides.

    Unset fields return to the value `declared` in code (default: their defaults).
    """

    fields: Mapping[str, Any]
    unset: frozenset[str] = frozenset()
    declared: Mapping[str, Any] = field(default_factory=dict)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Validate the resulting definition; an equal one creates no revision."""
        raw = with_calendars(self._updated(schedule.definition_json), facts)
        overrides = {**schedule.field_overrides, **self.fields} if schedule.app else schedule.field_overrides
        overrides = {name: value for name, value in overrides.items() if name not in self.unset}
        settled = schedule.state != "parked" and overrides == schedule.field_overrides
        if settled and _is_same(schedule.definition, decode_definition(raw)):
            return unchanged("update", schedule)
        names = [*self.fields, *sorted(self.unset)]
        before, after = ({name: values.get(name) for name in names} for values in (schedule.definition_json, raw))
        changed = replace(schedule, definition_json=raw, field_overrides=overrides)
        return _plan_definition("update", schedule, changed, facts, now, {"before": before, "after": after})

    def _updated(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        remaining = {name: value for name, value in raw.items() if name not in self.unset}
        return {
            **remaining,
            **{name: value for name, value in self.declared.items() if name in self.unset},
            **self.fields,
        }

    @property
    def stated_fields(self) -> Mapping[str, Any]:
        return self.fields

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return calendar_names(self._updated(schedule.definition_json if schedule else {}))

    @property
    def changes_dependencies(self) -> bool:
        return "depends_on" in self.fields or "depends_on" in self.unset

    def dependencies_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return needed_by(self._updated(schedule.definition_json if schedule else {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack(Command):
    """Restore the definition of an earlier revision; fields that differ from the `declared` ones become overrides."""

    to: int
    definition: Mapping[str, Any]
    declared: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Create a new revision; the state, the cursor and tick overrides are handled as in any edit."""
        overrides = self._over_code() if schedule.app else schedule.field_overrides
        restored = {"v": self.definition.get("v"), **self.declared, **overrides} if schedule.app else self.definition
        raw = with_calendars(restored, facts)
        try:
            definition = decode_definition(raw)
        except InvalidError as error:
            raise ConflictError(
                f"schedule {schedule.name!r} cannot be rolled back to revision {self.to}: {error.message}",
                hint=error.hint or "Set its fields one by one instead.",
            ) from error
        settled = schedule.state != "parked" and overrides == schedule.field_overrides
        if settled and _is_same(schedule.definition, definition):
            raise ConflictError(
                f"schedule {schedule.name!r} already has the definition of revision {self.to}.",
                hint="Choose another revision: there is nothing to roll back.",
            )
        names = sorted(
            name for name in {*schedule.definition_json, *raw} if schedule.definition_json.get(name) != raw.get(name)
        )
        before, after = ({name: values.get(name) for name in names} for values in (schedule.definition_json, raw))
        changed = replace(schedule, definition_json=raw, field_overrides=overrides)
        detail = {"to": self.to, "note": self.note, "before": before, "after": after}
        return _plan_definition("roll_back", schedule, changed, facts, now, detail)

    def _over_code(self) -> dict[str, Any]:
        """Return the overrides that give this definition, including defaults that differ from the code."""
        fields = [name for name in FIELDS if self.definition.get(name) != self.declared.get(name)]
        return {name: self.definition.get(name, default_field(name)) for name in fields}

    @property
    def stated_fields(self) -> Mapping[str, Any]:
        return self.definition

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return calendar_names(self.definition)

    @property
    def changes_dependencies(self) -> bool:
        return True

    def dependencies_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return needed_by(self.definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncFromCode(Command):
    """Apply a new definition from code; operator overrides stay."""

    definition: Definition
    app: str
    fingerprint: str

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Merge the definition from code with the overrides."""
        declared = encode_stated(self.definition)
        raw = with_calendars({**declared, **schedule.field_overrides}, facts)
        changed = replace(schedule, definition_json=raw, app=self.app, fingerprint=self.fingerprint)
        detail: dict[str, Any] = {"before": dict(schedule.definition_json), "after": raw}
        # If an override is unset later, the field returns to this value.
        detail |= {"declared": declared} if schedule.field_overrides else {}
        return _plan_definition("sync", schedule, changed, facts, now, detail)

    @property
    def stated_fields(self) -> Mapping[str, Any]:
        return encode_stated(self.definition)

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        overrides = schedule.field_overrides if schedule else {}
        return calendar_names({"calendars": list(self.definition.calendars), **overrides})

    @property
    def changes_dependencies(self) -> bool:
        return bool(self.definition.depends_on)

    def dependencies_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return needed_by({**encode_definition(self.definition), **(schedule.field_overrides if schedule else {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshCalendar(Command):
    """Apply changed closed days of a calendar of the schedule."""

    calendar: str

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Apply the current closed days of all calendars; equal ones create no revision."""
        raw = with_calendars(schedule.definition_json, facts)
        if raw == schedule.definition_json:
            return unchanged("calendar", schedule)
        return _plan_definition(
            "calendar", schedule, replace(schedule, definition_json=raw), facts, now, {"calendar": self.calendar}
        )

    def calendars_after(self, schedule: Schedule | None) -> tuple[str, ...]:
        return calendar_names(schedule.definition_json if schedule else {})


def _is_same(before: Definition | None, after: Definition) -> bool:
    """Compare the JSON texts, because 1, 1.0 and true are equal in Python."""
    texts = {definition_text(encode_definition(item)) for item in (before, after) if item is not None}
    return before is not None and len(texts) == 1


def _plan_definition(
    action: str, before: Schedule, after: Schedule, facts: Facts, now: float, detail: dict[str, Any]
) -> Change:
    definition = decode_definition(after.definition_json)
    if facts.needs is not None:
        check_dependencies(after.name, definition.depends_on, facts.needs)
    after = replace(after, definition=definition, error=None)
    if before.state == "parked":
        return new_revision(action, after, unpark(before, after, now), **detail)
    if keeps_cursor(before, after):
        return new_revision(action, after, plan_same_grid(before, after), **detail)
    skips = skip_passed_ticks(before, now, "edited")
    state: State = "paused" if after.state == "paused" else "active"
    plan = plan_new_grid(before, replace(after, state=state), now)
    return new_revision(action, after, replace(plan, skips=skips), **detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Command):
    """Delete a schedule; its tombstone has the cursor and revision from which a new one of its name continues."""

    cancel_runs: bool = False

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Delete the schedule; existing runs continue unless `cancel_runs` is set."""
        check_dependents(schedule.name, facts.dependents)
        cursor = restart_grid(schedule, floor(now))
        void = tuple((item, "deleted") for item in schedule.cursor.tick_overrides if not item.decided_early)
        plan = Plan(cursor, "deleted", schedule.revision, skips=skip_passed_ticks(schedule, now, "deleted"), void=void)
        if self.cancel_runs:
            plan = cancel_active_runs(plan, facts)
        deleted = replace(schedule, field_overrides={}, fingerprint=None)
        return new_revision("delete", deleted, plan, definition=dict(schedule.definition_json))

    @property
    def changes_dependencies(self) -> bool:
        return True


def override_notice(schedule: Schedule) -> str:
    """Return the notice about overrides of a schedule from code; empty if there are none."""
    if not schedule.app or not schedule.field_overrides:
        return ""
    names = ", ".join(sorted(schedule.field_overrides))
    return f"these fields override app {schedule.app}, even after deploys, until they are unset: {names}"
