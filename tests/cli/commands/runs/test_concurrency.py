"""limits and limit: concurrency keys on the command line."""

from __future__ import annotations

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.store.protocol.store import Store


def occupy(cli: Cli, count: int) -> None:
    """So many runs of the key."""

    async def enqueue(client: Client, _: Store) -> None:
        for _number in range(count):
            await client.runs.enqueue("report", actor="ana", concurrency_key="warehouse", unknown_task_ok=True)

    cli.store(enqueue)


def test_limits_are_listed_set_and_removed(cli: Cli) -> None:
    assert cli.ok("limits").out.startswith("No concurrency keys are in use.")
    occupy(cli, 4)
    assert [line.split() for line in cli.ok("limits").out.splitlines()] == [
        ["KEY", "LIMIT", "ACTIVE", "WAITING"],
        ["warehouse", "1", "(default)", "1", "3"],
    ]
    assert cli.ok("limit", "set", "warehouse", "3").out == "warehouse: limit 3; 3 active, 1 waiting.\n"
    assert cli.ok("limits", "--json").json == {
        "limits": [{"key": "warehouse", "max_running": 3, "is_explicit": True, "active": 3, "waiting": 1}]
    }
    assert cli.ok("limit", "rm", "warehouse", "--json").json["is_explicit"] is False


def test_limit_invalid_value_is_refused(cli: Cli) -> None:
    assert cli.refused(3, "limit", "rm", "warehouse") == (
        "there is no limit for 'warehouse'. `tickbird limits` lists the limits."
    )
    for wrong in (["set", "a"], ["rm", "a", "3"], ["set", "a", "0"], ["set", "a", "many"], ["lift", "a", "3"]):
        cli.refused(2, "limit", *wrong)


def test_a_run_shows_its_key(cli: Cli) -> None:
    occupy(cli, 1)
    assert "concurrency key  warehouse" in cli.ok("runs", "1").out
    assert cli.ok("runs", "1", "--json").json["run"]["concurrency_key"] == "warehouse"


def test_a_schedule_is_given_a_key(cli: Cli) -> None:
    cli.create("etl")
    cli.ok("set", "etl", "concurrency_key=warehouse")
    assert cli.ok("show", "etl", "--json").json["definition"]["concurrency_key"] == "warehouse"
    assert "does not enclose a field" in cli.refused(2, "set", "etl", "concurrency_key=tenant:{")
