"""What applying a document would do: pure, ticks included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands.define import Create, Delete, RefreshCalendar, SyncFromCode
from tickbird.domain.planning.commands.pause import Resume
from tickbird.domain.planning.plan import Facts
from tickbird.domain.schedules.codec import encode_definition, fingerprint
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import REMOVED_FROM_CODE, SYNC_ACTOR, Cursor, PauseState, State
from tickbird.domain.targets.registry import first_kind_format
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.files.document import Document, read_document
from tickbird.files.field_diff import alike
from tickbird.files.plan import FilePlan, KeptOverride, Late, ScheduleChange, StoredState
from tickbird.files.planner import plan_files
from tickbird.files.tick_diff import TickChanges

# A Monday.
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SECONDS = to_seconds(NOW)


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 6, day, hour, minute, tzinfo=UTC)


def stored(name: str, declared: Definition, /, app: str | None = "files", **fields: Any) -> AppSchedule:
    """A schedule as a store has it, created a moment ago."""
    create = Create(actor="x", namespace="default", definition=declared, app=app, fingerprint=fingerprint(declared))
    made = create.apply(None, name, Facts(needs={"load": ()}), SECONDS - 1).schedule
    return AppSchedule(replace(made, id=1, **fields), frozenset())


def daily(hour: int = 3, **options: Any) -> Definition:
    return Definition(trigger=cron(f"0 {hour} * * *"), target=Target("work"), **options)


def said(**schedules: Mapping[str, Any]) -> Document:
    return read_document({"schedules": {name: {"task": "work", **fields} for name, fields in schedules.items()}})


def plan(document: Document, *known: AppSchedule, prune: bool = False, **options: Any) -> FilePlan:
    schedules = {each.schedule.name: each for each in known}
    adopt = options.pop("adopt", False)
    found = StoredState(schedules=schedules, **options)
    return plan_files(document, found, namespace="default", actor="me", now=float(SECONDS), prune=prune, adopt=adopt)


def only(found: FilePlan) -> ScheduleChange:
    assert not found.diagnostics
    assert not found.conflicts
    [change] = found.schedules
    return change


def test_new_schedule_is_created_with_its_ticks() -> None:
    change = only(plan(said(a={"cron": "0 3 * * *"})))
    assert (change.kind, type(change.command)) == ("create", Create)
    assert isinstance(change.command, Create)
    assert (change.command.actor, change.command.app) == ("me", "files")
    ticks = tuple(at(day, 3) for day in range(1, 4))
    assert change.ticks == TickChanges(0, 7, appear=7, appearing=ticks)


def test_unchanged_schedule_is_not_changed() -> None:
    found = plan(said(a={"cron": "0 3 * * *"}), stored("a", daily()))
    assert (found.is_empty, found.same, found.commands) == (True, 1, [])


def test_changed_hour_moves_the_daily_ticks() -> None:
    change = only(plan(said(a={"cron": "0 5 * * *", "retries": 2}), stored("a", daily())))
    assert change.command is not None
    assert (change.kind, change.command.revision) == ("change", 1)
    assert [(field.name, field.before, field.after) for field in change.fields] == [
        ("trigger", {"cron": "0 3 * * *"}, {"cron": "0 5 * * *"}),
        ("retries", None, 2),
    ]
    assert (change.ticks.before, change.ticks.after, change.ticks.moved) == (7, 7, 7)
    assert (change.ticks.appear, change.ticks.vanish) == (0, 0)
    assert change.ticks.moving[:2] == ((at(1, 3), at(1, 5)), (at(2, 3), at(2, 5)))


def test_a_day_less_vanishes_and_an_hour_more_appears() -> None:
    change = only(plan(said(a={"cron": "0 3,5 * * 1-5"}), stored("a", daily())))
    assert (change.ticks.vanish, change.ticks.appear, change.ticks.moved) == (2, 5, 0)
    assert change.ticks.vanishing == (at(6, 3), at(7, 3))
    assert change.ticks.appearing[0] == at(1, 5)


def test_a_policy_alone_leaves_the_ticks() -> None:
    change = only(plan(said(a={"cron": "0 3 * * *", "retries": 2}), stored("a", daily())))
    assert not change.ticks
    assert (change.ticks.before, change.ticks.after) == (7, 7)


def test_dense_ticks_are_counted_and_only_the_first_are_looked_at() -> None:
    change = only(plan(said(a={"every": "1s"})))
    assert (change.ticks.after, change.ticks.complete, len(change.ticks.appearing)) == (7 * 86_400, False, 3)
    change = only(plan(said(a={"every": "1s"}), stored("a", replace(daily(), trigger=every(seconds=2)))))
    assert (change.ticks.before, change.ticks.after, change.ticks.complete) == (302_400, 604_800, False)
    assert change.ticks.appearing[0] == datetime(2026, 6, 1, 0, 0, 1, tzinfo=UTC)
    assert change.ticks.vanish == 0


def test_closed_days_have_no_ticks() -> None:
    document = said(a={"cron": "0 3 * * *", "calendars": "fest", "exclude": "sun"})
    fest = Calendar(dates=frozenset([at(2, 0).date()]))
    change = only(plan(document, closed={"fest": fest}))
    assert change.ticks.after == 5
    assert at(2, 3) not in change.ticks.appearing


def test_pause_stays_and_no_ticks_appear_during_it() -> None:
    pause = PauseState("ana", "broken", None)
    change = only(plan(said(a={"cron": "0 5 * * *"}), stored("a", daily(), state="paused", pause=pause)))
    assert (change.pause, change.ticks.before, change.ticks.after) == (pause, 0, 0)
    until = PauseState("ana", "broken", to_seconds(at(5, 4)))
    change = only(plan(said(a={"cron": "0 5 * * *"}), stored("a", daily(), state="paused", pause=until)))
    assert (change.ticks.before, change.ticks.after) == (2, 3)


def test_operator_override_stays_and_is_shown() -> None:
    raw = {**encode_definition(daily()), "retries": 9}
    known = stored("a", daily(), field_overrides={"retries": 9}, definition_json=raw, definition=daily(retries=9))
    assert plan(said(a={"cron": "0 3 * * *"}), known).is_empty
    change = only(plan(said(a={"cron": "0 3 * * *", "retries": 1, "priority": 1}), known))
    assert change.kept_overrides == (KeptOverride("retries", 9, 1),)
    assert [field.name for field in change.fields] == ["priority"]
    # Only what stands under the override is another: it is written, for whoever takes the override back.
    change = only(plan(said(a={"cron": "0 3 * * *", "retries": 1}), known))
    assert (change.fields, change.kept_overrides) == ((), (KeptOverride("retries", 9, 1),))


def test_invalid_override_is_reported() -> None:
    known = stored(
        "a",
        daily(),
        field_overrides={"hold_above": 5, "catch_up": "all"},
        definition_json={**encode_definition(daily()), "hold_above": 5, "catch_up": "all"},
        definition=daily(hold_above=5, catch_up="all"),
    )
    known = replace(known, schedule=replace(known.schedule, field_overrides={"hold_above": 5}))
    [diagnostic] = plan(said(a={"cron": "0 4 * * *"}), known).diagnostics
    assert "tickbird set a --unset hold_above" in str(diagnostic)


def test_an_edit_by_plain_sql_is_seen() -> None:
    known = stored("a", daily(), definition=daily(priority=3), definition_json=encode_definition(daily(priority=3)))
    change = only(plan(said(a={"cron": "0 3 * * *"}), known))
    assert [(field.name, field.before, field.after) for field in change.fields] == [("priority", 3, None)]


def test_unreadable_row_is_overwritten() -> None:
    known = stored("a", daily(), definition=None, state="parked", error="bad cron", definition_json={"v": 1})
    change = only(plan(said(a={"cron": "0 3 * * *"}), known))
    assert (change.kind, change.notes) == ("change", ("it was parked (bad cron), and resumes",))


def test_another_owner_is_a_conflict_that_names_it() -> None:
    document = said(a={"cron": "0 3 * * *"}, b={"cron": "0 3 * * *"})
    found = plan(document, stored("a", daily(), app="shop"), stored("b", daily(), app=None))
    assert not found.schedules
    first, second = map(str, found.conflicts)
    assert "schedule a: app 'shop' already defines it, so app 'files' cannot" in first
    assert "a person already defines it" in second
    assert "--adopt" in second
    assert "or write it in a file with app 'shop' (--adopt takes over only schedules that a person created)" in first


def test_schedule_of_a_person_can_be_adopted() -> None:
    found = plan(said(a={"cron": "0 3 * * *"}), stored("a", daily(), app=None), adopt=True)
    change = only(found)
    assert isinstance(change.command, SyncFromCode)
    assert (change.command.app, change.fields) == ("files", ())
    assert change.notes == ("it was created by a person, and now belongs to app files",)
    assert plan(said(a={"cron": "0 3 * * *"}), stored("a", daily(), app="shop"), adopt=True).conflicts


def test_removed_schedule_stays_without_prune() -> None:
    known = (stored("a", daily()), stored("b", daily(), app="shop"), stored("c", daily(), app=None))
    document = said()
    found = plan(document, *known)
    assert (found.is_empty, found.not_in_files) == (True, ["a"])
    change = only(plan(document, *known, prune=True))
    assert (change.name, change.kind, type(change.command)) == ("a", "delete", Delete)
    assert (change.ticks.vanish, change.ticks.after) == (7, 0)


def test_deleted_schedule_is_created_again_and_not_pruned() -> None:
    gone = stored("a", daily(), state="deleted")
    assert only(plan(said(a={"cron": "0 3 * * *"}), gone)).kind == "create"
    assert plan(said(), gone, prune=True).is_empty


def test_pause_for_removed_code_ends_if_a_file_declares_it() -> None:
    pause = PauseState(SYNC_ACTOR, REMOVED_FROM_CODE)
    known = stored("a", daily(), state="paused", pause=pause)
    change = only(plan(said(a={"cron": "0 3 * * *"}), known))
    assert change.command is not None
    assert (change.kind, type(change.command), change.command.revision) == ("resume", Resume, 1)
    found = plan(said(a={"cron": "0 4 * * *"}), known)
    assert [each.kind for each in found.schedules] == ["change", "resume"]
    assert [command.revision for _, command in found.commands] == [1, 2]


def test_late_ticks_are_reported_with_their_catch_up_policy() -> None:
    cursor = Cursor(planned_until=to_seconds(at(1, 0)) - 3 * 86_400, next_run_at=SECONDS - 86_400)
    change = only(plan(said(a={"cron": "0 4 * * *"}), stored("a", daily(catch_up="all"), cursor=cursor)))
    assert change.late == Late(3, "all")
    assert only(plan(said(a={"cron": "0 4 * * *"}), stored("a", daily()))).late is None


def test_dependencies_come_in_an_order_in_which_they_can_be_written() -> None:
    after = {"depends_on": [{"after": "b", "within": "1d"}]}
    document = said(a={"cron": "0 3 * * *", **after}, b={"cron": "0 3 * * *"})
    assert [name for name, _ in plan(document).commands] == ["b", "a"]
    needing = daily(depends_on=document.schedules["a"].depends_on)
    known = (
        replace(stored("b", daily())),
        AppSchedule(replace(stored("b", daily()).schedule, name="a", definition=needing), frozenset()),
    )
    assert [name for name, _ in plan(said(), *known, prune=True).commands] == ["a", "b"]


def test_invalid_dependencies_are_reported() -> None:
    def after(name: str) -> dict[str, Any]:
        return {"cron": "0 3 * * *", "depends_on": [{"after": name, "within": "1d"}]}

    [diagnostic] = plan(said(a=after("nothing"))).diagnostics
    assert "depends_on: there is no schedule 'nothing'" in str(diagnostic)
    # Each of a circle once, where it stands.
    circle = [str(each) for each in plan(said(a=after("b"), b=after("a"))).diagnostics]
    assert ["would depend on itself: a → b → a" in each for each in circle] == [True, False]
    assert "would depend on itself: b → a → b" in circle[1]
    [diagnostic] = plan(said(a=after("old")), stored("old", daily()), prune=True).diagnostics
    assert "'old' is in no file and would be deleted" in str(diagnostic)
    assert not plan(said(a=after("old")), stored("old", daily())).diagnostics


def test_changed_calendar_refreshes_the_schedules_that_use_it() -> None:
    document = replace(said(), calendars={"fest": {"dates": ["2026-06-03"]}})
    closed = Calendar(dates=frozenset([at(3, 0).date()]))
    naming = stored("other", daily(), app="shop").schedule
    definition = daily(calendars=("fest",), closed={"fest": Calendar(dates=frozenset([at(2, 0).date()]))})
    naming = replace(naming, definition=definition, definition_json=encode_definition(definition))
    known: dict[str, Any] = {
        "calendars": {"fest": {"dates": ["2026-06-02"]}},
        "closed": {"fest": closed},
        "naming": [naming],
    }
    found = plan(document, **known)
    change = only(found)
    assert (change.kind, type(change.command), change.name) == ("calendar", RefreshCalendar, "other")
    assert (change.ticks.appearing, change.ticks.vanishing) == ((at(2, 3),), (at(3, 3),))
    [setting] = found.settings
    assert (setting.part, setting.before, setting.after) == (
        "calendars",
        {"dates": ["2026-06-02"]},
        {"dates": ["2026-06-03"]},
    )
    [diagnostic] = plan(said(a={"cron": "0 3 * * *", "calendars": "gone"})).diagnostics
    assert "there is no calendar 'gone'" in str(diagnostic)


def test_limits_and_rates_are_compared() -> None:
    document = read_document({"limits": {"k": 3}, "queues": {"mail": "60/min"}})
    found = plan(document)
    assert [(each.part, each.name, each.before, each.after) for each in found.settings] == [
        ("limits", "k", None, 3),
        ("queues", "mail", None, "60/min"),
    ]
    assert plan(document, limits=dict(document.limits), queues=dict(document.queues)).is_empty


def test_busy_minute_is_reported() -> None:
    many = {f"s{number}": {"cron": "0 3 * * *"} for number in range(12)}
    [crowd] = plan(said(**many)).crowds
    assert (crowd.at, crowd.schedules, crowd.names[0]) == (at(1, 3), 12, "s0")
    spread = {name: {**fields, "spread": "6h"} for name, fields in many.items()}
    assert not plan(said(**spread)).crowds
    known = [stored(name, daily()) for name in many]
    assert not plan(said(**many), *known).crowds, "nothing changes"
    assert not plan(said(**many, late={"cron": "0 4 * * *"}), *known).crowds, "it is no part of it"
    assert plan(said(**many, more={"cron": "0 3 * * *"}), *known).crowds[0].schedules == 13


def test_schedule_without_future_ticks_is_reported() -> None:
    change = only(plan(said(a={"at": "2026-01-01T00:00:00Z"})))
    assert change.notes == ("it has no future tick: its last tick is recorded as missed, and the schedule ends",)


@pytest.mark.parametrize(
    "one, other, same",
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (1e23, 10**23, True),
        (None, 0, False),
        ({"a": [1, {}]}, {"a": [1, {}]}, True),
        ({"a": [1]}, {"a": [2]}, False),
        ([1], [1, 2], False),
        ("1", 1, False),
    ],
)
def test_alike_ignores_number_types_of_stores(one: Any, other: Any, same: bool) -> None:
    assert alike(one, other) is alike(other, one) is same


def test_a_cut_over_names_the_tick_from_which_on_it_really_runs() -> None:
    shadow = stored("a", daily(shadow=True), cursor=Cursor(planned_until=SECONDS - 86_400, next_run_at=SECONDS - 60))
    change = only(plan(said(a={"cron": "0 3 * * *"}), shadow))
    assert change.notes == (
        "switched to real runs: from its tick of 2026-06-01T03:00:00Z on it runs; earlier ticks do not run",
    )
    # What is due and not planned is no catch-up: it is recorded as a shadow.
    assert (change.late, change.ticks.before, change.ticks.after) == (None, 0, 7)
    back = only(plan(said(a={"cron": "0 3 * * *", "shadow": True}), stored("a", daily())))
    assert back.notes == (
        "it becomes a shadow: from its tick of 2026-06-01T03:00:00Z on nothing runs; existing runs continue",
    )
    assert (back.ticks.vanish, back.ticks.after) == (7, 0)


def test_dependency_on_a_shadow_is_noted() -> None:
    needs = {"cron": "0 4 * * *", "depends_on": [{"after": "load", "within": "2h"}]}
    found = plan(said(load={"cron": "0 3 * * *", "shadow": True}, report=needs))
    assert [change.notes for change in found.schedules] == [
        ("a shadow: ticks are recorded, nothing runs",),
        ("it depends on load, which is a shadow and never succeeds",),
    ]
    # A shadow itself waits for nothing.
    found = plan(said(load={"cron": "0 3 * * *", "shadow": True}, report={**needs, "shadow": True}))
    assert len(found.schedules[1].notes) == 1


def alone(name: str, **fields: Any) -> AppSchedule:
    """A schedule whose target kind only other processes know."""
    one = stored(name, daily(), **fields)
    encoded = {**one.schedule.definition_json, "v": first_kind_format("nowhere") + 3, "target": {"nowhere": {}}}
    return replace(one, schedule=replace(one.schedule, definition=None, definition_json=encoded))


@pytest.mark.parametrize("state", ["active", "deleted"])
def test_a_schedule_that_this_process_ignores_is_not_written(state: State) -> None:
    refused = plan(said(a={"cron": "0 4 * * *"}), alone("a", state=state))
    expected = "schedule a: is ignored: target kind 'nowhere' is not available here. Install its package"
    assert not refused.schedules
    assert [each.text[: len(expected)] for each in refused.diagnostics] == [expected]


def test_a_schedule_that_this_process_leaves_alone_is_not_pruned() -> None:
    refused = plan(said(), alone("a"), stored("b", daily()), prune=True)
    assert [change.name for change in refused.schedules] == ["b"]
    assert [each.text.split(":")[0] for each in refused.diagnostics] == ["schedule a"]
    assert not plan(said(), alone("a")).diagnostics
