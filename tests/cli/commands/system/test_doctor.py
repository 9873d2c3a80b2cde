"""doctor and zones: what is told of a store, and what a person can set right."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.zones import write_zone
from tests.cli.conftest import Cli

OF_SCHEMA = (
    "copy|time zone data|workers|fallback|planning|leases|queues|parked|ignored|cursors|calendars|dependencies|failing|"
    "held|undecided|event log|consumers|dead letters"
)
CHECKED = {
    "sqlite": f"schema|capabilities|versions|durability|disk|{OF_SCHEMA}",
    "postgresql": (
        "schema|rights|server|versions|clock|time-outs|durability|pooler|replication|connections|snapshots|vacuum|indexes|"
        f"{OF_SCHEMA}"
    ),
}


def test_doctor_of_a_healthy_store_passes(bare: Cli) -> None:
    bare.ok("migrate", "--url", "sqlite:///well.db")
    said = bare.ok("doctor", "--url", "sqlite:///well.db")
    assert said.out.count("✓") == 23
    assert said.out.endswith("\n\n23 passed.\n")
    document = bare.ok("doctor", "--strict", "--url", "sqlite:///well.db", "--json").json
    assert document["ok"] is True
    assert document["counts"] == {"problem": 0, "warning": 0, "unseen": 0, "ok": 23}
    assert set(document["checks"][0]) == {"check", "severity", "ok", "text", "fix", "figures"}
    words = bare.refused(4, "doctor", "--accept-copy", "--url", "sqlite:///well.db")
    nothing = "this store is not a copy. There is nothing to accept, unless it was restored in place:"
    assert words == f"{nothing} `tickbird doctor --restored`."


def test_doctor_runs_all_checks(cli: Cli) -> None:
    assert cli.url is not None
    found = [check["check"] for check in cli("doctor", "--json").json["checks"]]
    assert "|".join(dict.fromkeys(found)) == CHECKED[cli.url.partition(":")[0]]


def test_doctor_lists_findings_first_with_fixes(cli: Cli) -> None:
    cli.insert("broken", {"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "report"}})
    cli.create("tonight", queue="gpu")
    cli.live_worker({"other": {}})
    said = cli("doctor")
    assert said.code == 1
    lines = said.out.splitlines()
    marks = [line[0] for line in lines if line.startswith(("✗", "!", "?", "✓"))]
    assert marks == sorted(marks, key="✗!?✓".index)
    parked = next(place for place, line in enumerate(lines) if line.startswith("✗ parked: broken is parked"))
    assert lines[parked + 1].startswith("    → tickbird set broken …")
    assert "! queues: 1 schedule of task 'report' in queue 'gpu' could not start" in said.out
    assert "    → tickbird worker MODULE:APP --queues gpu" in said.out
    document = cli("doctor", "--json").json
    assert document["ok"] is False
    assert cli("doctor", "-n", "elsewhere", "--json").json["counts"]["problem"] < document["counts"]["problem"]


def test_warnings_alone_count_only_with_strict(bare: Cli) -> None:
    sqlite = Cli(f"sqlite:///{bare.folder}/birds.db", bare.folder)
    sqlite.ok("migrate")
    sqlite.live_worker({"report": {}})
    said = sqlite.ok("doctor")
    assert "! versions: This tickbird is " in said.out
    assert said.out.endswith("1 warning, 22 passed.\n")
    assert sqlite("doctor", "--strict").code == 1
    assert sqlite("doctor", "--strict", "--json").json["ok"] is False


def test_a_store_that_cannot_be_used(bare: Cli) -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    assert "cannot be reached" in bare.refused(5, "doctor", "--url", url)
    said = bare("doctor", "--url", url, "--json")
    assert said.code == 5
    assert said.json["ok"] is False
    [check] = said.json["checks"]
    assert (check["check"], check["severity"]) == ("store", "problem")
    assert check["fix"].startswith("Check that PostgreSQL is running")
    assert bare.refused(5, "doctor", "--url", "sqlite:///none.db").startswith("there is no database file none.db.")
    assert not (bare.folder / "none.db").exists()


def test_doctor_without_schema_suggests_migrate(bare: Cli, postgres_url: str) -> None:
    said = bare("doctor", "--url", postgres_url)
    assert said.code == 5
    assert bare("doctor", "--url", postgres_url, "--json").code == 5
    assert "✗ schema: There is no Tickbird schema here yet.\n    → tickbird migrate\n" in said.out


def test_doctor_reports_and_accepts_a_copy(bare: Cli) -> None:
    bare.ok("migrate", "--url", "sqlite:///one.db")
    shutil.copy(bare.folder / "one.db", bare.folder / "two.db")
    said = bare("doctor", "--url", "sqlite:///two.db")
    assert said.code == 1
    assert "✗ copy: This store is a copy: it belongs to the file " in said.out
    assert "→ tickbird doctor --accept-copy" in said.out
    assert "this store is a copy" in bare("migrate", "--url", "sqlite:///two.db").err
    assert bare("doctor", "--accept-copy", "--url", "sqlite:///two.db", "--json").json["ok"] is True
    assert bare("doctor", "--url", "sqlite:///two.db").code == 0


def test_zones_lists_moved_ticks(bare: Cli, tmp_path: Path) -> None:
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
    assert "The time zone data is the same" in said.out
    assert "No tick moves." in said.out
    folder = str(write_zone(tmp_path / "zones", "Europe/Berlin", "CET-1", "9999a"))
    document = bare.ok("zones", "--against", folder, "--days", "366", "--json").json
    [moves] = document["impact"]
    assert (moves["schedule"], moves["zone"]) == ("daily", "Europe/Berlin")
    # Summer time lasts seven months.
    assert 200 < moves["removed"] == moves["added"] < 230
    assert moves["first_removed"][0][11:] == "07:00:00Z"
    assert moves["first_added"][0][11:] == "08:00:00Z"
    assert "Ticks move in 1 schedule:" in bare.ok("zones", "--against", folder).out
    assert bare.refused(4, "zones", "--adopt").startswith("the store already uses this time zone data.")
    assert bare("zones", "--against", "nowhere").code == 2
