"""audit: the proof, and what is found where a hand was in the rows."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from tests.cli.conftest import Cli


def tamper(cli: Cli, statement: str) -> None:
    """Change a row behind Tickbird's back."""
    assert cli.url is not None
    if cli.url.startswith("sqlite"):
        db = sqlite3.connect(cli.url.removeprefix("sqlite:///"))
        assert db.execute(statement).rowcount == 1
        db.commit()
        db.close()
    else:
        with psycopg.connect(cli.url, options="-c search_path=tickbird") as connection:
            assert connection.execute(statement.encode()).rowcount == 1


@pytest.fixture
def hourly(cli: Cli) -> Cli:
    """A schedule of yesterday, whose late ticks are one run and one skip."""
    cli.create_yesterday("hourly")
    cli.store(lambda _, store: store.planning.plan_due())
    return cli


def test_an_audit_that_proves_all(hourly: Cli) -> None:
    hourly.create("fresh")
    head, *rows = hourly.ok("verify").out.splitlines()
    assert head.split() == ["SCHEDULE", "VERDICT", "FROM", "TO", "EXPECTED", "RUNS", "SKIPPED", "OPEN"]
    [row] = [row for row in rows if row.startswith("hourly")]
    assert row.split()[1] == "proven"
    assert row.split()[-4:] == ["24", "1", "23", "0"]
    document = hourly.ok("verify", "hourly", "--json").json
    [audit] = document["reports"]
    assert (document["ok"], audit["expected"], audit["runs"], audit["skipped"]) == (True, 24, 1, 23)
    assert audit["complete_from"] == audit["first"]
    part = hourly.ok("verify", "hourly", "--from", "-5h", "--to", "now", "--json").json["reports"][0]
    assert (part["expected"], part["runs"], part["skipped"]) == (5, 0, 5)


def test_an_audit_names_the_tick_that_is_missing(hourly: Cli) -> None:
    first = hourly.ok("runs", "--json").json["runs"][0]["scheduled_for"]
    tamper(hourly, "DELETE FROM runs")
    said = hourly("verify")
    assert (said.code, said.err) == (1, "")
    assert "1 finding" in said.out
    assert "no decision was recorded for 1 tick" in said.out
    answer = hourly("verify", "hourly", "--json")
    assert answer.code == 1
    [finding] = answer.json["reports"][0]["findings"]
    assert (finding["kind"], finding["first"], finding["count"]) == ("missing", first, 1)


def test_an_audit_of_a_deleted_schedule(hourly: Cli) -> None:
    hourly.ok("rm", "hourly", "-y", "--cancel-runs")
    assert hourly.ok("verify", "hourly", "--json").json["ok"]
    assert [each["schedule"] for each in hourly.ok("verify", "--json").json["reports"]] == ["hourly"]


def test_an_audit_reads_every_page(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.cli.commands.schedules.verify._PAGE", 2)
    for number in range(5):
        cli.create_yesterday(f"s{number}")
    cli.store(lambda _, store: store.planning.plan_due())
    found = [each["schedule"] for each in cli.ok("verify", "--json").json["reports"]]
    assert found == ["s0", "s1", "s2", "s3", "s4"]


def test_an_audit_of_nothing(cli: Cli) -> None:
    assert cli.ok("verify").out == "No schedule had an expected tick in that range.\n"
    assert cli.ok("verify", "--json").json["reports"] == []


@pytest.mark.parametrize(
    "args,code,words",
    [
        (("horly",), 3, "Did you mean hourly?"),
        (("--from", "soon"), 2, "from: 'soon' is not an instant"),
        (("--from", "2026-01-01"), 2, "from: '2026-01-01' has no time zone"),
        (("--from", "yesterday"), 2, "from: 'yesterday' has no time zone"),
        (("--from", "now", "--to", "-1h"), 2, "last is before first."),
    ],
)
def test_an_audit_refuses(hourly: Cli, args: tuple[str, ...], code: int, words: str) -> None:
    assert words in hourly.refused(code, "verify", *args)
