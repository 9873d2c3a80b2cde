"""Input and stored forms of commands."""

from __future__ import annotations

from typing import Any

import pytest

from tickbird import DefinitionError, command, cron
from tickbird.domain.schedules.codec import FORMAT, decode_definition, decode_field, encode_definition, in_its_format
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.targets.command import CommandSpec, EnvRef
from tickbird.domain.targets.target import target_of

FULL = command(
    ["/usr/local/bin/backup", "--full", "ä b"],
    env={"LEVEL": "3", "PASSWORD": {"env": "BACKUP_PASSWORD"}},
    folder="/srv",
    user="backup",
    success=[0, 24],
    input="yes\n",
)


def defined(program: CommandSpec) -> Definition:
    """A schedule of it."""
    return Definition(trigger=cron("0 3 * * *"), target=target_of(program))


def test_command_is_stored_without_defaults() -> None:
    assert command(["/bin/true"]).to_json() == {"program": "/bin/true"}
    assert command(shell="cd /srv && make").to_json() == {"program": "/bin/sh", "shell": "cd /srv && make"}
    assert FULL.to_json() == {
        "program": "/usr/local/bin/backup",
        "args": ["--full", "ä b"],
        "env": {"LEVEL": "3", "PASSWORD": {"env": "BACKUP_PASSWORD"}},
        "folder": "/srv",
        "user": "backup",
        "success": [0, 24],
        "input": "yes\n",
    }


@pytest.mark.parametrize("program", [FULL, command(["/bin/true"]), command(shell="a | b", program="/bin/bash")])
def test_stored_command_is_read_back(program: CommandSpec) -> None:
    encoded = encode_definition(defined(program))
    assert decode_definition(encoded) == defined(program)
    assert encode_definition(decode_definition(encoded)) == encoded
    assert hash(defined(program).target) == hash(target_of(CommandSpec.from_json(program.to_json())))


def test_only_a_non_task_target_needs_a_newer_format() -> None:
    task = Definition(trigger=cron("0 3 * * *"), target=Target("digest"))
    assert (encode_definition(task)["v"], encode_definition(defined(FULL))["v"]) == (1, 2)
    mixed = {**encode_definition(task), "target": {"command": FULL.to_json()}}
    assert in_its_format(mixed) == encode_definition(defined(FULL))
    assert in_its_format({**mixed, "target": {"task": "digest"}, "v": 2}) == encode_definition(task)
    assert in_its_format({**mixed, "v": FORMAT + 1})["v"] == FORMAT + 1


def test_a_program_and_its_arguments_are_a_list_and_a_line_is_for_a_shell() -> None:
    assert CommandSpec.from_json(["/bin/echo", "a b"]).argv == ("/bin/echo", "a b")
    assert CommandSpec.from_json(["/bin/echo", "a b"]).line == "/bin/echo 'a b'"
    line = CommandSpec.from_json({"shell": "echo $HOME"})
    assert (line.argv, line.line) == (("/bin/sh", "-c", "echo $HOME"), "echo $HOME")
    assert target_of(line).name == "/bin/sh", "which is what a worker allows or does not"
    assert dict(FULL.env)["PASSWORD"] == EnvRef("BACKUP_PASSWORD")


@pytest.mark.parametrize(
    "written, words",
    [
        ("backup", "program is missing"),
        ({}, "program is missing"),
        ([], "program is missing"),
        (["backup"], "'backup' is not an absolute path. Use an absolute path, such as /usr/bin/rsync"),
        (["/usr//bin/x"], "is not normalized. Use /usr/bin/x."),
        (["/opt/jobs/../../bin/sh"], "is not normalized. Use /bin/sh."),
        (["//bin/sh"], "is not normalized. Use /bin/sh."),
        (["/bin/x", 1], "args: '1' cannot be passed to a program"),
        (["/bin/x", "a\0b"], "cannot be passed to a program"),
        (["/bin/x", "\ud800"], "cannot be passed to a program"),
        (["/bin/x", "x" * 200_000], "more than 100,000 characters"),
        ({"program": "/bin/x", "args": "a b"}, "args must be a list"),
        ({"program": "/bin/x", "arguments": []}, "arguments is not a field of a command. Fields: program, args"),
        ({"program": "/bin/sh", "shell": "x", "args": ["y"]}, "cannot be combined with args"),
        ({"shell": "  "}, "must be a non-empty text"),
        ({"program": "/bin/x", "env": ["A"]}, "env must be an object"),
        ({"program": "/bin/x", "env": {"A B": "1"}}, "'A B' is not a valid variable name"),
        ({"program": "/bin/x", "env": {"A": 1}}, 'A must be a text, or {"env": "NAME"}'),
        ({"program": "/bin/x", "env": {"A": {"env": "B C"}}}, "'B C' is not a valid variable name"),
        ({"program": "/bin/x", "env": {"TICKBIRD_RUN_ID": "1"}}, "is reserved for Tickbird"),
        ({"program": "/bin/x", "folder": "srv"}, "folder: 'srv' is not an absolute path"),
        ({"program": "/bin/x", "user": "a b"}, "is not a user name"),
        ({"program": "/bin/x", "success": []}, "a list of different exit codes"),
        ({"program": "/bin/x", "success": [0, 0]}, "a list of different exit codes"),
        ({"program": "/bin/x", "success": [256]}, "from 0 to 255"),
        ({"program": "/bin/x", "success": [True]}, "from 0 to 255"),
        ({"program": "/bin/x", "input": 5}, "input cannot be passed to a program"),
    ],
)
def test_invalid_command_is_refused_with_a_sentence(written: Any, words: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        decode_field("target", {"command": written})
    assert words in str(caught.value)
    assert caught.value.field == "command"


def test_invalid_command_in_code_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"args is a text, not a list\. Give a list"):
        command("rm -rf /")
    with pytest.raises(DefinitionError, match="but not both"):
        command(["/bin/x"], shell="x")
    with pytest.raises(DefinitionError, match="Put it first in the list"):
        command(["/bin/x"], program="/bin/y")
