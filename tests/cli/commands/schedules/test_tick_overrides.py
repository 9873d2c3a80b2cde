"""override: decide for one coming tick, list what was decided, undo it."""

from __future__ import annotations

from tests.cli.conftest import Cli
from tickbird.domain.triggers.cron.cron import cron

EVE = "2035-12-24 09:00 Europe/Rome"


def daily(cli: Cli) -> None:
    cli.create("daily", trigger=cron("0 9 * * *", tz="Europe/Rome"))


def test_skip_is_shown_everywhere_and_undone(cli: Cli) -> None:
    daily(cli)
    [*_, tick] = (each["scheduled_for"] for each in cli.ok("preview", "daily", "-c", "3", "--json").json["ticks"])
    out = cli.ok("override", "daily", tick, "--skip", "--note", "office closed", "--actor", "ana").out
    assert out.endswith(f" will be skipped.\nUndo it with `tickbird override daily --undo {tick}`.\n")
    coming = cli.ok("preview", "daily", "-c", "4", "--json").json["ticks"]
    assert [each["skipped"] for each in coming] == [None, None, "operator", None]
    assert [each["override"] and each["override"]["note"] for each in coming] == [None, None, "office closed", None]
    assert "will be skipped (operator); skipped by ana: office closed" in cli.ok("preview", "daily").out
    shown = cli.ok("show", "daily").out
    assert "Tick overrides" in shown
    assert [each["tick"] for each in cli.ok("show", "daily", "--json").json["tick_overrides"]] == [tick]
    assert "ana skipped this tick: “office closed”" in cli.ok("why", "daily", tick).out
    listed = cli.ok("override", "daily", "--list").out
    assert all(text in listed for text in ("skip", "ana", "office closed"))
    undone = cli.ok("override", "daily", "--undo", tick).out
    assert undone.startswith("daily: the override of the tick of ")
    assert cli.ok("override", "daily", "--list").out == "daily has no tick overrides.\n"
    assert cli.ok("override", "daily", "--list", "--json").json == {"schedule": "daily", "overrides": []}
    after = cli.ok("preview", "daily", "-c", "4", "--json").json["ticks"]
    assert [each["skipped"] for each in after] == [None] * 4
    revisions = cli.ok("show", "daily", "--json").json["revisions"]
    assert [each["action"] for each in revisions] == ["undo_override", "override", "create"]


def test_move_and_payload(cli: Cli) -> None:
    daily(cli)
    moved = cli.ok("override", "daily", EVE, "--move-to", "2035-12-25 10:00 Europe/Rome", "--payload", '{"n": 5}')
    assert moved.out.splitlines()[0] == (
        "daily: the tick of 2035-12-24 09:00:00 CET is due at 2035-12-25 10:00:00 CET with another payload; "
        "1 tick between will be skipped."
    )
    again = cli.ok("override", "daily", EVE, "--move-to", "2035-12-23 15:00 Europe/Rome", "--json").json["override"]
    assert (again["tick"], again["due_at"], again["moved"], again["payload"], again["passes_over"]) == (
        "2035-12-24T08:00:00Z",
        "2035-12-23T14:00:00Z",
        True,
        None,
        0,
    )
    assert (
        cli.ok("override", "daily", EVE, "--payload", '{"n": 5}')
        .out.splitlines()[0]
        .endswith(" will run with another payload.")
    )
    [listed] = cli.ok("override", "daily", "--list", "--json").json["overrides"]
    assert (listed["payload"], listed["moved"]) == ({"n": 5}, False)
    assert 'payload {"n": 5}' in cli.ok("override", "daily", "--list").out
    assert ", with a payload changed by " in cli.ok("why", "daily", EVE).out


def test_a_tick_by_the_words_of_the_day(cli: Cli) -> None:
    daily(cli)
    said = cli("override", "daily", "tomorrow 09:00", "--skip")
    assert said.code == 0
    assert "was read in time zone Europe/Rome" in said.err


def test_override_refuses(cli: Cli) -> None:
    daily(cli)
    usage = "give a tick with --skip, --move-to or --payload, or give --list, or --undo"
    for wrong in ((), (EVE, "--list"), (EVE, "--undo", EVE), ("--skip",), ("--list", "--skip")):
        assert usage in cli.refused(2, "override", "daily", *wrong)
    for unclear in ((EVE,), (EVE, "--skip", "--move-to", "2h"), (EVE, "--skip", "--payload", "{}")):
        told = cli.refused(2, "override", "daily", *unclear)
        assert "give --skip alone, or --move-to, --payload or both." in told
    assert cli.refused(2, "override", "daily", "2035-12-24T09:00Z", "--skip") == (
        "tick: 2035-12-24T09:00:00Z is not a tick of 'daily'. The nearest ticks are 2035-12-24T08:00:00Z before and "
        "2035-12-25T08:00:00Z after it."
    )
    assert "has no time zone" in cli.refused(2, "override", "daily", "2035-12-24 09:00", "--skip")
    assert "TICK: 'soon' is not an instant" in cli.refused(2, "override", "daily", "soon", "--skip")
    early = cli.refused(2, "override", "daily", EVE, "--move-to", "2035-12-23T07:00Z")
    assert "Ticks are decided in order. Choose 2035-12-23T08:00:00Z or later" in early
    assert "is in the past" in cli.refused(2, "override", "daily", EVE, "--move-to", "2020-01-01Z")
    assert "has no override" in cli.refused(3, "override", "daily", "--undo", EVE)
    assert "there is no schedule 'other'" in cli.refused(3, "override", "other", EVE, "--skip")
    assert "at revision 1, not 7" in cli.refused(4, "override", "daily", EVE, "--skip", "--if-revision", "7")
    cli.ok("override", "daily", EVE, "--skip")
    passed = cli.refused(4, "override", "daily", "2035-12-23T08:00Z", "--move-to", "2035-12-26T00:00Z")
    assert "is skipped by tick 2035-12-23T08:00:00Z" in passed
    assert cli.ok("show", "daily", "--json").json["revision"] == 2


def test_a_payload_is_checked_by_the_task(shop: Cli) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
    shop.live_worker({"digest": {"queue": "default", "schema": schema}})
    tick = shop.ok("preview", "digest", "--json").json["ticks"][2]["scheduled_for"]
    shop.ok("override", "digest", tick, "--payload", '{"limit": 5}')
    wrong = shop("override", "digest", tick, "--payload", '{"limit": "many"}')
    assert wrong.code == 2
    assert "payload" in wrong.err
