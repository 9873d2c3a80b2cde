"""The planner against a naive model that walks every tick of random histories, one by one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import floor
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip
from tickbird.domain.planning.plan import ActiveRun, Facts, Plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.dependencies import After, LastSuccess
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.every import every

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Half an hour before a Saturday, so that calendars matter for small steps too.
START = int((datetime(2026, 1, 2, 23, 30, tzinfo=UTC) - EPOCH).total_seconds())
MAX_TICKS = 700
# Schedules that exist; there is no third one.
OTHERS = ("load", "clean")


@dataclass(frozen=True)
class Told:
    """What was decided for one tick: that it is skipped, due at another instant, or has a payload of its own."""

    skip: bool = False
    due: int | None = None
    payload: bool = False


@dataclass
class Run:
    """A run that is not final, or was."""

    id: int
    tick: int | None
    status: str
    # By schedule, from when to when it must succeed before this one may start.
    awaits: dict[str, tuple[int, int]] = field(default_factory=dict)
    # Running ones that it asks to stop.
    asks: set[int] = field(default_factory=set)


@dataclass
class Model:
    """One schedule, with every tick in a list and every decision in a dictionary."""

    definition: Definition
    ticks: list[int]
    offset: int
    decided: int
    state: str = "active"
    until: int | None = None
    told: dict[int, Told] = field(default_factory=dict)
    skip_until: int | None = None
    made: int = 0
    next_id: int = 1
    runs: list[Run] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    # When other schedules last succeeded.
    successes: dict[str, float | None] = field(default_factory=lambda: dict.fromkeys(OTHERS))
    # In one look: late ticks with a payload of their own that get a run of their own, and the other late ones.
    alone: list[int] = field(default_factory=list)
    others: list[int] = field(default_factory=list)
    fates: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def active(self) -> list[Run]:
        return [run for run in self.runs if run.status in ("waiting", "queued", "running")]

    @property
    def ticking(self) -> list[Run]:
        return [run for run in self.active if run.tick is not None]

    def due(self, tick: int) -> int:
        told = self.told.get(tick)
        return tick + self.offset if told is None or told.due is None else told.due

    def skips(self, tick: int) -> bool:
        told = self.told.get(tick)
        return told.skip if told is not None else self.skip_until is not None and tick <= self.skip_until

    def to_run(self) -> list[int]:
        return [tick for tick in self.open_ticks() if not self.skips(tick)]

    def coming(self, now: float) -> dict[int, str]:
        """What can be decided by now, in order; a tick that is to be skipped may wait for the one behind it."""
        found: dict[int, str] = {}
        early: list[int] = []
        passed = self.decided
        for tick in self.open_ticks():
            told = self.told.get(tick)
            if tick <= passed:
                found[tick] = "rescheduled"
            elif told is not None and told.due is not None:
                if told.due > now:
                    break
                found |= dict.fromkeys(early, "operator")
                found[tick] = ""
                early, passed = [], told.due - self.offset
            elif self.skips(tick):
                if tick + self.offset <= now:
                    found[tick] = "operator"
                else:
                    early.append(tick)
            elif tick + self.offset > now:
                break
            else:
                found[tick] = ""
        return found

    def in_order(self, told: dict[int, Told]) -> bool:
        """Is nothing told of a tick that is passed over, and nothing moved before the tick before it?"""
        trial = replace(self, told=told)

        def passing(tick: int) -> list[int]:
            return [each.due for t, each in told.items() if each.due is not None and t < tick <= each.due - self.offset]

        for tick, each in told.items():
            before = [other for other in trial.to_run() if other < tick]
            decided_at = [min(passing(other), default=trial.due(other)) for other in before[-1:]]
            if passing(tick) or (each.due is not None and any(at > each.due for at in decided_at)):
                return False
        return True

    def open_ticks(self) -> list[int]:
        return [tick for tick in self.ticks if tick > self.decided]

    def excluded(self, tick: int) -> bool:
        day = (EPOCH + timedelta(seconds=tick)).date()
        return day in self.definition.exclude.dates or day.weekday() in self.definition.exclude.weekdays

    @property
    def used_up(self) -> bool:
        return self.definition.max_runs is not None and self.made >= self.definition.max_runs

    def wait_time(self, policy: str) -> int | None:
        if policy == "grace":
            return self.definition.grace
        if self.definition.start_within is not None:
            return self.definition.start_within
        return self.definition.grace if self.definition.catch_up == "skip" else None

    def pass_over(self, reason: str, until: int) -> None:
        """Every tick that was due by then is skipped for this reason."""
        waiting = [self.decided]
        for tick in self.coming(until):
            self.fates[tick] = ("skip", reason, ANY)
            waiting.append(tick)
        moved = [tick for tick, told in self.told.items() if told.due is not None and told.due > until]
        reached = max(*waiting, until - self.offset)
        self.settle(min([reached, *(tick - 1 for tick in moved if tick > waiting[-1])]))

    def settle(self, decided: int) -> None:
        self.decided = max(self.decided, decided)
        self.told = {tick: told for tick, told in self.told.items() if tick > self.decided}
        if self.skip_until is not None and self.skip_until <= self.decided:
            self.skip_until = None
        if self.state == "active" and (self.used_up or not self.open_ticks()):
            self.state = "ended"

    def next_wakeup(self) -> int | None:
        if self.state == "paused":
            return self.until
        if self.state == "ended":
            return None
        first, following = self.open_ticks()[0], self.to_run()[:1]
        return min([*([first + self.offset] if self.skips(first) else []), *map(self.due, following)])

    def look(self, now: float) -> None:
        self.asked = set()
        if self.state == "paused":
            if self.until is None or self.until > now:
                return
            until, self.state, self.until = self.until, "active", None
            self.pass_over("paused", until - 1)
        if self.state == "active":
            self.decide(now)

    def decide(self, now: float) -> None:
        """Give each due tick its kind, oldest first, then a run or a skip by the policies."""
        kinds: dict[int, str] = {}
        order, minimum = ("misfire", "late", "on_time"), 0
        for tick, kind in self.coming(now).items():
            kinds[tick] = kind or self.kind(tick, now)
            if kinds[tick] in order:
                # Nothing is later than what is decided before it.
                minimum = max(minimum, order.index(kinds[tick]))
                kinds[tick] = order[minimum]
        late = [tick for tick, kind in kinds.items() if kind == "late"]
        before, blocker, last = len(self.runs), self.blocker(), self.decided
        self.alone = self.apart(late, blocker)
        self.others = [tick for tick in late if tick not in self.alone]
        for tick, kind in kinds.items():
            if not self.settle_one(tick, kind, late, blocker, now):
                break
            last = tick
        self.forget_replaced(late, before)
        self.settle(last)

    def apart(self, late: list[int], blocker: int | None) -> list[int]:
        """Late ticks with a payload of their own, unless one run replaces another or there is too little room."""
        policy, maximum = self.definition, self.definition.max_runs
        if policy.catch_up not in ("one", "latest") or policy.overlap == "replace" or blocker is not None:
            return []
        own = [tick for tick in late if tick in self.told and self.told[tick].payload]
        room = len(late) if maximum is None else maximum - self.made
        return own if len(own) + (len(own) < len(late)) <= room else []

    def settle_one(self, tick: int, kind: str, late: list[int], blocker: int | None, now: float) -> bool:
        """A run or a skip for this tick; False when it needs a run and no further one may be made."""
        catch_up = self.definition.catch_up
        others = self.others
        label = None if not others else others[0] if catch_up == "one" else others[-1]
        if kind in ("operator", "rescheduled", "calendar", "shadow", "misfire", "dependency"):
            self.fates[tick] = ("skip", kind, ANY)
        elif kind == "late" and catch_up == "skip":
            self.fates[tick] = ("skip", "misfire", None)
        elif kind == "late" and catch_up == "all" and tick not in late[-self.definition.catch_up_limit :]:
            self.fates[tick] = ("skip", "limit", None)
        elif kind == "late" and catch_up != "all" and blocker is not None:
            self.fates[tick] = ("skip", "overlap", blocker)
        elif kind == "late" and catch_up != "all" and tick != label and tick not in self.alone:
            if self.used_up and catch_up == "latest":
                return False
            # The place of its run among those of the look.
            made = [other for other in late if other == label or other in self.alone]
            done = [other for other in made if other < tick]
            self.fates[tick] = ("skip", "coalesced", self.next_id - len(done) + made.index(label or 0))
        elif kind == "on_time" and (behind := self.blocker()) is not None:
            self.fates[tick] = ("skip", "overlap", behind)
        elif self.used_up:
            return False
        else:
            covered = kind == "late" and catch_up != "all" and tick == label and len(others) > 1
            covers = (others[0], others[-1], len(others)) if covered else None
            self.run(tick, "catch_up" if kind == "late" else "schedule", covers, now)
        return True

    def forget_replaced(self, late: list[int], before: int) -> None:
        """A run that a later one of the same look replaced is never made: its tick is skipped."""
        fresh, self.runs = self.runs[before:], self.runs[:before]
        for run in fresh:
            assert run.tick is not None
            if run.status == "cancelled":
                self.made -= 1
                for tick in late if run.tick in late else [run.tick]:
                    self.fates[tick] = ("skip", "overlap", ANY)
        self.runs += [run for run in fresh if run.status != "cancelled"]
        self.next_id -= len(fresh)
        for run in self.runs[before:]:
            run.id = self.next_id
            self.next_id += 1
            self.asked |= run.asks

    def kind(self, tick: int, now: float) -> str:
        told = self.told.get(tick)
        if (told is None or told.due is None) and self.excluded(tick):
            return "calendar"
        if self.definition.shadow:
            return "shadow"
        since = now - self.due(tick)
        limit = self.wait_time("start")
        if limit is not None and since > limit:
            return "misfire"
        kind = "late" if since > self.definition.grace else "on_time"
        if kind == "late" and self.definition.catch_up == "skip":
            return kind
        return "dependency" if self.awaits(tick, now) is None else kind

    def awaits(self, tick: int, now: float) -> dict[str, tuple[int, int]] | None:
        """What the tick must wait for; None where that would be in vain."""
        found: dict[str, tuple[int, int]] = {}
        for each in self.definition.depends_on:
            since, until = self.due(tick) - each.within, self.due(tick) + each.wait
            last = self.successes.get(each.schedule)
            if last is not None and last >= since:
                continue
            if each.schedule not in self.successes or not each.wait or now > until:
                return None
            found[each.schedule] = since, until
        return found

    def succeed(self, name: str, now: float) -> None:
        self.successes[name] = now
        for run in self.active:
            since, until = run.awaits.get(name, (0, -1))
            if since <= now <= until:
                del run.awaits[name]

    def expire(self, now: float) -> None:
        for run in self.active:
            if any(until < now for _, until in run.awaits.values()):
                run.status = "cancelled"

    def blocker(self) -> int | None:
        ticking = self.ticking
        if len(ticking) < self.definition.max_concurrent or self.definition.overlap in ("allow", "replace"):
            return None
        if self.definition.overlap == "skip":
            return ticking[0].id
        return next((run.id for run in ticking if run.status == "waiting"), None)

    def run(self, tick: int, origin: str, covers: tuple[int, int, int] | None, now: float) -> None:
        awaits, asks = self.awaits(tick, now) or {}, set()
        overlap, maximum = self.definition.overlap, self.definition.max_concurrent
        in_order = origin == "catch_up" and self.definition.catch_up == "all"
        if overlap == "replace" and not in_order and len(self.ticking) >= maximum:
            for run in self.ticking:
                if run.status in ("waiting", "queued"):
                    run.status = "cancelled"
            for run in self.ticking[: max(0, len(self.ticking) + 1 - maximum)] if not awaits else ():
                asks.add(run.id)
        going = [run for run in self.active if not run.awaits]
        waits = bool(awaits) or (overlap != "allow" and len(going) >= maximum)
        limit = self.wait_time("start")
        start_by = None if limit is None else self.due(tick) + limit
        made = Run(self.next_id, tick, "waiting" if waits else "queued", awaits, asks)
        told = {(OTHERS.index(name), *between) for name, between in awaits.items()}
        own = tick in self.told and self.told[tick].payload
        self.fates[tick] = ("run", origin, made.status, self.due(tick), start_by, told, own, covers)
        self.runs.append(made)
        self.next_id += 1
        self.made += 1


ANY = object()


def fates_of(made: Plan, ticks: list[int], next_id: int) -> dict[int, tuple[Any, ...]]:
    """What a plan says of each tick; a tick that it names twice, or a count that is wrong, is an error."""
    fates: dict[int, tuple[Any, ...]] = {}
    for run in made.runs:
        assert run.scheduled_for in ticks
        assert run.scheduled_for not in fates
        awaits = {(each.schedule_id, each.since, each.until) for each in run.awaits}
        own = run.payload is not None
        assert own == (run.override is not None and run.override.payload is not None)
        fates[run.scheduled_for] = ("run", run.origin, run.status, run.due_at, run.start_by, awaits, own, run.covers)
    for skip in made.skips:
        inside = [tick for tick in ticks if skip.first <= tick <= skip.last]
        assert (skip.first, skip.last, skip.count) == (inside[0], inside[-1], len(inside))
        assert not fates.keys() & set(inside)
        behind = skip.run_id if skip.under is None else next_id + skip.under
        assert skip.under is None or skip.under < len(made.runs)
        fates |= dict.fromkeys(inside, ("skip", skip.reason, behind))
    return fates


def agree(planned: dict[int, tuple[Any, ...]], expected: dict[int, tuple[Any, ...]]) -> None:
    """The same ticks with the same fates."""
    shown = {tick: fate[:-1] if expected.get(tick, fate)[-1] is ANY else fate for tick, fate in planned.items()}
    assert shown == {tick: fate[:-1] if fate[-1] is ANY else fate for tick, fate in expected.items()}


@st.composite
def definitions(draw: st.DrawFn) -> tuple[Definition, list[int]]:
    """A definition, and all its ticks, by adding the step."""
    step = draw(st.sampled_from([1, 2, 7, 30, 60, 3600, 43_200]))
    anchor = START + draw(st.integers(0, step - 1))
    ticks = [anchor + number * step for number in range(-2, MAX_TICKS)]
    overlap = draw(st.sampled_from(["skip", "queue", "replace", "allow"]))
    policies: dict[str, Any] = {
        "catch_up": draw(st.sampled_from(["one", "latest", "all", "skip"])),
        "catch_up_limit": draw(st.sampled_from([1, 3, 100])),
        "grace": draw(st.sampled_from([0, 1, 10, 3 * step])),
        "start_within": draw(st.sampled_from([None, None, 0, 5, 2 * step, 20 * step])),
        "overlap": overlap,
        "max_concurrent": draw(st.sampled_from([1, 1, 2, 3])),
        "spread": draw(st.sampled_from([0, 0, 2, step, 5 * step])),
        "shadow": draw(st.sampled_from([False] * 7 + [True])),
        "exclude": draw(st.sampled_from([Calendar(), Calendar(), Calendar(weekdays=frozenset({5})), WEEKEND])),
    }
    if draw(st.booleans()):
        maximum = policies["start_within"] if policies["start_within"] is not None else 10**9
        maximum = min(maximum, policies["grace"]) if policies["catch_up"] == "skip" else maximum
        names = draw(st.lists(st.sampled_from((*OTHERS, *OTHERS, "none")), max_size=3, unique=True))
        policies["depends_on"] = tuple(
            After(name, draw(LENGTHS) * step // 2, min(maximum, draw(LENGTHS) * step // 2)) for name in names
        )
    if overlap != "replace":
        policies["max_runs"] = draw(st.sampled_from([None, None, 1, 4]))
    if draw(st.booleans()):
        first = START + draw(st.integers(-1, 20)) * step + draw(st.integers(0, 1))
        policies["start_at"] = EPOCH + timedelta(seconds=first)
        ticks = [tick for tick in ticks if tick >= first]
    if draw(st.booleans()):
        end = max(START + draw(st.integers(0, 60)) * step, policies.get("start_at", EPOCH).timestamp())
        policies["end_at"] = EPOCH + timedelta(seconds=end)
        ticks = [tick for tick in ticks if tick <= end]
    trigger = every(seconds=step, anchor=EPOCH + timedelta(seconds=anchor))
    return Definition(trigger=trigger, target=Target("work"), **policies), ticks


LENGTHS = st.sampled_from([0, 0, 1, 2, 3, 8, 40])
WEEKEND = Calendar(weekdays=frozenset({5, 6}), dates=frozenset({datetime(2026, 1, 5, tzinfo=UTC).date()}))
ACTIONS = ["look"] * 8 + ["start", "finish", "success"] * 3 + ["manual", "skip", "reschedule", "pause", "resume"]
ACTIONS += ["override"] * 6 + ["undo"]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS),
        # How far time goes on: in steps of the grid, and in parts of a second.
        st.sampled_from([0, 0, 1, 1, 1, 2, 3, 10, 30]),
        st.sampled_from([0.0, 0.0, 0.001, 0.5, 1.0, 9.999, 10.0, 11.0]),
        st.integers(0, 5),
    ),
    max_size=16,
)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(definitions(), STEPS)
def test_planner_agrees_with_the_naive_model(
    defined: tuple[Definition, list[int]], steps: list[tuple[str, int, float, int]]
) -> None:
    definition, ticks = defined
    now = float(START)
    schedule = Schedule(1, "default", "model", 1, "active", definition)
    model = Model(definition, ticks, schedule.offset, START)
    # A schedule that is new gets its first look and does not fire; one that is already over is a misfire.
    begun = plan(schedule, Facts(), now)
    assert begun.runs == ()
    assert [skip.reason for skip in begun.skips] == ["misfire"] * (not model.open_ticks() and bool(ticks))
    schedule = _at(schedule, begun)
    model.settle(START)
    _compare(schedule, model)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 60
    for action, count, part, number in steps:
        now += count * step + part
        schedule = _act(schedule, model, action, now, number, step)
        _compare(schedule, model)


def _act(schedule: Schedule, model: Model, action: str, now: float, number: int, step: int) -> Schedule:
    model.expire(now)
    active = model.active
    if action == "success":
        model.succeed(OTHERS[number % 2], now)
    elif action == "manual":
        model.runs.append(Run(model.next_id, None, "queued"))
        model.next_id += 1
    elif action == "start":
        for run in [run for run in active if run.status != "running" and not run.awaits][:number]:
            run.status = "running"
    elif action == "finish":
        for run in [run for run in active if not run.awaits][:number]:
            run.status = "succeeded"
    elif action == "look":
        schedule = _look(schedule, model, now)
    elif schedule.state in ("active", "paused"):
        # As in a store: first what is due, then the command.
        schedule = _look(schedule, model, now)
        schedule = _command(schedule, model, action, now, number, step)
    return schedule


def _look(schedule: Schedule, model: Model, now: float) -> Schedule:
    """One look of both, compared; the runs of the model are then the facts of the next."""
    facts = _facts(model)
    next_id, known, decided = model.next_id, set(model.fates), model.decided
    unstarted = [run for run in model.ticking if run.status != "running"]
    made = plan(schedule, facts, now)
    model.look(now)
    agree(fates_of(made, model.ticks, next_id), {t: fate for t, fate in model.fates.items() if t not in known})
    assert list(made.cancel) == [run.id for run in unstarted if run.status == "cancelled"]
    assert sorted(made.stop) == sorted(model.asked)
    assert made.cursor.planned_until is not None
    assert made.cursor.planned_until >= decided
    # A second look at the same instant has nothing left to say.
    again = plan(_at(schedule, made), _facts(model), now)
    assert (again.runs, again.skips, again.cursor) == ((), (), made.cursor)
    return _at(schedule, made)


def _facts(model: Model) -> Facts:
    active = [
        ActiveRun(run.id, run.status, "manual" if run.tick is None else "schedule", None, bool(run.awaits))  # type: ignore[arg-type]
        for run in model.active
    ]
    successes = {
        name: LastSuccess(OTHERS.index(name), None if at is None else floor(at)) for name, at in model.successes.items()
    }
    return Facts(tuple(active), successes=successes)


def _command(schedule: Schedule, model: Model, action: str, now: float, number: int, step: int) -> Schedule:
    until = int(now) + 1 + number * step
    try:
        if action in ("override", "undo"):
            return _decide_one(schedule, model, action, now, number, step)
        if action == "skip":
            change = Skip(actor="ada", count=number + 1).change(schedule, Facts(), now)
            first = model.to_run()[0]
            last = [tick for tick in model.ticks if tick >= first][: number + 1][-1]
            model.told = {tick: told for tick, told in model.told.items() if not first <= tick <= last}
            model.skip_until = max(last, model.skip_until or 0)
        elif action == "reschedule":
            tick = next(iter(model.to_run()), 0)
            told = {**model.told, tick: Told(due=until, payload=tick in model.told and model.told[tick].payload)}
            expected = schedule.state in ("active", "paused") and tick > 0 and model.in_order(told)
            try:
                change = Reschedule(actor="ada", to=until).change(schedule, Facts(), now)
            except (ConflictError, InvalidError):
                assert not expected
                raise
            assert expected
            model.told = dict(sorted(told.items()))
        elif action == "pause":
            change = Pause(actor="ada", until=until if number else None).change(schedule, Facts(), now)
            model.state, model.until = "paused", until if number else None
        else:
            change = Resume(actor="ada").change(schedule, Facts(), now)
            known = set(model.fates)
            model.state, model.until = "active", None
            model.pass_over("paused", int(now))
            agree(fates_of(change.plan, model.ticks, 0), {t: f for t, f in model.fates.items() if t not in known})
    except (ConflictError, InvalidError):
        return schedule
    assert change.plan.runs == ()
    return _at(schedule, change.plan)


def _decide_one(schedule: Schedule, model: Model, action: str, now: float, number: int, step: int) -> Schedule:
    """Something for a tick to come, or what was decided for one undone; refused by both or by none."""
    ticks = model.open_ticks()[:8] if action == "override" else list(model.told)
    if not ticks:
        return schedule
    tick = ticks[(number * 3 + int(now)) % len(ticks)]
    by = (-2 * step, -1, 0, 1, 3 * step, 4 * step)[number]
    what = (int(now) // 7) % 4
    told = Told(what == 0, tick + model.offset + by if what in (1, 3) else None, what in (2, 3))
    after = {**model.told, tick: told} if action == "override" else {t: e for t, e in model.told.items() if t != tick}
    expected = model.in_order(after) and schedule.state in ("active", "paused")
    command: Override | ClearOverride = ClearOverride(actor="ada", tick=tick)
    if action == "override":
        payload = {"own": 1} if told.payload else None
        command = Override(actor="ada", tick=tick, skip=told.skip, move_to=told.due, payload=payload)
        expected &= told.due is None or told.due > now
        expected &= not (told.payload and told.due is None and model.excluded(tick))
    try:
        change = command.change(schedule, Facts(), now)
    except (ConflictError, InvalidError):
        assert not expected
        return schedule
    assert expected
    model.told = dict(sorted(after.items()))
    assert (change.plan.runs, change.plan.skips) == ((), ())
    return _at(schedule, change.plan)


def _at(schedule: Schedule, made: Plan) -> Schedule:
    return replace(schedule, cursor=made.cursor, state=made.state, pause=made.pause, error=made.error)


def _compare(schedule: Schedule, model: Model) -> None:
    assert schedule.state == model.state
    assert schedule.cursor.next_run_at == model.next_wakeup()
    assert schedule.cursor.runs_planned == model.made
    overrides = schedule.cursor.tick_overrides
    assert {each.tick: Told(each.skip, each.due_at, each.payload is not None) for each in overrides} == model.told
    assert schedule.cursor.skip_until == model.skip_until
