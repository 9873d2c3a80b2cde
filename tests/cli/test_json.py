"""The documents of --json have the fields that docs/cli.md promises, and no others that it does not name."""

from __future__ import annotations

import re

from tests.cli.conftest import Cli
from tests.cli.test_program import DOCS

CALLS = {
    "ls": ("ls",),
    "why": ("why", "etl"),
    "preview": ("preview", "etl"),
    "simulate": ("simulate", "--days", "1"),
    "revisions": ("revisions", "etl"),
    "verify": ("verify", "etl"),
    "runs": ("runs",),
    "runs ID": ("runs", "1"),
    "logs": ("logs", "1"),
    "trigger": ("trigger", "etl"),
    "pause": ("pause", "etl", "--note", "x"),
    "resume": ("resume", "etl"),
    "pause --all": ("pause", "--all", "-y", "--note", "x"),
    "resume --all": ("resume", "--all", "-y"),
    "trigger --all": ("trigger", "--all", "-y"),
    "reschedule": ("reschedule", "etl", "2h"),
    "skip": ("skip", "etl"),
    "override": ("override", "digest", "2035-06-01 09:00 America/New_York", "--skip"),
    "override --list": ("override", "digest", "--list"),
    "override --undo": ("override", "digest", "--undo", "2035-06-01 09:00 America/New_York"),
    "set": ("set", "etl", "retries=2"),
    "roll-back": ("roll-back", "etl", "--to", "1"),
    "cancel": ("cancel", "1"),
    "retry": ("retry", "1"),
    "rm": ("rm", "etl", "-y"),
    "migrate": ("migrate",),
    "doctor": ("doctor",),
    "completion": ("completion", "bash"),
}
# What is refused, with its kind and its exit code.
REFUSED = {
    ("show", "nothing"): ("not-found", 3),
    ("trigger", "etl", "--payload", "[1]"): ("invalid", 2),
    ("set", "etl", "retires=2"): ("invalid", 2),
    ("resume", "etl"): ("conflict", 4),
    ("ls", "--url", "sqlite:///nothing.db"): ("store", 5),
    ("diff", "-f", "shop.toml", "--url", "sqlite:///nothing.db"): ("store", 2),
    ("ls", "--bogus"): ("invalid", 2),
    ("preview", "etl", "-c", "none"): ("invalid", 2),
    ("nothing",): ("invalid", 2),
    ("tail", "--since", "whenever"): ("invalid", 2),
}


def promised() -> dict[str, set[str]]:
    """The fields of each command's document, from the table of the docs."""
    section = DOCS.read_text().partition("### What `--json` prints")[2].partition("\nAn error prints")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", section, re.MULTILINE)
    return {command: set(re.findall(r"`(\w+)`", fields)) for command, fields in rows}


def test_every_document_is_as_promised(shop: Cli) -> None:
    table = promised()
    assert table.keys() == CALLS.keys()
    shop("trigger", "etl")
    for name, call in CALLS.items():
        said = shop(*call, "--json")
        # Nobody works here, which it tells.
        assert said.code == (1 if name == "doctor" else 0), said
        assert set(said.json) == table[name], name


def test_every_error_has_a_json_document(shop: Cli) -> None:
    (shop.folder / "shop.toml").write_text('[schedules.a]\nevery = "1h"\ntask = "etl"\n')
    for call, (kind, code) in REFUSED.items():
        plain, said = shop(*call), shop(*call, "--json")
        error = said.json["error"]
        assert set(said.json) == {"error"}
        assert set(error) == {"kind", "exit_code", "text", "field", "hint", "diagnostics"}
        assert (error["kind"], error["exit_code"], said.code, plain.code) == (kind, code, code, code), call
        # A person reads the same in both.
        assert said.err == plain.err == f"tickbird: {error['text']}\n"
        assert error["diagnostics"] == []


def test_every_mistake_of_a_file_is_in_the_document(shop: Cli) -> None:
    (shop.folder / "a.toml").write_text('[schedules.a]\nevry = "1h"\ntask = "etl"\nretries = -1\n')
    (shop.folder / "b.toml").write_text("[schedules.b\n")
    for command in ("apply", "diff", "simulate"):
        said = shop(command, "-f", "a.toml", "-f", "b.toml", "--json")
        error = said.json["error"]
        assert (said.code, error["kind"], error["field"]) == (2, "invalid", "file")
        told = [f"{each['file']}:{each['line']}:{each['column']}: {each['text']}" for each in error["diagnostics"]]
        assert len(told) >= 3
        assert said.err.splitlines() == [*told, f"tickbird: {len(told)} errors. Nothing was changed."]
    shop.create("mine")
    (shop.folder / "mine.toml").write_text('app = "other"\n[schedules.mine]\nevery = "1h"\ntask = "etl"\n')
    for command, code in (("apply", 4), ("diff", 2)):
        said = shop(command, "-f", "mine.toml", "--json")
        assert (said.code, said.json["error"]["kind"], said.json["error"]["exit_code"]) == (code, "conflict", code)
        [diagnostic] = said.json["error"]["diagnostics"]
        assert (diagnostic["file"], diagnostic["line"], diagnostic["column"]) == ("mine.toml", 2, 12)
        # A plan that was made is told beside it.
        assert (command == "diff") == (said.json.get("conflicts") == [diagnostic])
