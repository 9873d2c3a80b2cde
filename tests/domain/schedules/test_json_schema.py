"""The JSON Schema of definitions agrees with the domain."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.definition import FIELDS, Definition, Target
from tickbird.domain.schedules.json_schema import changes_schema, definition_schema, field_schemas, trigger_schema
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.targets.command import command
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every

WHOLE = Draft202012Validator(definition_schema())
PLAIN: dict[str, Any] = {"v": 1, "trigger": {"cron": "0 9 * * *"}, "target": {"task": "digest"}}

FULL = policies(
    {
        "payload": {"limit": 5},
        "description": "Every morning",
        "tags": ["billing", "eu"],
        "queue": "slow",
        "priority": "high",
        "catch_up": "all",
        "catch_up_limit": 7,
        "hold_above": 3,
        "grace": "1m",
        "start_within": "1h",
        "overlap": "queue",
        "max_concurrent": 2,
        "spread": "10m",
        "max_runs": 9,
        "exclude": ["sat", "2026-12-25"],
        "calendars": ["weekends"],
        "roll": "next",
        "retries": 3,
        "backoff": "5s",
        "timeout": "90s",
        "on_crash": "fail",
        "concurrency_key": "customer-{limit}",
        "depends_on": [("load", "24h", "1h")],
        "shadow": True,
    }
)


def test_every_field_is_described() -> None:
    assert tuple(field_schemas()) == FIELDS
    for schema in (definition_schema(), changes_schema(), trigger_schema()):
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "change",
    [{"backoff": "5s"}, {"backoff": {"base": "5s"}}, {"depends_on": [{"after": "load", "within": "24h"}]}],
    ids=str,
)
def test_stored_durations_are_whole_seconds(change: dict[str, Any]) -> None:
    WHOLE.validate({**PLAIN, **change})
    with pytest.raises(InvalidError) as caught:
        decode_definition({**PLAIN, **change})
    assert caught.value.field == next(iter(change))


def test_encoded_definition_matches_the_schema() -> None:
    made = Definition(trigger=cron("0 9 * * 1-5", tz="Europe/Rome"), target=Target("digest"), **FULL)
    encoded = encode_definition(made)
    # Every field that has a default is stated, so that the test covers it.
    assert set(FIELDS) - set(encoded) == {"start_at", "end_at", "durable"}
    WHOLE.validate(encoded)
    # A schedule in memory supports few of the other fields.
    WHOLE.validate(encode_definition(Definition(trigger=cron("0 9 * * *"), target=Target("digest"), durable=False)))
    program = command(["/bin/x", "-a"], env={"A": "b", "C": {"env": "D"}}, folder="/srv", user="me", success=[0, 3])
    WHOLE.validate(encode_definition(Definition(trigger=every(hours=1), target=target_of(program))))
    for trigger in (every(hours=2, tz="Asia/Tokyo"), every(weeks=1)):
        Draft202012Validator(trigger_schema()).validate(trigger.to_json())


@pytest.mark.parametrize(
    "change",
    [
        {"trigger": {"cron": 5}},
        {"trigger": {"cron": "0 9 * * *", "every": {"hours": 1}}},
        {"trigger": {"every": {"hours": 0}}},
        {"trigger": {"every": {"fortnights": 1}}},
        {"trigger": {"any_of": []}},
        {"trigger": {}},
        {"target": {"task": "two words"}},
        {"target": {}},
        {"target": {"command": {"program": "relative"}}},
        {"target": {"command": {"program": "/bin/x", "success": [256]}}},
        {"target": {"command": {"args": []}}},
        {"queue": "two words"},
        {"tags": ["a", 5]},
        {"priority": 1_001},
        {"priority": "urgent"},
        {"grace": -1},
        {"max_concurrent": 0},
        {"overlap": "never"},
        {"exclude": ["someday"]},
        {"backoff": {"base": -1}},
        {"depends_on": [{"after": "load"}]},
        {"depends_on": [{"after": "load", "within": -1}]},
        {"calendars": ["weekends"] * 21},
        {"description": "x" * 10_001},
        {"payload": [1]},
        {"nonsense": 1},
    ],
)
def test_domain_refuses_what_the_schema_refuses(change: dict[str, Any]) -> None:
    checked = Draft202012Validator(definition_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    assert not checked.is_valid({**PLAIN, **change})
    with pytest.raises(InvalidError):
        decode_definition({**PLAIN, **change})
    assert checked.is_valid(PLAIN)
    decode_definition(PLAIN)
