"""ls, show, trigger, pause, resume."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.time.instants import to_datetime, to_seconds


def test_ls_of_an_empty_store_shows_the_next_step(cli: Cli) -> None:
    assert cli.ok("ls").out.startswith("No schedules yet.")
    assert cli.ok("ls", "--json").json["schedules"] == []
    assert "No schedule matches" in cli.ok("ls", "--tag", "mail").out


def test_ls_shows_state_last_run_and_next_run(shop: Cli) -> None:
    shop.live_worker({"digest": {"queue": "default", "schema": {}}})
    head, *rows = shop.ok("ls").out.splitlines()
    assert head.split() == ["NAME", "TRIGGER", "STATE", "NEXT", "RUN", "PROBLEM"]
    digest, etl = rows
    assert digest.startswith("digest  At 09:00, Monday through Friday (America/New_York)  active  in ")
    assert digest.split("·")[1].split()[1:] in (["09:00:00", "EST"], ["09:00:00", "EDT"])
    assert "no live worker serves queue 'gpu'" in etl
    assert "queue" not in digest


def test_ls_marks_a_next_tick_that_will_be_skipped(shop: Cli) -> None:
    shop.ok("skip", "digest")
    assert "will be skipped (operator)" in shop.ok("show", "digest").out
    digest, etl = shop.ok("ls").out.splitlines()[1:]
    assert "will be skipped (operator)" in digest
    assert "will be skipped" not in etl


def test_ls_json_document_is_stable(shop: Cli) -> None:
    shop("trigger", "digest")
    document = shop.ok("ls", "--json").json
    digest, etl = document["schedules"]
    assert (digest["name"], digest["state"], digest["app"]) == ("digest", "active", "shop")
    assert digest["definition"]["trigger"] == {"cron": "0 9 * * 1-5", "tz": "America/New_York"}
    assert digest["next_run_at"].endswith(":00:00Z")
    assert digest["last_run"]["status"] == "queued"
    assert (etl["last_run"], etl["failure_streak"], etl["paused"]) == (None, 0, None)
    assert etl["problems"] == ["no live worker executes runs"]
    assert document["now"].endswith("Z")


def test_ls_filters_and_limits(shop: Cli) -> None:
    shop.ok("pause", "etl", "--note", "upgrade")

    def names(*args: str) -> list[str]:
        return [each["name"] for each in shop.ok("ls", "--json", *args).json["schedules"]]

    assert names() == ["digest", "etl"]
    assert names("--state", "paused") == ["etl"]
    assert names("--tag", "mail") == ["digest"]
    assert names("--contains", "ges") == ["digest"]
    assert names("--limit", "1") == ["digest"]
    assert names("--state", "ended") == []


def test_ls_reads_every_page(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.cli.commands.schedules.schedules._PAGE", 2)
    for number in range(5):
        cli.create(f"s{number}")
    assert [each["name"] for each in cli.ok("ls", "--json").json["schedules"]] == ["s0", "s1", "s2", "s3", "s4"]
    assert len(cli.ok("ls", "--json", "--limit", "3").json["schedules"]) == 3


def test_names_are_never_cut_in_a_pipe(cli: Cli) -> None:
    name = "n" * 200
    cli.create(name)
    out = cli.ok("ls").out
    assert name in out
    assert not set(out) & set("│┃─━┌╭…\x1b")


def test_global_options_work_before_and_after_the_command(shop: Cli) -> None:
    assert shop.ok("--json", "ls").json["schedules"] == shop.ok("ls", "--json").json["schedules"]
    named = shop.ok("--url", str(shop.url), "ls", "--json", TICKBIRD_URL="sqlite:///nowhere.db").json
    assert named["schedules"] == shop.ok("ls", "--json").json["schedules"]
    assert shop.ok("--namespace", "other", "ls", "--json").json["schedules"] == []


def test_show_prints_all_parts_of_a_schedule(shop: Cli) -> None:
    shop.store(lambda client, _: client.schedules.update("digest", actor="bob", priority=5, retries=1))
    shop("trigger", "digest")
    out = shop.ok("show", "digest").out
    assert "digest · At 09:00, Monday through Friday (America/New_York)" in out
    for line in ("retries   1 (operator override)", "timeout   10 min", "priority  5 (operator override"):
        assert line in out
    assert "defined by  code of app shop" in out
    assert "grace" not in out
    assert out.count(" 09:00:00 E") == 6  # the next run and five ticks, in the schedule's zone
    assert "manual" in out
    assert "r2        update  bob" in out


def test_show_in_json(shop: Cli) -> None:
    document = shop.ok("show", "etl", "--json").json
    assert document["name"] == "etl"
    assert document["definition"]["grace"] == 3600
    assert len(document["next_ticks"]) == 5
    assert document["runs"] == []
    assert [each["action"] for each in document["revisions"]] == ["create"]


def test_pause_records_actor_note_and_end(shop: Cli) -> None:
    out = shop.ok("pause", "etl", "--note", "db upgrade", "--until", "2999-07-01 03:00 Europe/Rome").out
    assert out == 'etl is paused by ana: "db upgrade" until 2999-07-01 03:00:00 CEST.\n'
    assert 'paused by ana: "db upgrade" until 2999-07-01 03:00:00 CEST' in shop.ok("ls").out
    paused = shop.ok("show", "etl", "--json").json["paused"]
    assert paused == {"by": "ana", "note": "db upgrade", "until": "2999-07-01T01:00:00Z"}
    assert shop.ok("resume", "etl").out.startswith("etl is active. Next run: ")
    assert shop.ok("show", "etl", "--json").json["paused"] is None


def test_pause_for_a_length_of_time(shop: Cli) -> None:
    document = shop.ok("pause", "etl", "--note", "x", "--until", "2h", "--json").json["schedule"]
    now = to_seconds(shop.store(lambda client, _: client.system.now()))
    latest = to_datetime(now + 7_200).isoformat().replace("+00:00", "Z")
    assert document["paused"]["until"] <= latest
    assert document["paused"]["until"] > to_datetime(now + 7_000).isoformat()


def test_the_actor_of_a_change(shop: Cli) -> None:
    shop.ok("pause", "etl", "--note", "x", "--actor", "carl")
    shop.ok("resume", "etl")
    actors = [each["actor"] for each in shop.ok("show", "etl", "--json").json["revisions"]]
    assert actors == ["ana", "carl", "sync"]


def test_the_login_name_is_the_actor_when_none_is_given(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "dora")
    shop.ok("pause", "etl", "--note", "x", TICKBIRD_ACTOR="")
    assert shop.ok("show", "etl", "--json").json["paused"]["by"] == "dora"


@pytest.mark.parametrize(
    "until,words",
    [
        ("soon", "is not an instant. Write"),
        ("yesterday", "is in the past"),
        ("in a while", "is not an instant"),
        ("in soon", "is not a duration"),
        ("2020-01-01Z", "is in the past. Choose a later instant"),
        ("2999-01-01", "has no time zone. Write"),
        ("2999-02-30 UTC", "'2999-02-30' does not exist in the calendar"),
        ("2999-01-01 03:00 Mars/Phobos", "there is no time zone 'Mars/Phobos'"),
        ("-1h", "is in the past"),
        ("99999999999d", "is not a duration"),
        ("200000w", "out of range"),
        ("0001-01-01T00:00+14:00", "outside the years"),
    ],
)
def test_pause_refuses_a_senseless_end(shop: Cli, until: str, words: str) -> None:
    assert words in shop.refused(2, "pause", "etl", "--note", "x", f"--until={until}")
    assert shop.ok("show", "etl", "--json").json["state"] == "active"


def test_resume_of_an_active_schedule_is_refused(shop: Cli) -> None:
    assert shop.refused(4, "resume", "etl") == "schedule 'etl' is active, not paused. There is nothing to resume."


def test_trigger_makes_a_run_and_leaves_the_ticks_alone(shop: Cli) -> None:
    shop.live_worker({"digest": {"queue": "default", "schema": {}}})
    before = shop.ok("show", "digest", "--json").json["next_run_at"]
    said = shop.ok("trigger", "digest", "--payload", '{"limit": 7}', "--json")
    run = said.json["run"]
    assert (run["origin"], run["status"], run["payload"], run["actor"]) == ("manual", "queued", {"limit": 7}, "ana")
    assert shop.ok("show", "digest", "--json").json["next_run_at"] == before
    assert shop.ok("runs", str(run["id"]), "--json").json["run"] == run


def test_trigger_takes_a_payload_from_a_file_or_stdin(shop: Cli) -> None:
    (shop.folder / "p.json").write_text('{"limit": 8}')
    assert shop("trigger", "digest", "--payload", "@p.json", "--json").json["run"]["payload"] == {"limit": 8}
    piped = shop("trigger", "digest", "--payload", "-", "--json", stdin='{"limit": 9}')
    assert piped.json["run"]["payload"] == {"limit": 9}


def test_trigger_without_worker_warns(shop: Cli) -> None:
    said = shop("trigger", "digest")
    assert said.code == 0
    assert said.err == "tickbird: no live worker executes runs: run 1 stays queued until one does.\n"
    assert "Run 1 of digest is queued." in said.out
    shop.live_worker({})
    assert "no live worker serves queue 'gpu'" in shop("trigger", "etl", "--json").err


def test_a_second_manual_run_waits(shop: Cli) -> None:
    shop("trigger", "digest")
    said = shop("trigger", "digest")
    assert (said.code, said.err) == (0, "tickbird: run 2 waits until the active run of digest is final.\n")


@pytest.mark.parametrize(
    "payload,words",
    [
        ("{", "payload is not JSON"),
        ("[1]", "payload must be a JSON object"),
        ('"x"', "payload must be a JSON object"),
        ("NaN", "payload is not JSON (NaN is not a JSON number)"),
        ('{"a": "\\u0000"}', "contains a NUL character"),
        ("[" * 100_000, "payload is not JSON"),
        ("@nowhere.json", "cannot read the file 'nowhere.json' (No such file or directory)"),
        ("@.", "cannot read the file '.' (Is a directory)"),
        (json.dumps({"a": "x" * 1_000_001}), "at most 1,000,000 are allowed"),
    ],
)
def test_trigger_invalid_payload_is_refused(shop: Cli, payload: str, words: str) -> None:
    assert words in shop.refused(2, "trigger", "digest", "--payload", payload)
    assert shop.ok("runs", "--json").json["runs"] == []


def test_trigger_refuses_a_payload_that_does_not_fit_the_task(shop: Cli) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
    shop.live_worker({"digest": {"queue": "default", "schema": schema}})
    wrong = shop.refused(2, "trigger", "digest", "--payload", '{"limit": "many"}')
    assert wrong == "payload of task 'digest': limit: 'many' is not of type 'integer'."
    assert "'most' was unexpected" in shop.refused(2, "trigger", "digest", "--payload", '{"most": 1}')


BROKEN = [
    {"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "x"}},
    {"v": 1, "trigger": {"cron": "0 3 * * *", "tz": "Mars/Phobos"}, "target": {"task": "x"}},
    {"v": 1, "trigger": {"cron": "0 0 30 2 *"}, "target": {"task": "x"}, "tags": 7, "payload": [1]},
    {"v": 1},
    {"v": 1, "trigger": "\x1b[2J", "target": 5, "description": {"a": 1}, "grace": "long"},
]


def test_a_definition_of_a_newer_format_is_a_problem(cli: Cli) -> None:
    cli.insert("tomorrow", {"v": 99, "when": "always"})
    words = f"ignored: its definition has format 99, newer than this version of tickbird reads ({FORMAT})"
    for out in (cli.ok("ls").out, cli.ok("show", "tomorrow").out):
        assert words in out
    assert cli.ok("show", "tomorrow", "--json").json["problems"] == [words]
    [listed] = cli.ok("ls", "--json").json["schedules"]
    assert (listed["state"], listed["problems"]) == ("active", [words])


@pytest.mark.parametrize("definition", BROKEN)
def test_show_of_a_parked_schedule_prints_the_error(cli: Cli, definition: dict[str, Any]) -> None:
    cli.insert("broken", definition)
    cli.create("fine")
    error = cli.ok("show", "broken", "--json").json["error"]
    assert error
    for out in (cli.ok("ls").out, cli.ok("show", "broken").out):
        assert "parked: " in out
        assert "\x1b" not in out
    assert [each["state"] for each in cli.ok("ls", "--json").json["schedules"]] == ["parked", "active"]
    assert cli.ok("preview", "broken", "--json").json["ticks"] == []
    assert "The schedule is parked" in cli.ok("preview", "broken").out
    assert "arked" in cli.ok("why", "broken").out
    assert "is parked" in cli.refused(4, "trigger", "broken")
    cli.ok("pause", "broken", "--note", "later")
    assert ', paused by ana: "later"' in cli.ok("ls").out
    cli.ok("resume", "broken")


@pytest.mark.parametrize("name", ["🐦", "a b", "é\x1b[2J"])
def test_a_schedule_that_sql_gave_an_odd_name(cli: Cli, name: str) -> None:
    cli.insert(name, {"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "x"}})
    assert [each["name"] for each in cli.ok("ls", "--json").json["schedules"]] == [name]
    for command in ("show", "preview", "why"):
        assert "\x1b" not in cli.ok(command, name).out
    assert cli.ok("pause", name, "--note", "x", "--json").json["schedule"]["name"] == name
    assert "\x1b" not in cli.ok("ls").out


BY_NAME = (
    ("show",),
    ("why",),
    ("preview",),
    ("trigger",),
    ("pause", "--note=x"),
    ("resume",),
    ("reschedule",),
    ("skip",),
    ("set",),
    ("rm", "--yes"),
)
# What stands behind the name.
MORE = {"reschedule": ("2h",), "set": ("retries=1",)}


@pytest.mark.parametrize("command", BY_NAME)
def test_an_unknown_schedule(cli: Cli, command: tuple[str, ...]) -> None:
    for name in ("nothing", "🐦", "a b", "x" * 1_000, "'; DROP TABLE schedules; --", "%", "a\nb"):
        assert "there is no schedule" in cli.refused(3, *command, name, *MORE.get(command[0], ()))
    for name in ("a\0b", "\ud83d", "x" * 1_001):
        assert "NAME" in cli.refused(2, *command, name, *MORE.get(command[0], ()))


@pytest.mark.parametrize("command", BY_NAME)
def test_a_name_that_is_nearly_right(shop: Cli, command: tuple[str, ...]) -> None:
    words = shop.refused(3, *command, "digset", *MORE.get(command[0], ()))
    assert words == "there is no schedule 'digset'. Did you mean digest?"
    elsewhere = shop.refused(3, *command, "digest", *MORE.get(command[0], ()), "-n", "other")
    assert elsewhere == "there is no schedule 'digest' in namespace 'other'. `tickbird ls` lists the schedules."
