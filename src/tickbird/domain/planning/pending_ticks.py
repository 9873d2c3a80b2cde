"""The ticks of a schedule that are still to be decided, with what people decided for them beforehand."""

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
    """Answers about undecided ticks; instants are whole seconds, ranges are (after, until].

    Ticks are decided in the order of the grid. One that is moved to a later instant keeps those behind it waiting, and
    passes over those that would be due by then; one that is moved to an earlier instant ends the wait of those before
    it that are to be skipped anyway. One that was decided ahead of its time, before the grid changed, is passed over in
    silence.
    """

    def __init__(self, schedule: Schedule, cursor: Cursor | None = None) -> None:
        cursor = schedule.cursor if cursor is None else cursor
        assert cursor.planned_until is not None
        self._grid = schedule.grid
        self._offset = schedule.offset
        self._skip_until = cursor.skip_until
        self.decided = cursor.planned_until
        self.overrides = tuple(each for each in cursor.tick_overrides if each.tick > self.decided and not each.done)
        self._by_tick = {each.tick: each for each in self.overrides}
        done = (each.tick for each in cursor.tick_overrides if each.done and each.tick > self.decided)
        self.done = tuple(tick for tick in done if self._grid.contains(tick))
        self._done = frozenset(self.done)

    def override(self, tick: int) -> TickOverride | None:
        """What was decided for this tick alone."""
        return self._by_tick.get(tick)

    def due_at(self, tick: int) -> int:
        """When a tick becomes due."""
        override = self._by_tick.get(tick)
        return tick + self._offset if override is None or override.due_at is None else override.due_at

    def is_done(self, tick: int) -> bool:
        """Was it decided ahead of its time, before the grid changed?"""
        return tick in self._done

    def next(self, after: int) -> int | None:
        """The first tick behind this instant that is still to be decided."""
        tick = self._grid.next(after)
        while tick is not None and tick in self._done:
            tick = self._grid.next(tick)
        return tick

    def count(self, after: int, until: int) -> int:
        """How many ticks of (after, until] are still to be decided."""
        return self._grid.count(after, until) - sum(after < tick <= until for tick in self.done)

    def segments(self, after: int, until: int) -> Iterator[TickRange]:
        """The undecided ticks of (after, until] whatever the calendar says, cut at those that are decided already."""
        for tick in (*(each for each in self.done if after < each <= until), until + 1):
            if (segment := self._grid.range(after, tick - 1)) is not None:
                yield segment
            after = tick

    def is_skipped(self, tick: int) -> bool:
        """Has a person decided that it is not to run? An override goes before what was decided for a range."""
        if tick in self._done:
            return True
        override = self._by_tick.get(tick)
        if override is not None:
            return override.skip
        return self._skip_until is not None and tick <= self._skip_until

    def to_run(self, after: int) -> int | None:
        """The first tick behind this instant that is not to be skipped."""
        tick = self._grid.next(after)
        while tick is not None and self.is_skipped(tick):
            if tick not in self._by_tick and tick not in self._done and self._skip_until is not None:
                ends = [each.tick for each in self.overrides if each.tick > tick]
                tick = self._grid.next(min([self._skip_until + 1, *ends]) - 1)
            else:
                tick = self._grid.next(tick)
        return tick

    def passed_over_by(self, tick: int) -> TickOverride | None:
        """The override that moves an earlier tick past this one."""
        for each in self.overrides:
            if each.tick >= tick:
                break
            if each.due_at is not None and tick <= each.due_at - self._offset:
                return each
        return None

    def passes_over(self, override: TickOverride) -> int:
        """How many ticks the move of this one skips."""
        if override.due_at is None:
            return 0
        return self.count(override.tick, override.due_at - self._offset)

    def record(self, override: TickOverride) -> OverrideRecord:
        """An override as people see it."""
        return override_record(override, self.due_at(override.tick), self.passes_over(override))

    def reach(self, horizon: int) -> int:
        """The last instant whose ticks can be decided, where those up to `horizon` would be if nothing were moved."""
        reach, passed = horizon, self.decided
        for each in self.overrides:
            if each.tick <= passed or each.due_at is None:
                continue
            if each.due_at - self._offset > horizon:
                return min(reach, each.tick - 1)
            if each.tick > reach and self.to_run(max(reach, self.decided)) != each.tick:
                break
            reach = max(reach, each.tick)
            passed = max(each.tick, each.due_at - self._offset)
        return reach

    def next_wakeup(self) -> int | None:
        """When the next tick can be decided."""
        tick = self.next(self.decided)
        if tick is None or not self.is_skipped(tick):
            return None if tick is None else self.due_at(tick)
        look = tick + self._offset
        if any(each.due_at is not None for each in self.overrides):
            # Recorded when they come, or with the tick behind them when that was moved to an earlier instant.
            following = self.to_run(tick)
            look = look if following is None else min(look, self.due_at(following))
        return look

    def check(self) -> None:
        """Raise where overrides contradict each other: ticks go in order, and what is passed over is not decided."""
        for each in self.overrides:
            if (passing := self.passed_over_by(each.tick)) is not None:
                assert passing.due_at is not None
                raise ConflictError(
                    f"the tick of {iso(each.tick)} is passed over by that of {iso(passing.tick)}, moved to "
                    f"{iso(passing.due_at)};",
                    hint="undo one of the two overrides first.",
                )
            if each.due_at is not None and (before := self._before(each.tick)) is not None and before[1] > each.due_at:
                raise InvalidError(
                    f"move_to: {iso(each.due_at)} lies before {iso(before[1])}, when the tick before it "
                    f"({iso(before[0])}) is due, and ticks are decided in order;",
                    field="move_to",
                    hint=f"choose {iso(before[1])} or later, or skip that tick.",
                )
            if each.due_at is not None:
                self._check_early(each.tick, each.due_at)

    def _check_early(self, tick: int, due_at: int) -> None:
        """Those that are skipped before a tick are recorded together with it, each by itself."""
        early = self.count(max(self.decided, due_at - self._offset), tick - 1)
        if early > MAX_EARLY_TICKS:
            raise InvalidError(
                f"move_to: before {iso(tick)} come {early:,} ticks that are skipped, and at most {MAX_EARLY_TICKS:,} "
                "can be recorded ahead of their time;",
                field="move_to",
                hint="choose a later instant.",
            )

    def _before(self, tick: int) -> tuple[int, int] | None:
        """The undecided tick to run before this one, and when it is decided."""
        before = self._grid.previous(tick)
        while before is not None and before > self.decided and self.is_skipped(before):
            if before not in self._by_tick and before not in self._done:
                # Jump over what is skipped as a range, up to the override before it.
                starts = [each.tick for each in self.overrides if each.tick < before]
                before = self._grid.previous(max([self.decided, *starts]) + 1)
            else:
                before = self._grid.previous(before)
        if before is None or before <= self.decided:
            return None
        passing = self.passed_over_by(before)
        if passing is not None and passing.due_at is not None:
            return passing.tick, passing.due_at
        return before, self.due_at(before)


def prune_overrides(before: Cursor, after: Cursor, now: int) -> Cursor:
    """A cursor without overrides of ticks that are decided; of those ahead of their time until that has come too."""
    if not before.tick_overrides:
        return after
    reached = after.planned_until or 0
    left = (each for each in before.tick_overrides if each.tick > (min(reached, now) if each.done else reached))
    return replace(after, tick_overrides=tuple(left))


def restart_grid(schedule: Schedule, now: int) -> Cursor:
    """Where another grid begins: at `now`, never before, with the ticks to come that are decided already.

    Those are all that the grid before has up to its cursor, and what was remembered of older grids. Only a clock that
    was far ahead leaves more of them than can be remembered: then the new grid begins behind them.
    """
    reached, before = schedule.cursor.planned_until, schedule.cursor.tick_overrides
    done = {each.tick for each in before if each.done and each.tick > now}
    if reached is not None and reached > now:
        known = schedule.definition is not None
        if known and schedule.grid.count(now, reached) > MAX_EARLY_TICKS:
            return Cursor(reached, tick_overrides=_done(done))
        # Where zone rules have moved it since, the cursor's own instant is the one that was decided.
        done.add(reached)
        tick = schedule.grid.next(now) if known else None
        while tick is not None and tick < reached:
            done.add(tick)
            tick = schedule.grid.next(tick)
    return Cursor(now, tick_overrides=_done(done))


def _done(ticks: Iterable[int]) -> tuple[TickOverride, ...]:
    return tuple(TickOverride(tick, done=True) for tick in sorted(ticks))


def drop_invalid_overrides(schedule: Schedule) -> tuple[Schedule, tuple[Void, ...]]:
    """The schedule without overrides of what is no tick of it, which only plain SQL can leave behind."""
    overrides = schedule.cursor.tick_overrides
    strays = tuple((each, "invalid") for each in overrides if not (each.done or schedule.grid.contains(each.tick)))
    if not strays:
        return schedule, ()
    lost = {each.tick for each, _ in strays}
    left = tuple(each for each in overrides if each.tick not in lost)
    return replace(schedule, cursor=replace(schedule.cursor, tick_overrides=left)), strays


def migrate_overrides(
    before: Schedule, after: Schedule, cursor: Cursor, *, same_grid: bool
) -> tuple[Cursor, tuple[Void, ...]]:
    """The cursor of an edited schedule with those overrides that still make sense under its new definition.

    A payload is for the task that it was given for. On another grid the tick must be there too and to come, and a move
    must pass over as many ticks as before, and none that is decided after it.
    """
    overrides = tuple(each for each in before.cursor.tick_overrides if not each.done)
    if not overrides:
        return cursor, ()
    done = tuple(each for each in cursor.tick_overrides if each.done)
    left = tuple(each for each in overrides if _payload_fits(each, before, after))
    if not same_grid:
        there = [each for each in left if _is_there(each, before, after, cursor)]
        left = _in_order(after, replace(cursor, tick_overrides=done), there)
    kept = {each.tick for each in left}
    void = tuple((each, "edited") for each in overrides if each.tick not in kept)
    return replace(cursor, tick_overrides=_sorted([*done, *left])), void


def _payload_fits(override: TickOverride, before: Schedule, after: Schedule) -> bool:
    if override.payload is None or before.definition is None or after.definition is None:
        return override.payload is None
    try:
        after.definition.key(override.payload)
    except InvalidError:
        return False
    return before.definition.target == after.definition.target


def _is_there(override: TickOverride, before: Schedule, after: Schedule, cursor: Cursor) -> bool:
    tick, due_at = override.tick, override.due_at
    if before.definition is None or tick <= (cursor.planned_until or 0) or not after.grid.contains(tick):
        return False
    return due_at is None or len({each.grid.count(tick, due_at - each.offset) for each in (before, after)}) == 1


def _in_order(schedule: Schedule, cursor: Cursor, overrides: Sequence[TickOverride]) -> tuple[TickOverride, ...]:
    """Without the newest moves, as long as they contradict what else is there; `cursor` has what is done."""
    left = list(overrides)
    while any(each.due_at is not None for each in left):
        try:
            PendingTicks(schedule, replace(cursor, tick_overrides=_sorted([*cursor.tick_overrides, *left]))).check()
        except (ConflictError, InvalidError):
            left.remove(max((each for each in left if each.due_at is not None), key=lambda each: each.created_at))
        else:
            break
    return tuple(left)


def upsert_override(overrides: Iterable[TickOverride], new: TickOverride) -> tuple[TickOverride, ...]:
    """Overrides with a new one in the place of what was decided for its tick before."""
    return _sorted([*(each for each in overrides if each.tick != new.tick), new])


def _sorted(overrides: Iterable[TickOverride]) -> tuple[TickOverride, ...]:
    return tuple(sorted(overrides, key=lambda each: each.tick))
