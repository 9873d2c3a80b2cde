"""docs/configuration.md lists every environment variable, option and argument that the code has, with its default."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest

from tickbird import Tickbird
from tickbird.cli import root
from tickbird.cli.options import shared_options
from tickbird.engine.engine import EngineOptions
from tickbird.engine.maintenance import Retention
from tickbird.store.postgres.database.connection import _DEFAULTS
from tickbird.store.shared.postgres_url import SCHEMA
from tickbird.store.sqlite.database.url import SHARED

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "configuration.md").read_text()
_VARIABLE = re.compile(r'"(_?TICKBIRD_[A-Z_]*[A-Z])"')


def rows(heading: str) -> dict[str, list[str]]:
    """The cells of the tables of a section, by each name in their first cell."""
    section = re.split(r"^## ", PAGE.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0]
    cells = [re.split(r"(?<!\\)\|", line.strip("|")) for line in section.splitlines() if line.startswith("| ")]
    return {name: row for row in cells for name in re.findall(r"`([^`]+)`", row[0])}


def variables() -> set[str]:
    texts = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    return {name for text in texts for name in _VARIABLE.findall(text)}


def command_options() -> list[tuple[str, click.Parameter]]:
    commands = {"Worker options": "worker", "Server options": "server", "Options of `tickbird dev`": "dev"}
    shared = {option.name for option in shared_options()}
    params = [
        (heading, param)
        for heading, name in commands.items()
        for param in root.get_command(click.Context(root), name).params  # type: ignore[union-attr]
        if isinstance(param, click.Option) and param.name not in shared
    ]
    return params + [("Options of every command", option) for option in shared_options()]


def test_variables_of_the_code_are_documented_and_no_others() -> None:
    documented = set(rows("Environment variables"))
    assert variables() <= documented
    ours = {name for name in documented if "TICKBIRD_" in name}
    assert ours - variables() == {"TICKBIRD_RUN_ID", "TICKBIRD_ATTEMPT"}


@pytest.mark.parametrize(
    "heading,param",
    [pytest.param(heading, param, id=f"{heading}-{param.name}") for heading, param in command_options()],
)
def test_an_option_is_documented_with_its_default(heading: str, param: click.Parameter) -> None:
    row = rows(heading)[next(text for text in param.opts if text.startswith("--"))]
    if isinstance(param.default, str | int) and not isinstance(param.default, bool) and param.default != "":
        assert str(param.default) in row[1]


@pytest.mark.parametrize("heading", ["Worker options", "Server options", "Options of `tickbird dev`"])
def test_documented_options_exist(heading: str) -> None:
    known = {text for title, param in command_options() if title == heading for text in param.opts}
    assert {name for name in rows(heading) if name.startswith("--")} <= known


def test_arguments_of_an_app_are_documented() -> None:
    named = {name for name in inspect.signature(Tickbird).parameters if name != "self"}
    assert named == {name for name in rows("The app") if name.isidentifier()}


def test_engine_options_are_documented_with_their_defaults() -> None:
    section = rows("Worker options")
    for option in fields(EngineOptions):
        default = section[option.name][1]
        if isinstance(option.default, float | bool):
            assert f"{option.default:g}" in default or f"`{option.default}`" in default, option.name


def test_parameters_of_store_urls_are_documented() -> None:
    section = rows("Store URLs")
    assert SHARED in section
    assert f"`{SCHEMA}`" in section["?schema=jobs"][1]
    for name, value in _DEFAULTS.items():
        assert f"`{value}`" in section[name][1], name


def test_retention_is_documented_with_its_defaults() -> None:
    page = (ROOT / "docs" / "retention.md").read_text()
    for option in fields(Retention):
        assert isinstance(option.default, int | float | None)
        default = "`None` (no limit)" if option.default is None else f"{option.default:,.0f}"
        assert re.search(rf"^\| `{option.name}` \| {re.escape(default)}(?!\w)", page, re.MULTILINE), option.name
