"""Runs and slots while time is played: who waits, who stands in line, who begins, and whom an end lets go.

Of a run that begins nothing is kept but its end, as one number, unless somebody may have to find it again: where a
newer one may replace it, others wait for its success, or a key has to be given back.
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
# What happens, in the order in which it does at one instant.
END, TOO_LATE, DOWN, UP, LOOK, TURN = range(6)


class Slots:
    """The runs of a stage that are not final, by schedule, and the slots that they wait for."""

    def __init__(self, stage: Scenario, tally: type[ForecastStats] = ForecastStats, *, long_way: bool = False) -> None:
        self.stage = stage
        self.start, self.end = stage.start * MICROS, stage.end * MICROS
        self.schedules = [replace(each, id=place) for place, each in enumerate(stage.schedules, 1)]
        self.definitions = [each.definition for each in self.schedules]
        self.by_name = {each.name: place for place, each in enumerate(self.schedules)}
        self.offsets = [0 if each.definition is None else each.offset for each in self.schedules]
        many = len(self.schedules)
        self.tally = tally(stage.start, stage.end, many)
        # The last tick that is decided of each; of what rests, all are.
        self.reached = [NEVER if each.definition is None else -NEVER for each in self.schedules]
        self.runs_planned = [each.cursor.runs_planned for each in self.schedules]
        self.live: list[list[SimulatedRun]] = [[] for _ in range(many)]
        # How many run besides of which nothing is kept but their ends: instant, pool and place in one number.
        self.running = [0] * many
        self.ends: list[int] = []
        self.waiting = [0] * many
        self.lines = [0] * many
        self.last_success: list[int | None] = [stage.successes.get(each.name) for each in self.schedules]
        self.watched: defaultdict[int, list[SimulatedRun]] = defaultdict(list)
        self.keys = [None if each is None else each.key() for each in self.definitions]
        self.room: dict[str, int] = {key: stage.limits.get(key, DEFAULT_LIMIT) for key in self.keys if key is not None}
        self.waiting_for: defaultdict[str, set[int]] = defaultdict(set)
        # When, what, which (no two are the same), about whom, and for a run: how often it had begun.
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
        """How the ticks of each schedule are decided when they are on time; 0: by `plan` alone."""
        codes = {"allow": 1, "skip": 2, "queue": 3, "replace": 4}
        self.rule = [0] * len(self.schedules)
        self.maximum = [MANY] * len(self.schedules)
        self.crowd = [MANY] * len(self.schedules)
        for place, definition in enumerate(self.definitions):
            if definition is None:
                continue
            self.crowd[place] = definition.max_concurrent
            if definition.overlap != "allow":
                self.maximum[place] = definition.max_concurrent
            # Whether a late tick comes as well is seen when it does.
            if not long_way and (not definition.depends_on or definition.shadow):
                self.rule[place] = codes[definition.overlap]
        needed = {each.schedule for definition in self.definitions if definition for each in definition.depends_on}
        self.nameless = [
            definition is not None
            and self.rule[place] in (1, 2, 3)
            and definition.concurrency_key is None
            and self.schedules[place].name not in needed
            for place, definition in enumerate(self.definitions)
        ]
        self.bits = max(1, len(self.schedules).bit_length())
        self.shift = self.bits + (len(self.stage.pools) + 1).bit_length()
        self.lengths = [length << self.shift | place for place, length in enumerate(self.stage.durations)]
        self.tally.shift = self.shift
        # Of these not every tick runs, whatever else goes on.
        self.not_all = [
            each is not None and bool(each.exclude or each.calendars or each.shadow) for each in self.definitions
        ]
        self.limit = [MANY if each is None or each.max_runs is None else each.max_runs for each in self.definitions]
        self.too_late = [None if each is None else each.start_limit for each in self.definitions]

    def _lanes(self) -> None:
        """Runs that the same pools serve stand in one lane, those of a queue with a rate in one of its own."""
        pools = self.stage.pools
        # And one that nobody serves from, for runs that began before in slots that are no more.
        self.free = [*(MANY if each.slots is None else each.slots for each in pools), 0]
        lanes: dict[tuple[tuple[int, ...], str | None], int] = {}
        self.lane = [0] * len(self.schedules)
        for place, definition in enumerate(self.definitions):
            if definition is not None:
                serving = tuple(number for number, pool in enumerate(pools) if pool.serves(definition))
                paced = definition.queue if definition.queue in self.stage.rates else None
                self.lane[place] = lanes.setdefault((serving, paced), len(lanes))
        self.lines_up: list[list[tuple[int, int, int, SimulatedRun]]] = [[] for _ in lanes]
        self.serving = [serving for serving, _ in lanes]
        self.rates = [None if paced is None else self.stage.rates[paced] for _, paced in lanes]
        self.starts: list[StartTimes] = [() for _ in lanes]
        self.turns = [0] * len(lanes)
        self.served_by = [
            [lane for lane, (serving, _) in enumerate(lanes) if pool in serving] for pool in range(len(pools))
        ]
        # Runs that are queued since the last look: in full, and just their schedules'.
        self.fresh: list[SimulatedRun] = []
        self.begun: list[int] = []
        self.freed = False
        # Where one pool serves all, most begin without standing in line.
        alone = len(lanes) == 1 and len(self.serving[0]) == 1 and not any(self.rates)
        self.only_pool = self.serving[0][0] if alone else None
        queues = sorted({each.queue for each in self.definitions if each is not None})
        numbers = {queue: number for number, queue in enumerate(queues)}
        self.queue = [0 if each is None else numbers[each.queue] for each in self.definitions]
        self.tally.queues(queues)

    def _new(self, place: int, due: int, start_by: int | None, status: Status, origin: Origin) -> SimulatedRun:
        self.ids += 1
        run = SimulatedRun(self.ids, place, due, start_by, status, origin)
        self.live[place].append(run)
        key = self.keys[place]
        if status == "waiting":
            self.waiting[place] += 1
            if key is not None:
                self.waiting_for[key].add(place)
        elif key is not None:
            self.room[key] -= 1
        return run

    def _add(
        self, place: int, due: int, origin: Origin, status: Status, awaits: Sequence[DependencyWait] = ()
    ) -> SimulatedRun:
        """A run of a tick; where its key has no room, it waits."""
        key, limit = self.keys[place], self.too_late[place]
        if key is not None and status == "queued" and self.room[key] <= 0:
            status = "waiting"
        run = self._new(place, due, None if limit is None else due + limit, status, origin)
        self.runs_planned[place] += 1
        if status == "queued":
            self.fresh.append(run)
            return run
        if awaits:
            run.awaits = list(awaits)
            for each in awaits:
                self.watched[each.schedule_id - 1].append(run)
                self._push_run(each.deadline_at * MICROS + 1, TOO_LATE, run)
        if run.start_by is not None:
            self._push_run(run.start_by * MICROS + 1, TOO_LATE, run)
        return run

    def _start_runs(self, now: int) -> None:
        """Let runs begin as slots are free: by priority, then the oldest."""
        fresh, begun, pool = self.fresh, self.begun, self.only_pool
        if self.down_until or not (begun or fresh or self.freed):
            return
        self.freed = False
        if pool is not None and not fresh and not self.in_line and self.free[pool] >= len(begun):
            self.free[pool] -= len(begun)
            ends, running, lengths = self.ends, self.running, self.lengths
            base = now << self.shift | pool << self.bits
            for place in begun:
                running[place] += 1
                heappush(ends, base + lengths[place])
            self.tally.began(begun, self.queue, now)
            begun.clear()
            return
        for place in begun:
            self.runs_planned[place] -= 1
            self._add(place, now // MICROS, "schedule", "queued")
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
        """The run of these lanes that is next, taken out."""
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
        place = run.index
        run.tries += 1
        run.status, run.pool = "running", pool
        self.tally.started(place, self.queue[place], now, run.due, anew=run.tries > 1)
        if self.nameless[place]:
            self.live[place].remove(run)
            self.running[place] += 1
            heappush(self.ends, (now << self.shift | pool << self.bits) + self.lengths[place])
            return
        heappush(self.events, (now + self.stage.durations[place], END, run.id, run, run.tries))

    def _end(self, run: SimulatedRun, now: int, *, succeeded: bool) -> None:
        """A run is final; whoever waited for its place goes."""
        place, key, status = run.index, self.keys[run.index], run.status
        run.over = True
        self._leave_line(run)
        self.live[place].remove(run)
        if status == "running":
            self.tally.ended(self.queue[place], now)
            self.free[run.pool] += 1
            self.freed = True
        elif status == "waiting":
            self.waiting[place] -= 1
        if key is not None and status != "waiting":
            self.room[key] += 1
        if succeeded:
            self.last_success[place] = now // MICROS
            if place in self.watched:
                self._succeeded(place, now)
        if self.waiting[place] or (key is not None and self.waiting_for[key]):
            self._release({place}, key, now)

    def _succeeded(self, place: int, now: int) -> None:
        """Runs that waited for this schedule wait for it no more."""
        for run in self.watched.pop(place):
            if run.over:
                continue
            met = [each for each in run.awaits if each.schedule_id - 1 == place and _is_met(each, now)]
            if not met:
                self.watched[place].append(run)
                continue
            run.awaits = [each for each in run.awaits if each not in met]
            if not run.awaits:
                self._release({run.index}, None, now)

    def _release(self, places: Collection[int], key: str | None, now: int) -> None:
        """Queue the next waiters of a schedule and of a key, as far as there is room for them."""
        found = set(places)
        if key is not None and self.room[key] > 0:
            waiting = {place for place in self.waiting_for[key] if self.waiting[place]}
            self.waiting_for[key] = waiting
            found |= waiting
        waiters, runs, busy = [], {}, {}
        for place in found:
            definition = self.definitions[place]
            assert definition is not None
            busy[place] = self.running[place] + sum(run.status != "waiting" for run in self.live[place])
            own = self.keys[place]
            for run in self.live[place]:
                if run.status == "waiting" and not run.awaits:
                    runs[run.id] = run
                    name = None if own is None else ("", own)
                    waiters.append(WaitingRun(run.id, place, definition.priority, definition.max_running, name))
        for run_id in pick_releasable(waiters, busy, {("", name): left for name, left in self.room.items()}):
            run = runs[run_id]
            run.status = "queued"
            run.available = max(run.available, now)
            self.waiting[run.index] -= 1
            if (own := self.keys[run.index]) is not None:
                self.room[own] -= 1
            self.fresh.append(run)

    def _give_up(self, run: SimulatedRun, now: int) -> None:
        """Too late to start, or to wait any longer for another schedule."""
        if run.over or run.status == "running":
            return
        if run.start_by is not None and run.start_by * MICROS < now:
            self.tally.cancel(run.index, "misfire")
        elif any(each.deadline_at * MICROS < now for each in run.awaits):
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
