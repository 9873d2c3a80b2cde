"""The policy fields: all forms of a value agree."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.backoff import Backoff
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.definition import FIELDS, TASK_SETTINGS, Definition, Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.fields import POLICIES, PRIORITIES, PolicyField
from tickbird.domain.schedules.kinds import (
    Choice,
    ConcurrencyKey,
    Days,
    Dependencies,
    Duration,
    ExponentialBackoff,
    Flag,
    Instant,
    Kind,
    Name,
    Names,
    Number,
    Payload,
    Text,
)
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.triggers.every import every

NOON = datetime(2026, 12, 24, 12, tzinfo=UTC)
# Values of each kind other than the default, and an invalid text.
SAMPLES: dict[type[Kind], tuple[list[Any], str]] = {
    Choice: ([], "never"),
    ConcurrencyKey: (["warehouse", "tenant:eu"], ""),
    Days: ([exclude("sat", "2026-12-25")], "someday"),
    Dependencies: ([(After("load", 86_400),), (After("load", 0, 90), After("b", 5_400))], "load"),
    Duration: ([1, 90, 5_400, 604_800], "soon"),
    ExponentialBackoff: ([Backoff(5), Backoff(0, 600)], "1s,2s,3s"),
    Flag: ([True], "maybe"),
    Instant: ([NOON], "soon"),
    Name: (["mail"], "two words"),
    Names: ([("mail",), ("mail", "eu")], "two words"),
    Number: ([1, 500, 1_000], "many"),
    Payload: ([{"limit": 5}], "{"),
    Text: (["Every morning", "a\nb"], "a\0b"),
}


def samples(policy: PolicyField) -> list[Any]:
    return list(policy.kind.choices) if isinstance(policy.kind, Choice) else SAMPLES[type(policy.kind)][0]


def instant(text: str, field: str) -> datetime:
    assert text == "2026-12-24T12:00:00Z", field
    return NOON


every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def test_definition_has_exactly_the_declared_fields() -> None:
    assert {item.name for item in fields(Definition)} == {*FIELDS, "closed", "stated"}
    assert ("trigger", "target", *POLICIES) == FIELDS
    assert {"queue", "retries", "timeout"} <= set(TASK_SETTINGS) < set(POLICIES)
    made = Definition(trigger=every(hours=1), target=Target("work"))
    assert {name: getattr(made, name) for name in POLICIES} == {name: row.default for name, row in POLICIES.items()}


@every_policy
def test_field_has_help_and_label(policy: PolicyField) -> None:
    assert policy.help.endswith(".")
    assert policy.help[0].isupper()
    assert policy.describe(policy.encode(policy.default))
    assert policy.default_text
    assert policy.help_with_default.count("(default: ") == 1
    assert set(policy.relies_on) <= set(FIELDS)
    policy.check(policy.default)


@every_policy
def test_every_form_of_a_value_is_read_back(policy: PolicyField) -> None:
    for value in [policy.default, *samples(policy)]:
        policy.check(value)
        encoded = policy.encode(value)
        assert policy.decode(encoded) == value
        assert policy.read(value) == value
        Draft202012Validator({"anyOf": [policy.schema(), {"type": "null"}]}).validate(encoded)
        if text := policy.text(encoded):
            assert policy.parse(text, instant) == value
        if value is not None or policy.can_state_none:
            Draft202012Validator(policy.file_schema()).validate(policy.to_file(value))


@every_policy
def test_invalid_value_error_names_the_field(policy: PolicyField) -> None:
    wrong = SAMPLES[type(policy.kind)][1]
    with pytest.raises(ValueError, match=policy.name) as refusal:
        policy.check(policy.parse(wrong, lambda text, field: policy.decode(text)))
    assert getattr(refusal.value, "field", None) == policy.name
    with pytest.raises(DefinitionError, match=policy.name):
        policy.check(object())


@every_policy
def test_a_stored_value_of_another_kind_is_shown_as_json(policy: PolicyField) -> None:
    """Plain SQL can store anything."""
    assert policy.text({"a": [1]}) == policy.describe({"a": [1]}) == '{"a": [1]}'
    assert policy.text(None) == ""
    assert policy.describe(None) == policy.none


def test_priorities_have_names() -> None:
    priority = POLICIES["priority"]
    assert [policies({"priority": name})["priority"] for name in PRIORITIES] == [-500, 0, 500, 1_000]
    assert (priority.text(500), priority.describe(500), priority.to_file(500)) == ("high", "high (500)", "high")
    assert (priority.text(7), priority.describe(7), priority.to_file(7)) == ("7", "7", 7)
    with pytest.raises(DefinitionError, match="priority must be one of low, normal, high, critical, or a whole number"):
        Definition(trigger=every(hours=1), target=Target("work"), **policies({"priority": "urgent"}))
    made = Definition(trigger=every(hours=1), target=Target("work"), **policies({"priority": "high"}))
    assert encode_definition(made)["priority"] == 500
    assert decode_definition(encode_definition(made)) == made


def test_help_states_the_default() -> None:
    assert POLICIES["grace"].help_with_default.endswith(" (default: 10s).")
    assert POLICIES["catch_up"].help_with_default.endswith(" (default: one).")
    assert POLICIES["priority"].help_with_default.endswith(" (default: the task's, or normal).")
    assert POLICIES["timeout"].help_with_default.endswith(" (default: the task's, or no limit).")
