"""`tickbird simulate`: of a store, of a store with files, of files alone."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Cli
from tickbird.client import Client
from tickbird.domain.cron import cron
from tickbird.store.protocol import Store

FILE = 'app = "shop"\n\n[schedules.etl]\ncron = "0 * * * *"\ntask = "etl"\n'
DAY = ("--from", "2035-06-01T00:00:00Z", "--days", "1")


def test_of_a_store_and_what_would_be(cli: Cli) -> None:
    async def create(client: Client, _: Store) -> None:
        for number in range(4):
            await client.create(f"s{number}", cron("0 * * * *"), "work", actor="ada", unknown_task_ok=True)

    cli.store(create)
    said = cli.ok("simulate", *DAY).out
    for part in ("4 active schedules as stored", "no successful run yet: taken to last 10 s", "move s0 from :00 to :"):
        assert part in said
    drawn = cli.folder / "next.svg"
    both = cli("simulate", *DAY, "--outage", "2035-06-01 02:00/2h", "--slots", "1", "--svg", str(drawn)).out
    assert "AS IT IS" in both
    assert "skipped, coalesced" in both
    assert ElementTree.parse(drawn).getroot().get("role") == "img"
    found = cli.ok("simulate", "s1", *DAY, "--more", "2", "--duration", "1m", "--json").json
    assert (found["baseline"]["ticks"], found["what_if"]["ticks"]) == (96, 144)
    assert [(each["name"], each["duration"]) for each in found["baseline"]["by_schedule"]] == [("s1", 60.0)]
    (cli.folder / "more.toml").write_text(FILE)
    given = ("simulate", "-f", str(cli.folder / "more.toml"), *DAY, "--json")
    assert cli.ok(*given).json["baseline"]["schedules"] == 5
    alone = cli.ok(*given, "--alone").json["baseline"]
    assert (alone["schedules"], alone["ticks"]) == (1, 24)


@pytest.mark.parametrize(
    "given, said",
    [
        (("--outage", "tomorrow 02:00"), 'write one such as "2026-11-17 02:00/2h"'),
        (("--outage", "in 99d/2h"), "outside of the days"),
        (("--workers", "many"), "write a number such as 3, or a share"),
        (("--workers", "50%"), "give a number of workers, or slots"),
        (("--slower", "0"), "slower: must be above 0"),
        (("--days", "1", "--to", "in 3d"), "give one of them"),
        (("--alone",), "--alone goes with -f"),
        (("--svg", "/nowhere/at/all.svg"), "choose another one"),
    ],
)
def test_what_makes_no_sense_is_told(cli: Cli, given: tuple[str, ...], said: str) -> None:
    assert said in cli.refused(1 if "--svg" in given else 2, "simulate", *given)
