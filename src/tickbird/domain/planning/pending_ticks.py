"""The pending ticks of a schedule, with their overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.schedules.grid import TickRange
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import (
    MAX_EARLY_TICKS,
    OverrideRecord,
    TickOverride,
    Void,
    override_record,
)
from tickbird.domain.time.instants import iso


class PendingTicks:
    """The undecided ticks of a schedule; instants are whole seconds, ranges are (after, until].

    Ticks are decided in the order of the grid. A tick that is moved to a later instant delays the ticks after it; ticks
    that would be due by then are skipped. If a tick is moved to an earlier instant, the skipped ticks before it are
    decided early, together with it. A tick that was decided early, before the grid changed, is not decided again.
    """

    def __init__(self, schedule: Schedule, cursor: Cursor | None = None) -> None:
        cursor = schedule.cursor if cursor is None else cursor
        assert cursor.planned_until is not None
        self._grid = schedule.grid
        self._offset = schedule.offset
        self._skip_until = cursor.skip_until
        self.decided = cursor.planned_until
        pending = [override for override in cursor.tick_overrides if override.tick > self.decided]
        self.overrides = tuple(override for override in pending if not override.decided_early)
        self._by_tick = {override.tick: override for override in self.overrides}
        early = (override.tick for override in pending if override.decided_early)
        self.early_ticks = tuple(tick for tick in early if self._grid.contains(tick))
        self._early_set = frozenset(self.early_ticks)

    def override(self, tick: int) -> TickOverride | None:
        return self._by_tick.get(tick)

    def due_at(self, tick: int) -> int:
        override = self._by_tick.get(tick)
        return tick + self._offset if override is None or override.due_at is None else override.due_at

    def is_decided_early(self, tick: int) -> bool:
        """Return whether the tick was decided early, on an earlier grid."""
        return tick in self._early_set

    def next(self, after: int) -> int | None:
        """Return the first undecided tick after this instant."""
        tick = self._grid.next(after)
        while tick is not None and tick in self._early_set:
            tick = self._grid.next(tick)
        return tick

    def count(self, after: int, until: int) -> int:
        """Count the undecided ticks of (after, until]."""
        return self._grid.count(after, until) - sum(after < tick <= until for tick in self.early_ticks)

    def segments(self, after: int, until: int) -> Iterator[TickRange]:
        """Yield the undecided ticks of (after, until], closed days included, split at ticks that were decided early."""
        for tick in (*(early for early in self.early_ticks if after < early <= until), until + 1):
            if (segment := self._grid.range(after, tick - 1)) is not None:
                yield segment
            after = tick

    def is_skipped(self, tick: int) -> bool:
        """Return whether an operator skipped the tick. An override of the tick wins over a skipped range."""
        if tick in self._early_set:
            return True
        override = self._by_tick.get(tick)
        if override is not None:
            return override.skip
        return self._skip_until is not None and tick <= self._skip_until

    def next_runnable(self, after: int) -> int | None:
        """Return the first tick after this instant that is not skipped."""
        tick = self._grid.next(after)
        while tick is not None and self.is_skipped(tick):
            if tick not in self._by_tick and tick not in self._early_set and self._skip_until is not None:
                ends = [override.tick for override in self.overrides if override.tick > tick]
                tick = self._grid.next(min([self._skip_until + 1, *ends]) - 1)
            else:
                tick = self._grid.next(tick)
        return tick

    def skipped_by(self, tick: int) -> TickOverride | None:
        """Return the override that moves an earlier tick past this one, so that this one is skipped."""
        for override in self.overrides:
            if override.tick >= tick:
                break
            if override.due_at is not None and tick <= override.due_at - self._offset:
                return override
        return None

    def passes_over(self, override: TickOverride) -> int:
        """Count the ticks that an override skips because it moves its tick past them."""
        if override.due_at is None:
            return 0
        return self.count(override.tick, override.due_at - self._offset)

    def record(self, override: TickOverride) -> OverrideRecord:
        return override_record(override, self.due_at(override.tick), self.passes_over(override))

    def decidable_until(self, horizon: int) -> int:
        """Return the last instant up to which ticks can be decided; `horizon` if no tick is moved."""
        until, skipped_until = horizon, self.decided
        for override in self.overrides:
            if override.tick <= skipped_until or override.due_at is None:
                continue
            if override.due_at - self._offset > horizon:
                return min(until, override.tick - 1)
            if override.tick > until and self.next_runnable(max(until, self.decided)) != override.tick:
                break
            until = max(until, override.tick)
            skipped_until = max(override.tick, override.due_at - self._offset)
        return until

    def next_wakeup(self) -> int | None:
        """Return when the next tick can be decided; None if there is none."""
        tick = self.next(self.decided)
        if tick is None or not self.is_skipped(tick):
            return None if tick is None else self.due_at(tick)
        wakeup = tick + self._offset
        if any(override.due_at is not None for override in self.overrides):
            # A skipped tick is recorded at its time, or earlier, together with a later tick that was moved before it.
            runnable = self.next_runnable(tick)
            wakeup = wakeup if runnable is None else min(wakeup, self.due_at(runnable))
        return wakeup

    def check(self) -> None:
        """Raise if overrides conflict: ticks are decided in order, and a tick that a move skips has no override."""
        for override in self.overrides:
            tick, due_at = override.tick, override.due_at
            if (mover := self.skipped_by(tick)) is not None:
                assert mover.due_at is not None
                raise ConflictError(
                    f"tick {iso(tick)} is skipped by tick {iso(mover.tick)}, which was moved past it to "
                    f"{iso(mover.due_at)}.",
                    hint="Undo one of the two overrides first.",
                )
            if due_at is not None and (before := self._before(tick)) is not None and before[1] > due_at:
                raise InvalidError(
                    f"move_to: {iso(due_at)} is before {iso(before[1])}, when the previous tick "
                    f"({iso(before[0])}) is due. Ticks are decided in order.",
                    field="move_to",
                    hint=f"Choose {iso(before[1])} or later, or skip the previous tick.",
                )
            if due_at is not None:
                self._check_early(tick, due_at)

    def _check_early(self, tick: int, due_at: int) -> None:
        """Reject a move that would record too many skipped ticks early, because each takes a row."""
        early = self.count(max(self.decided, due_at - self._offset), tick - 1)
        if early > MAX_EARLY_TICKS:
            raise InvalidError(
                f"move_to is too early: {early:,} ticks before {iso(tick)} would have to be skipped now, "
                f"and the maximum is {MAX_EARLY_TICKS:,}.",
                field="move_to",
                hint="Choose a later instant.",
            )

    def _before(self, tick: int) -> tuple[int, int] | None:
        """Return the last undecided tick before this one that is not skipped, and when it is decided."""
        before = self._grid.previous(tick)
        while before is not None and before > self.decided and self.is_skipped(before):
            if before not in self._by_tick and before not in self._early_set:
                # Jump over the skipped range, to the override before it.
                starts = [override.tick for override in self.overrides if override.tick < before]
                before = self._grid.previous(max([self.decided, *starts]) + 1)
            else:
                before = self._grid.previous(before)
        if before is None or before <= self.decided:
            return None
        mover = self.skipped_by(before)
        if mover is not None and mover.due_at is not None:
            return mover.tick, mover.due_at
        return before, self.due_at(before)


def prune_overrides(before: Cursor, after: Cursor, now: int) -> Cursor:
    """Remove overrides of decided ticks; those decided early stay until their own time."""
    if not before.tick_overrides:
        return after
    reached = after.planned_until or 0
    early = min(reached, now)
    kept = (item for item in before.tick_overrides if item.tick > (early if item.decided_early else reached))
    return replace(after, tick_overrides=tuple(kept))


def restart_grid(schedule: Schedule, now: int) -> Cursor:
    """Return the cursor at which a new grid starts: at `now`, with the later ticks that are already decided.

    Already decided are the ticks of the old grid up to its cursor, and ticks of older grids that were decided early. If
    there are too many to store, because a clock was far in the future, the new grid starts after them.
    """
    reached, overrides = schedule.cursor.planned_until, schedule.cursor.tick_overrides
    early = {override.tick for override in overrides if override.decided_early and override.tick > now}
    if reached is not None and reached > now:
        has_grid = schedule.definition is not None
        if has_grid and schedule.grid.count(now, reached) > MAX_EARLY_TICKS:
            return Cursor(reached, tick_overrides=_early_overrides(early))
        # If time zone data has changed since, the cursor is not on the grid, but its instant is the decided one.
        early.add(reached)
        tick = schedule.grid.next(now) if has_grid else None
        while tick is not None and tick < reached:
            early.add(tick)
            tick = schedule.grid.next(tick)
    return Cursor(now, tick_overrides=_early_overrides(early))


def _early_overrides(ticks: Iterable[int]) -> tuple[TickOverride, ...]:
    return tuple(TickOverride(tick, decided_early=True) for tick in sorted(ticks))


def drop_invalid_overrides(schedule: Schedule) -> tuple[Schedule, tuple[Void, ...]]:
    """Remove overrides of instants that are not ticks, which only plain SQL can write."""
    valid: list[TickOverride] = []
    invalid: list[TickOverride] = []
    for override in schedule.cursor.tick_overrides:
        is_valid = override.decided_early or schedule.grid.contains(override.tick)
        (valid if is_valid else invalid).append(override)
    if not invalid:
        return schedule, ()
    cursor = replace(schedule.cursor, tick_overrides=tuple(valid))
    return replace(schedule, cursor=cursor), tuple((override, "invalid") for override in invalid)


def migrate_overrides(
    before: Schedule, after: Schedule, cursor: Cursor, *, same_grid: bool
) -> tuple[Cursor, tuple[Void, ...]]:
    """Return the cursor of an edited schedule, with the overrides that are still valid.

    An override with a payload is kept if the target is the same. On a new grid, its tick must be a pending tick too, a
    move must skip as many ticks as before, and the overrides must not conflict.
    """
    overrides = tuple(override for override in before.cursor.tick_overrides if not override.decided_early)
    if not overrides:
        return cursor, ()
    early = tuple(override for override in cursor.tick_overrides if override.decided_early)
    kept = tuple(override for override in overrides if _payload_fits(override, before, after))
    if not same_grid:
        on_grid = [override for override in kept if _is_on_both_grids(override, before, after, cursor)]
        kept = _drop_conflicts(after, replace(cursor, tick_overrides=early), on_grid)
    ticks = {override.tick for override in kept}
    void = tuple((override, "edited") for override in overrides if override.tick not in ticks)
    return replace(cursor, tick_overrides=_sorted([*early, *kept])), void


def _payload_fits(override: TickOverride, before: Schedule, after: Schedule) -> bool:
    if override.payload is None or before.definition is None or after.definition is None:
        return override.payload is None
    try:
        after.definition.key(override.payload)
    except InvalidError:
        return False
    return before.definition.target == after.definition.target


def _is_on_both_grids(override: TickOverride, before: Schedule, after: Schedule, cursor: Cursor) -> bool:
    tick, due_at = override.tick, override.due_at
    if before.definition is None or tick <= (cursor.planned_until or 0) or not after.grid.contains(tick):
        return False
    if due_at is None:
        return True
    return before.grid.count(tick, due_at - before.offset) == after.grid.count(tick, due_at - after.offset)


def _drop_conflicts(schedule: Schedule, cursor: Cursor, overrides: Sequence[TickOverride]) -> tuple[TickOverride, ...]:
    """Drop the newest move until no two overrides conflict; `cursor` has the ticks that were decided early."""
    kept = list(overrides)
    while moves := [override for override in kept if override.due_at is not None]:
        try:
            PendingTicks(schedule, replace(cursor, tick_overrides=_sorted([*cursor.tick_overrides, *kept]))).check()
        except (ConflictError, InvalidError):
            kept.remove(max(moves, key=lambda override: override.created_at))
        else:
            break
    return tuple(kept)


def upsert_override(overrides: Iterable[TickOverride], new: TickOverride) -> tuple[TickOverride, ...]:
    """Add an override; it replaces the one of the same tick."""
    return _sorted([*(override for override in overrides if override.tick != new.tick), new])


def _sorted(overrides: Iterable[TickOverride]) -> tuple[TickOverride, ...]:
    return tuple(sorted(overrides, key=lambda override: override.tick))
