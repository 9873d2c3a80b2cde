"""doctor and zones: what is told of a store, and what a person can set right."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Cli
from tickbird.testing.zones import write_zone


def test_a_store_that_is_well(bare: Cli, postgres_url: str) -> None:
    for url in ("sqlite:///well.db", postgres_url):
        bare.ok("migrate", "--url", url)
        said = bare.ok("doctor", "--url", url)
        assert said.out.count("✓") == 5
        document = bare.ok("doctor", "--url", url, "--json").json
        assert document["ok"] is True
        assert [check["check"] for check in document["checks"]] == ["schema", "clock", "copy", "zone data", "workers"]
        words = bare.refused(4, "doctor", "--accept-copy", "--url", url)
        assert words == "this store is no copy; there is nothing to accept."


def test_a_copy_is_told_and_accepted(bare: Cli) -> None:
    bare.ok("migrate", "--url", "sqlite:///one.db")
    shutil.copy(bare.folder / "one.db", bare.folder / "two.db")
    said = bare("doctor", "--url", "sqlite:///two.db")
    assert said.code == 1
    assert "✗ copy: This store is a copy: it belongs to the file " in said.out
    assert "say so with `tickbird doctor --accept-copy`." in said.out
    assert "this store is a copy" in bare("migrate", "--url", "sqlite:///two.db").err
    assert bare("doctor", "--accept-copy", "--url", "sqlite:///two.db", "--json").json["ok"] is True
    assert bare("doctor", "--url", "sqlite:///two.db").code == 0


def test_zones_tells_what_moves(bare: Cli, tmp_path: Path) -> None:
    bare.ok("migrate")
    (bare.folder / "app.py").write_text(
        "from tickbird import Tickbird, cron\n"
        "bird = Tickbird()\n"
        "@bird.task(schedule=cron('0 9 * * *', tz='Europe/Berlin'))\n"
        "def daily() -> None: ...\n"
        "@bird.task(schedule=cron('0 9 * * *'))\n"
        "def utc() -> None: ...\n"
    )
    bare.ok("sync", "app:bird")
    said = bare.ok("zones")
    assert "They are the same" in said.out
    assert "No tick moves." in said.out
    folder = str(write_zone(tmp_path / "zones", "Europe/Berlin", "CET-1", "9999a"))
    document = bare.ok("zones", "--against", folder, "--days", "366", "--json").json
    [moves] = document["moves"]
    assert (moves["schedule"], moves["zone"]) == ("daily", "Europe/Berlin")
    # Summer time lasts seven months.
    assert 200 < moves["gone"] == moves["came"] < 230
    assert moves["first_gone"][0][11:] == "07:00:00Z"
    assert moves["first_came"][0][11:] == "08:00:00Z"
    assert "Ticks move in 1 schedule:" in bare.ok("zones", "--against", folder).out
    assert bare.refused(4, "zones", "--adopt").startswith("the store goes by these zone rules already;")
    assert bare("zones", "--against", "nowhere").code == 2
