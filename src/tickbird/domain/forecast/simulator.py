"""Playing a stretch of time ahead: ticks come due, runs wait for slots, take their time, end, and release others.

What becomes of a tick is the planner's to decide. Nearly all are on time, with nothing moved, skipped or depended on:
those are decided here by the same few rules, since a month has millions of them; all others go through `plan`. Instants
are whole microseconds since the epoch; at one instant runs end first, then those too late to start go, then ticks are
decided, then runs start. A run that a newer one replaces ends at once; every other one ends well, after its duration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from heapq import heappop
from typing import Final

from tickbird.domain.forecast.model import MICROS, RunningRun, SimulatedRun
from tickbird.domain.forecast.slots import DOWN, END, LOOK, MANY, NEVER, TOO_LATE, UP, Slots
from tickbird.domain.forecast.stats import ForecastStats
from tickbird.domain.limits.fairness import MINUTE, stagger
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.plan import ActiveRun, Facts, Plan, PlannedRun, apply_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.schedule import Schedule

# About so many ticks are laid out at a time, so that a month of them need not be kept.
_LAID_OUT: Final = 200_000


class Simulator(Slots):
    """Plays a stage once; what happens is counted by its tally."""

    def play(self, counted: Callable[[int, int], None] | None = None, total: int = 0) -> ForecastStats:
        """From the first instant to the last; `counted` is told of how many ticks of all, from time to time."""
        for start, end in self.stage.outages:
            self._push(start * MICROS, DOWN, end)
            self._push(end * MICROS, UP, 0)
        self._set_off()
        self._begin()
        span = max(1, self.stage.end - self.stage.start)
        step = max(1, span * _LAID_OUT // max(1, total)) if total else 3_600
        after = self.stage.start - 1
        while after < self.stage.end - 1:
            until = min(self.stage.end - 1, after + step)
            self._play_ticks(self._laid_out(until))
            self._until((until + 1) * MICROS - 1)
            after = until
            if counted is not None:
                counted(self.tally.tick_count, total)
        self.tally.close()
        self.tally.left_over = sum(run.status != "running" for runs in self.live for run in runs)
        return self.tally

    def _set_off(self) -> None:
        """The schedules as they stand when the stretch begins."""
        self.special: set[int] = set()
        for place, schedule in enumerate(self.schedules):
            if schedule.definition is None or schedule.state not in ("active", "paused"):
                self.reached[place] = NEVER
                continue
            if schedule.cursor.planned_until is not None:
                self.reached[place] = schedule.cursor.planned_until
            if not self._is_ordinary(schedule):
                self.special.add(place)
        for each in self.stage.going:
            found = self.by_name.get(each.schedule)
            if found is not None and self.reached[found] != NEVER:
                self._take_over(found, each)

    def _take_over(self, place: int, going: RunningRun) -> None:
        run = self._new(place, going.due_at, None, going.status, going.origin)
        if going.status == "queued":
            self.fresh.append(run)
        elif going.status == "running":
            elapsed = 0 if going.started_at is None else self.start - going.started_at * MICROS
            serving = (pool for pool in self.serving[self.lane[place]] if self.free[pool] > 0)
            run.pool = next(serving, len(self.free) - 1)
            self.free[run.pool] -= 1
            run.tries = 1
            self.tally.took_over(self.queue[place])
            self._push_run(self.start + max(1, self.stage.durations[place] - elapsed), END, run)

    def _begin(self) -> None:
        """What is late already, or was never planned, is decided at once."""
        now = self.start
        for place, schedule in enumerate(self.schedules):
            if self.reached[place] == NEVER:
                continue
            look = schedule.cursor.next_run_at
            if place in self.special or (look is not None and look < self.stage.start):
                self._plan(place, now)
        for place, number in enumerate(self.waiting):
            if number:
                self._release({place}, self.keys[place], now)
        first = self.stage.start - 1
        self.fed = [max(reached, first - offset) for reached, offset in zip(self.reached, self.offsets, strict=True)]
        self._start_runs(now)

    def _is_ordinary(self, schedule: Schedule) -> bool:
        """Do its ticks come as the grid has them?"""
        cursor = schedule.cursor
        plain = cursor.planned_until is not None and cursor.skip_until is None and not cursor.tick_overrides
        return schedule.state == "active" and plain

    def _laid_out(self, until: int) -> list[int]:
        """What is due up to this second, in order: the second and the schedule's place in one number."""
        bits = self.bits
        feed: list[int] = []
        shared: dict[object, list[int]] = {}
        for place in sorted(self.special):
            if self._is_ordinary(self.schedules[place]):
                self.special.discard(place)
                self.fed[place] = self.reached[place]
        for place, definition in enumerate(self.definitions):
            if definition is None or self.reached[place] == NEVER or place in self.special:
                continue
            offset, after = self.offsets[place], self.fed[place]
            last = until - offset
            if after >= last:
                continue
            key: object = place
            if definition.roll == "skip":
                key = definition.trigger, definition.start_at, definition.end_at, after, last
            ticks = shared.get(key)
            if ticks is None:
                ticks = shared[key] = list(definition.grid.walk(after, last))
            self.fed[place] = last
            if offset:
                feed += [(tick + offset) << bits | place for tick in ticks]
            else:
                feed += [tick << bits | place for tick in ticks]
        feed.sort()
        return feed

    def _play_ticks(self, feed: Sequence[int]) -> None:
        """Ticks in order, and whatever happens between them."""
        bits, tally, begun = self.bits, self.tally, self.begun
        mask = (1 << bits) - 1
        reached, offsets, live, running = self.reached, self.offsets, self.live, self.running
        rule, maximum, crowd, nameless = self.rule, self.maximum, self.crowd, self.nameless
        not_all, limit, made, lines = self.not_all, self.limit, self.runs_planned, self.lines
        definitions = self.definitions
        second, now, seen = -1, 0, 0
        for entry in feed:
            due, place = entry >> bits, entry & mask
            if due != second:
                if second >= 0:
                    if begun or self.fresh or self.freed:
                        self._start_runs(now)
                    tally.ticks(second, seen)
                second, now, seen = due, due * MICROS, 0
                self._until(now)
            tick = due - offsets[place]
            if made[place] >= limit[place]:
                continue
            if tick <= reached[place]:
                # Decided at this very instant, when an outage ended.
                seen += reached[place] != NEVER
                continue
            seen += 1
            if self.down_until:
                self.missed.add(place)
                continue
            code = rule[place]
            if not code or lines[place]:
                self._plan(place, now, ordinary=True)
                continue
            if not_all[place]:
                definition = definitions[place]
                assert definition is not None
                excluded = definition.grid.excludes(tick)
                if excluded or definition.shadow:
                    reached[place] = tick
                    tally.skip(place, "calendar" if excluded else "shadow", 1)
                    continue
            active = running[place]
            if live[place]:
                active += len(live[place])
            if active >= crowd[place]:
                if active >= maximum[place]:
                    if code == 4:
                        self._plan(place, now, ordinary=True)
                        continue
                    tally.overlaps += 1
                    reached[place] = tick
                    if code == 2 or self.waiting[place]:
                        tally.skip(place, "overlap", 1)
                    else:
                        self._add(place, due, "schedule", "waiting")
                    continue
                tally.overlaps += 1
            reached[place] = tick
            if nameless[place]:
                made[place] += 1
                begun.append(place)
            else:
                self._add(place, due, "schedule", "queued")
        if second >= 0:
            self._start_runs(now)
            tally.ticks(second, seen)

    def _until(self, now: int) -> None:
        """All that happens up to this instant; but for what begins at it, since its ticks come first."""
        ends, events, tally, free = self.ends, self.events, self.tally, self.free
        running, waiting, queue = self.running, self.waiting, self.queue
        bits, shift = self.bits, self.shift
        places, pools = (1 << bits) - 1, (1 << self.shift - bits) - 1
        while True:
            bound = now + 1 << shift
            if events and events[0][0] < now:
                bound = events[0][0] + 1 << shift
            # While nobody stands in line, it does not matter when within this time a slot was left.
            crowded = bool(self.in_line or self.fresh)
            at = -1
            while ends and ends[0] < bound:
                entry = heappop(ends)
                place = entry & places
                if entry >= tally.hour_ends:
                    tally.reach(entry >> shift)
                running[place] -= 1
                free[entry >> bits & pools] += 1
                tally.busy -= 1
                tally.queue_busy[queue[place]] -= 1
                if crowded or waiting[place]:
                    at, crowded, self.freed = entry >> shift, True, True
                    bound = at + 1 << shift
                    if waiting[place]:
                        self._release({place}, None, at)
            if at < 0:
                if not events or events[0][0] > now:
                    return
                at = events[0][0]
            while events and events[0][0] == at:
                self._happen(heappop(events))
            if at < now:
                self._start_runs(at)

    def _happen(self, event: tuple[int, int, int, SimulatedRun | int, int]) -> None:
        now, kind, _, what, tries = event
        if kind == END:
            assert isinstance(what, SimulatedRun)
            # Not if it was replaced or lost meanwhile.
            if not what.over and what.tries == tries and what.status == "running" and not self.down_until:
                self._end(what, now, succeeded=True)
        elif kind == TOO_LATE:
            assert isinstance(what, SimulatedRun)
            if not self.down_until:
                self._give_up(what, now)
        elif kind == DOWN:
            assert isinstance(what, int)
            self._go_down(what, now)
        elif kind == UP:
            self._come_back(now)
        elif kind == LOOK:
            assert isinstance(what, int)
            if self.down_until:
                self.missed.add(what)
            elif what in self.special and (self.schedules[what].cursor.next_run_at or NEVER) * MICROS <= now:
                self._plan(what, now)
        else:
            self.freed = True

    def _go_down(self, until: int, now: int) -> None:
        """An outage begins: whatever runs is lost."""
        self.down_until = until
        for entry in self.ends:
            run = self._new(entry & (1 << self.bits) - 1, 0, None, "running", "schedule")
            run.pool, run.tries = entry >> self.bits & (1 << self.shift - self.bits) - 1, 1
            self.running[run.index] -= 1
        self.ends.clear()
        self.lost = [run for live in self.live for run in live if run.status == "running"]
        for run in self.lost:
            self.tally.ended(self.queue[run.index], now)
            self.free[run.pool] += 1

    def _come_back(self, now: int) -> None:
        """After an outage: lost runs begin anew or fail, others may be too late, what was missed is planned."""
        self.down_until = 0
        for run in self.lost:
            definition = self.definitions[run.index]
            assert definition is not None
            self.tally.lost += 1
            # It has begun once, so that it cannot be too late for that.
            run.status, run.available, run.start_by = "queued", now, None
            if run.tries > definition.crash_limit:
                self.tally.cancel(run.index, "lost")
                self._end(run, now, succeeded=False)
            else:
                self.fresh.append(run)
        self.lost = []
        for run in [run for live in self.live for run in live]:
            self._give_up(run, now)
        for place in sorted(self.missed | self.special):
            self._plan(place, now, ordinary=place not in self.special)
        self.missed.clear()
        self.freed = True

    def _plan(self, place: int, now: int, *, ordinary: bool = False) -> None:
        """Let the planner decide all that is due of a schedule; `ordinary`: its ticks are counted already."""
        while True:
            schedule = self._current(place)
            crowded = self.running[place] + len(self.live[place]) >= self.crowd[place]
            try:
                decided = plan(schedule, self._facts(place, schedule), now / MICROS)
            except Exception as error:  # noqa: BLE001 - such a schedule is parked when its tick comes
                decided = park(schedule, str(error))
            overlapping = sum(skip.count for skip in decided.skips if skip.reason == "overlap")
            self.tally.overlaps += max(overlapping, crowded and bool(decided.runs or decided.skips))
            self._carry_out(place, schedule, decided, now, ordinary=ordinary)
            look = decided.cursor.next_run_at
            if look is None or look * MICROS > now or decided.state != "active":
                break
        if place in self.special and look is not None:
            self._push(look * MICROS, LOOK, place)

    def _current(self, place: int) -> Schedule:
        schedule, reached = self.schedules[place], self.reached[place]
        until = None if reached == -NEVER else reached
        return replace(
            schedule, cursor=replace(schedule.cursor, planned_until=until, runs_planned=self.runs_planned[place])
        )

    def _facts(self, place: int, schedule: Schedule) -> Facts:
        definition = schedule.definition
        assert definition is not None
        nameless = [ActiveRun(MANY + number, "running", "schedule") for number in range(self.running[place])]
        live = (ActiveRun(run.id, run.status, run.origin, None, bool(run.awaits)) for run in self.live[place])
        active = (*nameless, *live)
        successes = {
            each.schedule: LastSuccess(other + 1, self.last_success[other])
            for each in definition.depends_on
            if (other := self.by_name.get(each.schedule)) is not None
        }
        return Facts(active, held=place in self.held, successes=successes)

    def _carry_out(self, place: int, schedule: Schedule, decided: Plan, now: int, *, ordinary: bool) -> None:
        tally = self.tally
        if decided.cursor.planned_until is not None:
            self.reached[place] = decided.cursor.planned_until
        self.schedules[place] = apply_plan(schedule, decided)
        if decided.state in ("ended", "parked"):
            self.reached[place] = NEVER
        for skip in decided.skips:
            # What came due before the stretch is not counted in it.
            first = max(skip.first, self.stage.start - self.offsets[place])
            number = skip.count if first == skip.first else schedule.grid.count(first - 1, skip.last)
            tally.skip(place, skip.reason, number)
            if not ordinary:
                for tick in schedule.grid.walk(first - 1, skip.last):
                    tally.ticks(tick + self.offsets[place], 1)
        numbers = {run.id: run for run in self.live[place]}
        for made, behind in zip(decided.runs, self._deferred_until(place, decided.runs, now), strict=True):
            assert made.due_at is not None
            if not ordinary:
                tally.ticks(made.due_at, 1)
            if made.held:
                self.held.add(place)
                self.runs_planned[place] += 1
                tally.held += 1
                continue
            run = self._add(place, made.due_at, made.origin, made.status, made.awaits)
            run.available = max(run.available, behind)
        for run_id in (*decided.cancel, *decided.stop):
            tally.cancel(place, "replaced")
            self._end(numbers[run_id], now, succeeded=False)
        if decided.cancel:
            self.fresh[:] = [run for run in self.fresh if not run.over]

    def _deferred_until(self, place: int, runs: Sequence[PlannedRun], now: int) -> Iterator[int]:
        """Until when the runs that one look makes stand behind the line of their queue."""
        definition = self.definitions[place]
        assert definition is not None
        if definition.overlap != "allow" or not runs:
            yield from (0 for _ in runs)
            return
        minute = now // MICROS // MINUTE
        queued = [run for run in runs if run.status == "queued"]
        behind, self.lines[place] = stagger(self.lines[place], minute, (run.origin == "schedule" for run in queued))
        if self.lines[place] <= minute:
            self.lines[place] = 0
        ends = iter(behind)
        yield from (next(ends) * MINUTE * MICROS if run.status == "queued" else 0 for run in runs)
