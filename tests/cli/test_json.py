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
    "audit": ("audit", "etl"),
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


def promised() -> dict[str, set[str]]:
    """The fields of each command's document, from the table of the docs."""
    section = DOCS.read_text().partition("### What `--json` prints")[2].partition("\n## ")[0]
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
