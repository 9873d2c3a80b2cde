"""From files to definitions: every field, and every mistake where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.schedules.definition import Backoff, Definition, Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.targets.command import command
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import any_of, at
from tickbird.files.diagnostics import Diagnostic, DocumentError
from tickbird.files.document import Document, read_bytes, read_document, read_files
from tickbird.files.fields import schedule_names
from tickbird.files.loader import FORMATS, Format
from tickbird.files.writer import write

FULL = """
app = "ops"
namespace = "west"

[schedules.nightly]
cron = "0 3 * * *"
tz = "Europe/Rome"
task = "digest"
description = "the digest"
payload = { limit = 5, deep = { list = [1, 2.5, "x", true] } }
tags = ["billing"]
queue = "slow"
priority = 5
catch_up = "all"
catch_up_limit = 50
hold_above = 10
grace = "1m"
start_within = 7200
overlap = "queue"
max_concurrent = 2
spread = "10m"
start_at = 2026-01-01T00:00:00
end_at = "2027-01-01T00:00:00Z"
max_runs = 9
exclude = ["sat", 2026-12-25]
calendars = "bank"
roll = "next"
retries = 3
backoff = { base = "5s", max = "1h" }
timeout = "10m"
on_crash = "fail"
concurrency_key = "load:{limit}"
depends_on = [{ after = "load", within = "24h", wait = "2h" }]

[schedules.load]
every = "1h30m"
anchor = 2026-01-01T00:07:00
task = "load"

[schedules.once]
at = 2026-12-24T18:00:00
tz = "Europe/Rome"
task = "gift"
backoff = 7
exclude = "sun"

[schedules.often]
any_of = [{ cron = "0 1 * * *" }, { every = { months = 1 } }, { at = 2030-01-01T00:00:00Z }, { every = 90, tz = "UTC" }]
tz = "Asia/Tokyo"
task = "x"
payload = '{"nothing": null}'

[calendars.bank]
weekdays = ["sun"]
dates = [2026-12-25, "12-26"]

[limits]
"load:5" = 3

[queues]
mail = "100/min"
slow = { rate = "5/s" }
"""


def document(text: str) -> Document:
    return read_bytes(text.encode(), "x.toml", "toml")


def diagnostics(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        document(text)
    return [str(each) for each in caught.value.diagnostics]


def test_every_field_is_read() -> None:
    read = document(FULL)
    assert (read.app, read.namespace) == ("ops", "west")
    assert read.schedules["nightly"] == Definition(
        trigger=cron("0 3 * * *", tz="Europe/Rome"),
        target=Target("digest"),
        description="the digest",
        payload={"limit": 5, "deep": {"list": [1, 2.5, "x", True]}},
        tags=("billing",),
        queue="slow",
        priority=5,
        catch_up="all",
        catch_up_limit=50,
        hold_above=10,
        grace=60,
        start_within=7_200,
        overlap="queue",
        max_concurrent=2,
        spread=600,
        start_at=datetime(2025, 12, 31, 23, tzinfo=UTC),
        end_at=datetime(2027, 1, 1, tzinfo=UTC),
        max_runs=9,
        exclude=exclude("sat", date(2026, 12, 25)),
        calendars=("bank",),
        roll="next",
        retries=3,
        backoff=Backoff(5, 3_600),
        timeout=600,
        on_crash="fail",
        concurrency_key="load:{limit}",
        depends_on=(After("load", 86_400, 7_200),),
    )
    assert read.schedules["load"].trigger == every(hours=1, minutes=30, anchor=datetime(2026, 1, 1, 0, 7))
    once = read.schedules["once"]
    assert once.trigger == at(datetime(2026, 12, 24, 17, tzinfo=UTC))
    assert (once.backoff, once.exclude) == (Backoff(7), exclude("sun"))
    often = read.schedules["often"]
    assert often.trigger == any_of(
        cron("0 1 * * *", tz="Asia/Tokyo"),
        every(months=1, tz="Asia/Tokyo"),
        at(datetime(2030, 1, 1, tzinfo=UTC)),
        every(seconds=90),
    )
    assert often.payload == {"nothing": None}
    assert read.calendars == {"bank": {"weekdays": ["sun"], "dates": ["2026-12-25", "12-26"]}}
    assert read.limits == {"load:5": 3}
    assert read.queues == {"mail": RateLimit(100, 60), "slow": RateLimit(5, 1)}


def test_a_command_is_read_with_references_to_its_environment() -> None:
    text = """
        [schedules.backup]
        every = "1d"
        command.program = "/usr/bin/pg_dump"
        command.args = ["-v"]
        command.env = { PGPASSWORD = { env = "DB_PASSWORD" }, A = "$B" }
        [schedules.sync]
        every = "1h"
        command = ["/usr/bin/rsync", "-a"]
    """
    backup, sync = document(text).schedules.values()
    program = command(["/usr/bin/pg_dump", "-v"], env={"PGPASSWORD": {"env": "DB_PASSWORD"}, "A": "$B"})
    assert backup.target == target_of(program)
    assert sync.target == target_of(command(["/usr/bin/rsync", "-a"]))


def test_formats_are_equivalent() -> None:
    plain: dict[str, Any] = {
        "schedules": {"a": {"cron": "0 3 * * *", "task": "x", "tags": ["t"], "at ": None}},
        "limits": {"k": 2},
    }
    del plain["schedules"]["a"]["at "]
    text = json.dumps(plain)
    # JSON is YAML too.
    spellings = [read_bytes(text.encode(), "x", "json"), read_bytes(text.encode(), "x", "yaml"), read_document(plain)]
    toml = '[schedules.a]\ncron = "0 3 * * *"\ntask = "x"\ntags = ["t"]\n[limits]\nk = 2'
    assert all(each == document(toml) for each in spellings)
    assert document(toml).app == "files"


TWENTY = """
app = 5
namepace = "x"
[schedules.nightly]
cron = "0 3 * * 9"
tz = "Europe/Roma"
task = "digest"
payload = { limit = nan, when = 2026-01-01, deep = [1, {x = 10:00:00}] }
catchup = "all"
catch_up = "al"
hold_above = 5
retries = "3"
grace = "10x"
tags = ["a b", 5]
backoff = {base = "1s", maxi = 3}
depends_on = [{after = "x"}, "y"]
exclude = ["sat", "nope", 2026-12-25]
timeout = 0
[schedules.two]
cron = "* * * * *"
every = "10m"
[schedules."odd name"]
at = 2026-01-01T00:00:00
task = "x"
"""


def test_document_reports_every_error() -> None:
    said = diagnostics(TWENTY)
    wanted = {
        "2:7": "app must be a text, not a whole number. Put it in quotes",
        "3:1": "'namepace' is not a field of a schedule file. Did you mean namespace?",
        "5:8": "day of week: 9 is not within 0-7",
        "6:6": "there is no time zone 'Europe/Roma'",
        "8:21": "payload: nan cannot be stored as a number. Put it in quotes",
        "8:33": "payload: a date cannot be stored",
        "8:61": "payload: a time cannot be stored",
        "9:1": "'catchup' is not a field of a schedule. Did you mean catch_up?",
        "10:12": "catch_up: 'al' is not allowed. Did you mean all?",
        "12:11": "retries must be a whole number, not a text",
        "13:9": "grace: '10x' is not a duration",
        "14:9": "tags: 'a b' is not a valid name",
        "14:16": "tags must be a text, not a whole number",
        "15:25": "'maxi' is not a field of backoff. Did you mean max?",
        "16:15": "depends_on: within is missing",
        "16:30": "depends_on must be objects",
        "17:19": "exclude: 'nope' is neither a weekday nor a date",
        "18:11": "timeout: 0 is out of range",
        "19:12": "schedule two: target is missing. Give task, command, sql or event.",
        "21:1": "but has cron and every",
        "22:12": "'odd name' is not a valid name",
        "23:6": "has no offset. Write 2026-01-01T00:00:00Z, or add tz",
    }
    assert [each.split(": ")[0] for each in said] == [f"x.toml:{place}" for place in wanted]
    for each, words in zip(said, wanted.values(), strict=True):
        assert words in each


ONE = '[schedules.a]\ntask = "x"\n'


@pytest.mark.parametrize(
    "text, said",
    [
        ("schedules = 3", "1:13: schedules must be an object of schedules by name, not a whole number."),
        ("[schedules]\na = 3", "2:5: schedule a: schedule must be an object with a trigger and a target"),
        (
            ONE,
            "1:12: schedule a: trigger needs exactly one of cron, every, rrule, at, custom, any_of, but has none",
        ),
        (f"{ONE}cron = 5", "3:8: schedule a: cron must be a text, not a whole number. Put it in quotes."),
        (f"{ONE}every = true", "every must be a text"),
        (f"{ONE}every = 'often'", "every: 'often' is not an interval"),
        (f"{ONE}every = {{ fortnights = 1 }}", "'fortnights' is not a unit"),
        (f"{ONE}every = 0", "seconds must be at least 1"),
        (f"{ONE}every = 5\nanchor = 2026-01-01T00:00:00.5", "has a fraction of a second"),
        (f"{ONE}cron = '0 1 * * *'\nanchor = 2026-01-01T00:00:00", "4:1: schedule a: anchor is an option of every"),
        (f"{ONE}at = 10:00:00", "at must be a date with a time"),
        (f"{ONE}at = 'soon'", "at: 'soon' is not an ISO 8601"),
        (f"{ONE}any_of = []", "any_of must be a list of 1 to 32 objects"),
        (f"{ONE}any_of = [{{ any_of = [] }}]", "any_of cannot contain another any_of"),
        (f"{ONE}any_of = [5]", "any_of must be an object with one trigger"),
        (f"{ONE}any_of = [{{ cron = '0 1 * * *', crn = 1 }}]", "'crn' is not a field of a trigger. Did you mean cron?"),
        (f"{ONE}every = 5\npayload = 5", "payload must be an object, or a string that contains one as JSON"),
        (f"{ONE}every = 5\npayload = '[1]'", "payload must be an object, not a list"),
        (f"{ONE}every = 5\npayload = '{{'", "payload is a string, but not valid JSON"),
        (f"{ONE}every = 5\npayload = '{{\"a\": NaN}}'", "payload is not JSON"),
        (f'{ONE}every = 5\npayload = {{ a = "\\u0000" }}', "payload contains a NUL character"),
        (f"{ONE}every = 5\nhold_above = 5", "hold_above: '5' needs catch_up=\"all\""),
        (f"{ONE}every = 5\nroll = 'next'", "roll: 'next' supports at most"),
        (f"{ONE}every = 5\nmax_runs = true", "max_runs must be a whole number, not true or false"),
        (f"{ONE}every = 5\ntimeout = 1.5", "timeout must be a duration"),
        (f"{ONE}every = 5\ntags = [['a']]", "tags must be a text, not a list."),
        (f"{ONE}every = 5\nconcurrency_key = '{{x}}'", "needs the field 'x', which is not in the payload"),
        (f"{ONE}every = 5\nend_at = 2026-01-01T00:00:00", "end_at: 2026-01-01T00:00:00 has no offset"),
        (
            f"{ONE}every = 5\ncommand = ['/bin/ls']",
            "4:1: schedule a: target has task and command, but needs exactly one.",
        ),
        ("[schedules.a]\nevery = 5\ncommand = 'ls'", "3:11: schedule a: command must be a list such as"),
        ("[schedules.a]\nevery = 5\ncommand = ['ls']", "program: 'ls' is not an absolute path"),
        ("[schedules.a]\nevery = 5\ncommand = { programm = '/bin/ls' }", "'programm' is not a field of a command"),
        (f"{ONE}every = 5\ncalendars = ['weekends', 'a b']", "calendars: 'a b' is not a valid name"),
        ("[calendars.weekends]\nweekdays = ['sat']", "1:12: calendar weekends"),
        ("[calendars.c]\ndate = [2026-01-01]", "'date' is not a field of a calendar"),
        ("[calendars.c]", "closes no days"),
        ("[calendars]\nc = 5", "must be an object with weekdays"),
        ("[limits]\na = true", "2:5: limit a: the limit must be a whole number from 1 to 100,000, not 'True'."),
        ("[queues]\nmail = {}", "the rate is missing"),
        ("[queues]\nmail = { rat = '5/s', rate = '5/s' }", "'rat' is not a field of a queue. Did you mean rate?"),
        ("app = 'a b'", "1:7: app: 'a b' is not a valid name"),
    ],
)
def test_document_error_is_one_sentence(text: str, said: str) -> None:
    [diagnostic] = diagnostics(text)
    assert said in diagnostic
    assert diagnostic.startswith("x.toml:")


def test_fields_that_depend_on_wrong_fields_are_not_reported() -> None:
    said = diagnostics(f"{ONE}every = 5\ncatch_up = 'no'\nhold_above = 5\npayload = 5\nconcurrency_key = '{{a}}'")
    assert ["catch_up: 'no'" in said[0], "payload must be" in said[1], len(said)] == [True, True, 2]


def test_several_files_form_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'app = "ops"\n{ONE}every = 5\n')
    (tmp_path / "b.yaml").write_text("schedules:\n  b: {every: 10m, task: x}\nlimits: {k: 2}\n")
    read = read_files([tmp_path])
    assert (read.app, sorted(read.schedules), read.limits) == ("ops", ["a", "b"], {"k": 2})
    assert str(read.location("schedules", "b", "every")).endswith("b.yaml:2:14")


def test_duplicate_name_is_reported_with_both_locations(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f'app = "ops"\n{ONE}every = 5\n')
    (tmp_path / "b.yaml").write_text("app: other\nschedules:\n  a: {every: 10m, task: x}\n")
    with pytest.raises(DocumentError) as caught:
        read_files([tmp_path / "b.yaml", tmp_path / "a.toml"])
    first, second = map(str, caught.value.diagnostics)
    assert "a.toml:1:7: app: 'ops' here differs from 'other' at" in first
    assert "a.toml:2:12: schedule a: 'a' is defined twice, here and at" in second
    assert second.endswith("b.yaml:3:3. Remove one of them.")


@pytest.mark.parametrize("value", [None, 5, [], {"schedules": {"a": {"at": datetime(2026, 1, 1, tzinfo=UTC)}}}])
def test_invalid_plain_values_are_refused(value: object) -> None:
    with pytest.raises(DocumentError, match="document: "):
        read_document(value)


def test_plain_values_may_not_nest_without_end() -> None:
    value: Any = {}
    value["schedules"] = value
    with pytest.raises(DocumentError, match="nested more than 64 deep"):
        read_document(value)


def test_the_files_of_the_documentation_can_be_read() -> None:
    page = Path(__file__).parents[2] / "docs" / "files.md"
    snippets = re.findall(r"^```(toml|yaml|json)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert snippets
    for spelling, text in snippets:
        read_bytes(text.encode(), "files.md", spelling)


def attempt(read: Callable[[], Document]) -> tuple[Document | None, Sequence[Diagnostic]]:
    """A document, or what is wrong with it; nothing else can come of it."""
    try:
        return read(), ()
    except DocumentError as error:
        return None, error.diagnostics


@pytest.mark.parametrize("spelling", FORMATS)
@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_file_is_a_document_or_diagnostics(spelling: Format, data: st.DataObject) -> None:
    text = write(document(FULL), spelling)
    odd = st.text(alphabet="\\'\"[]{}()=:,#*&!|>%@`~-+.0aé\n\t\0\ud800 \u2028", max_size=6)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        text = text[:start] + data.draw(odd) + text[start + data.draw(st.integers(0, 12)) :]
    found, told = attempt(lambda: read_bytes(text.encode(errors="surrogatepass"), "x", spelling))
    assert (found is None) == bool(told)
    assert all(each.location.file == "x" for each in told)
    if found is not None:
        assert read_bytes(write(found, spelling).encode(), "x", spelling) == found


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates() | st.datetimes(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([*schedule_names(), "other"]), VALUES, st.sampled_from(["every", "cron", "at", "any_of"]))
def test_any_field_value_is_a_document_or_diagnostics(name: str, value: Any, trigger: str) -> None:
    fields = {trigger: {"every": "1h", "cron": "0 3 * * *"}.get(trigger, "2030-01-01T00:00:00Z"), "task": "x"}
    plain = {"schedules": {"a": {**fields, name: value}}, "calendars": {"c": {name: value}}}
    found, told = attempt(lambda: read_document(plain))
    assert (found is None) == bool(told)


@pytest.mark.parametrize(
    "state, said",
    [
        (7, "state must be an object with app, overrides, paused"),
        ({"owner": "x"}, "'owner' is not a field of the state of a schedule"),
        ({"app": 7}, "app must be a text"),
        ({"overrides": "no JSON"}, "overrides must be an object, or a string that contains one as JSON"),
        ({"overrides": {"colour": "red"}}, "'colour' is not a field of a definition"),
        ({"paused": True}, "paused must be an object with by, note, until"),
        ({"paused": {"note": "x"}}, "by must have"),
        ({"paused": {"by": "ada", "why": "x"}}, "'why' is not a field of a pause. "),
        ({"paused": {"by": "ada", "until": "2035-01-01T00:00:00"}}, "until must be an instant with an offset"),
        ({"paused": {"by": "ada", "until": "soon"}}, "until: "),
    ],
)
def test_state_error_is_one_sentence(state: object, said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document({"schedules": {"a": {"every": "1h", "task": "x"}}, "state": {"a": state}})
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.text.startswith("state a: ")
    assert said in diagnostic.text


def test_the_state_of_a_schedule_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(DocumentError, match="state b: the document has no schedule with this name"):
        read_document({"schedules": {"a": {"every": "1h", "task": "x"}}, "state": {"b": {"app": "x"}}})
