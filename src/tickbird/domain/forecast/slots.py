"""Runs and slots during a simulation: waiting, queueing, starting, and releasing others at the end.

For most started runs, only the end is stored, as one number. A run is tracked individually if a newer run may replace
it, if others wait for its success, or if it holds a concurrency slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import Final

from tickbird.domain.forecast.model import MICROS, Scenario, SimulatedRun
from tickbird.domain.forecast.stats import ForecastStats
from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, WaitingRun, pick_releasable
from tickbird.domain.limits.rate_limits import StartTimes
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.dependencies import DependencyWait
from tickbird.domain.time.instants import from_micros, to_micros

NEVER: Final = 2**62
MANY: Final = 2**31
# Events, in the order in which they are processed at one instant.
END, TOO_LATE, DOWN, UP, LOOK, TURN = range(6)


class Slots:
    """The active runs of a scenario by schedule, and the slots that they wait for."""

    def __init__(self, stage: Scenario, tally: type[ForecastStats] = ForecastStats, *, long_way: bool = False) -> None:
        self.stage = stage
        self.start, self.end = stage.start * MICROS, stage.end * MICROS
        self.schedules = [replace(schedule, id=index) for index, schedule in enumerate(stage.schedules, 1)]
        self.definitions = [schedule.definition for schedule in self.schedules]
        self.by_name = {schedule.name: index for index, schedule in enumerate(self.schedules)}
        self.offsets = [0 if schedule.definition is None else schedule.offset for schedule in self.schedules]
        many = len(self.schedules)
        self.tally = tally(stage.start, stage.end, many)
        # The last decided tick of each schedule; NEVER for inactive schedules.
        self.reached = [NEVER if schedule.definition is None else -NEVER for schedule in self.schedules]
        self.runs_planned = [schedule.cursor.runs_planned for schedule in self.schedules]
        self.live: list[list[SimulatedRun]] = [[] for _ in range(many)]
        # The number of running runs of which only the end is stored: instant, pool and index in one number.
        self.running = [0] * many
        self.ends: list[int] = []
        self.waiting = [0] * many
        self.lines = [0] * many
        self.last_success: list[int | None] = [stage.successes.get(schedule.name) for schedule in self.schedules]
        self.watched: defaultdict[int, list[SimulatedRun]] = defaultdict(list)
        self.keys = [None if definition is None else definition.key() for definition in self.definitions]
        self.room: dict[str, int] = {key: stage.limits.get(key, DEFAULT_LIMIT) for key in self.keys if key is not None}
        self.waiting_for: defaultdict[str, set[int]] = defaultdict(set)
        # (instant, kind, unique number, run or schedule, number of starts of the run).
        self.events: list[tuple[int, int, int, SimulatedRun | int, int]] = []
        self.ids = 0
        self.down_until = 0
        self.missed: set[int] = set()
        self.lost: list[SimulatedRun] = []
        self.in_line = 0
        self.held: set[int] = set()
        self._rules(long_way)
        self._lanes()

    def _rules(self, long_way: bool) -> None:
        """Set how punctual ticks of each schedule are decided; 0: by `plan`."""
        codes = {"allow": 1, "skip": 2, "queue": 3, "replace": 4}
        self.rule = [0] * len(self.schedules)
        self.maximum = [MANY] * len(self.schedules)
        self.crowd = [MANY] * len(self.schedules)
        for index, definition in enumerate(self.definitions):
            if definition is None:
                continue
            self.crowd[index] = definition.max_concurrent
            if definition.overlap != "allow":
                self.maximum[index] = definition.max_concurrent
            # Late ticks are detected when they are processed.
            if not long_way and (not definition.depends_on or definition.shadow):
                self.rule[index] = codes[definition.overlap]
        needed = {needed.schedule for definition in self.definitions if definition for needed in definition.depends_on}
        self.nameless = [
            definition is not None
            and self.rule[index] in (1, 2, 3)
            and definition.concurrency_key is None
            and self.schedules[index].name not in needed
            for index, definition in enumerate(self.definitions)
        ]
        self.bits = max(1, len(self.schedules).bit_length())
        self.shift = self.bits + (len(self.stage.pools) + 1).bit_length()
        self.lengths = [length << self.shift | index for index, length in enumerate(self.stage.durations)]
        self.tally.shift = self.shift
        # Schedules with ticks that never run.
        self.not_all = [
            definition is not None and bool(definition.exclude or definition.calendars or definition.shadow)
            for definition in self.definitions
        ]
        self.limit = [
            MANY if definition is None or definition.max_runs is None else definition.max_runs
            for definition in self.definitions
        ]
        self.too_late = [None if definition is None else definition.start_limit for definition in self.definitions]

    def _lanes(self) -> None:
        """Group runs into lanes by the pools that serve them; a queue with a rate limit has its own lane."""
        pools = self.stage.pools
        # The last pool serves no queue. It is for running runs whose slots no longer exist.
        self.free = [*(MANY if pool.slots is None else pool.slots for pool in pools), 0]
        lanes: dict[tuple[tuple[int, ...], str | None], int] = {}
        self.lane = [0] * len(self.schedules)
        for index, definition in enumerate(self.definitions):
            if definition is not None:
                serving = tuple(number for number, pool in enumerate(pools) if pool.serves(definition))
                paced = definition.queue if definition.queue in self.stage.rates else None
                self.lane[index] = lanes.setdefault((serving, paced), len(lanes))
        self.lines_up: list[list[tuple[int, int, int, SimulatedRun]]] = [[] for _ in lanes]
        self.serving = [serving for serving, _ in lanes]
        self.rates = [None if paced is None else self.stage.rates[paced] for _, paced in lanes]
        self.starts: list[StartTimes] = [() for _ in lanes]
        self.turns = [0] * len(lanes)
        self.served_by = [
            [lane for lane, (serving, _) in enumerate(lanes) if pool in serving] for pool in range(len(pools))
        ]
        # Newly queued runs: tracked runs, and indexes of schedules for the others.
        self.fresh: list[SimulatedRun] = []
        self.begun: list[int] = []
        self.freed = False
        # If one pool serves everything, most runs start without queueing.
        alone = len(lanes) == 1 and len(self.serving[0]) == 1 and not any(self.rates)
        self.only_pool = self.serving[0][0] if alone else None
        queues = sorted({definition.queue for definition in self.definitions if definition is not None})
        numbers = {queue: number for number, queue in enumerate(queues)}
        self.queue = [0 if definition is None else numbers[definition.queue] for definition in self.definitions]
        self.tally.queues(queues)

    def _new(self, index: int, due: int, start_by: int | None, status: Status, origin: Origin) -> SimulatedRun:
        self.ids += 1
        run = SimulatedRun(self.ids, index, due, start_by, status, origin)
        self.live[index].append(run)
        key = self.keys[index]
        if status == "waiting":
            self.waiting[index] += 1
            if key is not None:
                self.waiting_for[key].add(index)
        elif key is not None:
            self.room[key] -= 1
        return run

    def _add(
        self, index: int, due: int, origin: Origin, status: Status, awaits: Sequence[DependencyWait] = ()
    ) -> SimulatedRun:
        """Add the run of a tick; it waits if its concurrency key has no free slot."""
        key, limit = self.keys[index], self.too_late[index]
        if key is not None and status == "queued" and self.room[key] <= 0:
            status = "waiting"
        run = self._new(index, due, None if limit is None else due + limit, status, origin)
        self.runs_planned[index] += 1
        if status == "queued":
            self.fresh.append(run)
            return run
        if awaits:
            run.awaits = list(awaits)
            for awaited in awaits:
                self.watched[awaited.schedule_id - 1].append(run)
                self._push_run(awaited.deadline_at * MICROS + 1, TOO_LATE, run)
        if run.start_by is not None:
            self._push_run(run.start_by * MICROS + 1, TOO_LATE, run)
        return run

    def _start_runs(self, now: int) -> None:
        """Start runs while slots are free: by priority, then oldest first."""
        fresh, begun, pool = self.fresh, self.begun, self.only_pool
        if self.down_until or not (begun or fresh or self.freed):
            return
        self.freed = False
        if pool is not None and not fresh and not self.in_line and self.free[pool] >= len(begun):
            self.free[pool] -= len(begun)
            ends, running, lengths = self.ends, self.running, self.lengths
            base = now << self.shift | pool << self.bits
            for index in begun:
                running[index] += 1
                heappush(ends, base + lengths[index])
            self.tally.began(begun, self.queue, now)
            begun.clear()
            return
        for index in begun:
            self.runs_planned[index] -= 1
            self._add(index, now // MICROS, "schedule", "queued")
        begun.clear()
        for run in fresh:
            self._enqueue(run)
        fresh.clear()
        for number, lanes in enumerate(self.served_by):
            while self.free[number] > 0 and self.in_line and (first := self._first(lanes, now)) is not None:
                self.free[number] -= 1
                self._start(first, now, number)
        if self.in_line > self.tally.max_queued:
            self.tally.line(self.in_line, now)

    def _enqueue(self, run: SimulatedRun) -> None:
        definition = self.definitions[run.index]
        assert definition is not None
        heappush(self.lines_up[self.lane[run.index]], (-definition.priority, run.available, run.id, run))
        run.in_line = True
        self.in_line += 1
        if run.start_by is not None:
            self._push_run(run.start_by * MICROS + 1, TOO_LATE, run)

    def _first(self, lanes: Sequence[int], now: int) -> SimulatedRun | None:
        """Remove and return the next run of these lanes."""
        best = None
        for lane in lanes:
            line = self.lines_up[lane]
            while line and (line[0][3].over or line[0][3].status != "queued"):
                heappop(line)
            if not line or (best is not None and line[0] > self.lines_up[best][0]):
                continue
            rate = self.rates[lane]
            if rate is not None and rate.left(self.starts[lane], from_micros(now)) <= 0:
                turn = to_micros(rate.next_at(self.starts[lane], from_micros(now)))
                if self.turns[lane] != turn:
                    self.turns[lane] = turn
                    self._push(turn, TURN, 0)
                continue
            best = lane
        if best is None:
            return None
        rate = self.rates[best]
        if rate is not None:
            self.starts[best] = rate.add(self.starts[best], from_micros(now), 1)
        run = heappop(self.lines_up[best])[3]
        self._leave_line(run)
        return run

    def _leave_line(self, run: SimulatedRun) -> None:
        self.in_line -= run.in_line
        run.in_line = False

    def _start(self, run: SimulatedRun, now: int, pool: int) -> None:
        index = run.index
        run.tries += 1
        run.status, run.pool = "running", pool
        self.tally.started(index, self.queue[index], now, run.due, restarted=run.tries > 1)
        if self.nameless[index]:
            self.live[index].remove(run)
            self.running[index] += 1
            heappush(self.ends, (now << self.shift | pool << self.bits) + self.lengths[index])
            return
        heappush(self.events, (now + self.stage.durations[index], END, run.id, run, run.tries))

    def _end(self, run: SimulatedRun, now: int, *, succeeded: bool) -> None:
        """End a run and release the runs that waited for it."""
        index, key, status = run.index, self.keys[run.index], run.status
        run.over = True
        self._leave_line(run)
        self.live[index].remove(run)
        if status == "running":
            self.tally.ended(self.queue[index], now)
            self.free[run.pool] += 1
            self.freed = True
        elif status == "waiting":
            self.waiting[index] -= 1
        if key is not None and status != "waiting":
            self.room[key] += 1
        if succeeded:
            self.last_success[index] = now // MICROS
            if index in self.watched:
                self._succeeded(index, now)
        if self.waiting[index] or (key is not None and self.waiting_for[key]):
            self._release({index}, key, now)

    def _succeeded(self, index: int, now: int) -> None:
        """Release the runs that waited for a success of this schedule."""
        for run in self.watched.pop(index):
            if run.over:
                continue
            met = [wait for wait in run.awaits if wait.schedule_id - 1 == index and _is_met(wait, now)]
            if not met:
                self.watched[index].append(run)
                continue
            run.awaits = [wait for wait in run.awaits if wait not in met]
            if not run.awaits:
                self._release({run.index}, None, now)

    def _release(self, indexes: Collection[int], key: str | None, now: int) -> None:
        """Queue the next waiting runs of schedules and of a key while slots are free."""
        released = set(indexes)
        if key is not None and self.room[key] > 0:
            waiting = {index for index in self.waiting_for[key] if self.waiting[index]}
            self.waiting_for[key] = waiting
            released |= waiting
        waiters, runs, busy = [], {}, {}
        for index in released:
            definition = self.definitions[index]
            assert definition is not None
            busy[index] = self.running[index] + sum(run.status != "waiting" for run in self.live[index])
            own = self.keys[index]
            for run in self.live[index]:
                if run.status == "waiting" and not run.awaits:
                    runs[run.id] = run
                    name = None if own is None else ("", own)
                    waiters.append(WaitingRun(run.id, index, definition.priority, definition.max_running, name))
        for run_id in pick_releasable(waiters, busy, {("", name): left for name, left in self.room.items()}):
            run = runs[run_id]
            run.status = "queued"
            run.available = max(run.available, now)
            self.waiting[run.index] -= 1
            if (own := self.keys[run.index]) is not None:
                self.room[own] -= 1
            self.fresh.append(run)

    def _give_up(self, run: SimulatedRun, now: int) -> None:
        """Cancel a run that is too late to start or to wait for a dependency."""
        if run.over or run.status == "running":
            return
        if run.start_by is not None and run.start_by * MICROS < now:
            self.tally.cancel(run.index, "misfire")
        elif any(wait.deadline_at * MICROS < now for wait in run.awaits):
            self.tally.cancel(run.index, "dependency")
        else:
            return
        self._end(run, now, succeeded=False)

    def _push(self, at: int, kind: int, what: int) -> None:
        heappush(self.events, (at, kind, self._order(), what, 0))

    def _push_run(self, at: int, kind: int, run: SimulatedRun) -> None:
        heappush(self.events, (at, kind, self._order(), run, run.tries))

    def _order(self) -> int:
        self.ids += 1
        return self.ids


def _is_met(awaited: DependencyWait, now: int) -> bool:
    return awaited.earliest_at * MICROS <= now <= awaited.deadline_at * MICROS
