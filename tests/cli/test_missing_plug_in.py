"""Commands in a process without the package of a target kind: they name the kind, and work for other schedules."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.plug_in_package import package
from tickbird.client import Client
from tickbird.client.http.files import _read_served_document
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.targets.registry import read_target
from tickbird.domain.triggers.every import every
from tickbird.files.writer import to_plain
from tickbird.store.protocol.store import Store

FILE = """
app = "files"

[schedules.loud]
every = "1h"
shout = { text = "hello" }

[schedules.calm]
every = "1h"
task = "report"
"""
REASON = "target kind 'shout' is not available here"


@pytest.fixture
def mixed(cli: Cli, tmp_path: Path) -> Cli:
    """Schedules of a kind with an override and with decided ticks, and one of a task."""
    folder = tmp_path / "package"
    folder.mkdir()
    (cli.folder / "schedules.toml").write_text(FILE)

    async def decide(client: Client, store: Store) -> None:
        definition = Definition(trigger=every(hours=1), target=read_target({"shout": {"text": "a"}}), catch_up="all")
        then = await client.system.now() - timedelta(hours=5)
        command = Create(actor="ana", namespace="default", definition=definition)
        await store.schedules.change("default", "old", command, now=then)
        while (await store.planning.plan_due()).more:
            pass

    with package(folder) as install:
        install("shout")
        assert cli("apply", "-f", "schedules.toml").code == 0
        cli.ok("set", "loud", "retries=2")
        cli.store(decide)
        assert cli("verify", "old").code == 0
    return cli


def test_verify_names_ignored_schedules_and_checks_the_others(mixed: Cli) -> None:
    answer = mixed("verify", "--json")
    assert (answer.code, answer.json["ok"]) == (1, False)
    assert {*answer.json["ignored"]} == {"loud", "old"}
    assert not any(report["findings"] for report in answer.json["reports"])
    assert f"not verified: schedule 'old' is ignored: {REASON}. Install its package" in answer.err
    assert f"schedule 'old' is ignored: {REASON}." in mixed.refused(4, "verify", "old")


def test_simulate_does_not_count_ignored_schedules_and_names_them(mixed: Cli) -> None:
    shown = mixed.ok("simulate", "--days", "1").out
    assert "1 active schedule as stored" in shown
    assert f"old is ignored: {REASON}. Its ticks are not in this forecast." in " ".join(shown.split())
    assert mixed.ok("simulate", "--json").json["baseline"]["ignored"] == {"loud": REASON, "old": REASON}


@pytest.mark.parametrize("options, names", [(("--app", "files"), "loud"), (("--all",), "loud, old")])
def test_export_leaves_ignored_schedules_out_and_names_them(mixed: Cli, options: tuple[str, ...], names: str) -> None:
    answer = mixed("export", *options)
    assert answer.code == 1
    assert "[schedules.calm]" in answer.out
    assert "shout" not in answer.out
    assert f"not exported, because {REASON}: {names}." in answer.err


def test_a_document_of_a_server_is_read_without_the_schedules_of_a_missing_kind(mixed: Cli, tmp_path: Path) -> None:
    with package(tmp_path) as install:
        install("shout")
        plain = mixed.store(lambda client, _: client.files.export(everything=True))
        served = to_plain(plain)
    assert {*served["schedules"]} == {"calm", "loud", "old"}
    assert {*_read_served_document(served).schedules} == {"calm"}


def test_doctor_names_the_missing_kind(mixed: Cli) -> None:
    findings = mixed("doctor", "--json").json["checks"]
    [ignored] = [finding for finding in findings if finding["check"] == "ignored" and "loud" in finding["text"]]
    assert ignored["text"] == f"loud is ignored: {REASON}."
    assert ignored["fix"].startswith("pip install …   # the package with target kind 'shout'")
    assert [finding["severity"] for finding in findings if finding["check"] == "parked"] == ["ok"]
