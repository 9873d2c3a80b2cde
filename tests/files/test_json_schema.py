"""The JSON Schema agrees with the reader: it takes what is read, and refuses what an editor should mark."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from tests.files.test_document import FULL
from tests.files.test_writer import DOCUMENTS
from tickbird.files.diagnostics import DocumentError
from tickbird.files.document import Document, read_bytes, read_document
from tickbird.files.fields import PARTS, schedule_names
from tickbird.files.json_schema import json_schema
from tickbird.files.writer import to_plain

WHOLE = json_schema()
SCHEMA = Draft202012Validator(WHOLE)


def test_it_is_a_schema_and_names_every_field() -> None:
    Draft202012Validator.check_schema(WHOLE)
    schedule = WHOLE["$defs"]["schedule"]["properties"]
    assert set(schedule) == set(schedule_names())
    assert set(PARTS) <= set(WHOLE["properties"])
    assert all(each["description"] for each in schedule.values())


@settings(deadline=None)
@given(DOCUMENTS)
def test_schema_accepts_everything_that_is_exported(document: Document) -> None:
    SCHEMA.validate(to_plain(document))


def test_it_takes_every_field() -> None:
    SCHEMA.validate(to_plain(read_bytes(FULL.encode(), "x", "toml")))
    SCHEMA.validate({"$schema": "./tickbird.json", "queues": {"mail": {"rate": "5/s"}}})


GOOD: dict[str, Any] = {"cron": "0 3 * * *", "task": "x"}


@pytest.mark.parametrize(
    "schedule",
    [
        {},
        {"cron": "0 3 * * *"},
        {"task": "x"},
        {**GOOD, "every": "10m"},
        {**GOOD, "command": ["/bin/true"]},
        {**GOOD, "catchup": "all"},
        {**GOOD, "catch_up": "al"},
        {**GOOD, "retries": "3"},
        {**GOOD, "retries": 1_001},
        {**GOOD, "grace": "10x"},
        {**GOOD, "grace": ""},
        {**GOOD, "tags": ["a b"]},
        {**GOOD, "tags": [5]},
        {**GOOD, "start_at": "soon"},
        {**GOOD, "exclude": ["someday"]},
        {**GOOD, "payload": 5},
        {**GOOD, "backoff": {"mots": 3}},
        {**GOOD, "depends_on": [{"after": "x"}]},
        {"task": "x", "every": {"fortnights": 1}},
        {"task": "x", "any_of": []},
        {"task": "x", "any_of": [{"cron": "0 3 * * *", "every": 5}]},
        {"cron": "0 3 * * *", "command": {"programm": "/bin/true"}},
        5,
    ],
)
def test_reader_refuses_everything_that_the_schema_refuses(schedule: Any) -> None:
    document = {"schedules": {"a": schedule}}
    assert not SCHEMA.is_valid(document)
    with pytest.raises(DocumentError):
        read_document(document)
