"""export --ical: the file, by either way, and what goes with it."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from tests.cli.conftest import Cli
from tests.client.http.servers import make_token, serving
from tests.domain.ical_reader import read_ical
from tickbird.domain.triggers.cron.cron import cron


@pytest.fixture
def daily(cli: Cli) -> Cli:
    """Two schedules of which no tick passes while a test looks at them."""
    hour = (datetime.now(UTC).hour + 6) % 24
    cli.create("digest", trigger=cron(f"0 {hour} * * *"), tags=["mail"])
    cli.create("etl", trigger=cron(f"30 {hour} * * *"))
    return cli


def test_export_ical_contains_future_ticks(daily: Cli) -> None:
    assert daily.ok("export", "--ical", "all.ics").out == "28 events written to all.ics.\n"
    octets = (daily.folder / "all.ics").read_bytes()
    assert [part.values["SUMMARY"] for part in read_ical(octets).parts] == ["digest", "etl"] * 14
    # To standard output it is the same, also within JSON, and by way of a server.
    lines = octets.decode().splitlines()
    assert daily.ok("export", "--ical").out.splitlines() == lines
    told = daily.ok("export", "--ical", "--json").json
    assert (told["calendar"].encode(), told["events"], told["notes"]) == (octets, 28, [])
    assert daily.url is not None
    token = asyncio.run(make_token(daily.url, "viewer", "default"))
    with serving(daily.url) as server:
        away = {"TICKBIRD_URL": "", "TICKBIRD_SERVER": server, "TICKBIRD_TOKEN": token}
        assert daily.ok("export", "--ical", **away).out.splitlines() == lines
    told = daily.ok("export", "--ical", "-o", "few.ics", "--days", "3", "--tag", "mail", "--json").json
    assert told["file"] == "few.ics"
    daily.ok("export", "--ical", "one.ics", "--days", "3", "--schedule", "digest")
    assert (daily.folder / "one.ics").read_bytes() == (daily.folder / "few.ics").read_bytes()


def test_export_ical_reports_omitted_ticks(daily: Cli) -> None:
    said = daily("export", "--ical", "few.ics", "--limit", "3", "--contains", "e")
    assert (said.code, said.out) == (0, "3 events written to few.ics.\n")
    assert said.err == "tickbird: There are more than these 3 events. Request fewer days or fewer schedules.\n"


def test_export_ical_refuses(daily: Cli) -> None:
    assert "--days requires --ical." in daily.refused(2, "export", "--days", "3")
    assert "--limit requires --ical." in daily.refused(2, "export", "--limit", "3")
    assert "--ical cannot be combined" in daily.refused(2, "export", "--ical", "--all")
    assert "Write --ical FILE" in daily.refused(2, "export", "--ical", "a.ics", "-o", "b.ics")
    assert "Did you mean digest?" in daily.refused(3, "export", "--ical", "--schedule", "digets")
    assert "cannot be combined with tag or contains" in daily.refused(
        2, "export", "--ical", "--schedule", "digest", "--tag", "mail"
    )
    assert "cannot be written" in daily.refused(1, "export", "--ical", "no/such/place.ics")
