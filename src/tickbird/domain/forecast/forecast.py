"""Forecast of a set of schedules: load over time, waits, skips, and suggested moves."""

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
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.time.instants import DAY

# Number of busiest minutes in the result.
_MINUTES_SHOWN: Final = 10
# Assumed duration in seconds for schedules without a successful run.
DEFAULT_DURATION: Final = 10
DEFAULT_SLOTS: Final = 10


@dataclass(frozen=True, slots=True)
class WorkerCapacity:
    """The slots, queues and targets of a live worker."""

    slots: int
    queues: frozenset[str]
    targets: frozenset[TargetKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Changed conditions of a forecast; outages in seconds since the epoch."""

    outages: Sequence[tuple[int, int]] = ()
    more: int = 0
    # The total of slots, for all queues and targets.
    slots: int | None = None
    # A number of workers, or a share of the existing ones.
    workers: int | None = None
    share: float | None = None
    slower: float = 1.0

    def __post_init__(self) -> None:
        _check("more", self.more, 0, MAX_SCHEDULES)
        for name in ("slots", "workers"):
            if getattr(self, name) is not None:
                _check(name, getattr(self, name), 1, 1_000_000)
        if self.slots is not None and (self.workers is not None or self.share is not None):
            raise InvalidError("slots and workers cannot be combined.", field="workers", hint="Give one of them.")
        if self.share is not None and not 0 < self.share <= 1_000:
            raise InvalidError("workers: a share must be above 0 and at most 1000.", field="workers")
        if not 0 < self.slower <= 1_000:
            raise InvalidError("slower must be above 0 and at most 1000.", field="slower")
        if len(self.outages) > MAX_OUTAGES:
            raise InvalidError(
                f"outage: there are more than {MAX_OUTAGES}.", field="outage", hint="Simulate fewer at a time."
            )
        for (_, end), (following, _) in zip(self.outages, self.outages[1:], strict=False):
            if following <= end:
                raise InvalidError("outage: two outages overlap.", field="outage", hint="Combine them into one.")

    def __bool__(self) -> bool:
        given = self.outages or self.more or self.slots is not None or self.workers is not None
        return bool(given) or self.share is not None or self.slower != 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInput:
    """The current state, from which a forecast starts."""

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
    # Assumed duration in seconds for schedules without a history.
    assumed: int = DEFAULT_DURATION


@dataclass(frozen=True, slots=True)
class HourStats:
    """One hour: its due ticks, started runs, and maximum of busy slots."""

    at: int
    ticks: int
    runs: int
    busy: int


@dataclass(frozen=True, slots=True)
class QueueForecast:
    """A queue; `slots` is None if the number is unlimited."""

    name: str
    slots: int | None
    runs: int
    peak: int
    peak_at: int
    worst_lateness: float


@dataclass(frozen=True, slots=True)
class ScheduleForecast:
    """Results of a schedule; `duration` is from its history if `has_history`, otherwise assumed."""

    name: str
    runs: int
    skips: Mapping[str, int]
    cancelled: int
    worst_lateness: float
    duration: float
    has_history: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The forecast from `start` to `end`; instants in seconds since the epoch, durations in seconds."""

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
    # Active schedules without ticks in this forecast, and why this process cannot read them.
    ignored: Mapping[str, str] = field(default_factory=dict)

    @property
    def busiest_hour(self) -> HourStats | None:
        """The hour with the most ticks."""
        return max(self.hours, key=lambda hour: hour.ticks, default=None)


@dataclass(frozen=True, slots=True)
class ForecastComparison:
    """The forecast for the current state, and for changed conditions if some were given."""

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
    """Forecast the current state and the changed conditions; `counted` gets the simulated and total ticks."""
    _check("limit", limit, 0, MAX_ROWS)
    check_span(ground.start, ground.end)
    now_stage = _stage(ground, WhatIf())
    stages = [now_stage]
    if what_if:
        stages.append(_stage(ground, what_if))
    totals = [_count(stage) for stage in stages]
    if sum(totals) > max_ticks:
        raise InvalidError(
            f"days: {sum(totals):,} ticks are too many; at most {max_ticks:,} can be simulated.",
            field="days",
            hint="Choose fewer days.",
        )
    forecasts: list[Forecast] = []
    for stage, total in zip(stages, totals, strict=True):
        before, whole = sum(totals[: len(forecasts)]), sum(totals)

        def report(done: int, _: int, before: int = before, whole: int = whole) -> None:
            if counted is not None:
                counted(min(whole, before + done), whole)

        tally = Simulator(stage).play(report, total)
        workers = (
            [] if len(forecasts) and what_if.slots is not None else _workers(ground, what_if if forecasts else WhatIf())
        )
        forecasts.append(_forecast(ground, stage, tally, len(workers), names, limit))
    return ForecastComparison(*forecasts)


def check_span(start: int, end: int) -> None:
    """Raise InvalidError if the range is empty or too long."""
    if end <= start:
        raise InvalidError("to must be after the start.", field="to", hint="Choose a later instant.")
    if end - start > MAX_DAYS * DAY:
        raise InvalidError(
            f"days: a simulation covers at most {MAX_DAYS} days.", field="days", hint="Choose fewer days."
        )


def _check(name: str, value: object, minimum: int, maximum: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InvalidError(f"{name} must be a whole number from {minimum:,} to {maximum:,}.", field=name)


# Scenario


def _stage(ground: ForecastInput, what_if: WhatIf) -> Scenario:
    schedules = [_usable(item, ground.start) for item in (*ground.schedules, *_clones(ground, what_if.more))]
    durations = []
    for schedule in schedules:
        measured = ground.durations.get(_origin(schedule.name) if schedule.id < 0 else schedule.name)
        seconds = (measured.median if measured is not None else ground.assumed) * what_if.slower
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
    """Return the schedule, parked if it cannot be planned, as the planner would park it."""
    try:
        if schedule.definition is not None:
            _ = schedule.definition.closed_days
            schedule.grid.next(start)
    except Exception as error:  # noqa: BLE001 - an error in one schedule must not affect others
        return replace(schedule, state="parked", error=str(error))
    return schedule


def _origin(name: str) -> str:
    return name.rsplit(".more-", 1)[0]


def _clones(ground: ForecastInput, more: int) -> list[Schedule]:
    """Return `more` copies of existing schedules, evenly distributed and without dependencies."""
    models = [model for model in ground.schedules if model.state == "active" and model.definition is not None]
    if more and not models:
        raise InvalidError(
            "more: there is no active schedule to copy.", field="more", hint="Create or resume a schedule first."
        )
    clones = []
    for number in range(more):
        model = models[number * len(models) // more if more < len(models) else number % len(models)]
        definition = model.definition
        if definition is not None and definition.depends_on:
            definition = replace(definition, depends_on=())
        clones.append(replace(model, id=-1 - number, name=f"{model.name}.more-{number + 1}", definition=definition))
    return clones


def _workers(ground: ForecastInput, what_if: WhatIf) -> list[WorkerCapacity]:
    """Return the workers of the changed conditions."""
    workers = sorted(ground.workers, key=lambda worker: (-worker.slots, sorted(worker.queues), sorted(worker.targets)))
    number = what_if.workers
    if what_if.share is not None:
        if not workers:
            raise InvalidError(
                "workers: a share needs at least one live worker, and there is none.",
                field="workers",
                hint="Give a number of workers, or slots.",
            )
        number = max(1, round(len(workers) * what_if.share))
    if number is None:
        return workers
    if not workers:
        return [WorkerCapacity(DEFAULT_SLOTS, frozenset(), frozenset())] * number
    if number > len(workers):
        return [workers[index % len(workers)] for index in range(number)]
    return [workers[index * len(workers) // number] for index in range(number)]


def _pools(ground: ForecastInput, what_if: WhatIf) -> list[SlotPool]:
    """Return the slots by queues and targets; unlimited if there is no worker."""
    if what_if.slots is not None:
        return [SlotPool(what_if.slots)]
    workers = _workers(ground, what_if)
    if not ground.workers:
        return [SlotPool(sum(worker.slots for worker in workers) or None)]
    slots: dict[tuple[frozenset[str], frozenset[TargetKey]], int] = {}
    for worker in workers:
        slots[worker.queues, worker.targets] = slots.get((worker.queues, worker.targets), 0) + worker.slots
    # Pools that serve least come first, so that the others stay free for runs that only they serve.
    ordered = sorted(slots.items(), key=lambda item: (len(item[0][0]), sorted(item[0][0]), sorted(item[0][1])))
    return [SlotPool(number, queues, targets) for (queues, targets), number in ordered]


def _count(stage: Scenario) -> int:
    """Return the maximum number of ticks to simulate."""
    if len(stage.schedules) > MAX_SCHEDULES:
        raise InvalidError(
            f"more: {len(stage.schedules):,} schedules are too many; at most {MAX_SCHEDULES:,} can be simulated.",
            field="more",
            hint="Add fewer schedules.",
        )
    total = 0
    for schedule in stage.schedules:
        if schedule.definition is not None and schedule.state in ("active", "paused"):
            total += schedule.definition.trigger.count(stage.start - 1 - schedule.offset, stage.end)
    return total


# Result


def _forecast(
    ground: ForecastInput, stage: Scenario, tally: ForecastStats, workers: int, names: Sequence[str], limit: int
) -> Forecast:
    start = stage.start
    minutes = nlargest(_MINUTES_SHOWN, enumerate(tally.ticks_by_minute), key=lambda item: (item[1], -item[0]))
    active = [schedule for schedule in stage.schedules if schedule.state == "active"]
    live = [schedule for schedule in active if schedule.definition is not None]
    measured = {
        schedule.name
        for schedule in live
        if (_origin(schedule.name) if schedule.id < 0 else schedule.name) in ground.durations
    }
    slots = None if any(pool.slots is None for pool in stage.pools) else sum(pool.slots or 0 for pool in stage.pools)
    latest = None if tally.latest is None else (stage.schedules[tally.latest[1]].name, tally.latest[2] // MICROS)
    unserved = {
        schedule.definition.queue
        for schedule in live
        if schedule.definition is not None and not any(pool.serves(schedule.definition) for pool in stage.pools)
    }
    return Forecast(
        ignored={
            schedule.name: ignored_reason(schedule.definition_json) or "its definition cannot be read"
            for schedule in active
            if schedule.definition is None
        },
        start=start,
        end=stage.end,
        schedules=len(live),
        without_history=len(live) - len(measured),
        assumed=ground.assumed,
        paused=sum(schedule.state == "paused" for schedule in stage.schedules),
        unserved=sorted(unserved),
        workers=workers,
        slots=slots,
        ticks=tally.tick_count,
        runs=sum(tally.runs),
        skips={reason: sum(counts.values()) for reason, counts in sorted(tally.skips.items())},
        cancelled={reason: sum(counts.values()) for reason, counts in sorted(tally.cancelled.items())},
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
            HourStats(tally.first + 3_600 * hour, *counts)
            for hour, counts in enumerate(
                zip(sum_by_hour(tally.ticks_by_minute), tally.runs_by_hour, tally.busy_by_hour, strict=True)
            )
        ],
        busiest=[(tally.first + 60 * minute, count) for minute, count in minutes if count],
        queues=_queues(stage, tally),
        rows=_rows(stage, tally, measured, names, limit),
        suggestions=suggest_moves(
            [schedule for schedule in live if schedule.id >= 0], tally.first, tally.ticks_by_minute, names
        ),
    )


def _queues(stage: Scenario, tally: ForecastStats) -> list[QueueForecast]:
    queues = []
    for number, name in enumerate(tally.queue_names):
        serving = [pool for pool in stage.pools if pool.queues is None or name in pool.queues]
        unlimited = any(pool.slots is None for pool in serving)
        queues.append(
            QueueForecast(
                name,
                None if unlimited else sum(pool.slots or 0 for pool in serving),
                tally.queue_runs[number],
                tally.queue_peak[number],
                tally.queue_peak_at[number] // MICROS,
                tally.queue_worst[number] / MICROS,
            )
        )
    return queues


def _rows(
    stage: Scenario, tally: ForecastStats, measured: set[str], names: Sequence[str], limit: int
) -> list[ScheduleForecast]:
    """Return the schedules, worst first: by lateness, then by dropped ticks, then by name."""
    selected = set(names)
    skips: dict[int, dict[str, int]] = {}
    for reason, by_place in sorted(tally.skips.items()):
        for index, count in by_place.items():
            skips.setdefault(index, {})[reason] = count
    cancelled: dict[int, int] = {}
    for by_place in tally.cancelled.values():
        for index, count in by_place.items():
            cancelled[index] = cancelled.get(index, 0) + count

    def badness(index: int) -> Any:
        dropped = sum(skips.get(index, {}).values()) + cancelled.get(index, 0)
        return -tally.worst[index], -dropped, -tally.runs[index], stage.schedules[index].name

    places = [
        index
        for index, schedule in enumerate(stage.schedules)
        if (schedule.name in selected if selected else schedule.state in ("active", "paused"))
    ]
    return [
        ScheduleForecast(
            stage.schedules[index].name,
            tally.runs[index],
            skips.get(index, {}),
            cancelled.get(index, 0),
            tally.worst[index] / MICROS,
            stage.durations[index] / MICROS,
            stage.schedules[index].name in measured,
        )
        for index in sorted(places, key=badness)[:limit]
    ]
