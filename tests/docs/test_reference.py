"""Tables of the docs that follow from code: between `<!-- generated: NAME -->` and `<!-- end -->`.

A test fails if one is not as the code has it. Write them with `GOLDEN=write ./dev test tests/docs/test_reference.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

import pytest

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


TABLES: list[tuple[str, str, Callable[[], Iterator[str]]]] = [
    ("schedules.md", "policies", policies),
    ("schedules.md", "priorities", priorities),
    ("cli.md", "fields of set", texts),
    ("api.md", "paths", paths),
]


@pytest.mark.parametrize("page,name,table", TABLES, ids=[f"{page}-{name}" for page, name, _ in TABLES])
def test_a_generated_table_is_as_the_code_has_it(page: str, name: str, table: Callable[[], Iterator[str]]) -> None:
    path = DOCS / page
    head, body, end = re.split(
        rf"(?<=<!-- generated: {name} -->\n\n)(.*?)(?=\n\n<!-- end -->)", path.read_text(), flags=re.DOTALL
    )
    expected = "\n".join(table())
    if os.environ.get("GOLDEN") == "write":
        path.write_text(f"{head}{expected}{end}")
        return
    assert body == expected, "write it with `GOLDEN=write ./dev test tests/docs/test_reference.py`"


def test_every_page_of_the_table_exists() -> None:
    for policy in POLICIES.values():
        page, _, heading = policy.page.partition("#")
        if page:
            titles = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles]
            assert not heading or heading in slugs, policy.page
