"""`tickbird shadow`: every source of what the old system did, beside what was recorded."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.client.http.servers import make_token, serving
from tickbird.client import Client
from tickbird.domain.planning.commands.define import Create, Update
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.targets.command import command
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.store.protocol.store import Store

# Whole hours, some of them ago: lines of a log have no year, and the store's clock is the real one.
BEGIN = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=30)
TICKS = [BEGIN + timedelta(hours=number) for number in range(1, 7)]
END = TICKS[-1].isoformat()


def shadows(cli: Cli, *names: str, **policies: Any) -> None:
    """Hourly shadows that were planned for six hours; `backup` starts a command, others have tasks."""

    async def work(_: Client, store: Store) -> None:
        for name in names:
            target = target_of(command(["/bin/backup", "-a"])) if name == "backup" else Target(f"shop.{name}")
            made = Definition(trigger=cron("0 * * * *"), target=target, **{"shadow": True, **policies})
            await store.schedules.change(
                "default", name, Create(actor="ada", namespace="default", definition=made), now=BEGIN
            )
        for tick in TICKS:
            await store.planning.plan_due(100, now=tick)

    cli.store(work)


def lines(*ticks: datetime, late: float = 1) -> str:
    stamps = [f"{tick + timedelta(seconds=late):%b %d %H:%M:%S}" for tick in ticks]
    return "".join(f"{stamp} host CRON[7]: (root) CMD (/bin/backup -a)\n" for stamp in stamps)


def test_a_log_of_cron_that_agrees(cli: Cli) -> None:
    shadows(cli, "backup")
    (cli.folder / "syslog").write_text(lines(*TICKS))
    said = cli.ok("shadow", "report", "--log", "syslog")
    assert "backup    agrees" in said.out
    assert "1 s late" in said.out
    found = cli.ok("shadow", "report", "backup", "--log", "-", "--json", stdin=lines(*TICKS)).json
    assert found["agrees"] is True
    [one] = found["schedules"]
    assert (one["ticks"], one["matched"], one["apart"]) == (6, 6, {"earliest": 1.0, "mean": 1.0, "latest": 1.0})


def test_shadow_report_names_missing_and_extra_firings(cli: Cli) -> None:
    shadows(cli, "backup")
    extra = TICKS[2] + timedelta(minutes=30)
    (cli.folder / "syslog").write_text(
        "no line at all\n" + lines(*TICKS[:2], extra, *TICKS[3:5]) + lines(TICKS[5]).replace("-a", "-b")
    )
    said = cli("shadow", "report", "--log", "syslog", "--json")
    assert said.code == 1
    [one] = said.json["schedules"]
    assert one["verdict"] == "differs"
    assert [datetime.fromisoformat(at) for at in one["missing_ticks"]] == [TICKS[2], TICKS[5]]
    assert [datetime.fromisoformat(each["at"]) for each in one["extra_firings"]] == [extra + timedelta(seconds=1)]
    assert (said.json["unreadable"]["count"], said.json["others"]["names"]) == (1, {"/bin/backup -b": 1})
    assert "1 line of the log could not be read: syslog:1" in said.err
    shown = cli("shadow", "report", "--log", "syslog")
    assert "missing: the old system did not fire" in shown.out
    assert "extra: the old system fired, but Tickbird has no tick then" in shown.out
    # Of a shorter time, and with a longer tolerance, it is another thing.
    short = cli("shadow", "report", "--log", "syslog", "--since", TICKS[3].isoformat(), "--until", TICKS[4].isoformat())
    assert short.code == 0, short
    assert cli("shadow", "report", "--log", "syslog", "--tolerance", "31m", "--until", TICKS[4].isoformat()).code == 0


def test_only_the_time_as_a_shadow_counts(cli: Cli) -> None:
    shadows(cli, "backup")

    async def cut_over(_: Client, store: Store) -> None:
        await store.schedules.change(
            "default", "backup", Update(actor="ada", fields={"shadow": False}), now=TICKS[-1] + timedelta(minutes=5)
        )
        await store.planning.plan_due(10, now=TICKS[-1] + timedelta(hours=1))

    cli.store(cut_over)
    before, after = BEGIN - timedelta(hours=2), TICKS[-1] + timedelta(hours=2)
    (cli.folder / "syslog").write_text(lines(before, *TICKS, after))
    assert cli.refused(2, "shadow", "report", "--log", "syslog").startswith("no schedule is a shadow")
    assert cli("shadow", "report", "backup", "--log", "syslog").code == 0
    assert cli("shadow", "report", "backup", "--log", "syslog", "--tz", "Asia/Tokyo").code == 1


@pytest.mark.parametrize("kind", ["csv", "json", "lines", "kubernetes", "celery", "pings"])
def test_every_other_source(cli: Cli, kind: str) -> None:
    shadows(cli, "digest", "load")
    rows = [{"name": name, "at": tick.isoformat()} for tick in TICKS for name in ("shop.digest", "old-load")]
    given = ["--table", "given", "--map", "old-load=load"]
    file = cli.folder / "given"
    if kind == "csv":
        file.write_text("name,at\n" + "".join(f"{row['name']},{row['at']}\n" for row in rows))
    elif kind == "json":
        file.write_text(json.dumps(rows))
    elif kind == "lines":
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    elif kind == "kubernetes":
        given[0] = "--kubernetes"
        owned = [
            {"creationTimestamp": row["at"], "ownerReferences": [{"kind": "CronJob", "name": row["name"]}]}
            for row in rows
        ]
        file.write_text(json.dumps({"items": [{"kind": "Job", "metadata": each} for each in owned]}))
    elif kind == "celery":
        given[:2] = ["--django-celery-results", str(file)]
        with closing(sqlite3.connect(file)) as db, db:
            db.execute("CREATE TABLE django_celery_results_taskresult (id INTEGER, task_name TEXT, date_created TEXT)")
            for row in rows:
                db.execute("INSERT INTO django_celery_results_taskresult VALUES (1, ?, ?)", (row["name"], row["at"]))
    else:
        given = ["--pings"]
        for tick in TICKS:
            cli.ok("shadow", "ping", "digest", "--at", tick.isoformat())

    said = cli("shadow", "report", "digest", *given[: 2 if kind != "pings" else 1], "--json")
    assert (said.code, said.json["agrees"]) == (0, True), said
    if kind != "pings":
        assert cli("shadow", "report", *given).code == 0
    # Without the name that it has here, nobody ran it.
    said = (
        cli("shadow", "report", *given[:2], "--json")
        if kind != "pings"
        else cli("shadow", "report", "--pings", "--json")
    )
    assert (said.code, [one["verdict"] for one in said.json["schedules"]]) == (1, ["agrees", "differs"])


def test_pings_and_reports_by_way_of_a_server(cli: Cli) -> None:
    shadows(cli, "backup")
    (cli.folder / "syslog").write_text(lines(*TICKS))
    assert cli.url is not None
    with serving(cli.url) as url:
        there = ("--server", url, "--token", asyncio.run(make_token(cli.url, "operator", "default")))
        for tick in TICKS:
            cli.ok("shadow", "ping", "backup", "--at", tick.isoformat(), *there)
        for source in (["--pings"], ["--log", "syslog"]):
            here = cli.ok("shadow", "report", *source, "--json")
            assert cli.ok("shadow", "report", *source, "--json", *there).json == here.json
        assert cli("shadow", "ping", "backpu", *there).code == 3
    now = cli.ok("shadow", "ping", "backup", "--json").json["at"]
    assert abs((datetime.fromisoformat(now) - datetime.now(UTC)).total_seconds()) < 3_600


WRONG: list[tuple[list[str], str]] = [
    ([], "no source is given"),
    (["--log", "a", "--pings"], "only one is supported"),
    (["--log", "absent"], "cannot be read"),
    (["--pings", "--map", "x"], "OLD=NEW"),
    (["--pings", "--map", "x=y"], "not one of the compared schedules"),
    (["--pings", "--since", "now", "--until", "-1h"], "is before since"),
    (["digest", "--log", "empty"], "--map 'COMMAND=digest'"),
    (["real", "--pings"], "was never a shadow"),
    (["nobody", "--pings"], "there is no schedule"),
    (["--table", "odd"], "--name-column"),
    (["--kubernetes", "odd"], "is not valid YAML"),
    (["--django-celery-results", "odd"], "cannot be read"),
    (["--pings", "--tolerance", "x"], "duration"),
]


def test_shadow_report_errors_exit_with_2(cli: Cli) -> None:
    shadows(cli, "digest")
    shadows(cli, "real", shadow=False)
    (cli.folder / "empty").write_text("")
    (cli.folder / "odd").write_text("a,b\n: [1\n")
    for args, told in WRONG:
        assert told in cli.refused(2, "shadow", "report", *args)


def test_shadow_report_without_data_exits_with_1(cli: Cli) -> None:
    shadows(cli, "backup")
    said = cli("shadow", "report", "--log", "-", stdin=lines(TICKS[-1] + timedelta(minutes=20)))
    assert said.code == 1
    said = cli(
        "shadow", "report", "--log", "-", "--since", TICKS[-1].isoformat(), "--until", TICKS[-1].isoformat(), stdin=""
    )
    assert (said.code, "missing" in said.out) == (1, True)
    assert "is in the future" in cli.refused(2, "shadow", "ping", "backup", "--at", "in 2d")
