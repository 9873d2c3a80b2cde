"""Every `$ tickbird …` line of the docs is a command that exists, with options that it accepts."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from tickbird.cli import root

ROOT = Path(__file__).parents[2]
_LINE = re.compile(r"^(?: {4})?\$ (?:\.venv/bin/)?tickbird (.*)$", re.MULTILINE)
# A comment, a pipe or a redirection ends the arguments.
_END = re.compile(r"\s+#\s|\s[|>]\s")


def command_lines() -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    lines = {(page.name, _END.split(line)[0]) for page in pages for line in _LINE.findall(page.read_text())}
    return sorted((page, line) for page, line in lines if line != "--version")


@pytest.mark.parametrize("page,line", [pytest.param(*case, id=": ".join(case)) for case in command_lines()])
def test_a_command_line_is_accepted(page: str, line: str) -> None:
    command: click.Command = root
    words = shlex.split(line)
    while isinstance(command, click.Group):
        child = command.get_command(click.Context(command), words[0])
        assert child is not None, line
        command, words = child, words[1:]
    try:
        command.make_context("tickbird", words, parent=click.Context(root))
    except click.BadParameter as error:
        # The folders and files of an example are not there.
        if "does not exist" not in error.message:
            raise


def test_there_are_command_lines() -> None:
    assert len(command_lines()) > 100
