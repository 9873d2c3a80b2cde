"""Commands on the command line: set, shown, and told about where no worker allows them."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli


def test_a_command_is_set_and_shown(cli: Cli) -> None:
    cli.insert("nightly", {"v": 1, "trigger": {"cron": "0 3 * * *"}, "target": {"task": "backup"}})
    said = cli.ok("set", "nightly", 'command=["/usr/bin/rsync", "-a", "a b"]', "--json").json
    assert said["schedule"]["definition"]["target"] == {"command": {"program": "/usr/bin/rsync", "args": ["-a", "a b"]}}
    shown = cli.ok("show", "nightly").out
    assert "/usr/bin/rsync -a 'a b'" in shown
    cli.ok("set", "nightly", 'command={"shell": "cd /srv && make", "user": "www-data", "success": [0, 2]}')
    shown = cli.ok("show", "nightly").out
    for words in ("cd /srv && make", "/bin/sh", "www-data", "[0, 2]"):
        assert words in shown
    assert cli.ok("set", "nightly", "task=backup", "--json").json["schedule"]["definition"]["v"] == 1


@pytest.mark.parametrize(
    "given, words",
    [
        (["command=rsync -a"], "command: 'rsync -a' is not JSON"),
        (['command=["rsync"]'], "command: program: 'rsync' is not an absolute path. Use an absolute path"),
        (['command=["/bin/true"]', "task=x"], "command and task: a schedule has only one target"),
    ],
)
def test_set_invalid_command_is_refused(cli: Cli, given: list[str], words: str) -> None:
    cli.insert("nightly", {"v": 1, "trigger": {"cron": "0 3 * * *"}, "target": {"task": "backup"}})
    assert words in cli.refused(2, "set", "nightly", *given)


def test_worker_invalid_program_path_is_refused(cli: Cli) -> None:
    assert "'rsync' is not the full path of a program" in cli.refused(2, "worker", "--allow-command", "rsync")
    allowing = ("worker", "--allow-command", "/bin/sh", "--allow-env")
    assert "'*' is not a valid variable name. Write, for example, LEVEL" in cli.refused(2, *allowing, "*")
    assert "reserved for Tickbird" in cli.refused(2, *allowing, "TICKBIRD_URL")
