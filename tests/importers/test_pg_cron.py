"""The table of pg_cron moves over: from a server, and from its dumps."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.cli.conftest import Cli
from tests.importers.conftest import AFTER, UNTIL, check, made_of, ticks
from tickbird.domain.errors import InvalidError, StoreError
from tickbird.domain.targets.sql import SqlSpec
from tickbird.importers.entries import Imported
from tickbird.importers.pg_cron import read_dump, read_server

# The table of pg_cron 1.4, without the functions of the extension.
TABLE = """
CREATE SCHEMA cron;
CREATE TABLE cron.job (
    jobid bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, schedule text NOT NULL, command text NOT NULL,
    nodename text NOT NULL DEFAULT 'localhost', nodeport int NOT NULL DEFAULT 5432,
    database text NOT NULL DEFAULT current_database(), username text NOT NULL DEFAULT current_user,
    active boolean NOT NULL DEFAULT true, jobname name
);
GRANT USAGE ON SCHEMA cron TO public;
GRANT SELECT ON cron.job TO public;
ALTER TABLE cron.job ENABLE ROW LEVEL SECURITY;
CREATE POLICY cron_job_policy ON cron.job USING (username = current_user);
CREATE FUNCTION cleanup() RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"success": true}'::jsonb $$;
CREATE FUNCTION refresh_totals() RETURNS void LANGUAGE sql AS $$ SELECT NULL $$;
"""


def create_jobs(url: str, *jobs: tuple[str, str, str | None]) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(TABLE.encode())
        for schedule, command, name in jobs:
            insert = "INSERT INTO cron.job (schedule, command, jobname) VALUES (%s, %s, %s)"
            connection.execute(insert, (schedule, command, name))


def dump(*jobs: Mapping[str, object]) -> str:
    usual = {"nodename": "localhost", "database": "shop", "username": "reporting", "active": True, "jobname": None}
    return json.dumps([{"jobid": number, **usual, **job} for number, job in enumerate(jobs, 1)])


def imported(schedule: str, command: str = "SELECT cleanup()", **job: object) -> Imported:
    return read_dump(dump({"schedule": schedule, "command": command, **job}), "jobs.json")


def left(schedule: str, command: str = "SELECT cleanup()", **job: object) -> str:
    """The reason why the only job is not imported."""
    [item] = made_of(imported(schedule, command, **job)).not_imported
    return item.reason


def local_minutes(expression: str, tz: str) -> Iterator[int]:
    """The rule of pg_cron: each real minute whose local time matches. Fields are numbers or stars."""
    minute, hour, day, month, weekday = [None if text == "*" else int(text) for text in expression.split()]
    at, zone = datetime.fromtimestamp(AFTER + 1, UTC), ZoneInfo(tz)
    while at.timestamp() <= UNTIL:
        local = at.astimezone(zone)
        values = (local.minute, local.hour, local.day, local.month, local.isoweekday() % 7)
        if all(
            wanted in (None, value) for wanted, value in zip((minute, hour, day, month, weekday), values, strict=True)
        ):
            yield int(at.timestamp())
        at += timedelta(minutes=15)


def test_ticks_are_those_of_pg_cron_except_on_named_days() -> None:
    schedules = {"gap": "30 2 * * *", "twice": "30 1 * * *", "weekly": "0 4 * * 1", "hourly": "15 * * * *"}
    rows = [{"schedule": text, "command": "SELECT f()", "jobname": name} for name, text in schedules.items()]
    made = made_of(read_dump(dump(*rows), "jobs.json", tz="America/New_York"))
    check(made, {name: list(local_minutes(text, "America/New_York")) for name, text in schedules.items()})
    named = {name: [change.description("pg_cron") for change in days] for name, days in made.differences.items()}
    assert named["gap"][0] == "2027-03-14: pg_cron does not, Tickbird at 03:00 EDT"
    assert named["twice"][0] == "2027-11-07: pg_cron at 01:30 EST, Tickbird does not"
    assert {*named} == {"gap", "twice"}


def test_last_day_and_seconds() -> None:
    made = made_of(imported("0 12 $ * *", jobname="last day"))
    days = {datetime.fromtimestamp(at, UTC) for at in ticks(made, "last-day")}
    assert len(days) == 24
    assert {(at + timedelta(days=1)).day for at in days} == {1}
    made = made_of(imported("0 12 1,$ * *", jobname="both"))
    assert len(ticks(made, "both")) == 48
    made = made_of(imported("30 seconds"))
    assert made.document.schedules["cleanup"].trigger.to_json() == {"every": {"seconds": 30}}
    assert "fixed grid" in made.imported.entries[0].notes[0]
    assert left("90 seconds") == "'90 seconds' has 2 fields instead of 5"
    # A sixth field would be read as seconds.
    assert left("0 0 3 * * *") == "'0 0 3 * * *' has 6 fields instead of 5"
    assert "when the server starts" in left("@reboot")
    assert "minute" in left("75 * * * *")
    assert made_of(imported("@daily")).document.schedules["cleanup"].trigger.to_json() == {"cron": "@daily"}


@pytest.mark.parametrize(
    "command, function",
    [
        ("SELECT cleanup()", "cleanup"),
        ("  select * FROM Ops.Cleanup ( ) ;\n", "ops.cleanup"),
        ('SELECT "ops"."cleanup"()', "ops.cleanup"),
    ],
)
def test_function_call_becomes_a_target_with_its_role(command: str, function: str) -> None:
    made = made_of(imported("0 3 * * *", command))
    [definition] = made.document.schedules.values()
    assert definition.target.spec == SqlSpec(function=function, run_as="reporting")
    assert (definition.overlap, definition.catch_up) == ("queue", "skip")
    assert any("SELECT tickbird.allow_job_role('reporting');" in note for note in made.imported.notes)


@pytest.mark.parametrize(
    "command",
    [
        "DELETE FROM orders",
        "SELECT cleanup(1)",
        "SELECT a(), b()",
        "SELECT cleanup(); DROP TABLE orders",
        'SELECT "Cleanup"()',
        "SELECT cleanup() -- x",
        "CALL cleanup()",
        "SELECT pg_reload_conf()",
        "SELECT $job$ text $job$",
    ],
)
def test_other_command_is_a_comment_with_its_function(command: str) -> None:
    made = made_of(imported("0 3 * * *", command, jobname="Nightly job!"))
    assert made.document.schedules == {}
    [entry] = made.off
    text = "\n".join(entry.notes)
    assert "CREATE FUNCTION public.run_nightly_job() RETURNS jsonb LANGUAGE sql AS $job" in text
    assert command in text
    tags = re.findall(r"AS (\$job\d*\$)", text)
    assert text.count(tags[0]) == 2
    assert re.search(r";\n +SELECT tickbird.result", text)
    assert not re.search(r"--.*;", text), "a comment ends with its line"


@pytest.mark.parametrize(
    "command, reason",
    [
        ("VACUUM orders", "VACUUM cannot be executed in a function"),
        ("vacuum (analyze) orders", "VACUUM cannot be executed in a function"),
        ("SELECT 1; reindex table concurrently x", "REINDEX TABLE CONCURRENTLY cannot"),
        ("DELETE FROM cron.job_run_details WHERE end_time < now() - interval '7 days'", "pg_cron's own table"),
        (" ", "no command"),
    ],
)
def test_command_that_no_function_can_have_is_left(command: str, reason: str) -> None:
    assert reason in left("0 3 * * *", command)


def test_jobs_of_other_servers_and_databases_are_left() -> None:
    assert "it runs on the server other.example" in left("0 3 * * *", nodename="other.example")
    assert made_of(imported("0 3 * * *", nodename="/var/run/postgresql")).not_imported == []
    both = dump(
        {"schedule": "0 3 * * *", "command": "SELECT a()"},
        {"schedule": "0 3 * * *", "command": "SELECT b()", "database": "crm"},
    )
    with pytest.raises(InvalidError, match="several databases: crm, shop"):
        read_dump(both, "jobs.json")
    made = made_of(read_dump(both, "jobs.json", database="crm"))
    assert ([*made.document.schedules], len(made.not_imported)) == (["b"], 1)
    assert "it runs in database shop" in made.not_imported[0].reason


def test_csv_and_json_are_the_same() -> None:
    rows = json.loads(
        dump(
            {"schedule": "0 3 * * *", "command": 'SELECT\n  "cleanup"()', "jobname": "a, b"},
            {"schedule": "0 4 * * *", "command": "SELECT c()", "active": False},
        )
    )
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    # psql writes booleans as t and f, and NULL as an empty field.
    writer.writerows({name: {True: "t", False: "f"}.get(v, v) for name, v in row.items()} for row in rows)
    made, same = (made_of(read_dump(each, "jobs")) for each in (json.dumps(rows), text.getvalue()))
    assert made.document.schedules == same.document.schedules
    assert [entry.off for entry in same.off] == ["it is not active"]
    for broken in ("", "[", "[1]", "a,b\n1,2\n", 'jobid,schedule,command\n"'):
        with pytest.raises(InvalidError):
            read_dump(broken, "jobs")


def test_jobs_of_a_server(postgres_url: str) -> None:
    create_jobs(
        postgres_url,
        ("0 3 * * *", "SELECT cleanup()", None),
        ("0 4 * * *", "SELECT refresh_totals()", "totals"),
        ("0 5 * * *", "SELECT nothing()", None),
        ("0 6 * * *", "SELECT now()", None),
    )
    with psycopg.connect(postgres_url) as connection:
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET cron.timezone = 'Europe/Rome'".encode())
    made = made_of(read_server(postgres_url, "server"))
    [definition] = made.document.schedules.values()
    assert definition.target.spec == SqlSpec(function="public.cleanup", run_as="postgres")
    assert definition.trigger.tz == "Europe/Rome"
    assert [entry.off for entry in made.off] == [
        "refresh_totals() does not return jsonb, or has other arguments",
        "nothing() is a function of PostgreSQL, or does not exist",
        "now() is a function of PostgreSQL, or does not exist",
    ]
    assert not any("sees only its own jobs" in note for note in made.imported.notes)
    assert made_of(read_server(postgres_url, "server", tz="UTC")).document.schedules["cleanup"].trigger.tz == "UTC"


def test_server_without_pg_cron_is_refused(postgres_url: str) -> None:
    with pytest.raises(StoreError, match=r'relation "cron\.job" does not exist'):
        read_server(postgres_url, "server")


def test_imported_jobs_are_applied(tmp_path: Path, migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cli = Cli(migrated_url, tmp_path)
    create_jobs(
        migrated_url,
        ("0 3 * * *", "SELECT cleanup()", "nightly"),
        (
            "0 4 * * *",
            "CREATE TABLE made_by_job (a int);\nINSERT INTO cron.job (schedule, command) VALUES ('', '')",
            "two",
        ),
    )
    said = cli("import", "pg_cron", migrated_url, "-o", "moved.toml")
    assert said.code == 0, said.err
    assert "1 schedule written as comments, because its command is not a call" in said.err
    text = Path("moved.toml").read_text()
    # The comments at the head have everything: the function, and the schedule that calls it.
    head = takewhile(lambda line: line.startswith("#"), text.splitlines())
    comments = [line.removeprefix("# ").removeprefix("#") for line in head]
    start = next(number for number, line in enumerate(comments) if line.startswith("  CREATE FUNCTION"))
    end = next(number for number, line in enumerate(comments) if line == "  $job$;")
    with psycopg.connect(migrated_url) as connection:
        assert connection.execute("SELECT to_regclass('made_by_job')").fetchall() == [(None,)]
        connection.execute("\n".join(comments[start : end + 1]).encode())
    Path("moved.toml").write_text("\n".join([text, *comments[end + 1 :]]))
    applied = cli("apply", "-f", "moved.toml", "--json")
    assert applied.code == 0, applied.err
    assert cli.ok("show", "two", "--json").json["definition"]["target"] == {
        "sql": {"function": "public.run_two", "role": "postgres"}
    }
    assert {row["name"] for row in cli.ok("ls", "--json").json["schedules"]} == {"nightly", "two"}


def test_import_without_superuser_says_so(postgres_url: str) -> None:
    create_jobs(postgres_url, ("0 3 * * *", "SELECT cleanup()", None))
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "DO $$ BEGIN CREATE ROLE cron_reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
    made = made_of(read_server(postgres_url.replace("postgres@", "cron_reader@"), "server"))
    assert made.document.schedules == {}
    assert any("sees only its own jobs" in note for note in made.imported.notes)
