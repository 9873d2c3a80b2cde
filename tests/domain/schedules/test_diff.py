"""Differences between revisions, and roll-backs, without a store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tickbird.domain.errors import ConflictError, NotFoundError, StaleError
from tickbird.domain.planning.commands.define import Create, RollBack, override_notice
from tickbird.domain.planning.plan import NO_FACTS
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.definition import FIELDS, Definition, Target
from tickbird.domain.schedules.diff import differences, revision_origin
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.cron.cron import cron

NOW = 1_800_000_000.0


def told(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    """The fields that differ."""
    return [(each.field, each.how, each.before, each.after) for each in differences(before, after)]


def test_fields_are_named_by_path() -> None:
    before = {
        "v": 1,
        "trigger": {"cron": "0 9 * * *", "tz": "Europe/Rome"},
        "payload": {"limit": 5, "to": {"name": "ana", "cc": []}},
        "tags": ["a"],
        "retries": 3,
    }
    after = {
        "v": 1,
        "trigger": {"cron": "0 10 * * *"},
        "payload": {"limit": 5, "to": {"name": "bo", "cc": []}, "a.b": True},
        "tags": ["a", "b"],
        "timeout": 60,
    }
    assert told(before, after) == [
        ("payload.a.b", "added", None, True),
        ("payload.to.name", "changed", "ana", "bo"),
        ("retries", "removed", 3, None),
        ("tags", "changed", ["a"], ["a", "b"]),
        ("timeout", "added", None, 60),
        ("trigger.cron", "changed", "0 9 * * *", "0 10 * * *"),
        ("trigger.tz", "removed", "Europe/Rome", None),
    ]
    assert differences(before, after)[0].path == ("payload", "a.b")
    assert differences(before, before) == []


def test_another_kind_of_trigger_is_one_change() -> None:
    one, other = {"trigger": {"cron": "0 9 * * *"}}, {"trigger": {"every": {"hours": 2}}}
    assert told(one, other) == [("trigger", "changed", one["trigger"], other["trigger"])]
    assert told({"payload": {"a": 1}}, {"payload": {"b": 2}}) == [
        ("payload.a", "removed", 1, None),
        ("payload.b", "added", None, 2),
    ]


def test_equal_values_of_different_types_differ() -> None:
    assert told({"payload": {"a": 1}}, {"payload": {"a": True}}) == [("payload.a", "changed", 1, True)]
    assert told({"payload": {"a": {}}}, {"payload": {"a": None}}) == [("payload.a", "changed", {}, None)]


def test_first_revision_adds_its_fields() -> None:
    assert [field for field, *_ in told({}, {"v": 1, "retries": 3, "target": {"task": "x"}})] == ["retries", "target"]


@pytest.mark.parametrize(
    "action, actor, detail, origin",
    [
        ("sync", "sync", {"before": {}}, "code"),
        ("create", "sync", {"definition": {}}, "code"),
        ("calendar", "ana", {"calendar": "de"}, "calendar"),
        ("update", "postgres", {}, "sql"),
        ("create", "postgres", {}, "sql"),
        ("update", "ana", {"before": {}}, "person"),
        ("pause", "ci (token k3vw5rqa)", {"note": ""}, "token"),
    ],
)
def test_revision_origin(action: str, actor: str, detail: dict[str, Any], origin: str) -> None:
    assert revision_origin(action, actor, detail) == origin


def define(**options: Any) -> Definition:
    """A definition."""
    return Definition(**{"trigger": cron("0 9 * * *"), "target": Target("report"), **options})


def made(definition: Definition, **options: Any) -> Schedule:
    """A schedule of revision 1, as if stored."""
    create = Create(actor="ana", namespace="default", definition=definition, **options)
    return replace(create.apply(None, "digest", NO_FACTS, NOW).schedule, id=1)


def back(schedule: Schedule, definition: Definition, declared: Definition | None = None, **options: Any) -> Schedule:
    """The schedule after a roll back."""
    given: dict[str, Any] = {"actor": "bo", "to": 1, "note": "wrong", **options}
    code = {} if declared is None else encode_definition(declared)
    command = RollBack(definition=encode_definition(definition), declared=code, **given)
    change = command.apply(schedule, "digest", NO_FACTS, NOW)
    assert (change.action, change.detail["to"], change.makes_revision) == ("roll_back", 1, True)
    return change.schedule


def test_roll_back_restores_the_whole_definition() -> None:
    old, new = define(retries=3, tags=("a",)), define(trigger=cron("0 10 * * *"), timeout=60)
    after = back(made(new), old)
    assert (after.definition, after.revision, after.field_overrides) == (old, 2, {})
    assert after.definition_json == encode_definition(old)


def test_roll_back_over_code_stores_only_differences() -> None:
    code = define(retries=5, timeout=60, catch_up="all")
    schedule = made(code, app="shop", fingerprint="f")
    old = define(retries=3, tags=("a",))
    after = back(schedule, old, code)
    assert after.definition == old
    # A default too, if it differs from the code.
    assert after.field_overrides == {"retries": 3, "tags": ["a"], "timeout": None, "catch_up": "one"}
    assert override_notice(after).endswith("until they are unset: catch_up, retries, tags, timeout")
    again = back(after, code, code)
    assert (again.definition, again.field_overrides, override_notice(again)) == (code, {}, "")
    assert override_notice(made(code)) == ""


def test_roll_back_over_code_can_restore_every_default() -> None:
    from tickbird.domain.schedules.codec import default_field

    raw = encode_definition(define())
    for name in FIELDS:
        if name not in ("trigger", "target"):
            assert decode_definition({**raw, name: default_field(name)}) == define()
    assert default_field("trigger") is None


def test_invalid_roll_back_is_refused() -> None:
    schedule = made(define())
    with pytest.raises(ConflictError, match=r"already has the definition of revision 1\. Choose another revision"):
        back(schedule, define())
    with pytest.raises(StaleError):
        back(schedule, define(retries=1), revision=7)
    with pytest.raises(NotFoundError):
        back(replace(schedule, state="deleted"), define(retries=1))
    broken = RollBack(actor="bo", to=1, definition={"v": 1, "trigger": {"cron": "x"}, "target": {"task": "a"}})
    with pytest.raises(ConflictError, match="cannot be rolled back to revision 1: cron 'x'"):
        broken.apply(schedule, "digest", NO_FACTS, NOW)


def test_a_paused_schedule_stays_paused_and_a_parked_one_is_repaired() -> None:
    schedule = made(define(retries=1))
    parked = replace(schedule, state="parked", error="cannot be read", definition=None, definition_json={"v": 1})
    assert back(parked, define()).state == "active"
    assert back(replace(schedule, state="paused"), define()).state == "paused"


@pytest.mark.parametrize("stored", [None, [], [{}], "x", 7])
def test_non_object_definition_has_no_fields(stored: Any) -> None:
    """Plain SQL can store any JSON as a definition, or as a trigger."""
    assert [each.path for each in differences(stored, {"retries": 1})] == [("retries",)]
    assert list(differences(stored, stored)) == []
    assert [each.how for each in differences({"trigger": stored}, {"trigger": {"at": "x"}})] == ["changed"]
