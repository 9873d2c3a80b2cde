"""`tickbird apply`, `diff`, `export` and `schema`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Cli
from tests.files.test_document import TWENTY

OPS = """
app = "ops"
[schedules.nightly]
cron = "0 3 * * *"
tz = "Europe/Rome"
task = "digest"
payload = { limit = 5 }
[schedules.often]
every = "1s"
task = "digest"
[limits]
k = 3
[queues]
mail = "100/min"
[calendars.fest]
dates = ["12-25"]
"""


@pytest.fixture
def ops(cli: Cli) -> Cli:
    """The command line beside a file of schedules."""
    (cli.folder / "ops.toml").write_text(OPS)
    cli.live_worker({"digest": {"queue": "default", "schema": {"properties": {"limit": {"type": "integer"}}}}})
    return cli


def edit(cli: Cli, before: str, after: str) -> None:
    file = cli.folder / "ops.toml"
    assert before in file.read_text()
    file.write_text(file.read_text().replace(before, after))


def test_a_file_is_compared_applied_and_then_there_is_nothing_to_do(ops: Cli) -> None:
    shown = ops("diff", "-f", "ops.toml")
    assert (shown.code, shown.err) == (1, "")
    assert "+ nightly: create: At 03:00 (Europe/Rome); task digest" in shown.out
    assert "7 ticks appear within 7 d: " in shown.out
    assert "604,800 ticks appear within 7 d: " in shown.out
    assert "~ limit k: not set → 3" in shown.out
    assert "App ops: 2 to create, 3 settings to set." in shown.out
    assert ops.ok("ls", "--json").json["schedules"] == []
    assert "App ops: 2 created, 3 settings." in ops.ok("apply", "-f", "ops.toml").out
    assert ops.ok("show", "nightly", "--json").json["definition"]["payload"] == {"limit": 5}
    assert ops.ok("limits", "--json").json["limits"][0]["max_running"] == 3
    assert ops.ok("calendar", "show", "fest", "--json").json["changed_by"] == "ana"
    assert ops.ok("apply", "-f", "ops.toml").out == "Nothing to do: 2 schedules of app ops unchanged.\n"
    assert ops.ok("diff", "-f", "ops.toml").out.startswith("Nothing to do")


def test_an_operator_is_heeded_and_named(ops: Cli) -> None:
    ops.ok("apply", "-f", "ops.toml")
    ops.ok("set", "nightly", "retries=4")
    ops.ok("pause", "nightly", "--note", "broken")
    same = ops.ok("diff", "-f", "ops.toml").out
    assert same.startswith("Nothing to do")
    assert 'stays paused by ana ("broken")' in same
    assert "set by an operator; the files have" in same
    [stays] = ops.ok("diff", "-f", "ops.toml", "--json").json["stays"]
    assert stays["pause"]["by"] == "ana"
    edit(ops, "0 3 * * *", "0 5 * * *")
    edit(ops, "limit = 5 }", "limit = 6 }\nretries = 1")
    out = ops.ok("apply", "-f", "ops.toml").out
    assert "~ nightly: changed" in out
    assert 'payload: {"limit": 5} → {"limit": 6}' in out
    assert "trigger: At 03:00 (Europe/Rome) → At 05:00 (Europe/Rome)" in out
    assert "retries: stays 4, set by an operator; the files have 1" in out
    assert 'stays paused by ana ("broken")' in out
    schedule = ops.ok("show", "nightly", "--json").json
    assert (schedule["state"], schedule["definition"]["retries"]) == ("paused", 4)
    ops.ok("set", "nightly", "--unset", "retries")
    assert ops.ok("show", "nightly", "--json").json["definition"]["retries"] == 1


def test_apply_schedule_in_no_file_stays_or_is_pruned(ops: Cli) -> None:
    ops.ok("apply", "-f", "ops.toml")
    ops.create("mine")
    (ops.folder / "ops.toml").write_text('app = "ops"\n')
    assert "Not in the files, not changed: nightly, often. Use --prune to delete." in ops.ok("diff", "-f", ".").out
    shown = ops.ok("apply", "-f", "ops.toml", "--prune", "--dry-run").out
    assert "- nightly: delete" in shown
    assert "7 ticks vanish within 7 d" in shown
    assert "App ops: 2 deleted." in ops.ok("apply", "-f", "ops.toml", "--prune").out
    assert [each["name"] for each in ops.ok("ls", "--json").json["schedules"]] == ["mine"]


@pytest.mark.parametrize("ending", ["toml", "yaml", "json"])
def test_an_export_can_be_applied_and_changes_nothing(ops: Cli, ending: str) -> None:
    ops.ok("apply", "-f", "ops.toml")
    ops.ok("set", "nightly", "retries=4")
    file = f"export.{ending}"
    assert ops.ok("export", "-o", file, "--json").json == {"file": file, "format": ending, "schedules": 2}
    text = (ops.folder / file).read_text()
    assert ("retries = 4: set by an operator" in text) == (ending != "json")
    assert ops.ok("diff", "-f", file, "--prune").out.startswith("Nothing to do")
    assert ops.ok("export", "--format", ending).out == ops.ok("export", "--format", ending, "-o", "-").out == text
    # What was exported can be written where there is nothing.
    other = f"sqlite:///{ops.folder}/other.db"
    ops.ok("migrate", "--url", other)
    ops("apply", "-f", file, "--url", other)
    again = ops.ok("export", "--url", other, "--format", "json").json
    mine = ops.ok("export", "--format", "json").json
    assert again["schedules"] == mine["schedules"]


def test_apply_distinguishes_owners(ops: Cli) -> None:
    ops.ok("apply", "-f", "ops.toml")
    ops.create("mine")
    assert "have several owners: a person, ops" in ops.refused(2, "export")
    assert set(ops.ok("export", "--app", "ops", "--json").json["schedules"]) == {"nightly", "often"}
    assert (
        ops.refused(3, "export", "--app", "opps")
        == "there is no schedule of app 'opps'. These apps have schedules: ops."
    )
    everything = ops.ok("export", "--all").out
    assert "# created by a person\n[schedules.mine]" in everything
    assert "# of app ops\n[schedules.nightly]" in everything
    assert "cannot be combined" in ops.refused(2, "export", "--all", "--app", "ops")
    (ops.folder / "mine.yaml").write_text("app: ops\nschedules:\n  mine: {every: 1h, task: report}\n")
    said = ops("diff", "-f", "mine.yaml")
    assert (said.code, said.out) == (2, "")
    assert "mine.yaml:3:3: schedule mine: a person already defines it, so app 'ops' cannot" in said.err
    refused = ops("apply", "-f", "mine.yaml")
    assert (refused.code, refused.err) == (4, said.err)
    said = ops("apply", "-f", "mine.yaml", "--adopt")
    assert (said.code, said.err) == (0, "tickbird: no live worker registers this task: report.\n")
    assert "it was created by a person, and now belongs to app ops" in said.out


def test_apply_prints_each_diagnostic_on_its_own_line(ops: Cli) -> None:
    (ops.folder / "bad.toml").write_text(TWENTY)
    (ops.folder / "worse.json").write_text("{")
    for verb in ("apply", "diff"):
        said = ops(verb, "-f", "ops.toml", "-f", "bad.toml", "-f", "worse.json")
        assert (said.code, said.out) == (2, "")
        lines = said.err.splitlines()
        assert lines[-1] == "tickbird: 24 errors. Nothing was changed."
        assert len(lines) == 25
        assert all(line.split(":")[0] in ("bad.toml", "worse.json") for line in lines[:-1])
    assert ops.ok("ls", "--json").json["schedules"] == []


def test_apply_invalid_payload_is_reported_with_location(ops: Cli) -> None:
    edit(ops, "limit = 5", 'limit = "five"')
    said = ops("apply", "-f", "ops.toml")
    assert said.code == 2
    assert "ops.toml:7:11: schedule nightly: payload of task 'digest': limit: 'five' is not of type" in said.err


@pytest.mark.parametrize(
    "files, code, said",
    [
        (("nothing.toml",), 2, "nothing.toml: the file cannot be read (No such file or directory)."),
        (("nothing",), 2, "nothing: the file cannot be read (No such file or directory)."),
        (("empty",), 2, "empty: the folder contains no file"),
        (("ops.toml", "-"), 2, "stdin cannot be combined with other files"),
        (("-",), 2, "the format of stdin is unknown"),
    ],
)
def test_apply_unreadable_file_is_reported(ops: Cli, files: tuple[str, ...], code: int, said: str) -> None:
    (ops.folder / "empty").mkdir()
    given = [word for file in files for word in ("-f", file)]
    for verb in ("apply", "diff"):
        answer = ops(verb, *given, stdin="app = 'x'")
        assert answer.code == code
        assert said in answer.err


def test_diff_store_error_exits_with_2(ops: Cli) -> None:
    assert ops("diff", "-f", "ops.toml", "--url", "sqlite:///nowhere/x.db").code == 2
    assert ops("apply", "-f", "ops.toml", "--url", "sqlite:///nowhere/x.db").code == 5


def test_standard_input_and_programs(ops: Cli) -> None:
    text = json.dumps({"namespace": "west", "schedules": {"a": {"every": "1d", "task": "digest"}}})
    told = ops("apply", "-f", "-", "--json", stdin=text).json
    assert (told["app"], told["namespace"], told["applied"], told["changes"]["create"]) == ("files", "west", True, 1)
    [change] = told["schedules"]
    assert (change["name"], change["kind"], change["ticks"]["after"]) == ("a", "create", 7)
    assert ops.ok("ls", "--json").json["schedules"] == []
    assert [each["name"] for each in ops.ok("ls", "--json", "-n", "west").json["schedules"]] == ["a"]
    # The option wins.
    told = ops("diff", "-f", "-", "--json", "-n", "east", stdin=text).json
    assert (told["namespace"], told["applied"]) == ("east", False)
    yaml = "schedules: {b: {every: 1d, task: digest}}"
    assert ops("diff", "-f", "-", "--format", "yaml", stdin=yaml).code == 1


def test_the_schema_is_printed(bare: Cli) -> None:
    Draft202012Validator.check_schema(bare.ok("schema").json)


def test_export_unwritable_file_is_reported(ops: Cli) -> None:
    assert "cannot be written" in ops.refused(1, "export", "-o", str(Path("nowhere", "x.toml")))


def test_apply_any_payload_again_changes_nothing(ops: Cli) -> None:
    payload: dict[str, Any] = {
        "big": 1e23,
        "large": 10**20,
        "one": 1.0,
        "yes": True,
        "small": 1e-7,
        "no": None,
        "t": "ü\u2028\"'\n",
        "": {},
    }
    plain = {"every": {"months": 1}, "anchor": "2026-01-31T09:00:00", "tz": "Europe/Rome", "task": "other"}
    text = json.dumps({"schedules": {"odd": {**plain, "payload": payload}}})
    assert ops("apply", "-f", "-", stdin=text).code == 0
    assert ops.ok("diff", "-f", "-", stdin=text).out.startswith("Nothing to do")
    for spelling in ("toml", "yaml", "json"):
        exported = ops.ok("export", "--format", spelling).out
        assert ops.ok("diff", "-f", "-", "--format", spelling, stdin=exported).out.startswith("Nothing to do")


def test_a_name_that_only_plain_sql_can_write_is_left_out_of_an_export(bare: Cli) -> None:
    (bare.folder / "a.toml").write_text('[schedules.good]\nevery = "1h"\ntask = "report"\n')
    bare.ok("migrate", "--url", "sqlite:///a.db")
    assert bare("apply", "-f", "a.toml", "--url", "sqlite:///a.db").code == 0
    with closing(sqlite3.connect(bare.folder / "a.db")) as db, db:
        db.execute(
            """INSERT INTO schedules (namespace, name, definition, revision, created_at, changed_at)
            SELECT namespace, 'bad name', definition, 1, created_at, changed_at FROM schedules"""
        )
    said = bare("export", "--all", "-o", "all.toml", "--url", "sqlite:///a.db")
    assert said.code == 1
    assert said.out == "1 schedule written to all.toml.\n"
    assert "1 schedule not exported, because a file cannot contain such a name: 'bad name'." in said.err
    assert bare.ok("diff", "-f", "all.toml", "--url", "sqlite:///a.db").out.startswith("Nothing to do: 1 schedule")
