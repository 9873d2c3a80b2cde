"""export --all and apply: schedules move to a new store with their owners, pauses and overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli

APP = """
from tickbird import Tickbird, cron, every

bird = Tickbird(app="billing")


@bird.task(schedule=every(hours=1))
def hourly() -> None: ...


@bird.task(schedule=cron("0 9 * * *"), retries=2, timeout=60)
def daily() -> None: ...
"""


@pytest.fixture
def billing(cli: Cli) -> Cli:
    """A store with schedules of code, of a file and of a person, some of which an operator has changed."""
    cli.write("billing", APP)
    cli.ok("sync", "billing:bird")
    Path("ops.toml").write_text('app = "ops"\n[schedules.report]\nevery = "1d"\ntask = "report"\n')
    applied(cli, "-f", "ops.toml")
    Path("mine.toml").write_text('[schedules.mine]\nevery = "1d"\ntask = "report"\n')
    applied(cli, "-f", "mine.toml")
    cli.ok("pause", "hourly", "--note", "quiet", "--actor", "ada")
    cli.ok("pause", "report", "--note", "audit", "--until", "2035-01-01T00:00:00Z", "--actor", "bob")
    cli.ok("set", "daily", "retries=5", "cron=0 8 * * *")
    return cli


@pytest.fixture(params=["sqlite", "postgres"])
def new(request: pytest.FixtureRequest, folder: Path) -> Cli:
    """An empty store."""
    url = f"sqlite:///{folder}/new.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    cli = Cli(url, folder)
    cli.ok("migrate")
    return cli


def applied(cli: Cli, *args: str) -> str:
    """What applying says; that no worker has the tasks is said beside it."""
    said = cli("apply", *args)
    assert said.code == 0, said
    return said.out


def sync(cli: Cli, app: str) -> str:
    """What sync says; the app's module may have been imported for another store."""
    return cli.ok("sync", app, "--url", str(cli.url)).out


def shown(cli: Cli) -> dict[str, tuple[object, ...]]:
    """What must be the same in both stores."""
    schedules = cli.ok("ls", "--json").json["schedules"]
    wanted = ("app", "state", "paused", "field_overrides", "definition")
    return {each["name"]: tuple(each[field] for field in wanted) for each in schedules}


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_moved_store_equals_the_original(billing: Cli, new: Cli, ending: str) -> None:
    billing.ok("export", "--all", "-o", f"all.{ending}")
    assert billing.ok("diff", "-f", f"all.{ending}").out.startswith("Nothing to do: 4 schedules")
    applied(new, "-f", f"all.{ending}", "--actor", "carl")
    assert shown(new) == shown(billing)
    # Who applied it is in the audit log, whoever paused it before.
    assert {row["actor"] for row in new.ok("revisions", "hourly", "--json").json["revisions"]} == {"carl"}
    assert new.ok("diff", "-f", f"all.{ending}").out.startswith("Nothing to do: 4 schedules")
    # The owners go on as if nothing had happened.
    assert sync(new, "billing:bird").startswith("Nothing to change")
    assert applied(new, "-f", "ops.toml").startswith("Nothing to do")
    new.ok("set", "daily", "--unset", "retries")
    assert new.ok("show", "daily", "--json").json["definition"]["retries"] == 2


def test_apply_after_a_worker_keeps_its_definitions_and_restores_operator_state(billing: Cli, new: Cli) -> None:
    billing.ok("export", "--all", "-o", "all.toml")
    new.write("newer", APP.replace("hours=1", "hours=3"))
    sync(new, "newer:bird")
    new.ok("set", "daily", "retries=7")
    applied(new, "-f", "all.toml")
    after, before = shown(new), shown(billing)
    assert after["hourly"][:3] == before["hourly"][:3]
    assert after["hourly"][4] != before["hourly"][4]
    # The operator's own setting in this store stays.
    assert after["daily"][3] == {"retries": 7, "trigger": {"cron": "0 8 * * *"}}


def test_a_schedule_of_another_owner_is_a_conflict(billing: Cli, new: Cli) -> None:
    billing.ok("export", "--all", "-o", "all.toml")
    Path("taken.toml").write_text('app = "other"\n[schedules.hourly]\nevery = "1d"\ntask = "report"\n')
    applied(new, "-f", "taken.toml")
    said = new("apply", "-f", "all.toml")
    assert said.code == 4
    assert "schedule hourly: app 'other' already defines it, so app 'billing' cannot" in said.err
    assert list(shown(new)) == ["hourly"]


def test_sync_with_adopt_takes_over_schedules_of_files_and_persons(cli: Cli) -> None:
    cli.write("billing", APP)
    Path("all.toml").write_text('[schedules.hourly]\nevery = "3h"\ntask = "hourly"\n')
    applied(cli, "-f", "all.toml")
    cli.ok("pause", "hourly", "--note", "quiet", "--actor", "ada")
    assert "or take it over with `tickbird sync --adopt`" in cli.refused(4, "sync", "billing:bird")
    assert cli.ok("sync", "billing:bird", "--adopt").out == "hourly: changed\ndaily: created\n"
    found = shown(cli)["hourly"]
    assert found[:2] == ("billing", "paused")
    # Not from another app that declares it.
    cli.write("other", APP.replace("billing", "other"))
    assert "Rename one of them, or delete the stored one." in cli.refused(4, "sync", "other:bird", "--adopt")


def test_second_apply_keeps_later_operator_changes(billing: Cli, new: Cli) -> None:
    billing.ok("export", "--all", "-o", "all.toml")
    said = applied(new, "-f", "all.toml")
    assert "    paused by ada" in said
    assert "stays" not in said
    new.ok("resume", "hourly", "--actor", "carl")
    new.ok("set", "daily", "--unset", "retries")
    before = shown(new)
    said = applied(new, "-f", "all.toml")
    assert said.startswith("Nothing to do")
    assert "= hourly: state (paused) is not applied, because an operator has changed it since" in said
    assert "= daily: state (retries) is not applied, because an operator has changed it since" in said
    assert shown(new) == before
    # A schedule that was deleted is created with its state.
    assert new("rm", "hourly", "--yes").code == 0
    applied(new, "-f", "all.toml")
    assert shown(new)["hourly"][1] == "paused"
