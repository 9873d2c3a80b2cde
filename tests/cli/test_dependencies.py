"""Dependencies on the command line."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_a_schedule_is_set_to_depend_on_others(cli: Cli) -> None:
    for name in ("load", "clean", "report"):
        cli.create(name)
    changed = cli.ok("set", "report", "depends_on=load:24h:2h,clean:3600", "--json").json["changes"]
    stored = [{"after": "load", "within": 86_400, "wait": 7_200}, {"after": "clean", "within": 3_600}]
    assert changed == [{"field": "depends_on", "before": None, "after": stored}]
    assert cli.ok("show", "report", "--json").json["definition"]["depends_on"] == stored
    assert "load within 1 d, waiting 2 h; clean within 1 h" in cli.ok("show", "report").out
    assert cli.refused(4, "rm", "load", "--yes") == (
        "schedule 'load' cannot be deleted: report depends on it. Remove it from their depends_on first."
    )
    cli.ok("set", "report", "--unset", "depends_on")
    assert "depends_on" not in cli.ok("show", "report", "--json").json["definition"]


def test_invalid_dependencies_are_refused(cli: Cli) -> None:
    for name in ("load", "report"):
        cli.create(name)
    cli.ok("set", "report", "depends_on=load:1h")
    for wrong, sentence in {
        "load": "is not of the form SCHEDULE:WITHIN",
        "load:1h:2h:3h": "is not of the form SCHEDULE:WITHIN",
        "load:soon": "'soon' is not a duration",
        "load:-1": "'-1' is not a duration",
        "lode:1h": "there is no schedule 'lode'. Create it first, or correct the name.",
        "report:1h": "'report' would depend on itself: report → report",
    }.items():
        assert sentence in cli.refused(2, "set", "report", f"depends_on={wrong}")
    assert "load → report → load" in cli.refused(2, "set", "load", "depends_on=report:1h")
