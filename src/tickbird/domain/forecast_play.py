"""Playing a stretch of time ahead: ticks come due, runs wait for slots, take their time, end, and release others.

What becomes of a tick is the planner's to decide. Nearly all are on time, with nothing moved, skipped or depended on:
those are decided here by the same few rules, since a month has millions of them; all others go through `plan`. Instants
are whole microseconds since the epoch; at one instant runs end first, then those too late to start go, then ticks are
decided, then runs start. A run that a newer one replaces ends at once; every other one ends well, after its duration.

Of a run that begins nothing is kept but its end, as one number, unless somebody may have to find it again: where a
newer one may replace it, others wait for its success, or a key has to be given back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Final

from tickbird.domain.definition import Definition
from tickbird.domain.dependencies import Await, LastSuccess
from tickbird.domain.forecast_tally import Tally
from tickbird.domain.limits import DEFAULT_LIMIT, Waiter, choose
from tickbird.domain.lines import MINUTE, line_up
from tickbird.domain.planner import ActiveRun, Facts, Plan, PlannedRun, at_plan, park, plan
from tickbird.domain.rates import Rate, Starts
from tickbird.domain.runs import Origin, Status
from tickbird.domain.schedule import Schedule

MICROS: Final = 1_000_000
# About so many ticks are laid out at a time, so that a month of them need not be kept.
_LAID_OUT: Final = 200_000
_NEVER: Final = 2**62
_MANY: Final = 2**31
# What happens, in the order in which it does at one instant.
_END, _TOO_LATE, _DOWN, _UP, _LOOK, _TURN = range(6)


@dataclass(frozen=True, slots=True)
class Pool:
    """Slots that serve the same: None stands for any number of slots, every queue, every task."""

    slots: int | None = None
    queues: frozenset[str] | None = None
    tasks: frozenset[str] | None = None

    def serves(self, definition: Definition) -> bool:
        """May runs of this definition begin here?"""
        target = definition.target
        if self.queues is not None and definition.queue not in self.queues:
            return False
        return self.tasks is None or target.kind != "task" or target.name in self.tasks


@dataclass(frozen=True, slots=True)
class Going:
    """A run that is not final when the stretch begins: of which schedule, how it stands, and since when it runs."""

    schedule: str
    status: Status
    origin: Origin
    due_at: int
    started_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """All that is known beforehand; `durations` are in microseconds, one for each schedule, other instants seconds."""

    schedules: Sequence[Schedule]
    durations: Sequence[int]
    start: int
    end: int
    pools: Sequence[Pool] = (Pool(),)
    limits: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, Rate] = field(default_factory=dict)
    successes: Mapping[str, int] = field(default_factory=dict)
    going: Sequence[Going] = ()
    # In order and apart: nothing plans, starts or ends from the first instant to before the second.
    outages: Sequence[tuple[int, int]] = ()


class Run:
    """A run that is not final, and has not begun or must be found again."""

    __slots__ = (
        "available",
        "awaits",
        "due",
        "id",
        "in_line",
        "origin",
        "over",
        "place",
        "pool",
        "start_by",
        "status",
        "tries",
    )

    def __init__(self, run_id: int, place: int, due: int, start_by: int | None, status: Status, origin: Origin) -> None:
        self.id = run_id
        self.place = place
        self.due = due
        self.start_by = start_by
        self.status = status
        self.origin = origin
        self.available = due * MICROS
        self.awaits: Sequence[Await] = ()
        self.over = False
        self.in_line = False
        self.pool = 0
        # How often it began; an end counts only if it is that of the last time.
        self.tries = 0


class Player:
    """Plays a stage once; what happens is counted by its tally."""

    def __init__(self, stage: Stage, tally: type[Tally] = Tally, *, long_way: bool = False) -> None:
        self.stage = stage
        self.start, self.end = stage.start * MICROS, stage.end * MICROS
        self.schedules = [replace(each, id=place) for place, each in enumerate(stage.schedules, 1)]
        self.definitions = [each.definition for each in self.schedules]
        self.by_name = {each.name: place for place, each in enumerate(self.schedules)}
        self.offsets = [0 if each.definition is None else each.offset for each in self.schedules]
        many = len(self.schedules)
        self.tally = tally(stage.start, stage.end, many)
        # The last tick that is decided of each; of what rests, all are.
        self.reached = [_NEVER if each.definition is None else -_NEVER for each in self.schedules]
        self.made = [each.cursor.runs_planned for each in self.schedules]
        self.live: list[list[Run]] = [[] for _ in range(many)]
        # How many run besides of which nothing is kept but their ends: instant, pool and place in one number.
        self.running = [0] * many
        self.ends: list[int] = []
        self.waiting = [0] * many
        self.lines = [0] * many
        self.last_success: list[int | None] = [stage.successes.get(each.name) for each in self.schedules]
        self.watched: defaultdict[int, list[Run]] = defaultdict(list)
        self.keys = [None if each is None else each.key() for each in self.definitions]
        self.room: dict[str, int] = {key: stage.limits.get(key, DEFAULT_LIMIT) for key in self.keys if key is not None}
        self.waiting_for: defaultdict[str, set[int]] = defaultdict(set)
        # When, what, which (no two are the same), about whom, and for a run: how often it had begun.
        self.events: list[tuple[int, int, int, Run | int, int]] = []
        self.ids = 0
        self.down_until = 0
        self.missed: set[int] = set()
        self.lost: list[Run] = []
        self.in_line = 0
        self.held: set[int] = set()
        self._rules(long_way)
        self._lanes()

    def _rules(self, long_way: bool) -> None:
        """How the ticks of each schedule are decided when they are on time; 0: by `plan` alone."""
        codes = {"allow": 1, "skip": 2, "queue": 3, "replace": 4}
        self.rule = [0] * len(self.schedules)
        self.most = [_MANY] * len(self.schedules)
        self.crowd = [_MANY] * len(self.schedules)
        for place, definition in enumerate(self.definitions):
            if definition is None:
                continue
            self.crowd[place] = definition.max_concurrent
            if definition.overlap != "allow":
                self.most[place] = definition.max_concurrent
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
        self.limit = [_MANY if each is None or each.max_runs is None else each.max_runs for each in self.definitions]
        self.too_late = [None if each is None else each.start_limit for each in self.definitions]

    def _lanes(self) -> None:
        """Runs that the same pools serve stand in one lane, those of a queue with a rate in one of its own."""
        pools = self.stage.pools
        # And one that nobody serves from, for runs that began before in slots that are no more.
        self.free = [*(_MANY if each.slots is None else each.slots for each in pools), 0]
        lanes: dict[tuple[tuple[int, ...], str | None], int] = {}
        self.lane = [0] * len(self.schedules)
        for place, definition in enumerate(self.definitions):
            if definition is not None:
                serving = tuple(number for number, pool in enumerate(pools) if pool.serves(definition))
                paced = definition.queue if definition.queue in self.stage.rates else None
                self.lane[place] = lanes.setdefault((serving, paced), len(lanes))
        self.lines_up: list[list[tuple[int, int, int, Run]]] = [[] for _ in lanes]
        self.serving = [serving for serving, _ in lanes]
        self.rates = [None if paced is None else self.stage.rates[paced] for _, paced in lanes]
        self.starts: list[Starts] = [() for _ in lanes]
        self.turns = [0] * len(lanes)
        self.served_by = [
            [lane for lane, (serving, _) in enumerate(lanes) if pool in serving] for pool in range(len(pools))
        ]
        # Runs that are queued since the last look: in full, and just their schedules'.
        self.fresh: list[Run] = []
        self.begun: list[int] = []
        self.freed = False
        # Where one pool serves all, most begin without standing in line.
        alone = len(lanes) == 1 and len(self.serving[0]) == 1 and not any(self.rates)
        self.only_pool = self.serving[0][0] if alone else None
        queues = sorted({each.queue for each in self.definitions if each is not None})
        numbers = {queue: number for number, queue in enumerate(queues)}
        self.queue = [0 if each is None else numbers[each.queue] for each in self.definitions]
        self.tally.queues(queues)

    # The stretch

    def play(self, counted: Callable[[int, int], None] | None = None, total: int = 0) -> Tally:
        """From the first instant to the last; `counted` is told of how many ticks of all, from time to time."""
        for start, end in self.stage.outages:
            self._push(start * MICROS, _DOWN, end)
            self._push(end * MICROS, _UP, 0)
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
                counted(self.tally.seen, total)
        self.tally.close()
        self.tally.left_over = sum(run.status != "running" for runs in self.live for run in runs)
        return self.tally

    def _set_off(self) -> None:
        """The schedules as they stand when the stretch begins."""
        self.special: set[int] = set()
        for place, schedule in enumerate(self.schedules):
            if schedule.definition is None or schedule.state not in ("active", "paused"):
                self.reached[place] = _NEVER
                continue
            if schedule.cursor.planned_until is not None:
                self.reached[place] = schedule.cursor.planned_until
            if not self._is_ordinary(schedule):
                self.special.add(place)
        for each in self.stage.going:
            found = self.by_name.get(each.schedule)
            if found is not None and self.reached[found] != _NEVER:
                self._take_over(found, each)

    def _take_over(self, place: int, going: Going) -> None:
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
            self._push_run(self.start + max(1, self.stage.durations[place] - elapsed), _END, run)

    def _begin(self) -> None:
        """What is late already, or was never planned, is decided at once."""
        now = self.start
        for place, schedule in enumerate(self.schedules):
            if self.reached[place] == _NEVER:
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
            if definition is None or self.reached[place] == _NEVER or place in self.special:
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
                ticks = shared[key] = list(_ticks(definition, after, last))
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
        rule, most, crowd, nameless = self.rule, self.most, self.crowd, self.nameless
        not_all, limit, made, lines = self.not_all, self.limit, self.made, self.lines
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
                seen += reached[place] != _NEVER
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
                if active >= most[place]:
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

    def _happen(self, event: tuple[int, int, int, Run | int, int]) -> None:
        now, kind, _, what, tries = event
        if kind == _END:
            assert isinstance(what, Run)
            # Not if it was replaced or lost meanwhile.
            if not what.over and what.tries == tries and what.status == "running" and not self.down_until:
                self._end(what, now, succeeded=True)
        elif kind == _TOO_LATE:
            assert isinstance(what, Run)
            if not self.down_until:
                self._give_up(what, now)
        elif kind == _DOWN:
            assert isinstance(what, int)
            self._go_down(what, now)
        elif kind == _UP:
            self._come_back(now)
        elif kind == _LOOK:
            assert isinstance(what, int)
            if self.down_until:
                self.missed.add(what)
            elif what in self.special and (self.schedules[what].cursor.next_run_at or _NEVER) * MICROS <= now:
                self._plan(what, now)
        else:
            self.freed = True

    # Runs

    def _new(self, place: int, due: int, start_by: int | None, status: Status, origin: Origin) -> Run:
        self.ids += 1
        run = Run(self.ids, place, due, start_by, status, origin)
        self.live[place].append(run)
        key = self.keys[place]
        if status == "waiting":
            self.waiting[place] += 1
            if key is not None:
                self.waiting_for[key].add(place)
        elif key is not None:
            self.room[key] -= 1
        return run

    def _add(self, place: int, due: int, origin: Origin, status: Status, awaits: Sequence[Await] = ()) -> Run:
        """A run of a tick; where its key has no room, it waits."""
        key, limit = self.keys[place], self.too_late[place]
        if key is not None and status == "queued" and self.room[key] <= 0:
            status = "waiting"
        run = self._new(place, due, None if limit is None else due + limit, status, origin)
        self.made[place] += 1
        if status == "queued":
            self.fresh.append(run)
            return run
        if awaits:
            run.awaits = list(awaits)
            for each in awaits:
                self.watched[each.schedule_id - 1].append(run)
                self._push_run(each.until * MICROS + 1, _TOO_LATE, run)
        if run.start_by is not None:
            self._push_run(run.start_by * MICROS + 1, _TOO_LATE, run)
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
            self.made[place] -= 1
            self._add(place, now // MICROS, "schedule", "queued")
        begun.clear()
        for run in fresh:
            self._line_up(run)
        fresh.clear()
        for number, lanes in enumerate(self.served_by):
            while self.free[number] > 0 and self.in_line and (first := self._first(lanes, now)) is not None:
                self.free[number] -= 1
                self._start(first, now, number)
        if self.in_line > self.tally.longest:
            self.tally.line(self.in_line, now)

    def _line_up(self, run: Run) -> None:
        definition = self.definitions[run.place]
        assert definition is not None
        heappush(self.lines_up[self.lane[run.place]], (-definition.priority, run.available, run.id, run))
        run.in_line = True
        self.in_line += 1
        if run.start_by is not None:
            self._push_run(run.start_by * MICROS + 1, _TOO_LATE, run)

    def _first(self, lanes: Sequence[int], now: int) -> Run | None:
        """The run of these lanes that is next, taken out."""
        best = None
        for lane in lanes:
            line = self.lines_up[lane]
            while line and (line[0][3].over or line[0][3].status != "queued"):
                heappop(line)
            if not line or (best is not None and line[0] > self.lines_up[best][0]):
                continue
            rate = self.rates[lane]
            if rate is not None and rate.left(self.starts[lane], now) <= 0:
                turn = rate.next_at(self.starts[lane], now)
                if self.turns[lane] != turn:
                    self.turns[lane] = turn
                    self._push(turn, _TURN, 0)
                continue
            best = lane
        if best is None:
            return None
        rate = self.rates[best]
        if rate is not None:
            self.starts[best] = rate.add(self.starts[best], now, 1)
        run = heappop(self.lines_up[best])[3]
        self._leave_line(run)
        return run

    def _leave_line(self, run: Run) -> None:
        self.in_line -= run.in_line
        run.in_line = False

    def _start(self, run: Run, now: int, pool: int) -> None:
        place = run.place
        run.tries += 1
        run.status, run.pool = "running", pool
        self.tally.started(place, self.queue[place], now, run.due, anew=run.tries > 1)
        if self.nameless[place]:
            self.live[place].remove(run)
            self.running[place] += 1
            heappush(self.ends, (now << self.shift | pool << self.bits) + self.lengths[place])
            return
        heappush(self.events, (now + self.stage.durations[place], _END, run.id, run, run.tries))

    def _end(self, run: Run, now: int, *, succeeded: bool) -> None:
        """A run is final; whoever waited for its place goes."""
        place, key, status = run.place, self.keys[run.place], run.status
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
                self._release({run.place}, None, now)

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
                    waiters.append(Waiter(run.id, place, definition.priority, definition.most_at_once, name))
        for run_id in choose(waiters, busy, {("", name): left for name, left in self.room.items()}):
            run = runs[run_id]
            run.status = "queued"
            run.available = max(run.available, now)
            self.waiting[run.place] -= 1
            if (own := self.keys[run.place]) is not None:
                self.room[own] -= 1
            self.fresh.append(run)

    def _give_up(self, run: Run, now: int) -> None:
        """Too late to start, or to wait any longer for another schedule."""
        if run.over or run.status == "running":
            return
        if run.start_by is not None and run.start_by * MICROS < now:
            self.tally.cancel(run.place, "misfire")
        elif any(each.until * MICROS < now for each in run.awaits):
            self.tally.cancel(run.place, "dependency")
        else:
            return
        self._end(run, now, succeeded=False)

    def _go_down(self, until: int, now: int) -> None:
        """An outage begins: whatever runs is lost."""
        self.down_until = until
        for entry in self.ends:
            run = self._new(entry & (1 << self.bits) - 1, 0, None, "running", "schedule")
            run.pool, run.tries = entry >> self.bits & (1 << self.shift - self.bits) - 1, 1
            self.running[run.place] -= 1
        self.ends.clear()
        self.lost = [run for live in self.live for run in live if run.status == "running"]
        for run in self.lost:
            self.tally.ended(self.queue[run.place], now)
            self.free[run.pool] += 1

    def _come_back(self, now: int) -> None:
        """After an outage: lost runs begin anew or fail, others may be too late, what was missed is planned."""
        self.down_until = 0
        for run in self.lost:
            definition = self.definitions[run.place]
            assert definition is not None
            self.tally.lost += 1
            # It has begun once, so that it cannot be too late for that.
            run.status, run.available, run.start_by = "queued", now, None
            if run.tries > definition.crash_limit:
                self.tally.cancel(run.place, "lost")
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

    # The long way

    def _plan(self, place: int, now: int, *, ordinary: bool = False) -> None:
        """Let the planner decide all that is due of a schedule; `ordinary`: its ticks are counted already."""
        while True:
            schedule = self._as_it_stands(place)
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
            self._push(look * MICROS, _LOOK, place)

    def _as_it_stands(self, place: int) -> Schedule:
        schedule, reached = self.schedules[place], self.reached[place]
        until = None if reached == -_NEVER else reached
        return replace(schedule, cursor=replace(schedule.cursor, planned_until=until, runs_planned=self.made[place]))

    def _facts(self, place: int, schedule: Schedule) -> Facts:
        definition = schedule.definition
        assert definition is not None
        nameless = [ActiveRun(_MANY + number, "running", "schedule") for number in range(self.running[place])]
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
        self.schedules[place] = at_plan(schedule, decided)
        if decided.state in ("ended", "parked"):
            self.reached[place] = _NEVER
        for skip in decided.skips:
            # What came due before the stretch is not counted in it.
            first = max(skip.first, self.stage.start - self.offsets[place])
            number = skip.count if first == skip.first else schedule.grid.count(first - 1, skip.last)
            tally.skip(place, skip.reason, number)
            if not ordinary:
                tick = schedule.grid.next(first - 1)
                while tick is not None and tick <= skip.last:
                    tally.ticks(tick + self.offsets[place], 1)
                    tick = schedule.grid.next(tick)
        numbers = {run.id: run for run in self.live[place]}
        for made, behind in zip(decided.runs, self._behind(place, decided.runs, now), strict=True):
            assert made.due_at is not None
            if not ordinary:
                tally.ticks(made.due_at, 1)
            if made.held:
                self.held.add(place)
                self.made[place] += 1
                tally.held += 1
                continue
            run = self._add(place, made.due_at, made.origin, made.status, made.awaits)
            run.available = max(run.available, behind)
        for run_id in (*decided.cancel, *decided.stop):
            tally.cancel(place, "replaced")
            self._end(numbers[run_id], now, succeeded=False)
        if decided.cancel:
            self.fresh[:] = [run for run in self.fresh if not run.over]

    def _behind(self, place: int, runs: Sequence[PlannedRun], now: int) -> Iterator[int]:
        """Until when the runs that one look makes stand behind the line of their queue."""
        definition = self.definitions[place]
        assert definition is not None
        if definition.overlap != "allow" or not runs:
            yield from (0 for _ in runs)
            return
        minute = now // MICROS // MINUTE
        queued = [run for run in runs if run.status == "queued"]
        behind, self.lines[place] = line_up(self.lines[place], minute, (run.origin == "schedule" for run in queued))
        if self.lines[place] <= minute:
            self.lines[place] = 0
        ends = iter(behind)
        yield from (next(ends) * MINUTE * MICROS if run.status == "queued" else 0 for run in runs)

    def _push(self, at: int, kind: int, what: int) -> None:
        heappush(self.events, (at, kind, self._order(), what, 0))

    def _push_run(self, at: int, kind: int, run: Run) -> None:
        heappush(self.events, (at, kind, self._order(), run, run.tries))

    def _order(self) -> int:
        self.ids += 1
        return self.ids


def _ticks(definition: Definition, after: int, until: int) -> Iterator[int]:
    """The ticks of (after, until]."""
    step = definition.grid.next
    tick = step(after)
    while tick is not None and tick <= until:
        yield tick
        tick = step(tick)


def _is_met(awaited: Await, now: int) -> bool:
    return awaited.since * MICROS <= now <= awaited.until * MICROS
