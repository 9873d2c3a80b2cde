"""Every command with poisoned rows in the store: none fails for them, and no other row is affected."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tests.api.conftest import empty, shared_url  # noqa: F401
from tests.cli.conftest import Cli
from tests.poison.rows import RECORDS, insert_all, poison_runs
from tests.store.conftest import PlainPostgres, PlainRows, PlainSqlite
from tickbird.cli import COMMANDS
from tickbird.cli.errors import CONFLICT, FAILED, INVALID, NOT_FOUND
from tickbird.client import Client
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

pytestmark = pytest.mark.timeout(900)
# Commands of which no argument names a schedule or a run.
OF_STORE = (
    "migrate",
    "doctor",
    "ls",
    "ls --state parked",
    "simulate --days 1",
    "verify",
    "zones",
    "runs",
    "tail --since -1h --no-follow",
    "backfills",
    "held",
    "undecided",
    "leader",
    "adopt APP --yes",
    "limits",
    "queues",
    "workers",
    "export --all",
    "calendar ls",
    "calendar put weekend --weekday sat",
    "calendar preview weekend --weekday sat",
    "calendar show weekend",
    "calendar rm weekend",
    "limit set key 3",
    "queue default --rate 100/min",
    "token list",
    "events publish orders paid",
    "events ls",
    "consumers ls",
    "dead-letters ls",
    "dead-letters approval on",
    "diff -f FILE",
    "apply -f FILE",
    "sync APP",
    "pause --all --note night --yes",
    "resume --all --yes",
    "trigger --all --yes",
)
OF_SCHEDULE = (
    "show NAME",
    "why NAME now",
    "preview NAME",
    "simulate NAME --days 1",
    "verify NAME",
    "revisions NAME",
    "runs --schedule NAME",
    "tail --schedule NAME --since -1h --no-follow",
    "backfills --schedule NAME",
    "held NAME",
    "shadow ping NAME",
    "shadow report NAME --pings",
    "trigger NAME",
    "skip NAME",
    "override NAME --list",
    "reschedule NAME 2h",
    "backfill NAME --from -1h --to now --dry-run",
    "release NAME",
    "drop NAME --yes",
    "pause NAME --note night",
    "resume NAME",
    "roll-back NAME --to 1",
    "set NAME grace=5s",
    "rm NAME --yes",
)
OF_RUN = ("runs ID", "logs ID", "cancel ID", "retry ID", "resolve ID no")
# Processes of their own, and commands that read no row.
OTHERS = {"dev", "worker", "server", "completion", "schema", "import", "drain"}
APP = """
    from tickbird import Tickbird, every

    bird = Tickbird(app="shop")


    @bird.task(schedule=every(hours=1))
    def report() -> None: ...
"""
FILE = """
schedules:
  healthy-too: {every: 1h, task: report}
"""


class PoisonedCli(Cli):
    """The command line on a store with poisoned schedules and runs."""

    names: list[str]
    run_ids: list[int]


@pytest.fixture(params=["sqlite", "postgres"])
def cli(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PoisonedCli:
    """The command line on a store with a healthy schedule, next to poisoned ones that were planned."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/t.db"
        plain: PlainRows = PlainSqlite(f"{tmp_path}/t.db")
    else:
        url = request.getfixturevalue("shared_url")
        plain = PlainPostgres(url)
        asyncio.run(empty(url))
    cli = PoisonedCli(url, tmp_path)
    cli.write("app", APP)
    (tmp_path / "schedules.yaml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    async def fill(client: Client, store: Store) -> None:
        await client.schedules.create(
            "healthy", every(seconds=60), "report", actor="ada", unknown_task_ok=True, overlap="allow"
        )
        runs = [
            await client.schedules.trigger("healthy", payload={"n": number}, actor="ada")
            for number, _ in enumerate(RECORDS)
        ]
        cli.run_ids = [run.id for run in runs]
        cli.names = await insert_all(plain)
        await poison_runs(plain, cli.run_ids)
        await store.planning.plan_due(now=await store.now() + timedelta(minutes=2))

    cli.store(fill)
    return cli


def call(cli: PoisonedCli, command: str, *codes: int, **values: str) -> list[str]:
    """The answer of a command, with values in place of words, if it is not one of these exit codes."""
    given = {"FILE": "schedules.yaml", "APP": "app:bird", **values}
    said = cli(*(given.get(word, word) for word in command.split()), "--json")
    if said.code in (0, *codes) and "unexpected" not in said.err:
        return []
    return [f"{command} {values}: {said.code} {said.err[:300]}"]


def test_every_command_is_in_the_lists() -> None:
    named = {command.split()[0] for command in (*OF_STORE, *OF_SCHEDULE, *OF_RUN)}
    assert named | OTHERS == {name for section in COMMANDS.values() for name in section}


def test_commands_about_the_store(cli: PoisonedCli) -> None:
    broken: list[str] = []
    for command in OF_STORE:
        broken += call(cli, command, FAILED)
    assert not broken, "\n".join(broken)
    # One bad row must not hide the others.
    listed = {schedule["name"] for schedule in cli.ok("ls", "--json").json["schedules"]}
    assert listed >= {"healthy", "healthy-too", *cli.names}


def test_audit_of_all_schedules_covers_the_healthy_one(cli: PoisonedCli) -> None:
    said = cli("verify", "--to", "2100-01-01T00:00:00Z", "--json")
    assert said.code in (0, FAILED), said
    assert "healthy" in {audit["schedule"] for audit in said.json["reports"]}
    # For people, in a table.
    assert "healthy" in cli("verify", "--to", "2100-01-01T00:00:00Z").out


def test_commands_about_one_schedule(cli: PoisonedCli) -> None:
    names = sorted({*cli.names[::12], "v-99", "text", "created-and-cron", "long-grace", "overrides-list"})
    broken: list[str] = []
    for command in OF_SCHEDULE:
        for name in names:
            broken += call(cli, command, FAILED, INVALID, NOT_FOUND, CONFLICT, NAME=name)
    assert broken == []
    # None of these commands has changed another schedule.
    assert cli.ok("show", "healthy", "--json").json["state"] == "active"


def test_commands_about_one_run(cli: PoisonedCli) -> None:
    broken: list[str] = []
    for command in OF_RUN:
        for run_id in cli.run_ids:
            broken += call(cli, command, CONFLICT, ID=str(run_id))
    assert broken == []
