"""What is written is read back as the same document, in each spelling."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.files.test_document import FULL
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.schedules.definition import Backoff, Definition, Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.schedule import PauseState
from tickbird.domain.targets.command import command
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every, every
from tickbird.domain.triggers.rrule.rrule import rrule
from tickbird.domain.triggers.trigger import AnyOf, At
from tickbird.files.document import Document, read_bytes, read_document
from tickbird.files.loader import FORMATS, Format
from tickbird.files.schedule_state import ExportedState
from tickbird.files.writer import to_plain, write


def again(document: Document, spelling: Format) -> Document:
    return read_bytes(write(document, spelling).encode(), "x", spelling)


ZONES = st.sampled_from(["UTC", "Europe/Rome", "Australia/Lord_Howe"])
INSTANTS = st.integers(0, 4_000_000_000).map(lambda at: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at))
LENGTHS = st.integers(0, 10_000_000)
NAMES = st.text("abcXYZ019_.-", min_size=1, max_size=12).filter(lambda name: name not in (".", ".."))
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
JSON = st.recursive(SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXT, each, max_size=3))
UNITS = st.one_of(
    st.builds(lambda **units: units, hours=st.integers(1, 99), seconds=st.integers(1, 10**10)),
    st.builds(lambda **units: units, minutes=st.integers(1, 99)),
    st.sampled_from([{"days": 3}, {"weeks": 2}, {"months": 1}, {"years": 1, "months": 6}]),
)
SIMPLE = st.one_of(
    st.builds(
        rrule,
        st.sampled_from(["FREQ=MONTHLY;BYDAY=-1FR", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR", "FREQ=HOURLY;BYMINUTE=0,30"]),
        dtstart=st.none() | st.just("2026-01-30T09:00:00"),
        tz=ZONES,
        exdate=st.lists(st.just("2026-02-27T09:00:00"), max_size=1),
        rdate=st.lists(st.just("2026-02-28T10:30:00"), max_size=1),
    ),
    st.builds(cron, st.sampled_from(["0 3 * * *", "*/5 * * * 1-5", "@daily", "@every 1h30m", "0 0 3 L * ?"]), ZONES),
    st.builds(Every, UNITS, st.none() | INSTANTS | INSTANTS.map(lambda at: at.replace(tzinfo=None)), ZONES),
    st.builds(At, INSTANTS),
)
DEFINITIONS = st.builds(
    Definition,
    trigger=SIMPLE | st.lists(SIMPLE, min_size=1, max_size=3).map(lambda each: AnyOf(*each)),
    target=NAMES.map(Target)
    | st.builds(
        lambda args, env: target_of(command(["/bin/x", *args], env=env, success=[0, 3])),
        st.lists(TEXT, max_size=2),
        st.dictionaries(st.sampled_from(["A", "B"]), TEXT | st.just({"env": "HOME"})),
    ),
    payload=st.dictionaries(TEXT, JSON, max_size=3),
    description=TEXT,
    tags=st.lists(NAMES, max_size=2).map(tuple),
    queue=NAMES,
    priority=st.integers(-1_000, 1_000),
    catch_up=st.sampled_from(["one", "latest", "skip"]),
    catch_up_limit=st.integers(1, 10_000),
    grace=LENGTHS,
    start_within=st.none() | LENGTHS,
    overlap=st.sampled_from(["skip", "queue", "replace", "allow"]),
    max_concurrent=st.integers(1, 9),
    spread=st.integers(0, 7 * 86_400),
    start_at=st.none() | st.just(datetime(1969, 12, 31, 23, tzinfo=UTC)),
    end_at=st.none() | INSTANTS,
    max_runs=st.none() | st.integers(1, 9),
    exclude=st.builds(
        Calendar, st.frozensets(st.dates(date(2020, 1, 1)), max_size=2), st.frozensets(st.integers(0, 6), max_size=3)
    ),
    calendars=st.lists(NAMES, max_size=2).map(tuple),
    retries=st.integers(0, 9),
    backoff=st.builds(Backoff, LENGTHS, LENGTHS),
    timeout=st.none() | st.integers(1, 10**6),
    on_crash=st.sampled_from(["retry", "fail"]),
    shadow=st.booleans(),
    concurrency_key=st.none() | st.just("key"),
    depends_on=st.lists(st.builds(After, NAMES, LENGTHS), max_size=2, unique_by=lambda each: each.schedule).map(tuple),
)
DOCUMENTS = st.builds(
    Document,
    app=NAMES,
    namespace=st.none() | NAMES,
    schedules=st.dictionaries(NAMES, DEFINITIONS, max_size=2),
    calendars=st.just({}) | st.just({"fest": {"dates": ["2026-12-25", "12-26"], "description": 'a "b"'}}),
    limits=st.dictionaries(TEXT.filter(bool), st.integers(1, 9), max_size=2),
    queues=st.dictionaries(NAMES, st.builds(RateLimit, st.integers(1, 9), st.integers(1, 9_000)), max_size=2),
)


@pytest.mark.parametrize("spelling", FORMATS)
@settings(deadline=None)
@given(document=DOCUMENTS)
def test_written_document_is_read_back(spelling: Format, document: Document) -> None:
    found = again(document, spelling)
    assert found == document
    for name, definition in document.schedules.items():
        # By the text as well: 1, 1.0 and true are equal and yet not the same.
        assert fingerprint(found.schedules[name]) == fingerprint(definition)


@pytest.mark.parametrize("spelling", FORMATS)
def test_every_field_is_written(spelling: Format) -> None:
    document = read_bytes(FULL.encode(), "x", "toml")
    assert again(document, spelling) == document
    assert read_document(to_plain(document)) == document


def test_a_file_looks_as_a_person_would_write_it() -> None:
    document = read_document(
        {
            "app": "ops",
            "schedules": {
                "nightly": {
                    "cron": "0 3 * * *",
                    "tz": "Europe/Rome",
                    "task": "digest",
                    "payload": {"limit": 5, "a b": [1, {"c": True}]},
                    "tags": ["billing"],
                    "timeout": 5_400,
                },
                "a.b": {"every": {"minutes": 10}, "task": "x", "payload": {"nothing": None}},
            },
            "limits": {"load:5": 3},
        }
    )
    remarks = {"nightly": ["retries is 9 here", "by ana\nand bo"]}
    assert write(document, "toml", head=["Written by a test."], remarks=remarks) == (
        "# Written by a test.\n\n"
        'app = "ops"\n\n'
        "# retries is 9 here\n# by ana and bo\n"
        "[schedules.nightly]\n"
        'cron = "0 3 * * *"\ntz = "Europe/Rome"\ntask = "digest"\n'
        'payload = { limit = 5, "a b" = [1, { c = true }] }\n'
        'tags = ["billing"]\ntimeout = "1h30m"\n\n'
        '[schedules."a.b"]\nevery = "10m"\ntask = "x"\npayload = "{\\"nothing\\": null}"\n\n'
        '[limits]\n"load:5" = 3\n'
    )
    assert write(document, "yaml", remarks=remarks) == (
        'app: "ops"\n\n'
        "schedules:\n"
        "  # retries is 9 here\n  # by ana and bo\n"
        "  nightly:\n"
        '    cron: "0 3 * * *"\n    tz: "Europe/Rome"\n    task: "digest"\n'
        '    payload:\n      limit: 5\n      "a b": [1, {c: true}]\n'
        '    tags: ["billing"]\n    timeout: "1h30m"\n\n'
        '  a.b:\n    every: "10m"\n    task: "x"\n    payload:\n      nothing: null\n\n'
        'limits:\n  "load:5": 3\n'
    )


@pytest.mark.parametrize("spelling", FORMATS)
def test_payloads_that_a_format_cannot_nest_are_written_as_text(spelling: Format) -> None:
    deep: Any = {}
    for _ in range(70):
        deep = {"a": [deep]}
    payload = {"x" * 3_000: 1, "deep": deep, "no": None}
    definition = Definition(trigger=cron("0 3 * * *"), target=Target("x"), payload=payload)
    document = Document(schedules={"a": definition})
    assert again(document, spelling) == document
    assert json.loads(to_plain(document)["schedules"]["a"]["payload"]) == payload


def test_an_empty_document_can_be_written() -> None:
    for spelling in FORMATS:
        assert again(Document(), spelling) == Document()
        assert again(replace(Document(), namespace="west"), spelling).namespace == "west"


@pytest.mark.parametrize("spelling", FORMATS)
def test_owners_pauses_and_overrides_are_read_back(spelling: Format) -> None:
    state = {
        "a": ExportedState(app="billing", overrides={"retries": 5, "timeout": None}),
        "b": ExportedState(pause=PauseState("ada", "“quiet”", 2_000_000_000)),
        "c": ExportedState(app="ops", overrides={"trigger": {"cron": "0 8 * * *"}}, pause=PauseState("bob")),
    }
    schedules = {name: Definition(trigger=every(hours=1), target=Target("x")) for name in state}
    document = Document(schedules=schedules, state=state)
    assert read_bytes(write(document, spelling).encode(), "x", spelling) == document
    assert read_document(to_plain(document)) == document
