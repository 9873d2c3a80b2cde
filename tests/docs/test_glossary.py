"""No name contains a word that the glossary rules out."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click

from tickbird.cli import root

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tickbird"
LAB = ROOT / "lab"
# The packages whose attributes are checked, too.
ATTRIBUTES = (SOURCE / "domain", SOURCE / "engine")
# Names that other libraries and systems have given.
FOREIGN = {"connection_made", "not_found_error", "beat", "celery_beat", "django_celery_beat"}


def banned() -> set[str]:
    """Read the last column of the glossary."""
    rows = re.findall(r"^\|.*\| ([^|]*) ?\|$", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    return {word.strip() for row in rows for word in row.split(",")} - {"", "Not", "---"}


def modules() -> Iterator[tuple[str, str]]:
    """Every module and package, and the classes, functions and constants that are in it."""
    for path in sorted((*SOURCE.rglob("*.py"), *LAB.rglob("*.py"))):
        yield "module", path.parent.name if path.stem == "__init__" else path.stem
        tree = ast.parse(path.read_text())
        assigned = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
        assigned += [node.target for node in tree.body if isinstance(node, ast.AnnAssign)]
        yield from (("constant", target.id) for target in assigned if isinstance(target, ast.Name))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                yield "class", node.name
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield "function", node.name


def attributes() -> Iterator[tuple[str, str]]:
    """Every attribute that a method sets on `self`."""
    for path in sorted(path for package in ATTRIBUTES for path in package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield from (("attribute", node.attr) for _ in range(ast.unparse(node.value) == "self"))


def columns() -> Iterator[tuple[str, str]]:
    """Every table and column of both stores, by the names that the newest migration leaves them."""
    for folder in sorted(SOURCE.glob("store/*/migrations")):
        text = "\n".join(re.sub(r"--.*", "", path.read_text()) for path in sorted(folder.glob("*.sql")))
        renamed = set(re.findall(r"RENAME (?:COLUMN (\w+) )?TO \w+", text)) - {""}
        tables = set(re.findall(r"ALTER TABLE (?:tickbird\.)?(\w+) RENAME TO", text))
        for table, body in re.findall(r"CREATE TABLE (?:tickbird\.)?(\w+) \((.*?)\n\)", text, re.DOTALL):
            yield from (("table", table) for _ in range(table not in tables))
            yield from (
                ("column", name) for name in re.findall(r"^ {4}([a-z]\w*) ", body, re.MULTILINE) if name not in renamed
            )
        yield from (("column", name) for name in re.findall(r"ADD COLUMN (\w+)", text) if name not in renamed)
        yield from (("table", name) for name in re.findall(r"RENAME TO (\w+)", text))
        yield from (("column", name) for name in re.findall(r"RENAME COLUMN \w+ TO (\w+)", text))


def routes() -> Iterator[tuple[str, str]]:
    """Every path, parameter and field of the API."""
    document = json.loads((ROOT / "tests" / "golden" / "openapi.json").read_text())
    for path, verbs in document["paths"].items():
        yield from (("route", part) for part in re.findall(r"\w+", path))
        for verb in verbs.values():
            yield from (("parameter", parameter["name"]) for parameter in verb.get("parameters", ()))
    for schema in document["components"]["schemas"].values():
        yield from (("field", name) for name in schema.get("properties", ()))


def options(group: click.Group = root) -> Iterator[tuple[str, str]]:
    """Every command and option."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield "command", name
        for parameter in command.params:
            yield from (("option", text) for text in parameter.opts if text.startswith("--"))
        if isinstance(command, click.Group):
            yield from options(command)


def offences() -> set[str]:
    """Names with a word, or with two in a row, that the glossary rules out."""
    words = {tuple(text.split()) for text in banned()}
    words |= {(*text[:-1], f"{text[-1]}s") for text in words}
    found = set()
    for kind, name in (*modules(), *attributes(), *columns(), *routes(), *options()):
        parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
        hits = {
            word for word in words for start in range(len(parts)) if tuple(parts[start : start + len(word)]) == word
        }
        if hits and "_".join(parts).strip("_") not in FOREIGN and name not in FOREIGN:
            found.add(f"{kind} {name}")
    return found


def test_no_name_has_a_word_that_is_ruled_out() -> None:
    assert offences() == set(), "rename these, see docs/glossary.md"
