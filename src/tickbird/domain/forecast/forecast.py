"""What is to be expected of a set of schedules: how much comes when, what waits, what is skipped, and what to move."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.bounds import MAX_DAYS, MAX_OUTAGES, MAX_ROWS, MAX_SCHEDULES, MAX_TICKS
from tickbird.domain.forecast.model import MICROS, RunningRun, Scenario, SlotPool
from tickbird.domain.forecast.simulator import Simulator
from tickbird.domain.forecast.stats import ForecastStats
from tickbird.domain.forecast.suggestions import Suggestion, suggest_moves
from tickbird.domain.forecast.tick_load import sum_by_hour
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.instants import DAY

# So many ticks are played at once, of so many schedules, so far ahead.
_MINUTES_SHOWN: Final = 10
# For schedules of which no run has succeeded yet, in seconds.
DEFAULT_DURATION: Final = 10
DEFAULT_SLOTS: Final = 10


@dataclass(frozen=True, slots=True)
class WorkerCapacity:
    """What a live worker serves."""

    slots: int
    queues: frozenset[str]
    targets: frozenset[TargetKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What would be otherwise than it is; outages in seconds since the epoch."""

    outages: Sequence[tuple[int, int]] = ()
    more: int = 0
    # One set of slots for everything.
    slots: int | None = None
    # So many workers; or that share of those there are.
    workers: int | None = None
    share: float | None = None
    slower: float = 1.0

    def __post_init__(self) -> None:
        _check("more", self.more, 0, MAX_SCHEDULES)
        for name in ("slots", "workers"):
            if getattr(self, name) is not None:
                _check(name, getattr(self, name), 1, 1_000_000)
        if self.slots is not None and (self.workers is not None or self.share is not None):
            raise InvalidError("slots and workers: give one of them, not both.", field="workers")
        if self.share is not None and not 0 < self.share <= 1_000:
            raise InvalidError("workers: a share must be above 0 and at most 1000.", field="workers")
        if not 0 < self.slower <= 1_000:
            raise InvalidError("slower: must be above 0 and at most 1000.", field="slower")
        if len(self.outages) > MAX_OUTAGES:
            raise InvalidError(f"outage: at most {MAX_OUTAGES} at a time.", field="outage")
        for (_, end), (following, _) in zip(self.outages, self.outages[1:], strict=False):
            if following <= end:
                raise InvalidError(
                    "outage: one begins before another has ended;", field="outage", hint="give them as one."
                )

    def __bool__(self) -> bool:
        given = self.outages or self.more or self.slots is not None or self.workers is not None
        return bool(given) or self.share is not None or self.slower != 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInput:
    """What a forecast starts from."""

    namespace: str
    schedules: Sequence[Schedule]
    start: int
    end: int
    durations: Mapping[str, DurationStats] = field(default_factory=dict)
    workers: Sequence[WorkerCapacity] = ()
    limits: Mapping[str, int] = field(default_factory=dict)
    rates: Mapping[str, RateLimit] = field(default_factory=dict)
    successes: Mapping[str, int] = field(default_factory=dict)
    going: Sequence[RunningRun] = ()
    # In seconds, for schedules without a history.
    assumed: int = DEFAULT_DURATION


@dataclass(frozen=True, slots=True)
class HourStats:
    """An hour: ticks due in it, runs that begin, and the most slots that are busy at once."""

    at: int
    ticks: int
    runs: int
    busy: int


@dataclass(frozen=True, slots=True)
class QueueForecast:
    """A queue; `slots` is None where there are as many as are needed."""

    name: str
    slots: int | None
    runs: int
    peak: int
    peak_at: int
    worst_lateness: float


@dataclass(frozen=True, slots=True)
class ScheduleForecast:
    """A schedule: what it comes to, and how long one of its runs is taken to last; `has_history`: by its history."""

    name: str
    runs: int
    skips: Mapping[str, int]
    cancelled: int
    worst_lateness: float
    duration: float
    has_history: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is to be expected from `start` to `end`; instants in seconds since the epoch, lengths in seconds."""

    start: int
    end: int
    schedules: int
    without_history: int
    assumed: int
    paused: int
    unserved: Sequence[str]
    workers: int
    slots: int | None
    ticks: int
    runs: int
    skips: Mapping[str, int]
    cancelled: Mapping[str, int]
    overlaps: int
    lost: int
    held: int
    left_over: int
    peak: int
    peak_at: int
    max_queued: int
    max_queued_at: int
    lateness: Mapping[str, float]
    latest: tuple[str, int] | None
    hours: Sequence[HourStats]
    busiest: Sequence[tuple[int, int]]
    queues: Sequence[QueueForecast]
    rows: Sequence[ScheduleForecast]
    suggestions: Sequence[Suggestion]

    @property
    def busiest_hour(self) -> HourStats | None:
        """The hour with the most ticks."""
        return max(self.hours, key=lambda hour: hour.ticks, default=None)


@dataclass(frozen=True, slots=True)
class ForecastComparison:
    """What is to be expected as things are; and as they would be, if something was asked to be otherwise."""

    baseline: Forecast
    changed: Forecast | None = None


def simulate(
    ground: ForecastInput,
    what_if: WhatIf,
    *,
    names: Sequence[str] = (),
    limit: int = 20,
    max_ticks: int = MAX_TICKS,
    counted: Callable[[int, int], None] | None = None,
) -> ForecastComparison:
    """Forecast what is, and beside it what would be; `counted` is told how many ticks of all are played."""
    _check("limit", limit, 0, MAX_ROWS)
    check_span(ground.start, ground.end)
    now_stage = _stage(ground, WhatIf())
    stages = [now_stage]
    if what_if:
        stages.append(_stage(ground, what_if))
    totals = [_count(stage) for stage in stages]
    if sum(totals) > max_ticks:
        raise InvalidError(
            f"days: {sum(totals):,} ticks are more than the {max_ticks:,} that are simulated at once;",
            field="days",
            hint="ask for fewer days.",
        )
    found: list[Forecast] = []
    for stage, total in zip(stages, totals, strict=True):
        before, whole = sum(totals[: len(found)]), sum(totals)

        def report(done: int, _: int, before: int = before, whole: int = whole) -> None:
            if counted is not None:
                counted(min(whole, before + done), whole)

        tally = Simulator(stage).play(report, total)
        workers = [] if len(found) and what_if.slots is not None else _workers(ground, what_if if found else WhatIf())
        found.append(_forecast(ground, stage, tally, len(workers), names, limit))
    return ForecastComparison(*found)


def check_span(start: int, end: int) -> None:
    """So far ahead one can look."""
    if end <= start:
        raise InvalidError("to: must lie behind the instant from which is looked.", field="to")
    if end - start > MAX_DAYS * DAY:
        raise InvalidError(f"days: at most {MAX_DAYS} are simulated at once.", field="days")


def _check(name: str, value: object, minimum: int, maximum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InvalidError(f"{name}: must be a whole number from {minimum:,} to {maximum:,}.", field=name)


# What is played


def _stage(ground: ForecastInput, what_if: WhatIf) -> Scenario:
    schedules = [_usable(each, ground.start) for each in (*ground.schedules, *_clones(ground, what_if.more))]
    durations = []
    for schedule in schedules:
        known = ground.durations.get(_origin(schedule.name) if schedule.id < 0 else schedule.name)
        seconds = (known.median if known is not None else ground.assumed) * what_if.slower
        timeout = schedule.definition.timeout if schedule.definition else None
        durations.append(max(1, round(min(seconds, timeout or seconds) * MICROS)))
    return Scenario(
        schedules=schedules,
        durations=durations,
        start=ground.start,
        end=ground.end,
        pools=_pools(ground, what_if),
        limits=ground.limits,
        rates=ground.rates,
        successes=ground.successes,
        going=ground.going,
        outages=what_if.outages,
    )


def _usable(schedule: Schedule, start: int) -> Schedule:
    """The schedule, parked where it cannot be planned: so it will be when its tick comes."""
    try:
        if schedule.definition is not None:
            _ = schedule.definition.closed_days
            schedule.grid.next(start)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one must not concern another
        return replace(schedule, state="parked", error=str(error))
    return schedule


def _origin(name: str) -> str:
    return name.rsplit(".more-", 1)[0]


def _clones(ground: ForecastInput, more: int) -> list[Schedule]:
    """So many more schedules like those there are, evenly; none of them depends on another."""
    alike = [each for each in ground.schedules if each.state == "active" and each.definition is not None]
    if more and not alike:
        raise InvalidError("more: there is no active schedule that others could be like.", field="more")
    clones = []
    for number in range(more):
        model = alike[number * len(alike) // more if more < len(alike) else number % len(alike)]
        definition = model.definition
        if definition is not None and definition.depends_on:
            definition = replace(definition, depends_on=())
        clones.append(replace(model, id=-1 - number, name=f"{model.name}.more-{number + 1}", definition=definition))
    return clones


def _workers(ground: ForecastInput, what_if: WhatIf) -> list[WorkerCapacity]:
    """The workers there would be."""
    found = sorted(ground.workers, key=lambda each: (-each.slots, sorted(each.queues), sorted(each.targets)))
    number = what_if.workers
    if what_if.share is not None:
        if not found:
            raise InvalidError(
                "workers: there is no live worker to take a share of;",
                field="workers",
                hint="give a number of workers, or slots.",
            )
        number = max(1, round(len(found) * what_if.share))
    if number is None:
        return found
    if not found:
        return [WorkerCapacity(DEFAULT_SLOTS, frozenset(), frozenset())] * number
    if number > len(found):
        return [found[place % len(found)] for place in range(number)]
    return [found[place * len(found) // number] for place in range(number)]


def _pools(ground: ForecastInput, what_if: WhatIf) -> list[SlotPool]:
    """Slots by what they serve; as many as are needed where no worker is known."""
    if what_if.slots is not None:
        return [SlotPool(what_if.slots)]
    workers = _workers(ground, what_if)
    if not ground.workers:
        return [SlotPool(sum(each.slots for each in workers) or None)]
    slots: dict[tuple[frozenset[str], frozenset[TargetKey]], int] = {}
    for each in workers:
        slots[each.queues, each.targets] = slots.get((each.queues, each.targets), 0) + each.slots
    # Those that serve least come first, so that others are left for what only they serve.
    ordered = sorted(slots.items(), key=lambda each: (len(each[0][0]), sorted(each[0][0]), sorted(each[0][1])))
    return [SlotPool(number, queues, targets) for (queues, targets), number in ordered]


def _count(stage: Scenario) -> int:
    """How many ticks there are to play, at most."""
    if len(stage.schedules) > MAX_SCHEDULES:
        raise InvalidError(
            f"schedules: {len(stage.schedules):,} are more than the {MAX_SCHEDULES:,} that are simulated at once.",
            field="more",
        )
    total = 0
    for each in stage.schedules:
        if each.definition is not None and each.state in ("active", "paused"):
            total += each.definition.trigger.count(stage.start - 1 - each.offset, stage.end)
    return total


# What came of it


def _forecast(
    ground: ForecastInput, stage: Scenario, tally: ForecastStats, workers: int, names: Sequence[str], limit: int
) -> Forecast:
    start = stage.start
    minutes = nlargest(_MINUTES_SHOWN, enumerate(tally.ticks_by_minute), key=lambda each: (each[1], -each[0]))
    live = [each for each in stage.schedules if each.state == "active"]
    known = {each.name for each in live if (_origin(each.name) if each.id < 0 else each.name) in ground.durations}
    slots = None if any(pool.slots is None for pool in stage.pools) else sum(pool.slots or 0 for pool in stage.pools)
    latest = None if tally.latest is None else (stage.schedules[tally.latest[1]].name, tally.latest[2] // MICROS)
    unserved = {
        each.definition.queue
        for each in live
        if each.definition is not None and not any(pool.serves(each.definition) for pool in stage.pools)
    }
    return Forecast(
        start=start,
        end=stage.end,
        schedules=len(live),
        without_history=len(live) - len(known),
        assumed=ground.assumed,
        paused=sum(each.state == "paused" for each in stage.schedules),
        unserved=sorted(unserved),
        workers=workers,
        slots=slots,
        ticks=tally.tick_count,
        runs=sum(tally.runs),
        skips={reason: sum(each.values()) for reason, each in sorted(tally.skips.items())},
        cancelled={reason: sum(each.values()) for reason, each in sorted(tally.cancelled.items())},
        overlaps=tally.overlaps,
        lost=tally.lost,
        held=tally.held,
        left_over=tally.left_over,
        peak=tally.peak,
        peak_at=tally.peak_at // MICROS,
        max_queued=tally.max_queued,
        max_queued_at=tally.max_queued_at // MICROS,
        lateness={
            "p50": tally.percentile(0.5) / MICROS,
            "p99": tally.percentile(0.99) / MICROS,
            "max": 0.0 if tally.latest is None else tally.latest[0] / MICROS,
        },
        latest=latest,
        hours=[
            HourStats(tally.first + 3_600 * place, *counts)
            for place, counts in enumerate(
                zip(sum_by_hour(tally.ticks_by_minute), tally.runs_by_hour, tally.busy_by_hour, strict=True)
            )
        ],
        busiest=[(tally.first + 60 * minute, count) for minute, count in minutes if count],
        queues=_queues(stage, tally),
        rows=_rows(stage, tally, known, names, limit),
        suggestions=suggest_moves([each for each in live if each.id >= 0], tally.first, tally.ticks_by_minute, names),
    )


def _queues(stage: Scenario, tally: ForecastStats) -> list[QueueForecast]:
    found = []
    for number, name in enumerate(tally.queue_names):
        serving = [pool for pool in stage.pools if pool.queues is None or name in pool.queues]
        endless = any(pool.slots is None for pool in serving)
        found.append(
            QueueForecast(
                name,
                None if endless else sum(pool.slots or 0 for pool in serving),
                tally.queue_runs[number],
                tally.queue_peak[number],
                tally.queue_peak_at[number] // MICROS,
                tally.queue_worst[number] / MICROS,
            )
        )
    return found


def _rows(
    stage: Scenario, tally: ForecastStats, known: set[str], names: Sequence[str], limit: int
) -> list[ScheduleForecast]:
    """Those with the most to worry about first: by the worst lateness, then by what does not run, then by name."""
    asked = set(names)
    skips: dict[int, dict[str, int]] = {}
    for reason, by_place in sorted(tally.skips.items()):
        for place, count in by_place.items():
            skips.setdefault(place, {})[reason] = count
    cancelled: dict[int, int] = {}
    for by_place in tally.cancelled.values():
        for place, count in by_place.items():
            cancelled[place] = cancelled.get(place, 0) + count

    def worry(place: int) -> Any:
        dropped = sum(skips.get(place, {}).values()) + cancelled.get(place, 0)
        return -tally.worst[place], -dropped, -tally.runs[place], stage.schedules[place].name

    places = [
        place
        for place, each in enumerate(stage.schedules)
        if (each.name in asked if asked else each.state in ("active", "paused"))
    ]
    return [
        ScheduleForecast(
            stage.schedules[place].name,
            tally.runs[place],
            skips.get(place, {}),
            cancelled.get(place, 0),
            tally.worst[place] / MICROS,
            stage.durations[place] / MICROS,
            stage.schedules[place].name in known,
        )
        for place in sorted(places, key=worry)[:limit]
    ]
