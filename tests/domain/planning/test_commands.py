"""The effect of each command in each state; seconds count from T0."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird.domain.errors import ConflictError, DefinitionError, InvalidError, NotFoundError, StaleError
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.commands.define import Create, Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume, removed_from_code
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip
from tickbird.domain.planning.plan import NO_FACTS, ActiveRun, Facts, RetriedRun
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at

T0 = datetime(2026, 1, 1, tzinfo=UTC)
BASE = to_seconds(T0)
MINUTE = every(seconds=60)
TWO = Facts((ActiveRun(7, "running", "schedule"), ActiveRun(8, "waiting", "schedule")))


def define(**fields: Any) -> Definition:
    return Definition(**{"trigger": MINUTE, "target": Target("work"), **fields})


def schedule(state: Any = "active", *, cursor: Cursor | None = None, **fields: Any) -> Schedule:
    """A schedule at revision 3 that is decided up to T0."""
    definition = define(**fields)
    known = cursor or Cursor(planned_until=BASE, next_run_at=BASE + 60)
    pause = PauseState("eve", "moving") if state == "paused" else None
    raw = encode_definition(definition)
    return Schedule(1, "default", "clock", 3, state, definition, known, pause, definition_json=raw)


def apply(command: Command, known: Schedule | None, seconds: float = 10, facts: Facts = NO_FACTS) -> Change:
    return command.apply(known, "clock", facts, BASE + seconds)


def skips(change: Change) -> list[tuple[str, int, int, int]]:
    return [(skip.reason, skip.first - BASE, skip.last - BASE, skip.count) for skip in change.plan.skips]


ALL: list[Command] = [
    Update(actor="ada", fields={"priority": 1}),
    SyncFromCode(actor="ada", definition=define(), app="app", fingerprint="f"),
    Delete(actor="ada"),
    Pause(actor="ada"),
    Resume(actor="ada"),
    Reschedule(actor="ada", to=BASE + 100),
    Skip(actor="ada"),
    Trigger(actor="ada"),
]


@pytest.mark.parametrize("command", ALL, ids=lambda command: type(command).__name__)
def test_command_on_a_missing_schedule_is_refused(command: Command) -> None:
    for known in (None, schedule("deleted")):
        with pytest.raises(NotFoundError, match="clock"):
            apply(command, known)


@pytest.mark.parametrize("command", ALL, ids=lambda command: type(command).__name__)
def test_a_stale_revision_is_refused(command: Command) -> None:
    with pytest.raises(ConflictError, match="revision 3, not 2"):
        apply(replace(command, revision=2), schedule("paused"))
    assert apply(replace(command, revision=3), schedule("paused")).schedule.id == 1


@pytest.mark.parametrize("command", ALL, ids=lambda command: type(command).__name__)
def test_every_command_except_a_run_creates_one_revision(command: Command) -> None:
    change = apply(command, schedule("paused"))
    assert change.makes_revision == (not isinstance(command, Trigger))
    assert change.schedule.revision == change.plan.revision == 3 + change.makes_revision
    assert (change.schedule.state, change.schedule.cursor) == (change.plan.state, change.plan.cursor)


def test_create() -> None:
    change = apply(Create(actor="ada", namespace="default", definition=define(), app="a", fingerprint="f"), None, 30.5)
    made = change.schedule
    assert (change.action, made.revision, made.state, made.app, made.fingerprint) == ("create", 1, "active", "a", "f")
    assert made.cursor == Cursor(planned_until=BASE + 30, next_run_at=BASE + 60)
    assert made.definition_json == encode_definition(define())
    with pytest.raises(ConflictError):
        apply(Create(actor="ada", namespace="default", definition=define()), schedule())


def test_create_continues_after_a_tombstone() -> None:
    command = Create(actor="ada", namespace="default", definition=define())
    tombstone = schedule("deleted", cursor=Cursor(planned_until=BASE + 150, runs_planned=9))
    change = apply(command, tombstone, 10)
    assert (change.schedule.id, change.schedule.revision) == (1, 4)
    done = tuple(TickOverride(BASE + tick, decided_early=True) for tick in (60, 120, 150))
    assert change.schedule.cursor == Cursor(BASE + 10, BASE + 180, tick_overrides=done)
    assert apply(command, tombstone, 200).schedule.cursor == Cursor(BASE + 200, BASE + 240)
    # After its time, it is not recorded as missed.
    past = replace(tombstone, cursor=replace(change.schedule.cursor, next_run_at=None))
    once = Create(actor="sync", namespace="default", definition=define(trigger=at(T0 + timedelta(seconds=60))), app="a")
    again = apply(once, past, 70)
    assert (again.schedule.state, skips(again)) == ("ended", [])


def test_create_without_future_ticks() -> None:
    past = define(trigger=at(T0 - timedelta(seconds=5)))
    with pytest.raises(DefinitionError, match="no tick after"):
        apply(Create(actor="ada", namespace="default", definition=past), None)
    change = apply(Create(actor="sync", namespace="default", definition=past, app="a"), None)
    assert (change.schedule.state, skips(change)) == ("ended", [("misfire", -5, -5, 1)])


def test_create_and_run_now() -> None:
    change = apply(Create(actor="ada", namespace="default", definition=define(), first="now"), None)
    [run] = change.plan.runs
    assert (run.origin, run.status, run.scheduled_for) == ("manual", "queued", None)
    assert change.schedule.cursor.runs_planned == 0


def test_update_of_a_policy_keeps_the_cursor() -> None:
    move = TickOverride(BASE + 60, "ada", BASE, due_at=BASE + 90)
    cursor = Cursor(planned_until=BASE, next_run_at=BASE + 90, tick_overrides=(move,))
    change = apply(Update(actor="ada", fields={"priority": 4}), schedule(cursor=cursor))
    assert (change.schedule.cursor, change.schedule.definition) == (cursor, define(priority=4))
    assert change.detail == {"before": {"priority": None}, "after": {"priority": 4}}
    assert change.schedule.field_overrides == {}


def test_update_of_the_trigger_starts_after_now() -> None:
    change = apply(Update(actor="ada", fields={"trigger": {"every": {"seconds": 7}}}), schedule(), 100.5)
    assert change.schedule.cursor.planned_until == BASE + 100
    assert (change.schedule.cursor.next_run_at or 0) - BASE in range(101, 108)
    window = apply(Update(actor="ada", fields={"end_at": "2026-01-01T00:01:30Z"}), schedule(), 100)
    assert window.schedule.state == "ended"


def test_update_of_code_is_an_override() -> None:
    known = replace(schedule(), app="a", fingerprint="f1", field_overrides={"grace": 5})
    change = apply(Update(actor="ada", fields={"priority": 4}), known)
    assert change.schedule.field_overrides == {"grace": 5, "priority": 4}
    deployed = apply(
        SyncFromCode(actor="sync", definition=define(retries=2), app="a", fingerprint="f2"), change.schedule
    )
    assert deployed.schedule.definition == define(retries=2, grace=5, priority=4)
    assert (deployed.action, deployed.schedule.fingerprint) == ("sync", "f2")


@pytest.mark.parametrize("fields", [{"overlap": "no"}, {"colour": 1}, {"trigger": {"cron": "x"}}, {"target": None}])
def test_update_must_give_a_valid_definition(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidError):
        apply(Update(actor="ada", fields=fields), schedule())


def test_update_without_effect_changes_nothing() -> None:
    known = schedule(priority=4, payload={"n": 1})
    for fields in ({}, {"priority": 4}, {"grace": 10}, {"payload": {"n": 1}}):
        change = apply(Update(actor="ada", fields=fields), known, 100)
        assert (change.schedule, change.makes_revision, change.plan.cursor) == (known, False, known.cursor)
        assert (change.plan.runs, change.plan.skips) == ((), ())
    for payload in ({"n": True}, {"n": 1.0}, {}):
        assert apply(Update(actor="ada", fields={"payload": payload}), known, 100).makes_revision
    # An operator's override stays, even if it equals the code.
    from_code = replace(known, app="a", fingerprint="f")
    assert apply(Update(actor="ada", fields={"priority": 4}), from_code).schedule.field_overrides == {"priority": 4}
    # A definition that a store refused may be valid now.
    assert apply(Update(actor="ada", fields={"priority": 4}), replace(known, state="parked")).makes_revision


def test_update_in_each_state() -> None:
    hourly = Update(actor="ada", fields={"trigger": {"every": {"hours": 1}}})
    paused = apply(hourly, schedule("paused"), 130)
    assert (paused.schedule.state, skips(paused)) == ("paused", [("paused", 60, 120, 2)])
    assert paused.schedule.pause == PauseState("eve", "moving")
    spread = schedule("paused", trigger=every(hours=1), spread=600)
    minutely = Update(actor="ada", fields={"trigger": {"every": {"minutes": 1}}})
    assert skips(apply(minutely, spread, 3599)) == []
    assert skips(apply(minutely, spread, 3600)) == [("paused", 3600, 3600, 1)]
    pending = schedule(trigger=every(hours=1), spread=600)
    assert skips(apply(minutely, pending, 3600)) == [("edited", 3600, 3600, 1)]
    assert skips(apply(Delete(actor="ada"), pending, 3600)) == [("deleted", 3600, 3600, 1)]
    assert skips(apply(Update(actor="ada", fields={"priority": 1}), pending, 3600)) == []
    parked = apply(hourly, replace(schedule("parked"), definition=None, error="why"), 7300)
    assert (parked.schedule.state, parked.schedule.error) == ("active", None)
    assert skips(parked) == [("invalid", 3600, 7200, 2)]
    still = apply(Update(actor="ada", fields={"priority": 1}), schedule("ended", trigger=at(T0)), 10)
    assert still.schedule.state == "ended"
    again = apply(Update(actor="ada", fields={"max_runs": None}), schedule("ended", max_runs=1), 70)
    assert (again.schedule.state, again.schedule.cursor.next_run_at) == ("active", BASE + 120)


def test_ended_schedule_keeps_its_cursor() -> None:
    used_up = schedule("ended", max_runs=2, cursor=Cursor(planned_until=BASE + 120, runs_planned=2))
    for fields in ({"priority": 1}, {"max_runs": 1}):
        still = apply(Update(actor="ada", fields=fields), used_up, 400).schedule
        assert (still.state, still.cursor) == ("ended", used_up.cursor)
    elsewhere = apply(Update(actor="ada", fields={"trigger": {"every": {"hours": 1}}}), used_up, 400).schedule
    assert (elsewhere.state, elsewhere.cursor.planned_until) == ("ended", BASE + 400)
    again = apply(Update(actor="ada", fields={"max_runs": 3}), used_up, 400).schedule
    assert (again.state, again.cursor.next_run_at) == ("active", BASE + 420)


def test_delete_leaves_a_tombstone() -> None:
    known = replace(
        schedule(cursor=Cursor(planned_until=BASE, runs_planned=5)), field_overrides={"a": 1}, fingerprint="f"
    )
    change = apply(Delete(actor="ada"), known, 100.5, TWO)
    gone = change.schedule
    assert (gone.state, gone.cursor, gone.field_overrides, gone.fingerprint) == (
        "deleted",
        Cursor(planned_until=BASE + 100),
        {},
        None,
    )
    ahead = apply(Delete(actor="ada"), schedule(cursor=Cursor(planned_until=BASE + 500)), 100)
    assert ahead.schedule.cursor.planned_until == BASE + 100
    done = [each.tick - BASE for each in ahead.schedule.cursor.tick_overrides if each.decided_early]
    assert done == [120, 180, 240, 300, 360, 420, 480, 500]
    assert ahead.plan.void == ()
    assert (change.plan.cancel, change.plan.stop) == ((), ())
    stopped = apply(Delete(actor="ada", cancel_runs=True), known, 100, TWO)
    assert (stopped.plan.cancel, stopped.plan.stop) == ((8,), (7,))


def test_tick_decided_early_cannot_be_overridden() -> None:
    done = TickOverride(BASE + 120, decided_early=True)
    known = schedule(cursor=Cursor(BASE, BASE + 60, tick_overrides=(done,)))
    for command in (Override(actor="ada", tick=BASE + 120, skip=True), ClearOverride(actor="ada", tick=BASE + 120)):
        with pytest.raises(ConflictError, match="already decided, before its time"):
            apply(command, known)
    skipped = apply(Skip(actor="ada", count=2), known).schedule.cursor
    assert (skipped.skip_until, skipped.tick_overrides) == (BASE + 180, (done,))
    beside = apply(Override(actor="ada", tick=BASE + 60, skip=True), known).schedule.cursor
    undone = apply(ClearOverride(actor="ada", tick=BASE + 60), replace(known, cursor=beside)).schedule.cursor
    assert (len(beside.tick_overrides), undone) == (2, known.cursor)


def test_number_of_early_skips_is_limited() -> None:
    known = schedule(cursor=Cursor(BASE, BASE + 60, skip_until=BASE + 60 * 2_000, skip_by="ada"))
    for last, refused in ((1_001, False), (1_002, True)):
        move = Override(actor="ada", tick=BASE + 60 * last, move_to=BASE + 30)
        with pytest.raises(InvalidError, match="the maximum is 1,000") if refused else nullcontext():
            apply(move, known)


def test_pause() -> None:
    change = apply(Pause(actor="ada", note="n", until=BASE + 500), schedule(), 10, TWO)
    assert (change.schedule.state, change.schedule.pause) == ("paused", PauseState("ada", "n", BASE + 500))
    assert (change.schedule.cursor.next_run_at, change.schedule.cursor.planned_until) == (BASE + 500, BASE)
    assert (change.plan.cancel, change.plan.stop) == ((), ())
    stopped = apply(Pause(actor="ada", cancel_runs=True), schedule(), 10, TWO)
    assert (stopped.plan.cancel, stopped.plan.stop, stopped.plan.cursor.next_run_at) == ((8,), (7,), None)
    parked = apply(Pause(actor="ada"), replace(schedule("parked"), error="why"))
    assert (parked.schedule.state, parked.schedule.error, parked.schedule.pause) == ("parked", "why", PauseState("ada"))
    with pytest.raises(ConflictError):
        apply(Pause(actor="ada"), schedule("ended"))
    with pytest.raises(InvalidError):
        apply(Pause(actor="ada", until=BASE + 10), schedule())
    gone = apply(removed_from_code(), schedule()).schedule.pause
    assert gone is not None
    assert (gone.by, gone.note) == ("sync", "removed from code")


def test_resume() -> None:
    change = apply(Resume(actor="ada"), schedule("paused"), 130)
    assert (change.schedule.state, change.schedule.pause) == ("active", None)
    assert (skips(change), change.schedule.cursor.next_run_at) == ([("paused", 60, 120, 2)], BASE + 180)
    [skip] = change.plan.skips
    assert (skip.actor, skip.note) == ("eve", "paused by eve: moving")
    fresh = apply(Resume(actor="ada"), schedule("paused", cursor=Cursor()), 130)
    assert (fresh.plan.skips, fresh.schedule.cursor.next_run_at) == ((), BASE + 180)
    for pause in (None, PauseState("eve")):
        parked = apply(Resume(actor="ada"), replace(schedule("parked"), pause=pause, error="why"), 130)
        assert (parked.schedule.state, parked.schedule.pause, parked.schedule.error) == ("active", None, None)
        assert skips(parked) == [("invalid", 60, 120, 2)]
    broken = replace(schedule("parked"), definition=None, error="why")
    unpaused = apply(Resume(actor="ada"), replace(broken, pause=PauseState("eve")))
    assert (unpaused.schedule.state, unpaused.schedule.pause, unpaused.schedule.error) == ("parked", None, "why")
    for known, words in (
        (broken, "tickbird set"),
        (schedule(), "active, not paused"),
        (schedule("ended"), "ended, not paused"),
    ):
        with pytest.raises(ConflictError, match=words):
            apply(Resume(actor="ada"), known)


def test_reschedule() -> None:
    change = apply(Reschedule(actor="ada", to=BASE + 100), schedule())
    [move] = change.schedule.cursor.tick_overrides
    assert (move.tick, move.due_at, move.actor, move.payload) == (BASE + 60, BASE + 100, "ada", None)
    assert (change.schedule.cursor.planned_until, change.schedule.cursor.next_run_at) == (BASE, BASE + 100)
    again = apply(Reschedule(actor="ada", to=BASE + 30), change.schedule)
    assert again.schedule.cursor.next_run_at == BASE + 30
    assert [(each.tick, each.due_at) for each in again.schedule.cursor.tick_overrides] == [(BASE + 60, BASE + 30)]
    paused = apply(Reschedule(actor="ada", to=BASE + 100), schedule("paused"))
    assert (paused.schedule.state, paused.schedule.cursor.next_run_at) == ("paused", None)
    with pytest.raises(InvalidError):
        apply(Reschedule(actor="ada", to=BASE + 10), schedule())
    for known in (schedule("ended"), schedule("parked"), schedule(cursor=Cursor()), schedule(end_at=T0)):
        with pytest.raises(ConflictError, match=r"no (next tick|future ticks)"):
            apply(Reschedule(actor="ada", to=BASE + 100), known)


def test_skip() -> None:
    change = apply(Skip(actor="ada", count=2, note="n"), schedule())
    cursor = change.schedule.cursor
    assert (cursor.skip_until, cursor.skip_by, cursor.skip_note) == (BASE + 120, "ada", "n")
    assert cursor.next_run_at == BASE + 60
    more = apply(Skip(actor="bo"), change.schedule)
    assert (more.schedule.cursor.skip_until, more.schedule.cursor.skip_by) == (BASE + 180, "bo")
    behind = apply(Reschedule(actor="ada", to=BASE + 20), change.schedule)
    assert [each.tick for each in behind.schedule.cursor.tick_overrides] == [BASE + 180]
    unmoved = apply(Skip(actor="ada"), apply(Reschedule(actor="ada", to=BASE + 100), schedule()).schedule)
    assert (unmoved.schedule.cursor.tick_overrides, unmoved.schedule.cursor.skip_until) == ((), BASE + 60)
    few = apply(Skip(actor="ada", count=50), schedule(end_at=T0 + timedelta(seconds=130)))
    assert few.schedule.cursor.skip_until == BASE + 120
    for count in (0, -1, 10_001, True, 1.5):
        with pytest.raises(InvalidError):
            apply(Skip(actor="ada", count=count), schedule())  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["active", "paused", "ended"])
def test_trigger(state: Any) -> None:
    known = schedule(state)
    change = apply(Trigger(actor="ada", payload={"n": 1}), known)
    assert change.schedule == known
    [run] = change.plan.runs
    assert (change.action, run.origin, run.status, run.payload) == ("trigger", "manual", "queued", {"n": 1})
    [waits] = apply(Trigger(actor="ada"), known, 10, TWO).plan.runs
    assert (waits.status, waits.payload) == ("waiting", None)
    [beside] = apply(Trigger(actor="ada"), schedule(state, overlap="allow"), 10, TWO).plan.runs
    assert beside.status == "queued"


def final_run(**fields: Any) -> RunRecord:
    """Run 5 of the schedule, created under revision 1 and failed."""
    unset = dict.fromkeys(f.name for f in dataclass_fields(RunRecord))
    known = {"id": 5, "schedule_id": 1, "revision": 1, "status": "failed", "payload": {"n": 5}, "due_at": T0}
    return RunRecord(**{**unset, **known, **fields})


@pytest.mark.parametrize("state", ["active", "paused", "ended", "parked", "deleted"])
def test_retry(state: Any) -> None:
    known, then = schedule(state, queue="now"), define(target=Target("then"), queue="then", start_within=30)
    facts = replace(TWO, retried_run=RetriedRun(final_run(), then))
    change = apply(Trigger(actor="ada", retry_of=5), known, 10.5, facts)
    assert (change.schedule, change.makes_revision, change.action) == (known, False, "retry")
    assert (change.definition, change.plan.revision, change.plan.state) == (then, 1, state)
    [run] = change.plan.runs
    assert (run.origin, run.retry_of, run.status, run.payload, run.start_by) == ("retry", 5, "waiting", {"n": 5}, None)
    late = replace(facts, active=(), retried_run=RetriedRun(final_run(start_by=T0), then))
    [run] = apply(Trigger(actor="ada", retry_of=5, payload={}), known, 10.5, late).plan.runs
    assert (run.status, run.payload, run.start_by) == ("queued", {}, BASE + 41)


def test_retry_refuses() -> None:
    command, known = Trigger(actor="ada", retry_of=5, revision=3), schedule()
    with pytest.raises(NotFoundError, match="no run 5 of schedule 'clock'"):
        apply(command, known)
    with pytest.raises(NotFoundError, match="no schedule"):
        apply(command, None)
    with pytest.raises(ConflictError, match="revision 1 of schedule 'clock', with which it was created, cannot be"):
        apply(command, known, facts=Facts(retried_run=RetriedRun(final_run(), None)))
    made = Facts(retried_run=RetriedRun(final_run(), define()))
    with pytest.raises(ConflictError, match="is a shadow"):
        apply(command, schedule(shadow=True), facts=made)
    assert apply(command, schedule("deleted", shadow=True), facts=made).plan.runs
    with pytest.raises(StaleError):
        apply(replace(command, revision=2), known, facts=made)
    with pytest.raises(DefinitionError, match="payload"):
        apply(replace(command, payload={"a": object()}), known, facts=made)


def test_trigger_refuses() -> None:
    for known in (replace(schedule("parked"), error="why"), replace(schedule(), definition=None)):
        with pytest.raises(ConflictError, match="parked"):
            apply(Trigger(actor="ada"), known)
    with pytest.raises(InvalidError):
        apply(Trigger(actor="ada", payload={"x": object()}), schedule())


def test_command_must_implement_change() -> None:
    with pytest.raises(TypeError, match="abstract method"):
        Command(actor="ada")  # type: ignore[abstract]
