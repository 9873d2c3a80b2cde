"""The manifests of docs/deployment.md are well-formed, and their commands and timeouts are right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tickbird.cli import root

yaml: Any = pytest.importorskip("yaml")
PAGE = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def command_lines() -> Iterator[list[str]]:
    """Every tickbird command of the manifests, units and shell lines."""
    for text in blocks("yaml"):
        for document in yaml.safe_load_all(text):
            yield from commands_in(document)
    for line in re.findall(r"^ExecStart=\S*/tickbird (.*)$", PAGE, re.MULTILINE):
        yield line.split()
    for line in re.findall(r"^    [$#] (?:.*?\s)?\S*\btickbird ((?:migrate|token|doctor)\b.*)$", PAGE, re.MULTILINE):
        yield line.split()


def commands_in(value: Any) -> Iterator[list[str]]:
    if isinstance(value, dict):
        command = value.get("command")
        if isinstance(command, list) and command[0] == "tickbird":
            yield command[1:]
        for part in value.values():
            yield from commands_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from commands_in(part)


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in command_lines()])
def test_a_command_is_accepted(words: list[str]) -> None:
    command: click.Command = root
    while isinstance(command, click.Group):
        child = command.get_command(click.Context(command), words[0])
        assert child is not None, words
        command, words = child, words[1:]
    command.make_context("tickbird", words)


def test_stop_timeouts_are_longer_than_the_drain() -> None:
    [unit] = [text for text in blocks("ini") if "tickbird worker" in text]
    [drain], [stop] = re.findall(r"--drain (\d+)", unit), re.findall(r"TimeoutStopSec=(\d+)", unit)
    assert int(stop) > int(drain)
    [compose] = [yaml.safe_load(text) for text in blocks("yaml") if "services:" in text]
    worker = compose["services"]["worker"]
    assert int(worker["stop_grace_period"].removesuffix("s")) > int(worker["command"][-1])
    [deployment] = [yaml.safe_load(text) for text in blocks("yaml") if "terminationGracePeriodSeconds" in text]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > int(pod["containers"][0]["command"][-1])
