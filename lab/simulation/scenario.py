"""The scenario of a seed: its length, schedules, versions of the app, and rates of faults."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random

from lab.oracle.spec import ClosedDays, Spec
from lab.oracle.triggers import DAY, HOUR, MINUTE, AnyOf, At, Cron, Interval, TriggerSpec

# Start dates near DST changes of some zone, and an ordinary one.
_BEGINNINGS = (
    datetime(2026, 3, 7, 12, tzinfo=UTC),
    datetime(2026, 3, 28, 6, tzinfo=UTC),
    datetime(2026, 4, 4, tzinfo=UTC),
    datetime(2026, 10, 3, tzinfo=UTC),
    datetime(2026, 10, 24, 20, tzinfo=UTC),
    datetime(2026, 10, 31, 20, tzinfo=UTC),
    datetime(2026, 6, 17, 9, 30, tzinfo=UTC),
)
_ZONES = ("UTC", "UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata")
# Seconds between heartbeats: all other durations of a scenario are relative to it.
_HEARTBEATS = (15, 60, 10 * MINUTE, 2 * HOUR, 12 * HOUR, DAY)

_KEYS: tuple[tuple[str, ...], ...] = ((), (), (), ("key",), ("key", "other"))


@dataclass(frozen=True)
class Rates:
    """The probability of each fault, per store call."""

    crash: float = 0.0
    lost: float = 0.0
    freeze: float = 0.0
    delay: float = 0.3
    # The probability that a wake-up arrives.
    wake: float = 0.9


@dataclass
class Scenario:
    """Everything that is decided before the simulation starts."""

    seed: int
    begin: datetime
    heartbeat: int
    span: float
    lease: float
    slots: int
    workers: int
    rates: Rates
    keep: int
    retention: float
    # Code-defined schedules for each version of the app, and schedules that an operator creates.
    versions: list[dict[str, int]] = field(default_factory=list)
    operator_schedules: dict[str, int] = field(default_factory=dict)
    specs: list[Spec] = field(default_factory=list)
    operations: int = 0
    process_faults: int = 0
    jumps: bool = False
    # Concurrency keys that schedules share; most scenarios have none.
    keys: tuple[str, ...] = ()
    backfills: bool = False
    # Queues that may have a rate limit, in addition to the default one.
    queues: tuple[str, ...] = ()
    holds: bool = False
    dependencies: bool = False
    shadows: bool = False
    refusals: bool = False
    # Seconds without a heartbeat until another worker takes over; 0: without leader mode.
    leader_timeout: float = 0.0
    # Some of the workers are not in leader mode.
    is_mixed: bool = False

    def add(self, spec: Spec) -> int:
        """Store a spec; returns its index."""
        self.specs.append(spec)
        return len(self.specs) - 1


def make_scenario(seed: int, chance: Random) -> Scenario:
    heartbeat = chance.choice(_HEARTBEATS)
    span = heartbeat * chance.uniform(5, 14)
    begin = chance.choice(_BEGINNINGS) + timedelta(seconds=chance.randrange(DAY), microseconds=chance.randrange(10**6))
    harsh = chance.choice((0.0, 0.005, 0.015, 0.03))
    scenario = Scenario(
        seed=seed,
        begin=begin,
        heartbeat=heartbeat,
        span=span,
        lease=heartbeat * chance.choice((1.0, 2.0, 2.0, 4.0)),
        slots=chance.choice((1, 2, 3, 10)),
        workers=chance.choice((1, 2, 2, 3)),
        rates=Rates(
            crash=harsh * chance.random(),
            lost=harsh * 2 * chance.random(),
            freeze=harsh * chance.random(),
            delay=chance.choice((0.0, 0.2, 0.5)),
            wake=chance.choice((0.2, 0.5, 0.9)),
        ),
        keep=chance.choice((0, 2, 100)),
        retention=heartbeat * chance.choice((5.0, 20.0, 1000.0)),
        operations=chance.choice((0, 5, 15, 30)),
        process_faults=chance.choice((0, 4, 10, 16)),
        jumps=chance.random() < 0.3,
        keys=chance.choice(_KEYS),
        backfills=chance.random() < 0.25,
        queues=("mail",) if chance.random() < 0.2 else (),
        holds=chance.random() < 0.25,
        dependencies=chance.random() < 0.25,
        # With separate random numbers, so that earlier seeds do not change.
        shadows=Random(f"old system {seed}").random() < 0.15,
        refusals=Random(f"refusals {seed}").random() < 0.2,
        leader_timeout=leader_timeout(seed, heartbeat),
        is_mixed=Random(f"mixed fleet {seed}").random() < 0.2,
    )
    if scenario.dependencies:
        # A success that is deleted before it is needed would be unknown; so none is deleted.
        scenario.retention = heartbeat * 1000.0
    names = [f"code-{number}" for number in range(chance.choice((0, 1, 2, 3)))]
    version: dict[str, int] = {}
    for name in names:
        version[name] = scenario.add(
            with_needs(scenario, make_spec(scenario, chance), list(version), chance, wait=False)
        )
    scenario.versions.append(version)
    for _ in range(chance.choice((0, 0, 1, 2)) if names else 0):
        version = dict(version)
        for index, name in enumerate(names):
            draw = chance.random()
            if draw < 0.5 and name in version:
                version[name] = scenario.add(changed_spec(scenario, scenario.specs[version[name]], chance))
            elif draw < 0.65:
                version.pop(name, None)
            elif name not in version:
                lower = [other for other in names[:index] if other in version]
                spec = with_needs(scenario, make_spec(scenario, chance), lower, chance, wait=False)
                version[name] = scenario.add(spec)
            if name in version:
                # Schedules that are no longer declared cannot be dependencies.
                spec = scenario.specs[version[name]]
                declared_needs = tuple(need for need in spec.depends_on if need[0] in version)
                if declared_needs != spec.depends_on:
                    version[name] = scenario.add(replace(spec, depends_on=declared_needs))
        scenario.versions.append(version)
    few = 1 if not names else 0
    # Few schedules for a long time, or many for a short time.
    many_schedules = chance.random() < 0.03
    if many_schedules:
        scenario.span /= 4
    for number in range(chance.randrange(12, 25) if many_schedules else chance.choice((few, 1, 2, 3))):
        scenario.operator_schedules[f"hand-{number}"] = scenario.add(make_spec(scenario, chance))
    return scenario


def leader_timeout(seed: int, heartbeat: int) -> float:
    """A third of the scenarios have leader mode."""
    chance = Random(f"leader {seed}")
    return heartbeat * chance.choice((0.3, 0.8, 1.5)) if chance.random() < 0.33 else 0.0


def make_spec(scenario: Scenario, chance: Random) -> Spec:
    """A random schedule that ticks some times in the scenario's span."""
    heartbeat = scenario.heartbeat
    spec = Spec(
        form=make_form(scenario, chance),
        task=chance.choice(("work", "work", "block")),
        catch_up=chance.choice(("one", "latest", "all", "skip")),
        catch_up_limit=chance.choice((1, 2, 5, 100)),
        grace=chance.choice((0, 1, 10, heartbeat, heartbeat // 2)),
        start_within=chance.choice((None, None, None, 0, heartbeat, 3 * heartbeat)),
        overlap=chance.choice(("skip", "queue", "replace", "allow")),
        max_concurrent=chance.choice((1, 1, 1, 2, 3)),
        spread=chance.choice((0, 0, 0, heartbeat, 3 * heartbeat)),
        retries=chance.choice((0, 0, 1, 3)),
        timeout=chance.choice((None, None, max(1, heartbeat // 2), 3 * heartbeat)),
        on_crash=chance.choice(("retry", "retry", "fail")),
        priority=chance.choice((0, 0, 5)),
        backoff=chance.choice((1, max(1, heartbeat // 4))),
    )
    now = int(scenario.begin.timestamp())
    if chance.random() < 0.15:
        spec = replace(spec, start_at=now + int(chance.uniform(-5, 20) * heartbeat))
    if chance.random() < 0.2:
        spec = replace(spec, end_at=max(spec.start_at or 0, now + int(chance.uniform(5, 50) * heartbeat)))
    if spec.end_at is not None and chance.random() < 0.5:
        # Exactly on the edge.
        ticks = spec.ticks(max(spec.start_at or 0, spec.end_at - 10 * heartbeat), spec.end_at)
        spec = replace(spec, end_at=max(ticks, default=spec.end_at))
    if chance.random() < 0.15:
        spec = replace(spec, max_runs=chance.choice((1, 2, 5)))
    if chance.random() < 0.2:
        days = tuple(sorted(chance.sample(range(7), chance.choice((1, 2)))))
        date = (scenario.begin + timedelta(seconds=chance.random() * scenario.span)).date()
        spec = replace(spec, exclude=ClosedDays(days, (date,) if chance.random() < 0.5 else ()))
    if scenario.holds and chance.random() < 0.6:
        spec = replace(spec, catch_up="all", hold_above=chance.choice((0, 1, 1, 3)))
    if scenario.shadows and chance.random() < 0.5:
        spec = replace(spec, shadow=True)
    if scenario.queues and chance.random() < 0.7:
        spec = replace(spec, queue="mail")
    if scenario.keys and chance.random() < 0.7:
        spec = replace(spec, concurrency_key=chance.choice(scenario.keys))
    return spec


def with_needs(scenario: Scenario, spec: Spec, candidates: list[str], chance: Random, *, wait: bool = True) -> Spec:
    """Add random dependencies; none if there is no time to wait, or `wait` is false."""
    if not (scenario.dependencies and candidates) or chance.random() < 0.25:
        return spec
    needs = []
    for name in sorted(chance.sample(candidates, min(len(candidates), chance.choice((1, 1, 2))))):
        within = max(1, int(scenario.heartbeat * chance.choice((0.5, 2, 5))))
        max_wait = int(scenario.heartbeat * chance.choice((0, 2, 5))) if wait else 0
        fits = spec.start_limit is None or max_wait <= spec.start_limit
        needs.append((name, within, max_wait if fits else 0))
    return replace(spec, depends_on=tuple(needs))


def make_form(scenario: Scenario, chance: Random) -> TriggerSpec:
    draw = chance.random()
    if draw < 0.07:
        return At(int(scenario.begin.timestamp()) + int(chance.uniform(-2, 40) * scenario.heartbeat))
    if draw < 0.2:
        return AnyOf(tuple(_simple(scenario, chance) for _ in range(2)))
    return _simple(scenario, chance)


def _simple(scenario: Scenario, chance: Random) -> Interval | Cron:
    """A grid with several ticks per heartbeat, or one every few heartbeats."""
    interval = scenario.heartbeat * chance.choice((0.34, 1.0, 1.0, 2.0, 4.0, 8.0))
    zone = chance.choice(_ZONES)
    minute = chance.choice((0, 7, 30, 59))
    if interval < 5 * MINUTE or chance.random() < 0.2:
        unit, size = ("seconds", 1) if interval < 5 * MINUTE else ("minutes", MINUTE)
        anchor = datetime(2026, 1, 1, 0, 0, chance.randrange(60)) if chance.random() < 0.3 else None  # noqa: DTZ001
        return Interval(unit, max(2, int(interval / size)), zone, anchor)
    if interval < HOUR:
        step = max(1, int(interval / MINUTE))
        return chance.choice((Cron(f"*/{min(step, 30)} * * * *", zone), Interval("minutes", step, zone)))
    if interval < 12 * HOUR:
        step = max(1, int(interval / HOUR))
        hours = ",".join(str(hour) for hour in sorted(chance.sample(range(24), 3)))
        return chance.choice(
            (
                Cron(f"{minute} */{step} * * *", zone),
                Interval("hours", step, zone),
                Cron(f"{minute} {hours} * * *", zone),
            )
        )
    if interval < 3 * DAY:
        at = datetime(2026, 1, 1, chance.choice((0, 1, 2, 3)), chance.choice((0, 30)))  # noqa: DTZ001 - on the wall
        return chance.choice(
            (
                Cron(f"{minute} {chance.choice((0, 1, 2, 3, 12))} * * *", zone),
                Interval("days", chance.choice((1, 2)), zone, at),
                Cron(f"{minute} 2 * * 1-5", zone),
            )
        )
    return chance.choice(
        (
            Interval("weeks", 1, zone),
            Cron(f"{minute} 2 * * {chance.choice((0, 1, 6))}", zone),
            Interval("months", 1, zone),
            Cron(f"{minute} 1 {chance.choice(('1', '15', '1,15'))} * *", zone),
        )
    )


CHANGEABLE = (
    ("form",),
    ("grace",),
    ("catch_up", "hold_above"),
    ("catch_up", "catch_up_limit", "hold_above"),
    ("overlap", "max_concurrent"),
    ("spread",),
    ("start_at", "end_at"),
    ("max_runs",),
    ("exclude",),
    ("retries", "timeout"),
    ("priority",),
)


def changed_fields(scenario: Scenario, chance: Random) -> dict[str, object]:
    """Some fields with other values."""
    other = make_spec(scenario, chance)
    changeable = CHANGEABLE + ((("concurrency_key",),) * 2 if scenario.keys else ())
    changeable += (("queue",),) if scenario.queues else ()
    # Switch between shadow and active often.
    changeable += (("shadow",),) * 4 if scenario.shadows else ()
    return {name: getattr(other, name) for name in chance.choice(changeable)}


def changed_spec(scenario: Scenario, spec: Spec, chance: Random) -> Spec:
    """The same schedule in the next version."""
    return replace(spec, **changed_fields(scenario, chance))  # type: ignore[arg-type]
