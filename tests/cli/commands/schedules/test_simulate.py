"""`tickbird simulate`: of a store, of a store with files, of files alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.triggers.cron.cron import cron
from tickbird.store.protocol.store import Store

FILE = 'app = "shop"\n\n[schedules.etl]\ncron = "0 * * * *"\ntask = "etl"\n'
DAY = ("--from", "2035-06-01T00:00:00Z", "--days", "1")


def test_simulate_store_with_assumptions(cli: Cli) -> None:
    async def create(client: Client, _: Store) -> None:
        for number in range(4):
            await client.schedules.create(f"s{number}", cron("0 * * * *"), "work", actor="ada", unknown_task_ok=True)

    cli.store(create)
    said = cli.ok("simulate", *DAY).out
    for part in (
        "4 active schedules as stored",
        "no successful run yet: 10 s per run assumed",
        "move s0 from :00 to :",
    ):
        assert part in said
    drawn = cli.folder / "next.svg"
    both = cli("simulate", *DAY, "--outage", "2035-06-01 02:00/2h", "--slots", "1", "--svg", str(drawn)).out
    assert "CURRENT" in both
    assert "skipped, coalesced" in both
    assert ElementTree.parse(drawn).getroot().get("role") == "img"
    assert ElementTree.fromstring(cli.ok("simulate", *DAY, "--svg", "-").out).get("role") == "img"
    found = cli.ok("simulate", "s1", *DAY, "--more", "2", "--duration", "1m", "--json").json
    assert (found["baseline"]["ticks"], found["what_if"]["ticks"]) == (96, 144)
    assert [(each["name"], each["duration"]) for each in found["baseline"]["by_schedule"]] == [("s1", 60.0)]
    (cli.folder / "more.toml").write_text(FILE)
    given = ("simulate", "-f", str(cli.folder / "more.toml"), *DAY, "--json")
    assert cli.ok(*given).json["baseline"]["schedules"] == 5
    alone = cli.ok(*given, "--alone").json["baseline"]
    assert (alone["schedules"], alone["ticks"]) == (1, 24)


def test_simulate_counts_are_exact(bare: Cli) -> None:
    def played(text: str, *given: str) -> tuple[dict[str, Any], dict[str, Any]]:
        Path("some.toml").write_text(text)
        found = bare.ok("simulate", "-f", "some.toml", "--alone", *DAY, "--json", *given).json
        return found["baseline"], found["what_if"]

    hourly = "".join(f'[schedules.{name}]\ncron = "0 * * * *"\ntask = "x"\n' for name in "abc")
    # One after the other, each 19 minutes: on time, 19 and 38 minutes late, and done before the hour is over.
    as_is, one = played(hourly, "--duration", "19m", "--slots", "1")
    assert (as_is["peak"]["busy"], as_is["lateness"]["max"], as_is["max_queued"]["runs"]) == (3, 0.0, 0)
    assert (one["ticks"], one["runs"], one["skips"], one["left_over"]) == (72, 72, {}, 0)
    assert (one["peak"]["busy"], one["slots"], one["max_queued"]["runs"]) == (1, 1, 2)
    assert [one["lateness"][name] for name in ("p50", "p99", "max")] == [1140.0, 2280.0, 2280.0]
    assert {each["name"]: each["worst_lateness"] for each in one["by_schedule"]} == {"a": 0, "b": 1140, "c": 2280}
    assert {(each["ticks"], each["runs"]) for each in one["hours"]} == {(3, 3)}
    assert len(one["hours"]) == 24
    # Runs of 25 minutes, due every ten: of three ticks two find the run of the first.
    often, _ = played('[schedules.a]\ncron = "*/10 * * * *"\ntask = "x"\n', "--duration", "25m")
    assert (often["ticks"], often["runs"], often["overlaps"], often["skips"]) == (144, 48, 96, {"overlap": 96})
    # Of the two ticks of an outage one run is left, an hour and a half behind the older.
    _, after = played(hourly[: len(hourly) // 3], "--duration", "1m", "--outage", "2035-06-01T02:30:00Z/2h")
    assert (after["ticks"], after["runs"], after["skips"]) == (24, 23, {"coalesced": 1})
    assert (after["lateness"]["max"], after["lateness"]["at"]) == (5400.0, "2035-06-01T04:30:00Z")


@pytest.mark.parametrize(
    "given, said",
    [
        (("--outage", "tomorrow 02:00"), 'Write, for example, "2026-11-17 02:00/2h"'),
        (("--outage", "in 99d/2h"), "outside of the simulated days"),
        (("--workers", "many"), "Write a number such as 3, or a share"),
        (("--workers", "50%"), "Give a number of workers, or slots"),
        (("--slower", "0"), "slower must be above 0"),
        (("--days", "1", "--to", "in 3d"), "Give one of them"),
        (("--alone",), "--alone requires -f"),
        (("--svg", "-", "--json"), "cannot be combined"),
        (("--svg", "/nowhere/at/all.svg"), "Choose another file"),
    ],
)
def test_simulate_invalid_arguments_are_refused(cli: Cli, given: tuple[str, ...], said: str) -> None:
    assert said in cli.refused(1 if "/nowhere/at/all.svg" in given else 2, "simulate", *given)
