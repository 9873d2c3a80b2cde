"""Commands for single future ticks: reschedule, override, skip."""

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

# Per command.
MAX_SKIPPED = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Reschedule(Command):
    """Make the next tick due at another instant; the ticks it passes over are skipped."""

    to: int
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Move the next runnable tick into the future; it keeps the payload of an override."""
        tick = _next_tick(schedule, "reschedule")
        _check_future(self.to, "to", now)
        existing = PendingTicks(schedule).override(tick)
        moved = TickOverride(tick, self.actor, floor(now), due_at=self.to, note=self.note)
        if existing is not None:
            moved = replace(moved, payload=existing.payload)
        plan = settle(schedule, _with_override(schedule, moved))
        return new_revision("reschedule", schedule, plan, tick=tick, to=self.to, note=self.note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Override(Command):
    """Override one future tick: skip it, move it, or change the payload of its run."""

    tick: int
    skip: bool = False
    move_to: int | None = None
    payload: Mapping[str, Any] | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Replace an earlier override of the tick."""
        if self.skip == (self.move_to is not None or self.payload is not None):
            raise InvalidError(
                "override: skip cannot be combined with move_to or payload."
                if self.skip
                else "override: it changes nothing.",
                field="skip",
                hint="Give skip alone, or move_to, payload or both.",
            )
        pending = _undecided(schedule, self.tick)
        if self.move_to is not None:
            _check_future(self.move_to, "move_to", now)
        self._check_payload(schedule)
        existing = pending.override(self.tick)
        new = TickOverride(self.tick, self.actor, floor(now), self.skip, self.move_to, self._sent, self.note)
        plan = settle(schedule, _with_override(schedule, new))
        detail: dict[str, Any] = {"tick": self.tick, "skip": self.skip, "to": self.move_to, "payload": self._sent}
        detail |= {"note": self.note, "before": None if existing is None else existing.to_json()}
        return new_revision("override", schedule, plan, **detail)

    @property
    def _sent(self) -> dict[str, Any] | None:
        return None if self.payload is None else dict(self.payload)

    def _check_payload(self, schedule: Schedule) -> None:
        if self.payload is None or schedule.definition is None:
            return
        check_payload(self.payload)
        # Raises if the payload lacks a field of the key.
        schedule.definition.key(self.payload)
        if self.move_to is None and schedule.grid.excludes(self.tick):
            raise ConflictError(
                f"the calendar of {schedule.name!r} excludes the day of {iso(self.tick)}, so the tick would not run.",
                hint="Add move_to, which may be the same instant: a moved tick runs on a closed day.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearOverride(Command):
    """Remove the override of a tick, including a reschedule."""

    tick: int
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Remove the override; raises if the tick is already decided."""
        pending = _undecided(schedule, self.tick)
        existing = pending.override(self.tick)
        if existing is None:
            hint = "`tickbird override NAME --list` lists the overridden ticks."
            if pending.is_skipped(self.tick):
                hint = f"{schedule.cursor.skip_by} skipped it with `skip`."
            raise NotFoundError(f"tick {iso(self.tick)} has no override.", hint=hint)
        others = tuple(item for item in schedule.cursor.tick_overrides if item.tick != self.tick)
        cursor = replace(schedule.cursor, tick_overrides=others)
        PendingTicks(schedule, cursor).check()
        plan = settle(schedule, cursor)
        return new_revision("undo_override", schedule, plan, tick=self.tick, note=self.note, before=existing.to_json())


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip(Command):
    """Skip the next `count` ticks, or all before an instant; the skips are recorded at their time."""

    count: int = 1
    until: int | None = None
    note: str = ""

    def change(self, schedule: Schedule, facts: Facts, now: float) -> Change:
        """Skip ticks; a second skip starts after the first."""
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 1 <= self.count <= MAX_SKIPPED:
            raise InvalidError(f"count must be a whole number from 1 to {MAX_SKIPPED}.", field="count")
        first = last = _next_tick(schedule, "skip")
        if self.until is not None:
            last = schedule.grid.previous(self.until) or first
            if self.until <= first:
                raise InvalidError(
                    f"until: no undecided tick of {schedule.name!r} is before {to_datetime(self.until).isoformat()}.",
                    field="until",
                    hint=f"The next tick is at {to_datetime(first).isoformat()}.",
                )
        pending = PendingTicks(schedule)
        for _ in range(self.count - 1):
            following = pending.next(last)
            if following is None:
                break
            last = following
        # Overrides of these ticks are dropped; the ticks before them are already skipped.
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
        raise _no_future_ticks(schedule)
    tick = PendingTicks(schedule).next_runnable(cursor.planned_until)
    if tick is None:
        raise ConflictError(
            f"schedule {schedule.name!r} has no next tick to {verb}.",
            hint="Change its trigger, or trigger a run now.",
        )
    return tick


def _undecided(schedule: Schedule, tick: int) -> PendingTicks:
    """Return the pending ticks of a schedule; raise if `tick` is not one of them."""
    decided = schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or decided is None:
        raise _no_future_ticks(schedule)
    if not schedule.grid.contains(tick):
        before, after = schedule.grid.previous(tick), schedule.grid.next(tick)
        around = [
            f"{iso(instant)} {where}"
            for instant, where in ((before, "before"), (after, "after"))
            if instant is not None
        ]
        raise InvalidError(
            f"tick: {iso(tick)} is not a tick of {schedule.name!r}.",
            field="tick",
            hint=f"The nearest ticks are {' and '.join(around)} it."
            if around
            else "It has no ticks: check its trigger.",
        )
    if tick <= decided and schedule.created_at is not None and to_datetime(tick) <= schedule.created_at:
        raise ConflictError(
            f"schedule {schedule.name!r} did not exist at {iso(tick)}.",
            hint=f"It was created at {utc_text(schedule.created_at)}. Choose a future tick.",
        )
    pending = PendingTicks(schedule)
    if tick <= decided or pending.is_decided_early(tick):
        early = ", before its time" if tick > decided else ""
        raise ConflictError(
            f"tick {iso(tick)} is already decided{early}.",
            hint=f"`tickbird why {schedule.name} {iso(tick)}` explains the decision.",
        )
    return pending


def _no_future_ticks(schedule: Schedule) -> ConflictError:
    if schedule.state == "parked":
        hint = f"Correct its definition with `tickbird set {schedule.name} …` first."
    elif schedule.state == "ended":
        hint = "Change its trigger or its window, or trigger a run now."
    else:
        hint = "Start a worker, then try again."
    return ConflictError(f"schedule {schedule.name!r} is {schedule.state} and has no future ticks.", hint=hint)


def _check_future(instant: int, field: str, now: float) -> None:
    if instant <= now:
        raise InvalidError(
            f"{field}: {to_datetime(instant).isoformat()} is in the past.",
            field=field,
            hint="Choose a later instant, or trigger the schedule now.",
        )


def _with_override(schedule: Schedule, override: TickOverride) -> Cursor:
    """Return the cursor with one more override; raise if it conflicts with others."""
    overrides = upsert_override(schedule.cursor.tick_overrides, override)
    pending = tuple(override for override in overrides if not override.decided_early)
    if len(pending) > MAX_OVERRIDES or len(overrides_text(pending) or "") > MAX_OVERRIDES_LENGTH:
        raise ConflictError(
            f"schedule {schedule.name!r} has {len(pending) - 1:,} overridden ticks; one more exceeds the limit "
            f"(at most {MAX_OVERRIDES:,}, with {MAX_OVERRIDES_LENGTH:,} characters in total).",
            hint="Undo some overrides, or change the schedule itself.",
        )
    cursor = replace(schedule.cursor, tick_overrides=overrides)
    PendingTicks(schedule, cursor).check()
    return cursor
