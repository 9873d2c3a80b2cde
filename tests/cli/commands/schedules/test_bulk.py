"""pause, resume and trigger with --all."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def states(cli: Cli) -> dict[str, str]:
    """The state of each schedule."""
    return {each["name"]: each["state"] for each in cli.ok("ls", "--json").json["schedules"]}


def test_many_are_paused_resumed_and_triggered(shop: Cli) -> None:
    for name in ("mail-a", "mail-b"):
        shop.create(name, tags=["mail"])
    out = shop.ok("pause", "--all", "--tag", "mail", "--yes", "--note", "upgrade", "--until", "2h").out
    assert out == "3 of 3 schedules paused.\n"
    assert states(shop) == {"digest": "paused", "etl": "active", "mail-a": "paused", "mail-b": "paused"}
    lines = shop.ok("pause", "--all", "--yes", "--note", "more").out.splitlines()
    assert lines[:3] == ["1 of 4 schedules paused.", "", "Not changed"]
    assert lines[4].split(maxsplit=1) == ["digest", "is already paused by ana"]
    document = shop.ok("resume", "--all", "--contains", "mail-", "--yes", "--expect", "2", "--json").json
    assert (document["verb"], document["changed"], document["not_changed"]) == ("resume", ["mail-a", "mail-b"], [])
    lines = shop.ok("trigger", "--all", "--state", "active", "-y").out.splitlines()
    assert [line.split() for line in lines[:2]] == [["2", "of", "2", "schedules", "triggered."], ["SCHEDULE", "RUN"]]
    assert [line.split()[0] for line in lines[2:]] == ["mail-a", "mail-b"]


def test_a_count_that_changed_changes_nothing(cli: Cli) -> None:
    cli.create("a")
    cli.create("b")
    args = ("pause", "--all", "-y", "--note", "x", "--expect", "3")
    assert cli.refused(4, *args).startswith("2 schedules match, not 3: the difference is more than 10 %")
    assert set(states(cli).values()) == {"active"}
    assert cli.refused(3, "trigger", "--all", "-y", "--tag", "none").startswith("no schedule matches.")


@pytest.mark.parametrize(
    "args, words",
    [
        (("pause", "--note", "x"), "give either the name of a schedule or --all"),
        (("pause", "a", "--all", "--note", "x", "-y"), "give either the name of a schedule or --all"),
        (("resume", "a", "--tag", "x"), "require --all"),
        (("trigger", "a", "-y"), "require --all"),
        (("trigger", "--all", "-y", "--payload", "{}"), "--payload requires NAME"),
        (("trigger", "--all"), "the terminal is not interactive. Confirm with --yes"),
        (("resume", "--all", "--json"), "the terminal is not interactive. Confirm with --yes"),
        (("pause", "--all", "-y"), "--note"),
        (("pause", "--all", "-y", "--note", "x", "--state", "deleted"), "--state"),
        (("pause", "--all", "-y", "--note", "x", "--until", "yesterday"), "until"),
    ],
)
def test_bulk_invalid_arguments_are_refused(cli: Cli, args: tuple[str, ...], words: str) -> None:
    assert words in cli.refused(2, *args)


def test_bulk_change_asks_for_confirmation(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.create("a")
    monkeypatch.setattr("tickbird.cli.commands.schedules.bulk._is_interactive", lambda: True)
    said = cli("trigger", "--all", stdin="n\n")
    assert (said.code, said.out) == (1, "")
    assert "1 schedule: a." in said.err
    assert "nothing was changed" in said.err
    said = cli("trigger", "--all", stdin="y\n")
    assert (said.code, said.out.splitlines()[0]) == (0, "1 of 1 schedule triggered.")
