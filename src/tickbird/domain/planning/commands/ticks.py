"""Decisions for single ticks to come: reschedule, override, skip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import Any

from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.planning.commands.base import Change, Command, new_revision
from tickbird.domain.planning.next_pass import settle
from tickbird.domain.planning.pending_ticks import PendingTicks, upsert_override
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import MAX_OVERRIDES, MAX_OVERRIDES_LENGTH, TickOverride, overrides_text
from tickbird.domain.time.instants import iso, to_datetime, utc_text

# By one instruction.
MAX_SKIPPED = 10_000


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
        return new_revision("reschedule", schedule, plan, tick=tick, to=self.to, note=self.note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Override(Command):
    """Decide for one coming tick: skip it, make it due at another instant, give its run another payload."""

    tick: int
    skip: bool = False
    move_to: int | None = None
    payload: Mapping[str, Any] | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """It replaces an earlier override of the tick."""
        if self.skip == (self.move_to is not None or self.payload is not None):
            raise InvalidError(
                "override: skip the tick, or give it another instant or payload, not both;"
                if self.skip
                else "override: nothing was decided for the tick;",
                field="skip",
                hint="give skip, or move_to, payload or both.",
            )
        pending = _undecided(schedule, self.tick)
        if self.move_to is not None:
            _check_future(self.move_to, "move_to", now)
        self._check_payload(schedule)
        known = pending.override(self.tick)
        new = TickOverride(self.tick, self.actor, floor(now), self.skip, self.move_to, self._sent, self.note)
        plan = settle(schedule, _with_override(schedule, new))
        detail: dict[str, Any] = {"tick": self.tick, "skip": self.skip, "to": self.move_to, "payload": self._sent}
        detail |= {"note": self.note, "before": None if known is None else known.to_json()}
        return new_revision("override", schedule, plan, **detail)

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
    """Remove the override of a tick, also that of a reschedule."""

    tick: int
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Refused once the tick is decided."""
        pending = _undecided(schedule, self.tick)
        known = pending.override(self.tick)
        if known is None:
            hint = "`tickbird override NAME --list` shows those that have one."
            if pending.is_skipped(self.tick):
                hint = f"it is one of those that {schedule.cursor.skip_by} told it to skip with `skip`."
            raise NotFoundError(f"the tick of {iso(self.tick)} has no override;", hint=hint)
        others = tuple(item for item in schedule.cursor.tick_overrides if item.tick != self.tick)
        cursor = replace(schedule.cursor, tick_overrides=others)
        PendingTicks(schedule, cursor).check()
        plan = settle(schedule, cursor)
        return new_revision("undo_override", schedule, plan, tick=self.tick, note=self.note, before=known.to_json())


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Command):
    """Skip the next `count` ticks, or all before an instant; they are recorded at their time."""

    count: int = 1
    until: int | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """A second skip starts after the first."""
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
        pending = PendingTicks(schedule)
        for _ in range(self.count - 1):
            following = pending.next(last)
            if following is None:
                break
            last = following
        # Overrides of these ticks are dropped; the ticks before them are skipped already.
        overrides = schedule.cursor.tick_overrides
        replaced = [item for item in overrides if first <= item.tick <= last and not item.decided_early]
        cursor = replace(
            schedule.cursor,
            tick_overrides=tuple(override for override in overrides if override not in replaced),
            skip_until=max(last, schedule.cursor.skip_until or last),
            skip_by=self.actor,
            skip_note=self.note,
        )
        detail: dict[str, Any] = {"first": first, "last": last, "note": self.note}
        detail |= {"overrides": [override.to_json() for override in replaced]} if replaced else {}
        return new_revision("skip", schedule, settle(schedule, cursor), **detail)


def _next_tick(schedule: Schedule, verb: str) -> int:
    cursor = schedule.cursor
    if schedule.state not in ("active", "paused") or cursor.planned_until is None:
        raise ConflictError(f"schedule {schedule.name!r} is {schedule.state}; it has no next tick to {verb}.")
    tick = PendingTicks(schedule).next_runnable(cursor.planned_until)
    if tick is None:
        raise ConflictError(f"schedule {schedule.name!r} has no next tick to {verb}.")
    return tick


def _undecided(schedule: Schedule, tick: int) -> PendingTicks:
    """The pending ticks of a schedule; raises if `tick` is not one of them."""
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
    pending = PendingTicks(schedule)
    if tick <= decided or pending.is_decided_early(tick):
        early = ", ahead of its time" if tick > decided else ""
        raise ConflictError(
            f"the tick of {iso(tick)} is decided already{early};",
            hint=f"`tickbird why {schedule.name} {iso(tick)}` tells how.",
        )
    return pending


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
    told = tuple(override for override in overrides if not override.decided_early)
    if len(told) > MAX_OVERRIDES or len(overrides_text(told) or "") > MAX_OVERRIDES_LENGTH:
        raise ConflictError(
            f"schedule {schedule.name!r} has {len(told) - 1:,} overridden ticks, and no room for this one "
            f"(at most {MAX_OVERRIDES:,}, with {MAX_OVERRIDES_LENGTH:,} characters in all);",
            hint="undo some, or edit the schedule itself.",
        )
    cursor = replace(schedule.cursor, tick_overrides=overrides)
    PendingTicks(schedule, cursor).check()
    return cursor
