"""Simulation: ticks become due, runs wait for slots, run for their duration, end, and release others.

The planner decides ticks. Nearly all ticks are punctual, without overrides, skips or dependencies. A month has millions
of them, so the simulator decides these by the same few rules; all others go through `plan`. Instants are whole
microseconds since the epoch. At one instant, runs end first, then late runs are cancelled, then ticks are decided, then
runs start. A replaced run ends at once; every other run succeeds after its duration.
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

# Approximate number of ticks that are generated at a time, which limits memory.
_BATCH_TICKS: Final = 200_000


class Simulator(Slots):
    """Simulates a scenario once; `tally` collects the statistics."""

    def play(self, counted: Callable[[int, int], None] | None = None, total: int = 0) -> ForecastStats:
        """Run the simulation; `counted` gets the number of simulated ticks and the total from time to time."""
        for start, end in self.stage.outages:
            self._push(start * MICROS, DOWN, end)
            self._push(end * MICROS, UP, 0)
        self._set_off()
        self._begin()
        span = max(1, self.stage.end - self.stage.start)
        step = max(1, span * _BATCH_TICKS // max(1, total)) if total else 3_600
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
        """Initialize the schedules and the active runs."""
        self.special: set[int] = set()
        for index, schedule in enumerate(self.schedules):
            if schedule.definition is None or schedule.state not in ("active", "paused"):
                self.reached[index] = NEVER
                continue
            if schedule.cursor.planned_until is not None:
                self.reached[index] = schedule.cursor.planned_until
            if not self._is_ordinary(schedule):
                self.special.add(index)
        for active in self.stage.going:
            at = self.by_name.get(active.schedule)
            if at is not None and self.reached[at] != NEVER:
                self._take_over(at, active)

    def _take_over(self, index: int, going: RunningRun) -> None:
        run = self._new(index, going.due_at, None, going.status, going.origin)
        if going.status == "queued":
            self.fresh.append(run)
        elif going.status == "running":
            elapsed = 0 if going.started_at is None else self.start - going.started_at * MICROS
            serving = (pool for pool in self.serving[self.lane[index]] if self.free[pool] > 0)
            run.pool = next(serving, len(self.free) - 1)
            self.free[run.pool] -= 1
            run.tries = 1
            self.tally.took_over(self.queue[index])
            self._push_run(self.start + max(1, self.stage.durations[index] - elapsed), END, run)

    def _begin(self) -> None:
        """Decide at once what is already late or was never planned."""
        now = self.start
        for index, schedule in enumerate(self.schedules):
            if self.reached[index] == NEVER:
                continue
            look = schedule.cursor.next_run_at
            if index in self.special or (look is not None and look < self.stage.start):
                self._plan(index, now)
        for index, number in enumerate(self.waiting):
            if number:
                self._release({index}, self.keys[index], now)
        first = self.stage.start - 1
        self.fed = [max(reached, first - offset) for reached, offset in zip(self.reached, self.offsets, strict=True)]
        self._start_runs(now)

    def _is_ordinary(self, schedule: Schedule) -> bool:
        """Return whether all its ticks follow the grid, without overrides."""
        cursor = schedule.cursor
        plain = cursor.planned_until is not None and cursor.skip_until is None and not cursor.tick_overrides
        return schedule.state == "active" and plain

    def _laid_out(self, until: int) -> list[int]:
        """Return the due ticks up to this second, sorted; each is the second and the schedule's index in one number."""
        bits = self.bits
        feed: list[int] = []
        shared: dict[object, list[int]] = {}
        for index in sorted(self.special):
            if self._is_ordinary(self.schedules[index]):
                self.special.discard(index)
                self.fed[index] = self.reached[index]
        for index, definition in enumerate(self.definitions):
            if definition is None or self.reached[index] == NEVER or index in self.special:
                continue
            offset, after = self.offsets[index], self.fed[index]
            last = until - offset
            if after >= last:
                continue
            key: object = index
            if definition.roll == "skip":
                key = definition.trigger, definition.start_at, definition.end_at, after, last
            ticks = shared.get(key)
            if ticks is None:
                ticks = shared[key] = list(definition.grid.walk(after, last))
            self.fed[index] = last
            if offset:
                feed += [(tick + offset) << bits | index for tick in ticks]
            else:
                feed += [tick << bits | index for tick in ticks]
        feed.sort()
        return feed

    def _play_ticks(self, feed: Sequence[int]) -> None:
        """Process ticks in order, and the events between them."""
        bits, tally, begun = self.bits, self.tally, self.begun
        mask = (1 << bits) - 1
        reached, offsets, live, running = self.reached, self.offsets, self.live, self.running
        rule, maximum, crowd, nameless = self.rule, self.maximum, self.crowd, self.nameless
        not_all, limit, made, lines = self.not_all, self.limit, self.runs_planned, self.lines
        definitions = self.definitions
        second, now, seen = -1, 0, 0
        for entry in feed:
            due, index = entry >> bits, entry & mask
            if due != second:
                if second >= 0:
                    if begun or self.fresh or self.freed:
                        self._start_runs(now)
                    tally.ticks(second, seen)
                second, now, seen = due, due * MICROS, 0
                self._until(now)
            tick = due - offsets[index]
            if made[index] >= limit[index]:
                continue
            if tick <= reached[index]:
                # Decided at this instant already, because an outage ended.
                seen += reached[index] != NEVER
                continue
            seen += 1
            if self.down_until:
                self.missed.add(index)
                continue
            code = rule[index]
            if not code or lines[index]:
                self._plan(index, now, ordinary=True)
                continue
            if not_all[index]:
                definition = definitions[index]
                assert definition is not None
                excluded = definition.grid.excludes(tick)
                if excluded or definition.shadow:
                    reached[index] = tick
                    tally.skip(index, "calendar" if excluded else "shadow", 1)
                    continue
            active = running[index]
            if live[index]:
                active += len(live[index])
            if active >= crowd[index]:
                if active >= maximum[index]:
                    if code == 4:
                        self._plan(index, now, ordinary=True)
                        continue
                    tally.overlaps += 1
                    reached[index] = tick
                    if code == 2 or self.waiting[index]:
                        tally.skip(index, "overlap", 1)
                    else:
                        self._add(index, due, "schedule", "waiting")
                    continue
                tally.overlaps += 1
            reached[index] = tick
            if nameless[index]:
                made[index] += 1
                begun.append(index)
            else:
                self._add(index, due, "schedule", "queued")
        if second >= 0:
            self._start_runs(now)
            tally.ticks(second, seen)

    def _until(self, now: int) -> None:
        """Process all events up to this instant, except the starts at it, because its ticks come first."""
        ends, events, tally, free = self.ends, self.events, self.tally, self.free
        running, waiting, queue = self.running, self.waiting, self.queue
        bits, shift = self.bits, self.shift
        places, pools = (1 << bits) - 1, (1 << self.shift - bits) - 1
        while True:
            bound = now + 1 << shift
            if events and events[0][0] < now:
                bound = events[0][0] + 1 << shift
            # While no run is queued, the exact time at which a slot was released does not matter.
            crowded = bool(self.in_line or self.fresh)
            at = -1
            while ends and ends[0] < bound:
                entry = heappop(ends)
                index = entry & places
                if entry >= tally.hour_ends:
                    tally.reach(entry >> shift)
                running[index] -= 1
                free[entry >> bits & pools] += 1
                tally.busy -= 1
                tally.queue_busy[queue[index]] -= 1
                if crowded or waiting[index]:
                    at, crowded, self.freed = entry >> shift, True, True
                    bound = at + 1 << shift
                    if waiting[index]:
                        self._release({index}, None, at)
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
            # Ignore the event if the run was replaced or lost in the meantime.
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
        """Start an outage: all running runs are lost."""
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
        """End an outage: restart or fail lost runs, cancel late ones, and plan the missed ticks."""
        self.down_until = 0
        for run in self.lost:
            definition = self.definitions[run.index]
            assert definition is not None
            self.tally.lost += 1
            # It has started once, so it can no longer be too late to start.
            run.status, run.available, run.start_by = "queued", now, None
            if run.tries > abs(definition.crash_limit):
                self.tally.cancel(run.index, "lost")
                self._end(run, now, succeeded=False)
            else:
                self.fresh.append(run)
        self.lost = []
        for run in [run for live in self.live for run in live]:
            self._give_up(run, now)
        for index in sorted(self.missed | self.special):
            self._plan(index, now, ordinary=index not in self.special)
        self.missed.clear()
        self.freed = True

    def _plan(self, index: int, now: int, *, ordinary: bool = False) -> None:
        """Let the planner decide all due ticks of a schedule; `ordinary`: its ticks are already counted."""
        while True:
            schedule = self._current(index)
            crowded = self.running[index] + len(self.live[index]) >= self.crowd[index]
            try:
                decided = plan(schedule, self._facts(index, schedule), now / MICROS)
            except Exception as error:  # noqa: BLE001 - such a schedule is parked when its tick comes
                decided = park(schedule, str(error))
            overlapping = sum(skip.count for skip in decided.skips if skip.reason == "overlap")
            self.tally.overlaps += max(overlapping, crowded and bool(decided.runs or decided.skips))
            self._carry_out(index, schedule, decided, now, ordinary=ordinary)
            look = decided.cursor.next_run_at
            if look is None or look * MICROS > now or decided.state != "active":
                break
        if index in self.special and look is not None:
            self._push(look * MICROS, LOOK, index)

    def _current(self, index: int) -> Schedule:
        schedule, reached = self.schedules[index], self.reached[index]
        until = None if reached == -NEVER else reached
        return replace(
            schedule, cursor=replace(schedule.cursor, planned_until=until, runs_planned=self.runs_planned[index])
        )

    def _facts(self, index: int, schedule: Schedule) -> Facts:
        definition = schedule.definition
        assert definition is not None
        nameless = [ActiveRun(MANY + number, "running", "schedule") for number in range(self.running[index])]
        live = (ActiveRun(run.id, run.status, run.origin, None, bool(run.awaits)) for run in self.live[index])
        active = (*nameless, *live)
        successes = {
            dependency.schedule: LastSuccess(other + 1, self.last_success[other])
            for dependency in definition.depends_on
            if (other := self.by_name.get(dependency.schedule)) is not None
        }
        return Facts(active, held=index in self.held, successes=successes)

    def _carry_out(self, index: int, schedule: Schedule, decided: Plan, now: int, *, ordinary: bool) -> None:
        tally = self.tally
        if decided.cursor.planned_until is not None:
            self.reached[index] = decided.cursor.planned_until
        self.schedules[index] = apply_plan(schedule, decided)
        if decided.state in ("ended", "parked"):
            self.reached[index] = NEVER
        for skip in decided.skips:
            # Ticks that were due before the simulation are not counted.
            first = max(skip.first, self.stage.start - self.offsets[index])
            number = skip.count if first == skip.first else schedule.grid.count(first - 1, skip.last)
            tally.skip(index, skip.reason, number)
            if not ordinary:
                for tick in schedule.grid.walk(first - 1, skip.last):
                    tally.ticks(tick + self.offsets[index], 1)
        numbers = {run.id: run for run in self.live[index]}
        for planned, deferred in zip(decided.runs, self._deferred_until(index, decided.runs, now), strict=True):
            assert planned.due_at is not None
            if not ordinary:
                tally.ticks(planned.due_at, 1)
            if planned.held:
                self.held.add(index)
                self.runs_planned[index] += 1
                tally.held += 1
                continue
            run = self._add(index, planned.due_at, planned.origin, planned.status, planned.awaits)
            run.available = max(run.available, deferred)
        for run_id in (*decided.cancel, *decided.stop):
            tally.cancel(index, "replaced")
            self._end(numbers[run_id], now, succeeded=False)
        if decided.cancel:
            self.fresh[:] = [run for run in self.fresh if not run.over]

    def _deferred_until(self, index: int, runs: Sequence[PlannedRun], now: int) -> Iterator[int]:
        """Yield until when fairness defers the runs of one planner pass."""
        definition = self.definitions[index]
        assert definition is not None
        if definition.overlap != "allow" or not runs:
            yield from (0 for _ in runs)
            return
        minute = now // MICROS // MINUTE
        queued = [run for run in runs if run.status == "queued"]
        deferred, self.lines[index] = stagger(self.lines[index], minute, (run.origin == "schedule" for run in queued))
        if self.lines[index] <= minute:
            self.lines[index] = 0
        ends = iter(deferred)
        yield from (next(ends) * MINUTE * MICROS if run.status == "queued" else 0 for run in runs)
