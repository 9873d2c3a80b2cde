"""Generated parts of the docs: between `<!-- generated: NAME -->` and `<!-- end -->`.

A test fails if a part is stale. Write all parts with `GOLDEN=write ./dev test tests/docs/test_reference.py`.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

import click
import pytest

from tickbird.cli import COMMANDS, root
from tickbird.cli.errors import CODES
from tickbird.cli.help import page_of
from tickbird.cli.options import shared_options
from tickbird.client import NOUNS
from tickbird.domain.schedules.fields import POLICIES, PRIORITIES, PolicyField
from tickbird.domain.schedules.kinds import Choice
from tickbird.wire.operations import operations_of

DOCS = Path(__file__).parents[2] / "docs"


def policies() -> Iterator[str]:
    """Every policy field: its values, its default and its meaning."""
    yield "| policy | values | default | meaning |"
    yield "|---|---|---|---|"
    for policy in POLICIES.values():
        yield f"| `{policy.name}` | {policy.kind.range} | {default(policy)} | {meaning(policy)} |"


def default(policy: PolicyField) -> str:
    text = policy.text(policy.encode(policy.default))
    quoted = f"`{text}`" if text else policy.none
    return f"the task's, or {quoted}" if policy.task_setting else quoted


def meaning(policy: PolicyField) -> str:
    words = (
        [f"`{word}`: {text}" for word, text in policy.kind.meanings.items()] if isinstance(policy.kind, Choice) else []
    )
    more = f" [More]({policy.page})." if policy.page else ""
    return " ".join([policy.help, *([f"{'; '.join(words)}."] if words else [])]).replace("|", "\\|") + more


def texts() -> Iterator[str]:
    """How the policy fields are typed, those of one kind together."""
    yield "| fields | value |"
    yield "|---|---|"
    ordered = sorted(POLICIES.values(), key=lambda policy: (policy.kind.title, policy.kind.hint))
    for (title, hint), rows in groupby(ordered, key=lambda policy: (policy.kind.title, policy.kind.hint)):
        yield f"| {', '.join(f'`{policy.name}`' for policy in rows)} | {f'{title}. {hint}' if hint else title} |"


def priorities() -> Iterator[str]:
    yield "| name | number |"
    yield "|---|---|"
    yield from (f"| `{name}` | {number} |" for name, number in PRIORITIES.items())


def paths() -> Iterator[str]:
    """Every verb of the client that is a route."""
    yield "| request | role | client | what it does | parameters |"
    yield "|---|---|---|---|---|"
    for noun, kind in NOUNS.items():
        for name, operation in operations_of(kind).items():
            if not operation.routed:
                continue
            sent = [f"`{each.key}`" for each in operation.parameters if each.place != "path"]
            sent += ["`limit`", "`after`"] if operation.page is not None else []
            sent += ["`wait`"] if operation.waits else []
            role = f"{operation.role} of all" if operation.scope == "store" else operation.role
            does = operation.description.split("\n")[0].replace("|", "\\|")
            path = operation.path.replace(":path", "")
            yield f"| `{operation.method} {path}` | {role} | `{noun}.{name}` | {does} | {', '.join(sent)} |"


def exit_codes() -> Iterator[str]:
    yield "| code | meaning |"
    yield "|---|---|"
    yield from (f"| {code} | {meaning} |" for code, meaning in CODES.items())


def options_of_every_command() -> Iterator[str]:
    yield from options([*shared_options(), click.Option(["--help"], is_flag=True, help="Show the help and exit.")])


def command(name: str) -> Iterator[str]:
    """The help of a command, without its examples; that of a group with its subcommands."""
    parts: list[str] = []
    found: click.Command = root.get_command(click.Context(root), name) or root
    parts += command_help(found, name)
    if isinstance(found, click.Group):
        for word, subcommand in found.commands.items():
            arguments = " ".join(
                parameter.make_metavar(click.Context(subcommand))
                for parameter in subcommand.params
                if isinstance(parameter, click.Argument)
            )
            parts.append(f"#### `{f'tickbird {name} {word} {arguments}'.strip()}`")
            parts += command_help(subcommand, f"{name} {word}")
    yield "\n\n".join(parts)


def command_help(found: click.Command, name: str) -> Iterator[str]:
    page = page_of(name)
    for text in (inspect.cleandoc(found.help or ""), page.text):
        yield from (literals(" ".join(paragraph.split())) for paragraph in text.split("\n\n") if paragraph)
    shared = {option.opts[0] for option in shared_options()}
    if own := [param for param in found.params if isinstance(param, click.Option) and param.opts[0] not in shared]:
        yield "\n".join(options(own))
    if not isinstance(found, click.Group):
        yield "Exit codes:"
        yield "\n".join(f"- {code}: {literals(meaning)}" for code, meaning in page.codes)


def options(params: list[click.Option] | list[click.Parameter]) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for param in params:
        assert isinstance(param, click.Option)
        value = "" if param.is_flag else f" {param.make_metavar(click.Context(root))}"
        names = ", ".join(f"`{option}{value}`" for option in (*param.opts, *param.secondary_opts))
        notes = []
        if isinstance(param.type, click.IntRange) and param.type.max is not None and param.type.max <= 1_000_000:
            notes.append(f"{param.type.min:,} to {param.type.max:,}")
        if param.required:
            notes.append("required")
        elif param.show_default and "(default:" not in (param.help or ""):
            notes.append(f"default: {param.default}")
        text = literals(param.help or "") + (f" ({'; '.join(notes)})" if notes else "")
        yield "| {} | {} |".format(*(cell.replace("|", "\\|") for cell in (names, text)))


def literals(text: str) -> str:
    """Mark options and environment variables as code, except inside code."""
    parts = text.split("`")
    parts[::2] = [
        re.sub(r"(?<![\w-])(--[a-z][\w-]*|-[a-z]\b|[A-Z]+_[A-Z_]+)(?![\w=])", r"`\1`", part) for part in parts[::2]
    ]
    return "`".join(parts)


TABLES: list[tuple[str, str, Callable[[], Iterator[str]]]] = [
    ("schedules.md", "policies", policies),
    ("schedules.md", "priorities", priorities),
    ("cli.md", "fields of set", texts),
    ("api.md", "paths", paths),
    ("cli.md", "exit codes", exit_codes),
    ("cli.md", "shared options", options_of_every_command),
    *(("cli.md", f"command {name}", partial(command, name)) for section in COMMANDS.values() for name in section),
]


@pytest.mark.parametrize("page,name,table", TABLES, ids=[f"{page}-{name}" for page, name, _ in TABLES])
def test_generated_part_matches_the_code(page: str, name: str, table: Callable[[], Iterator[str]]) -> None:
    path = DOCS / page
    head, body, end = re.split(
        rf"(?<=<!-- generated: {name} -->\n\n)(.*?)(?=\n\n<!-- end -->)", path.read_text(), maxsplit=1, flags=re.DOTALL
    )
    expected = "\n".join(table())
    if os.environ.get("GOLDEN") == "write":
        path.write_text(f"{head}{expected}{end}")
        return
    assert body == expected, "stale: write it with `GOLDEN=write ./dev test tests/docs/test_reference.py`"


def test_every_page_of_the_table_exists() -> None:
    for policy in POLICIES.values():
        page, _, heading = policy.page.partition("#")
        if page:
            titles = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert not heading or heading in slugs, policy.page
