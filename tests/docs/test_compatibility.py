"""Each row of docs/compatibility.md names tests that exist, or says that there is nothing to test."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import click
import pytest

from tickbird.cli import root

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "compatibility.md"
SYSTEMS = ("Catbird", "Bananas", "Civic OS", "RAT", "light-portal")


def rows() -> list[list[str]]:
    """The cells of each row of a table with tests."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if len(row) > 2 and row[-1] != "Test"]


ROWS = [pytest.param(row, id=row[0][:60]) for row in rows()]


@cache
def names_of_tests(file: Path) -> frozenset[str]:
    """The names of the test functions of a file."""
    return frozenset(re.findall(r"def (test_\w+)", file.read_text()))


def test_every_system_has_a_table() -> None:
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    by_system = {section.partition("\n")[0]: section for section in sections}
    assert all("| Test |" in by_system[system] for system in SYSTEMS)
    assert len(ROWS) > 100


@pytest.mark.parametrize("row", ROWS)
def test_a_row_names_tests_that_exist(row: list[str]) -> None:
    assert len(row) == 4, row
    _, feature, _, shown_by = row
    if shown_by == "–":
        assert feature.startswith(("Planned", "No:")), row
        return
    assert not feature.startswith(("Planned", "No:")), row
    paths = re.findall(r"`([^`]+)`", shown_by)
    assert ", ".join(f"`{path}`" for path in paths) == shown_by, row
    for path in paths:
        file, _, name = path.partition("::")
        assert (ROOT / file).is_file(), path
        assert name in names_of_tests(ROOT / file), path


@pytest.mark.parametrize("line", sorted(set(re.findall(r"`tickbird ([^`]+)`", PAGE.read_text()))))
def test_a_command_exists_with_its_options(line: str) -> None:
    name, *words = line.split()
    command = root.get_command(click.Context(root), name)
    assert command is not None, line
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options, line
