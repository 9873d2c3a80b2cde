"""Every change that a person or a deploy can make to a schedule, as values with one pure method.

A store first plans what is due under the old revision, then applies the command in the same transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Any, Literal

from tickbird.domain.calendars.calendar import BUILT_IN, Calendar, calendar_to_json
from tickbird.domain.errors import ConflictError, DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.due_decisions import starts_waiting
from tickbird.domain.planning.edits import goes_on, leave_grid, redefine, repair, retime
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import PendingTicks, restart_grid, upsert_override
from tickbird.domain.planning.plan import Facts, Plan, PlannedRun
from tickbird.domain.planning.planner import begin
from tickbird.domain.planning.skip_ranges import pass_over
from tickbird.domain.schedules.codec import (
    decode_definition,
    default_field,
    definition_text,
    encode_definition,
    encode_stated,
    in_its_format,
)
from tickbird.domain.schedules.definition import FIELDS, Definition, check_payload
from tickbird.domain.schedules.dependencies import check_dependencies, check_dependents, could_be_name, needed_by
from tickbird.domain.schedules.schedule import (
    REMOVED_FROM_CODE,
    SYNC_ACTOR,
    Cursor,
    PauseState,
    Schedule,
    State,
    check_revision,
    check_runs,
    unreadable,
)
from tickbird.domain.schedules.tick_overrides import MAX_OVERRIDES, MAX_OVERRIDES_LENGTH, TickOverride, overrides_text
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import iso, to_datetime, utc_text

# By one instruction.
MAX_SKIPPED = 10_000
# A 32-bit number, as the stores keep it.
MAX_REVISION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Change:
    """What a command does: the schedule as it stands afterwards, and the plan that takes it there."""

    action: str
    schedule: Schedule
    plan: Plan
    detail: Mapping[str, Any] = field(default_factory=dict)
    # A run alone, or a change to what is already so, leaves the schedule and its revision as they are.
    revised: bool = True
    # The definition of a run that repeats another one.
    repeated: Definition | None = None

    @property
    def definition(self) -> Definition | None:
        """The definition that the runs of the plan are created with."""
        return self.repeated or self.schedule.definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A change to one schedule; `revision`, when given, must still be the stored one."""

    actor: str
    revision: int | None = None

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(getattr(self, "note", ""), "note")

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """The change, or the reason why it cannot be made."""
        if schedule is None or schedule.state == "deleted":
            raise NotFoundError(f"there is no schedule {name!r};", hint="`tickbird ls` shows those that exist.")
        check_revision(schedule, self.revision)
        return self.change(schedule, facts, now)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """The change to a schedule that exists."""
        raise NotImplementedError

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """The stored calendars that `apply` must know of."""
        return ()

    @property
    def ties(self) -> bool:
        """May it tie schedules together or part them? No two such changes are made at once."""
        return False

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """The schedules on which this one will depend, where it may tie them together."""
        return ()


def _revised(action: str, schedule: Schedule, plan: Plan, **detail: Any) -> Change:
    """A change that makes the next revision."""
    revision = schedule.revision + 1
    if revision > MAX_REVISION:
        raise ConflictError(
            f"schedule {schedule.name!r} has revision {schedule.revision:,}, the last one that can be stored;",
            hint="delete its row, and create it again under another name.",
        )
    after = replace(
        schedule, revision=revision, state=plan.state, cursor=plan.cursor, pause=plan.pause, error=plan.error
    )
    return Change(action, after, replace(plan, revision=revision), detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Command):
    """A new schedule, or one that goes on where a deleted one of that name ended."""

    namespace: str
    definition: Definition
    app: str | None = None
    fingerprint: str | None = None
    first: Literal["now"] | None = None

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """A person may not create what is already past; from code it is recorded as misfired and ended."""
        if schedule is not None and schedule.state != "deleted":
            raise ConflictError(
                f"schedule {name!r} exists already;", hint="update it, delete it first, or choose another name."
            )
        definition = self.definition
        if definition.calendars:
            definition = replace(definition, closed=resolve_calendars(definition.calendars, facts.calendars))
        check_dependencies(name, definition.depends_on, facts.needs or {})
        tombstone = schedule or Schedule(0, self.namespace, name, 0, "deleted", None)
        anew = restart_grid(tombstone, floor(now))
        fresh = Schedule(
            id=tombstone.id,
            namespace=self.namespace,
            name=name,
            revision=tombstone.revision,
            state="active",
            definition=definition,
            cursor=Cursor(tick_overrides=anew.tick_overrides),
            app=self.app,
            fingerprint=self.fingerprint,
            definition_json=encode_stated(definition),
            created_at=tombstone.created_at,
        )
        if self.app is None and fresh.grid.next(floor(now)) is None:
            raise DefinitionError(
                f"trigger: {self.definition.trigger!r} has no tick after {to_datetime(floor(now)).isoformat()}"
                + (f" and until end_at ({self.definition.end_at.isoformat()});" if self.definition.end_at else ";"),
                field="trigger",
                hint="choose one that has a tick in the future.",
            )
        plan = begin(fresh, now)
        if anew.planned_until != floor(now):
            plan = settle(fresh, anew)
        # What lies behind the tombstone was decided in its time, or ahead of it.
        reached, done = tombstone.cursor.planned_until or 0, {each.tick for each in tombstone.cursor.tick_overrides}
        skips = (skip for skip in plan.skips if skip.first > reached and skip.first not in done)
        plan = replace(plan, skips=tuple(skips))
        if self.first == "now":
            check_runs(fresh)
            plan = replace(plan, runs=(_manual_run(fresh, facts),))
        return _revised("create", fresh, plan, definition=dict(fresh.definition_json))

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the definition names."""
        return self.definition.calendars

    @property
    def ties(self) -> bool:
        """Where it depends on any."""
        return bool(self.definition.depends_on)

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the definition names."""
        return tuple(each.schedule for each in self.definition.depends_on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Command):
    """Set some fields of the definition, given as JSON; on a schedule from code they become overrides.

    Unset ones go back to what is `declared` of them in code, else to their defaults.
    """

    fields: Mapping[str, Any]
    unset: frozenset[str] = frozenset()
    declared: Mapping[str, Any] = field(default_factory=dict)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Validate the whole definition that results; one that is the same makes no revision."""
        raw = _with_calendars(self._updated(schedule.definition_json), facts)
        overrides = {**schedule.field_overrides, **self.fields} if schedule.app else schedule.field_overrides
        overrides = {name: value for name, value in overrides.items() if name not in self.unset}
        settled = schedule.state != "parked" and overrides == schedule.field_overrides
        if settled and _is_same(schedule.definition, decode_definition(raw)):
            same = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
            return Change("update", schedule, same, revised=False)
        names = [*self.fields, *sorted(self.unset)]
        before, after = ({name: each.get(name) for name in names} for each in (schedule.definition_json, raw))
        changed = replace(schedule, definition_json=raw, field_overrides=overrides)
        return _redefine("update", schedule, changed, facts, now, {"before": before, "after": after})

    def _updated(self, raw: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in raw.items() if name not in self.unset}
        return {**kept, **{name: value for name, value in self.declared.items() if name in self.unset}, **self.fields}

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the schedule will name."""
        return _names(self._updated(schedule.definition_json if schedule else {}))

    @property
    def ties(self) -> bool:
        """Where it says on which it depends."""
        return "depends_on" in self.fields or "depends_on" in self.unset

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the schedule will name."""
        return needed_by(self._updated(schedule.definition_json if schedule else {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack(Command):
    """Take the definition of an earlier revision again; over code, what differs from what is `declared` is kept so."""

    to: int
    definition: Mapping[str, Any]
    declared: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """A new revision; the state, the cursor and what was decided for single ticks go on as with any edit."""
        overrides = self._over_code() if schedule.app else schedule.field_overrides
        wanted = {"v": self.definition.get("v"), **self.declared, **overrides} if schedule.app else self.definition
        raw = _with_calendars(wanted, facts)
        try:
            definition = decode_definition(raw)
        except InvalidError as error:
            raise ConflictError(
                f"schedule {schedule.name!r} cannot go back to revision {self.to}: {error.message}",
                hint=error.hint or "Set its fields one by one instead.",
            ) from error
        settled = schedule.state != "parked" and overrides == schedule.field_overrides
        if settled and _is_same(schedule.definition, definition):
            raise ConflictError(
                f"schedule {schedule.name!r} is already as it was at revision {self.to};",
                hint="there is nothing to roll back.",
            )
        names = sorted(
            name for name in {*schedule.definition_json, *raw} if schedule.definition_json.get(name) != raw.get(name)
        )
        before, after = ({name: each.get(name) for name in names} for each in (schedule.definition_json, raw))
        changed = replace(schedule, definition_json=raw, field_overrides=overrides)
        detail = {"to": self.to, "note": self.note, "before": before, "after": after}
        return _redefine("roll_back", schedule, changed, facts, now, detail)

    def _over_code(self) -> dict[str, Any]:
        """What an operator would have set to get there: defaults too, where code says something else."""
        fields = [name for name in FIELDS if self.definition.get(name) != self.declared.get(name)]
        return {name: self.definition.get(name, default_field(name)) for name in fields}

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the definition names."""
        return _names(self.definition)

    @property
    def ties(self) -> bool:
        """It may depend on others again, or no more."""
        return True

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that the definition names."""
        return needed_by(self.definition)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncFromCode(Command):
    """A new definition from code; what an operator has overridden stays so."""

    definition: Definition
    app: str
    fingerprint: str

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Take the code's definition, with the overrides over it."""
        declared = encode_stated(self.definition)
        raw = _with_calendars({**declared, **schedule.field_overrides}, facts)
        changed = replace(schedule, definition_json=raw, app=self.app, fingerprint=self.fingerprint)
        detail: dict[str, Any] = {"before": dict(schedule.definition_json), "after": raw}
        # Whoever takes an override back later must know what stood under it.
        detail |= {"declared": declared} if schedule.field_overrides else {}
        return _redefine("sync", schedule, changed, facts, now, detail)

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that an operator has set, else the code's."""
        return _names({"calendars": list(self.definition.calendars), **(schedule.field_overrides if schedule else {})})

    @property
    def ties(self) -> bool:
        """Where the code says on which it depends."""
        return bool(self.definition.depends_on)

    def needs(self, schedule: Schedule | None) -> tuple[str, ...]:
        """Those that an operator has set, else the code's."""
        return needed_by({**encode_definition(self.definition), **(schedule.field_overrides if schedule else {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshCalendar(Command):
    """A calendar that the schedule names says something else now."""

    calendar: str

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Take what all its calendars say now; when that is what it has, it makes no revision."""
        raw = _with_calendars(schedule.definition_json, facts)
        if raw == schedule.definition_json:
            same = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
            return Change("calendar", schedule, same, revised=False)
        return _redefine(
            "calendar", schedule, replace(schedule, definition_json=raw), facts, now, {"calendar": self.calendar}
        )

    def calendars(self, schedule: Schedule | None) -> tuple[str, ...]:
        """All that it names."""
        return _names(schedule.definition_json if schedule else {})


def _names(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The calendars that a definition's JSON names; what is wrong with it is told when it is decoded."""
    names = raw.get("calendars")
    # Those that could be names, since a store can look for nothing else.
    return tuple(filter(could_be_name, names)) if isinstance(names, list | tuple) else ()


def _with_calendars(raw: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """A definition's JSON with what its calendars say now."""
    plain = in_its_format({name: value for name, value in raw.items() if name != "closed"})
    closed = resolve_calendars(_names(raw), facts.calendars)
    return {**plain, "closed": {name: calendar_to_json(closed[name]) for name in sorted(closed)}} if closed else plain


def resolve_calendars(names: tuple[str, ...], known: Mapping[str, Calendar | None]) -> dict[str, Calendar]:
    """What calendars say, by name; of those that are not asked for, their names are enough."""
    resolved: dict[str, Calendar] = {}
    for name in names:
        calendar = BUILT_IN.get(name, known.get(name))
        if calendar is None:
            names_known = ", ".join(sorted({*BUILT_IN, *known}))
            raise DefinitionError(
                f"calendars: there is no calendar {name[:200]!r};",
                field="calendars",
                hint=f"put it first with `tickbird calendar put`, or name one of these: {names_known}.",
            )
        resolved[name] = calendar
    return resolved


def _is_same(before: Definition | None, after: Definition) -> bool:
    """By its text, since 1, 1.0 and true are equal and yet not the same payload."""
    texts = {definition_text(encode_definition(each)) for each in (before, after) if each is not None}
    return before is not None and len(texts) == 1


def _redefine(
    action: str, before: Schedule, after: Schedule, facts: Facts, now: float, detail: dict[str, Any]
) -> Change:
    definition = decode_definition(after.definition_json)
    if facts.needs is not None:
        check_dependencies(after.name, definition.depends_on, facts.needs)
    after = replace(after, definition=definition, error=None)
    if before.state == "parked":
        return _revised(action, after, repair(before, after, now), **detail)
    if goes_on(before, after):
        return _revised(action, after, redefine(before, after), **detail)
    skips = leave_grid(before, now, "edited")
    state: State = "paused" if after.state == "paused" else "active"
    timed = retime(before, replace(after, state=state), now)
    return _revised(action, after, replace(timed, skips=skips), **detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Command):
    """Leave a tombstone, so that the same name later goes on behind what was decided."""

    cancel_runs: bool = False

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Nothing is planned any more; runs that exist go on unless asked otherwise."""
        check_dependents(schedule.name, facts.dependents)
        cursor = restart_grid(schedule, floor(now))
        void = tuple((each, "deleted") for each in schedule.cursor.tick_overrides if not each.done)
        plan = Plan(cursor, "deleted", schedule.revision, skips=leave_grid(schedule, now, "deleted"), void=void)
        if self.cancel_runs:
            plan = _cancel_runs(plan, facts)
        gone = replace(schedule, field_overrides={}, fingerprint=None)
        return _revised("delete", gone, plan, definition=dict(schedule.definition_json))

    @property
    def ties(self) -> bool:
        """Others may depend on it."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Command):
    """Stop planning until resumed, or until an instant."""

    note: str = ""
    until: int | None = None
    cancel_runs: bool = False

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """A parked schedule stays parked and is paused once repaired."""
        if schedule.state == "ended":
            raise ConflictError(f"schedule {schedule.name!r} has ended; there is nothing to pause.")
        if self.until is not None and self.until <= now:
            raise InvalidError(
                f"until: {to_datetime(self.until).isoformat()} is past;", field="until", hint="choose a later instant."
            )
        pause = PauseState(self.actor, self.note, self.until)
        if schedule.state == "parked":
            plan = Plan(schedule.cursor, "parked", schedule.revision, pause, schedule.error)
        else:
            plan = settle(replace(schedule, state="paused", pause=pause), schedule.cursor)
        if self.cancel_runs:
            plan = _cancel_runs(plan, facts)
        return _revised("pause", schedule, plan, note=self.note, until=self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Command):
    """Go on behind the ticks that passed meanwhile; they are one skip and are never caught up.

    Also a parked schedule that can be planned again; one that cannot only loses its pause, if it has any.
    """

    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Only a paused or parked schedule can be resumed."""
        detail = {"paused_by": schedule.pause.by if schedule.pause else None, "note": self.note}
        if schedule.state == "parked" and schedule.definition is not None:
            active = replace(schedule, pause=None)
            return _revised("resume", active, repair(active, active, now), **detail, error=schedule.error)
        if schedule.pause is None and schedule.state == "parked":
            raise unreadable(schedule)
        if schedule.pause is None:
            raise ConflictError(f"schedule {schedule.name!r} is {schedule.state}, not paused.")
        if schedule.state == "parked":
            plan = Plan(schedule.cursor, "parked", schedule.revision, None, schedule.error)
            return _revised("resume", schedule, plan, **detail)
        active = replace(schedule, state="active", pause=None)
        if schedule.cursor.planned_until is None:
            return _revised("resume", active, begin(active, now), **detail)
        note = f"paused by {schedule.pause.by}" + (f": {schedule.pause.note}" if schedule.pause.note else "")
        plan = pass_over(active, "paused", floor(now) - active.offset, actor=schedule.pause.by, note=note)
        # They passed under the revision that paused them.
        skips = tuple(replace(skip, revision=schedule.revision) for skip in plan.skips)
        return _revised("resume", active, replace(plan, skips=skips), **detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reschedule(Command):
    """Make the next tick due at another instant; the ticks it passes over are skipped."""

    to: int
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Only the next tick to run moves, and only into the future; a payload that it was given stays with it."""
        tick = _next_tick(schedule, "reschedule")
        _check_future(self.to, "to", now)
        known = PendingTicks(schedule).override(tick)
        moved = TickOverride(tick, self.actor, floor(now), due_at=self.to, note=self.note)
        if known is not None:
            moved = replace(moved, payload=known.payload)
        plan = settle(schedule, _with_override(schedule, moved))
        return _revised("reschedule", schedule, plan, tick=tick, to=self.to, note=self.note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Override(Command):
    """Decide for one coming tick: skip it, make it due at another instant, give its run another payload."""

    tick: int
    skip: bool = False
    move_to: int | None = None
    payload: Mapping[str, Any] | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Whatever was decided for this tick before is replaced."""
        if self.skip == (self.move_to is not None or self.payload is not None):
            raise InvalidError(
                "override: skip the tick, or give it another instant or payload, not both;"
                if self.skip
                else "override: nothing was decided for the tick;",
                field="skip",
                hint="give skip, or move_to, payload or both.",
            )
        ahead = _undecided(schedule, self.tick)
        if self.move_to is not None:
            _check_future(self.move_to, "move_to", now)
        self._check_payload(schedule)
        known = ahead.override(self.tick)
        new = TickOverride(self.tick, self.actor, floor(now), self.skip, self.move_to, self._sent, self.note)
        plan = settle(schedule, _with_override(schedule, new))
        detail: dict[str, Any] = {"tick": self.tick, "skip": self.skip, "to": self.move_to, "payload": self._sent}
        detail |= {"note": self.note, "before": None if known is None else known.to_json()}
        return _revised("override", schedule, plan, **detail)

    @property
    def _sent(self) -> dict[str, Any] | None:
        return None if self.payload is None else dict(self.payload)

    def _check_payload(self, schedule: Schedule) -> None:
        if self.payload is None or schedule.definition is None:
            return
        check_payload(self.payload)
        # Refused here where the key needs a field that the payload has not.
        schedule.definition.key(self.payload)
        if self.move_to is None and schedule.grid.excludes(self.tick):
            raise ConflictError(
                f"the calendar of {schedule.name!r} excludes the day of {iso(self.tick)}, so nothing would run then;",
                hint="give move_to as well, be it that very instant: then it runs all the same.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearOverride(Command):
    """Let a coming tick be as if nothing had been decided for it, also by a reschedule."""

    tick: int
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Only as long as its tick is not decided."""
        ahead = _undecided(schedule, self.tick)
        known = ahead.override(self.tick)
        if known is None:
            hint = "`tickbird override NAME --list` shows those that have one."
            if ahead.is_skipped(self.tick):
                hint = f"it is one of those that {schedule.cursor.skip_by} told it to skip with `skip`."
            raise NotFoundError(f"the tick of {iso(self.tick)} has no override;", hint=hint)
        left = tuple(each for each in schedule.cursor.tick_overrides if each.tick != self.tick)
        cursor = replace(schedule.cursor, tick_overrides=left)
        PendingTicks(schedule, cursor).check()
        plan = settle(schedule, cursor)
        return _revised("undo_override", schedule, plan, tick=self.tick, note=self.note, before=known.to_json())


def _undecided(schedule: Schedule, tick: int) -> PendingTicks:
    """The ticks to come of a schedule, of which this must be one."""
    decided = schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or decided is None:
        raise ConflictError(f"schedule {schedule.name!r} is {schedule.state}; it has no tick to come.")
    if not schedule.grid.contains(tick):
        before, after = schedule.grid.previous(tick), schedule.grid.next(tick)
        around = [f"{iso(each)} {where}" for each, where in ((before, "before"), (after, "after")) if each is not None]
        raise InvalidError(
            f"tick: {iso(tick)} is no tick of {schedule.name!r};",
            field="tick",
            hint=f"the nearest ones are {' and '.join(around)} it." if around else "it has none.",
        )
    if tick <= decided and schedule.created_at is not None and to_datetime(tick) <= schedule.created_at:
        raise ConflictError(
            f"schedule {schedule.name!r} did not exist yet at {iso(tick)};",
            hint=f"it was created at {utc_text(schedule.created_at)}, and only ticks to come can be overridden.",
        )
    ahead = PendingTicks(schedule)
    if tick <= decided or ahead.is_done(tick):
        early = ", ahead of its time" if tick > decided else ""
        raise ConflictError(
            f"the tick of {iso(tick)} is decided already{early};",
            hint=f"`tickbird why {schedule.name} {iso(tick)}` tells how.",
        )
    return ahead


def _check_future(instant: int, field: str, now: float) -> None:
    if instant <= now:
        raise InvalidError(
            f"{field}: {to_datetime(instant).isoformat()} is past;",
            field=field,
            hint="choose a later instant, or trigger the schedule now.",
        )


def _with_override(schedule: Schedule, override: TickOverride) -> Cursor:
    """The cursor with one more override, if that is possible beside the others."""
    overrides = upsert_override(schedule.cursor.tick_overrides, override)
    told = tuple(each for each in overrides if not each.done)
    if len(told) > MAX_OVERRIDES or len(overrides_text(told) or "") > MAX_OVERRIDES_LENGTH:
        raise ConflictError(
            f"schedule {schedule.name!r} has {len(told) - 1:,} overridden ticks, and no room for this one "
            f"(at most {MAX_OVERRIDES:,}, with {MAX_OVERRIDES_LENGTH:,} characters in all);",
            hint="undo some, or edit the schedule itself.",
        )
    cursor = replace(schedule.cursor, tick_overrides=overrides)
    PendingTicks(schedule, cursor).check()
    return cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Command):
    """Do not run the next ticks, so many or all before an instant; they are recorded when they come."""

    count: int = 1
    until: int | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Skipping again adds to what was skipped before."""
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 1 <= self.count <= MAX_SKIPPED:
            raise InvalidError(f"count: must be a whole number from 1 to {MAX_SKIPPED}.", field="count")
        first = last = _next_tick(schedule, "skip")
        if self.until is not None:
            last = schedule.grid.previous(self.until) or first
            if self.until <= first:
                raise InvalidError(
                    f"until: no tick of {schedule.name!r} that is still to be decided lies before "
                    f"{to_datetime(self.until).isoformat()};",
                    field="until",
                    hint=f"the next one is at {to_datetime(first).isoformat()}.",
                )
        ahead = PendingTicks(schedule)
        for _ in range(self.count - 1):
            following = ahead.next(last)
            if following is None:
                break
            last = following
        # What was decided for one of them before is replaced; those before them are skipped already.
        overrides = schedule.cursor.tick_overrides
        gone = [each for each in overrides if first <= each.tick <= last and not each.done]
        cursor = replace(
            schedule.cursor,
            tick_overrides=tuple(each for each in overrides if each not in gone),
            skip_until=max(last, schedule.cursor.skip_until or last),
            skip_by=self.actor,
            skip_note=self.note,
        )
        detail: dict[str, Any] = {"first": first, "last": last, "note": self.note}
        detail |= {"overrides": [each.to_json() for each in gone]} if gone else {}
        return _revised("skip", schedule, settle(schedule, cursor), **detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(Command):
    """One manual run now, or a retry of a run; the cursor stays where it is."""

    payload: Mapping[str, Any] | None = None
    # Repeat this run of the schedule, with its payload unless another one is given.
    retry_of: int | None = None
    # Triggering again with the same key gives the run that exists; the store sees to that.
    idempotency_key: str | None = None

    def apply(self, schedule: Schedule | None, name: str, facts: Facts, now: float) -> Change:
        """A retry does not depend on what the schedule is now, so it works after a delete too."""
        if schedule is None or self.retry_of is None:
            return super(Trigger, self).apply(schedule, name, facts, now)
        check_revision(schedule, self.revision)
        return self._repeat(schedule, facts, now)

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Works in every state but parked, and not for a shadow."""
        if schedule.state == "parked" or schedule.definition is None:
            raise ConflictError(
                f"schedule {schedule.name!r} is parked ({schedule.error});", hint="repair its definition first."
            )
        check_runs(schedule)
        if self.payload is not None:
            check_payload(self.payload)
        run = _manual_run(schedule, facts, self.payload)
        plan = Plan(schedule.cursor, schedule.state, schedule.revision, schedule.pause, schedule.error, runs=(run,))
        return Change("trigger", schedule, plan, self._detail, revised=False)

    def _repeat(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """A run with the target, payload and policies of another one, whatever its schedule is by now."""
        if facts.repeated is None:
            raise NotFoundError(
                f"there is no run {self.retry_of} of schedule {schedule.name!r};",
                hint="`tickbird runs` shows the newest runs.",
            )
        original, definition = facts.repeated.run, facts.repeated.definition
        if definition is None:
            raise ConflictError(
                f"run {original.id} cannot be repeated: revision {original.revision} of schedule {schedule.name!r}, "
                "which it was created with, cannot be read here;",
                hint="upgrade tickbird and tzdata, then retry it.",
            )
        if schedule.state != "deleted":
            check_runs(schedule)
        payload = original.payload if self.payload is None else self.payload
        check_payload(payload)
        definition.key(payload)
        # Only a run that had to start in time is repeated by one that has to.
        within = None if original.start_by is None else definition.start_within
        run = PlannedRun(
            None,
            None,
            "retry",
            "waiting" if starts_waiting(definition, facts.active) else "queued",
            start_by=None if within is None else ceil(now) + within,
            payload=payload,
            retry_of=original.id,
        )
        revision = original.revision or schedule.revision
        plan = Plan(schedule.cursor, schedule.state, revision, schedule.pause, schedule.error, runs=(run,))
        return Change("retry", schedule, plan, self._detail, revised=False, repeated=definition)

    @property
    def _detail(self) -> dict[str, Any]:
        return {"payload": None if self.payload is None else dict(self.payload), "retry_of": self.retry_of}


def override_notice(schedule: Schedule) -> str:
    """What a person who changed a schedule from code must know; empty where nothing is set over it."""
    if not schedule.app or not schedule.field_overrides:
        return ""
    names = ", ".join(sorted(schedule.field_overrides))
    return f"set over what app {schedule.app} declares, also through deploys, until they are unset: {names}"


def removed_from_code(revision: int | None = None) -> Pause:
    """The pause that a deploy leaves on a schedule which its code no longer has."""
    return Pause(actor=SYNC_ACTOR, revision=revision, note=REMOVED_FROM_CODE)


def _manual_run(schedule: Schedule, facts: Facts, payload: Mapping[str, Any] | None = None) -> PlannedRun:
    assert schedule.definition is not None
    # Refused here where the key needs a field that the payload has not.
    schedule.definition.key(payload)
    waits = starts_waiting(schedule.definition, facts.active)
    return PlannedRun(None, None, "manual", "waiting" if waits else "queued", payload=payload)


def _next_tick(schedule: Schedule, verb: str) -> int:
    cursor = schedule.cursor
    if schedule.state not in ("active", "paused") or cursor.planned_until is None:
        raise ConflictError(f"schedule {schedule.name!r} is {schedule.state}; it has no next tick to {verb}.")
    tick = PendingTicks(schedule).to_run(cursor.planned_until)
    if tick is None:
        raise ConflictError(f"schedule {schedule.name!r} has no next tick to {verb}.")
    return tick


def _cancel_runs(plan: Plan, facts: Facts) -> Plan:
    """What has not started is cancelled, what runs is asked to stop."""
    return replace(
        plan,
        cancel=tuple(run.id for run in facts.active if run.status != "running"),
        stop=tuple(run.id for run in facts.active if run.status == "running"),
        clear=True,
    )
