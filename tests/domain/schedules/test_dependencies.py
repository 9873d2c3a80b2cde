"""Dependencies: input forms, errors, and the decisions of the planner."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.planning.plans import BASE, look, runs, schedule, skips
from tickbird import After, after
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import DefinitionError
from tickbird.domain.planning.code_sync import reconcile
from tickbird.domain.planning.commands.define import SyncFromCode, Update
from tickbird.domain.planning.plan import Facts, Plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules.codec import decode_definition, encode_definition, fingerprint
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.dependencies import LastSuccess, check_dependencies, read_dependencies, topological_order
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every

HOURLY = every(hours=1)


def define(**options: Any) -> Definition:
    return Definition(trigger=HOURLY, target=Target("work"), **policies(options))


def succeeded(**at: int | None) -> Facts:
    """Facts with the last successes of schedules, in seconds after T0."""
    known = enumerate(at.items(), 1)
    return Facts(successes={name: LastSuccess(n, None if s is None else BASE + s) for n, (name, s) in known})


def test_input_forms_are_read() -> None:
    load, clean = After("load", 86_400, 7_200), After("clean", 60)
    for written in (
        [after("load", within="24h", wait="2h"), after("clean", within=60)],
        (("load", "24h", "2h"), ("clean", "1m")),
        [{"after": "load", "within": 86_400, "wait": "2h"}, ["clean", timedelta(minutes=1)]],
    ):
        assert read_dependencies(written) == (load, clean)
    for one in (after("clean", "1m"), ("clean", "1m"), {"after": "clean", "within": 60}, [("clean", 60, None)]):
        assert read_dependencies(one) == (clean,)
    assert read_dependencies(None) == read_dependencies([]) == ()
    assert [str(each) for each in (load, clean)] == ["load within 1 d, waiting 2 h", "clean within 1 min"]


@pytest.mark.parametrize(
    "written, sentence",
    [
        ("load", "'load' is not a list of dependencies"),
        (7, "'7' is not a list of dependencies"),
        (["load"], "is not a schedule with the time within which"),
        ([["load"]], "is not a schedule with the time within which"),
        ([("load", "1h", "2h", "3h")], "is not a schedule with the time within which"),
        ([{"after": "load"}], "is not a schedule with the time within which"),
        ([{"after": "load", "within": 5, "until": 6}], "is not a schedule with the time within which"),
        ([("load", "soon")], "depends_on: within: 'soon' is not a duration"),
        ([("load", -1)], "depends_on: within: -1 is out of range"),
        ([("load", None)], "depends_on: within: None is not a duration"),
        ([("load", 5, -1)], "depends_on: wait: -1 is out of range"),
        ([("load", 5, True)], "depends_on: wait: True is not a duration"),
        ([("no name", 5)], "'no name' is not a valid name"),
        ([(7, 5)], "'7' is not a valid name"),
        ([("load", 5), ("load", 6)], "'load' is listed twice. Remove one of the two"),
        ([(f"s{n}", 5) for n in range(21)], "must be a list of at most 20"),
    ],
)
def test_invalid_dependency_is_refused(written: Any, sentence: str) -> None:
    with pytest.raises(DefinitionError, match=sentence):
        define(depends_on=written)


def test_wait_longer_than_start_within_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"cannot wait 2 h, .* within 1 h \(start_within\). Set a start_within"):
        define(depends_on=("load", "1d", "2h"), start_within="1h")
    with pytest.raises(DefinitionError, match=r"cannot wait 2 h, .* within 10 s \(the grace of catch_up=skip\)"):
        define(depends_on=("load", "1d", "2h"), catch_up="skip")
    define(depends_on=("load", "1d", "2h"), catch_up="skip", start_within="2h")
    define(depends_on=("load", "1d"), catch_up="skip")


def test_dependencies_are_stored_with_the_definition() -> None:
    defined = define(depends_on=[("load", "1d", "2h"), ("clean", 60)])
    encoded = encode_definition(defined)
    assert encoded["depends_on"] == [
        {"after": "load", "within": 86_400, "wait": 7_200},
        {"after": "clean", "within": 60},
    ]
    assert decode_definition(encoded) == defined
    assert "depends_on" not in encode_definition(define())
    assert fingerprint(defined) != fingerprint(define())
    assert not defined.has_fast_path


@pytest.mark.parametrize(
    "stored",
    ["load", {"after": "load", "within": 5}, ["load"], [{"after": "load"}], [{"after": "load", "within": "5"}]],
)
def test_unreadable_dependency_is_reported(stored: Any) -> None:
    with pytest.raises(DefinitionError, match=r"depends_on: .*\. Write after"):
        decode_definition({**encode_definition(define()), "depends_on": stored})


def test_cycles_and_unknown_schedules_are_refused() -> None:
    needs = {"a": ["b"], "b": ["c"], "c": [], "d": ["a"]}
    check_dependencies("e", [After("d", 5), After("c", 5)], needs)
    with pytest.raises(DefinitionError, match="'c' would depend on itself: c → d → a → b → c"):
        check_dependencies("c", [After("d", 5)], needs)
    with pytest.raises(DefinitionError, match=r"there is no schedule 'x'\. Create it first"):
        check_dependencies("c", [After("x", 5)], needs)


def test_dependencies_come_first() -> None:
    assert list(topological_order({"a": ["b", "z"], "c": [], "b": ["c"], "d": ["a"]})) == ["c", "b", "a", "d"]
    with pytest.raises(DefinitionError, match="depend on each other: b → c → b"):
        list(topological_order({"a": ["b"], "b": ["c"], "c": ["b"]}))


def test_deploy_creates_schedules_in_dependency_order() -> None:
    declared = {"report": define(depends_on=("clean", 60)), "clean": define(depends_on=("load", 60)), "load": define()}
    assert [name for name, _ in reconcile("default", "app", declared, {}, {})] == ["load", "clean", "report"]
    with pytest.raises(DefinitionError, match="report → clean → load → report"):
        reconcile("default", "app", {**declared, "load": define(depends_on=("report", 60))}, {}, {})


def test_only_commands_that_change_dependencies_read_other_schedules() -> None:
    needing = schedule(depends_on=(After("load", 60),))
    assert not Update(actor="ada", fields={"retries": 3}).changes_dependencies
    assert Update(actor="ada", fields={}, unset=frozenset({"depends_on"})).changes_dependencies
    assert not SyncFromCode(actor="ada", definition=define(), app="a", fingerprint="f").changes_dependencies
    redefine = SyncFromCode(actor="ada", definition=define(depends_on=("load", 60)), app="a", fingerprint="f")
    assert (redefine.changes_dependencies, redefine.dependencies_after(needing)) == (True, ("load",))


def test_late_ticks_by_policy() -> None:
    # Met up to 150, and of those due from 231 on the deadline is to come.
    policy: dict[str, Any] = {"depends_on": (After("load", 100, 100),), "overlap": "allow"}
    expected = {
        # The label is met, so the run waits for nothing; it covers the runnable ticks, not the skipped ones.
        "one": ([(60, "catch_up", "queued")], [("coalesced", 120, 120, 1, "#0"), ("coalesced", 240, 300, 2, "#0")]),
        "latest": ([(300, "catch_up", "waiting")], [("coalesced", 60, 120, 2, "#0"), ("coalesced", 240, 240, 1, "#0")]),
        "all": (
            [
                (60, "catch_up", "queued"),
                (120, "catch_up", "queued"),
                (240, "catch_up", "waiting"),
                (300, "catch_up", "waiting"),
            ],
            [],
        ),
    }
    for catch_up, (made, skipped) in expected.items():
        found = look(schedule(catch_up=catch_up, **policy), 331, succeeded(load=50))
        assert runs(found) == made
        without = [skip for skip in skips(found) if skip[0] != "dependency"]
        assert (without, [s for s in skips(found) if s not in without]) == (skipped, [("dependency", 180, 180, 1)])
        covers = {run.covers for run in found.runs}
        assert covers == ({None} if catch_up == "all" else {(BASE + 60, BASE + 300, 4)})
    found = look(schedule(catch_up="skip", depends_on=(After("load", 100),)), 331, succeeded(load=50))
    assert skips(found) == [("misfire", 60, 300, 5)]


def test_only_runnable_ticks_count_for_limits() -> None:
    needs = (After("load", 100),)
    found = look(schedule(catch_up="all", catch_up_limit=1, depends_on=needs), 331, succeeded(load=50))
    assert runs(found) == [(120, "catch_up", "queued")]
    assert skips(found) == [("limit", 60, 60, 1), ("dependency", 180, 300, 3)]
    found = look(schedule(max_runs=2, catch_up="all", depends_on=needs), 331, succeeded(load=50))
    assert (len(found.runs), found.state) == (2, "ended")


def test_other_skip_reasons_come_first() -> None:
    closed = schedule(depends_on=(After("load", 5),), exclude=exclude("thu"))
    assert skips(look(closed, 60, succeeded(load=None))) == [("calendar", 60, 60, 1)]
    assert skips(look(schedule(depends_on=(After("load", 5),), start_within=30), 95)) == [("misfire", 60, 60, 1)]


def test_held_runs_do_not_wait_for_dependencies() -> None:
    held = schedule(catch_up="all", hold_above=1, depends_on=(After("load", 5, 1_000),))
    found = look(held, 331, succeeded(load=None))
    assert [(run.held, run.awaits) for run in found.runs] == [(True, ())] * 5


def test_years_of_unmet_ticks_are_one_range() -> None:
    seconds = schedule(every(seconds=1), depends_on=(After("load", 3_600),), catch_up="all", grace=0)
    found = look(seconds, 5 * 365 * 86_400, succeeded(load=-3_599))
    assert [(skip.reason, skip.count) for skip in found.skips] == [("dependency", 5 * 365 * 86_400 - 1)]
    assert runs(found) == [(1, "catch_up", "queued")]


def test_dependency_follows_the_wall_clock() -> None:
    nightly = schedule(cron("0 3 * * *", tz="Europe/Rome"), depends_on=(After("load", 3_600),))
    # On the 2nd, 03:00 in Rome is 02:00 UTC: 26 hours after T0.
    for at, reasons in ((25 * 3_600, []), (25 * 3_600 - 1, ["dependency"])):
        found = plan(schedule_from(nightly, 3 * 3_600), succeeded(load=at), BASE + 26 * 3_600)
        assert [skip.reason for skip in found.skips] == reasons


def schedule_from(made: Any, until: int) -> Any:
    return replace(made, cursor=replace(made.cursor, planned_until=BASE + until))


NAMES = ("load", "clean")
SMALL = st.integers(0, 12)


@given(
    step=st.integers(1, 4),
    needs=st.lists(st.tuples(st.sampled_from((*NAMES, "none")), SMALL, SMALL), max_size=3, unique_by=lambda n: n[0]),
    at=st.tuples(*[st.one_of(st.none(), st.integers(-20, 30))] * 2),
    now=st.one_of(st.integers(0, 40), st.floats(0, 40)),
    spread=st.sampled_from([0, 5]),
)
def test_dependency_is_checked_at_due_at(
    step: int, needs: list[Any], at: tuple[int | None, int | None], now: float, spread: int
) -> None:
    made = schedule(
        every(seconds=step, anchor=None),
        depends_on=tuple(After(*each) for each in needs),
        catch_up="all",
        overlap="allow",
        spread=spread,
    )
    found = plan(made, succeeded(**dict(zip(NAMES, at, strict=True))), BASE + now)
    assert fates(found) == expected_fates(made, needs, dict(zip(NAMES, at, strict=True)), now)


def fates(found: Plan) -> dict[int, Any]:
    told: dict[int, Any] = {
        run.scheduled_for - BASE: {(a.schedule_id, a.earliest_at - BASE, a.deadline_at - BASE) for a in run.awaits}
        for run in found.runs
        if run.scheduled_for is not None
    }
    for skip in found.skips:
        step = (skip.last - skip.first) // (skip.count - 1) if skip.count > 1 else 1
        told |= {tick - BASE: skip.note for tick in range(skip.first, skip.last + 1, step)}
    return told


def expected_fates(made: Any, needs: list[Any], at: dict[str, int | None], now: float) -> dict[int, Any]:
    """Yield for each tick what it waits for, or the names that cause its skip."""
    told: dict[int, Any] = {}
    tick = made.grid.next(BASE)
    while tick + made.offset <= BASE + now:
        due = tick + made.offset - BASE
        missed, awaits = [], set()
        for name, within, wait in needs:
            last = at.get(name)
            if last is not None and last >= due - within:
                continue
            if name not in at or not wait or now > due + wait:
                missed.append(name)
            else:
                awaits.add((NAMES.index(name) + 1, due - within, due + wait))
        told[tick - BASE] = ", ".join(missed) if missed else awaits
        tick = made.grid.next(tick)
    return told
