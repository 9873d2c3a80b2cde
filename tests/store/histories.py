"""Random histories: specs of schedules, and the operations that follow."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from lab.oracle.spec import ClosedDays, Spec
from lab.oracle.triggers import DAY, HOUR, AnyOf, At, Cron, Interval
from tests.store.operations import (
    NAMES,
    T0,
    WORKERS,
    Advance,
    AdvanceTo,
    Cancelled,
    Claimed,
    Died,
    Finished,
    FinishedAll,
    FinishedLate,
    Nothing,
    Operation,
    Plan,
    Pruned,
    Race,
    Renewed,
    Rescued,
)
from tests.store.schedule_operations import (
    Created,
    Deleted,
    Moved,
    Overrode,
    Paused,
    Resumed,
    Skipped,
    Triggered,
    Undone,
    Updated,
)

name = st.sampled_from(NAMES)
a_worker = st.sampled_from(WORKERS)
small = st.integers(0, 7)
# Five hours ahead of UTC.
EAST = "Etc/GMT-5"


def every(seconds: int) -> Interval:
    return Interval("seconds", seconds)


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "form": st.sampled_from(
        [
            every(60),
            every(20),
            every(45),
            every(60),
            every(20),
            every(300),
            every(HOUR),
            Cron("0,15,30,45 * * * *"),
            Cron("5,6 0,12 * * *"),
            Cron("30 1 * * *", EAST),
            Interval("days", 1, EAST),
            At(T0 + 90),
            At(T0 + 2 * HOUR),
            AnyOf((every(120), Cron("1 * * * *"))),
            AnyOf((every(HOUR), At(T0 + 100), Interval("days", 1, EAST))),
        ]
    ),
    "catch_up": st.sampled_from(["one", "latest", "all", "skip"]),
    "catch_up_limit": st.sampled_from([3, 1, 5]),
    "grace": st.sampled_from([10, 0, 90, 300]),
    "start_within": st.sampled_from([None, 0, 30, 400]),
    "overlap": st.sampled_from(["skip", "queue", "replace", "allow"]),
    "max_concurrent": st.sampled_from([1, 2, 3]),
    "spread": st.sampled_from([0, 0, 40, 700]),
    "start_at": st.sampled_from([None, T0 + 130, T0 + DAY]),
    "end_at": st.sampled_from([None, T0 + 200, T0 + 2 * DAY]),
    "max_runs": st.sampled_from([None, 1, 2, 5]),
    "exclude": st.sampled_from([ClosedDays(), ClosedDays((3,)), ClosedDays((4, 5))]),
    "retries": st.sampled_from([0, 2]),
    "on_crash": st.sampled_from(["retry", "fail", "fail"]),
    "priority": st.sampled_from([0, 5]),
}
COMMON = ("form", "catch_up", "catch_up_limit", "grace", "overlap", "max_concurrent", "spread")
RARE = tuple(field for field in FIELDS if field not in COMMON)
# Mostly a little at a time, as a worker sees it; now and then an outage, or a clock that is set back.
STEPS = [20, 60, 1, 7.25, 30.5, 60, 61.5, 90, 20, 60, 120, 300, 60, 20, 3_600, 86_400, 200_000, -0.75, -5, -45]
seconds = st.sampled_from(STEPS)
how = st.sampled_from(["succeed", "succeed", "fail", "fail", "drain", "cancel"])


@st.composite
def some_specs(draw: st.DrawFn) -> Spec:
    """Every policy, and at most two options that end or narrow a schedule; otherwise most would end early."""
    fields = [*COMMON, *draw(st.lists(st.sampled_from(RARE), max_size=2, unique=True))]
    return Spec(**{field: draw(FIELDS[field]) for field in fields})


specs = some_specs().filter(lambda s: not (s.start_at and s.end_at and s.start_at > s.end_at))


def weighed(*weighted: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Draw one of these, weighted."""
    choices = [strategy for weight, strategy in weighted for _ in range(weight)]
    return st.integers(0, len(choices) - 1).flatmap(choices.__getitem__)


updates = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda key: st.builds(Updated, name, st.just(key), FIELDS[key], st.sampled_from([False] * 9 + [True]))
)
ahead = st.sampled_from([0, 0, 1, 2, 4])
overriding = st.one_of(
    st.builds(Overrode, name, ahead, st.just(True)),
    st.builds(Overrode, name, ahead, st.just(False), st.sampled_from([-70, -20, 0, 15, 50, 400]), st.booleans()),
    st.builds(Overrode, name, ahead, st.just(False), st.none(), st.just(True)),
)
calls = weighed(
    (5, st.builds(Plan, st.sampled_from([500, 1]))),
    (4, st.builds(Claimed, a_worker, st.sampled_from([100, 1]))),
    (4, st.builds(Finished, a_worker, small, how, st.sampled_from([0.0, 15.0]))),
    (2, st.builds(Rescued)),
    (1, st.builds(Renewed, a_worker)),
    (1, st.builds(FinishedLate, small, how, st.sampled_from([0, 1]))),
    (1, st.builds(Cancelled, small)),
    (2, st.builds(Triggered, name)),
    (2, updates),
    (1, st.builds(Paused, name, st.sampled_from([None, 30, 400, 90_000]), st.booleans())),
    (2, st.builds(Resumed, name)),
    (1, st.builds(Deleted, name, st.booleans())),
    (1, st.builds(Created, name, specs, st.booleans())),
    (1, st.builds(Moved, name, st.sampled_from([1, 50, 400, 90_000, -5]))),
    (1, st.builds(Skipped, name, st.sampled_from([1, 3]))),
    (3, overriding),
    (1, st.builds(Undone, name, small)),
)


def script(*steps: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Operation, ...]]:
    """These steps in a row."""
    return st.tuples(*steps)


# A tick runs early, perhaps with skipped ones before it; then its grid changes.
early = (
    weighed((1, st.builds(Skipped, name, st.sampled_from([1, 3]))), (1, overriding), (1, st.just(Nothing()))),
    st.builds(Moved, name, st.sampled_from([1, 2])),
    st.just(Advance(2.5)),
    st.just(Plan()),
)
anew = (st.builds(Updated, name, st.just("form"), FIELDS["form"]), st.builds(AdvanceTo), st.just(Plan()))
lost = (st.just(Claimed("bob")), st.just(Died("bob")), st.just(Advance(61.5)), st.just(Rescued()))
operations = weighed(
    (1, script(st.just(Nothing()))),
    (8, script(st.builds(Advance, seconds))),
    (1, script(st.builds(Died, a_worker))),
    (1, script(st.builds(Pruned, st.sampled_from([0.0, 100.0]), st.sampled_from([0, 2])))),
    (18, script(calls)),
    (3, script(st.builds(Race, calls, calls))),
    # Cases that single calls seldom reach: ticks on time, and all consequences of a lost worker.
    (8, script(st.builds(AdvanceTo, st.sampled_from([0, 0, 10, 10.25, 90, 30])), st.just(Plan()))),
    (2, script(st.builds(Claimed, a_worker), st.builds(Advance, seconds), st.just(FinishedAll()))),
    (2, script(*lost, st.just(Claimed("ann")), st.builds(FinishedLate, small, how, st.sampled_from([0, 1])))),
    (1, script(*lost * 4)),
    (3, script(*early, *anew)),
    (2, script(*early, st.builds(Deleted, name), st.builds(Created, name, specs, st.booleans()), *anew[1:])),
    (1, script(*early, st.builds(Claimed, a_worker), st.just(FinishedAll()), st.just(Pruned(0.0, 0)), *anew * 2)),
    (1, script(st.just(Claimed("ann")), st.just(AdvanceTo()), st.just(Race(Plan(), Finished("ann"))))),
    (1, script(st.just(AdvanceTo()), st.just(Plan()), st.just(Race(Claimed("ann"), Claimed("bob"))))),
    (1, script(st.just(AdvanceTo()), st.just(Race(Plan(), Plan(1))))),
)
# Long enough for interesting histories; irrelevant operations shrink away.
histories = st.tuples(
    st.lists(specs, min_size=1, max_size=2),
    st.lists(operations, min_size=25, max_size=50).map(lambda scripts: [step for each in scripts for step in each]),
)
