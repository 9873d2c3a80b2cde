"""runs: the list and one run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.runs.run import Outcome
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store


def execute(cli: Cli, **outcome: Any) -> int:
    """Claim the oldest queued run and end its attempt; its id."""
    worker = Worker(id="w1", namespace="default", app="shop", host="h", pid=1, version="0", slots=1)

    async def work(_: Client, store: Store) -> int:
        queues, targets = ["default", "gpu"], [("task", "digest"), ("task", "etl")]
        [run] = (await store.leases.claim(worker, 1, 30, queues=queues, targets=targets)).runs
        await store.leases.finish([Outcome(run.id, run.attempt, **outcome)])
        return run.id

    found: int = cli.store(work)
    return found


def test_runs_are_listed_newest_first(shop: Cli) -> None:
    assert shop.ok("runs").out == "No runs.\n"
    shop("trigger", "digest")
    execute(shop, status="succeeded", result=7)
    shop("trigger", "etl")
    execute(shop, status="failed", error="Traceback …\nValueError: no data", failure_kind="raised")
    head, *rows = shop.ok("runs").out.splitlines()
    assert head.split() == ["ID", "SCHEDULE", "STATUS", "ORIGIN", "FOR", "STARTED", "TOOK", "NOTE"]
    assert [row.split()[1:4] for row in rows] == [["etl", "failed", "manual"], ["digest", "succeeded", "manual"]]
    assert rows[0].endswith("ValueError: no data")


def test_notes_are_short_also_in_a_pipe(shop: Cli) -> None:
    shop("trigger", "etl")
    execute(shop, status="failed", error="ValueError: " + "x" * 5_000, failure_kind="raised")
    [head, row] = shop.ok("runs").out.splitlines()
    note = row[head.index("NOTE") :]
    assert note.startswith("ValueError: xxx")
    assert note.endswith("x…")
    assert len(note) == 120


def test_runs_are_filtered_and_counted(shop: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.cli.commands.runs.runs._PAGE", 2)
    for _ in range(5):
        shop("trigger", "digest")
    shop("trigger", "etl")

    def ids(*args: str) -> list[int]:
        return [run["id"] for run in shop.ok("runs", "--json", *args).json["runs"]]

    everything = ids()
    assert len(everything) == 6
    assert everything == sorted(everything, reverse=True)
    assert ids("-c", "3") == everything[:3]
    assert ids("--schedule", "digest") == everything[1:]
    assert ids("--status", "waiting") == everything[1:5]
    assert ids("--status", "failed") == []


def test_runs_shows_a_run_with_its_attempts(shop: Cli) -> None:
    shop("trigger", "digest", "--payload", '{"limit": 7}')
    execute(shop, status="queued", error="TimeoutError: slow", failure_kind="timeout", failures=1)
    run = execute(shop, status="failed", error="Traceback:\n  x\nValueError: bad", failure_kind="raised", failures=1)
    out = shop.ok("runs", str(run)).out
    assert f"run {run} failed" in out
    assert 'payload   {"limit": 7}' in out
    assert "Traceback:\n  x\nValueError: bad\n" in out
    assert "TimeoutError: slow" in out
    document = shop.ok("runs", str(run), "--json").json
    assert document["run"]["attempt"] == 2
    assert document["attempts"][0]["error"] == "TimeoutError: slow"


def test_runs_escapes_terminal_control_characters(shop: Cli) -> None:
    shop("trigger", "digest")
    run = execute(shop, status="failed", error="\x1b]0;owned\x07\x1b[2Jgone \u202e", failure_kind="raised")
    for said in (shop.ok("runs"), shop.ok("runs", str(run)), shop.ok("show", "digest")):
        assert "\x1b" not in said.out
        assert "\u202e" not in said.out
        assert "\\x1b]0;owned\\x07\\x1b[2Jgone \\u202e" in said.out


@pytest.mark.parametrize("run", ["1", "9223372036854775807"])
def test_an_unknown_run(cli: Cli, run: str) -> None:
    assert cli.refused(3, "runs", run) == f"there is no run {run}. `tickbird runs` lists the newest."


@pytest.mark.parametrize(
    "args,words",
    [
        (("9223372036854775808",), "is not in the range"),
        (("0",), "is not in the range"),
        (("abc",), "is not a valid integer"),
        (("--status", "lost"), "'lost' is not one of"),
        (("1", "--status", "failed"), "filter the list"),
    ],
)
def test_runs_refuses(cli: Cli, args: tuple[str, ...], words: str) -> None:
    assert words in cli.refused(2, "runs", *args)


def test_runs_of_an_unknown_schedule(cli: Cli) -> None:
    assert "there is no schedule 'nothing'" in cli.refused(3, "runs", "--schedule", "nothing")
