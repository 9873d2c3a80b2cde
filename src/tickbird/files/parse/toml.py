"""TOML with places: values are the standard library's, and a scan of the same text finds where they stand.

The scan only ever sees text that is TOML, so that it need not judge it; a mistake in it could misplace a message, and
never change a value.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tickbird.files.parse.nodes import DEEPEST, Lines, Node, Position, Unreadable

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t]*+")
_BETWEEN = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_STRING = re.compile(
    r"\"\"\"(?:[^\\\"]++|\\.|\"(?!\"\"))*+\"{3,5}+|'''(?:[^']++|'(?!''))*+'{3,5}+|\"(?:[^\\\"\n]++|\\.)*+\"|'[^'\n]*+'",
    re.DOTALL,
)
_BARE = re.compile(r"[A-Za-z0-9_-]++", re.ASCII)
_SCALAR = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^,\]}\s#]++|[^,\]}\s#]++")
_WHERE = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: str) -> Node:
    """The value of a text; one that is no TOML raises Unreadable, for which any reader needs its first fault mended."""
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise Unreadable(f"is nested more than {DEEPEST} deep") from None
    except ValueError as error:
        words = str(error)
        found = _WHERE.search(words)
        at = (int(found[1]), int(found[2])) if found and found[1] else None
        if found and at is None:
            at = Lines(text).position(len(text))
        words = _WHERE.sub("", words)
        raise Unreadable(words[:1].lower() + words[1:200], at) from None
    return _build(value, (), _Scan(text).places, 0)


def _build(value: Any, path: Path, places: dict[Path, tuple[Position, Position]], depth: int) -> Node:
    at, key = places.get(path, ((1, 1), None))
    if depth > DEEPEST:
        raise Unreadable(f"is nested more than {DEEPEST} deep", at)
    if isinstance(value, dict):
        value = {name: _build(each, (*path, name), places, depth + 1) for name, each in value.items()}
    elif isinstance(value, list):
        value = [_build(each, (*path, number), places, depth + 1) for number, each in enumerate(value)]
    return Node(value, at, key)


class _Scan:
    """The places of a text's values and of their keys."""

    def __init__(self, text: str) -> None:
        # As the standard library reads it, whose offsets these are then too.
        self.text = text.replace("\r\n", "\n")
        self.lines = Lines(self.text)
        self.places: dict[Path, tuple[Position, Position]] = {}
        # How many tables each array of tables has so far.
        self.counts: dict[Path, int] = {}
        table: Path = ()
        offset = self.between(0)
        while offset < len(self.text):
            if self.text.startswith("[", offset):
                several = self.text.startswith("[[", offset)
                parts, offset = self.key(offset + (2 if several else 1))
                table = self.table(parts, several)
                offset += 2 if several else 1
            else:
                offset = self.pair(offset, table)
            offset = self.between(offset)

    def between(self, offset: int) -> int:
        found = _BETWEEN.match(self.text, offset)
        return offset if found is None else found.end()

    def space(self, offset: int) -> int:
        found = _SPACE.match(self.text, offset)
        return offset if found is None else found.end()

    def key(self, offset: int) -> tuple[list[tuple[str, Position]], int]:
        """The parts of a dotted key, each with its place, and the offset behind it and the space that follows."""
        parts: list[tuple[str, Position]] = []
        while True:
            offset = self.space(offset)
            at = self.lines.position(offset)
            if found := _BARE.match(self.text, offset):
                parts.append((found[0], at))
            elif found := _STRING.match(self.text, offset):
                parts.append((tomllib.loads(f"name = {found[0]}")["name"], at))
            else:
                raise Unreadable("a key is missing here", at)
            offset = self.space(found.end())
            if not self.text.startswith(".", offset):
                return parts, offset
            offset += 1

    def note(self, path: Path, value: Position, key: Position) -> None:
        """Where a value and its key stand first."""
        self.places.setdefault(path, (value, key))

    def table(self, parts: list[tuple[str, Position]], several: bool) -> Path:
        """The path of a table by its header, the newest one of each array on the way."""
        path: Path = ()
        for number, (name, at) in enumerate(parts, 1):
            path = (*path, name)
            self.note(path, at, at)
            if several and number == len(parts):
                self.counts[path] = self.counts.get(path, 0) + 1
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
                self.note(path, at, at)
        return path

    def pair(self, offset: int, path: Path) -> int:
        """A key with its value; the offset behind it."""
        parts, offset = self.key(offset)
        offset = self.space(offset + 1)
        for name, at in parts[:-1]:
            path = (*path, name)
            self.note(path, at, at)
        name, at = parts[-1]
        return self.value(offset, (*path, name), at)

    def value(self, offset: int, path: Path, key: Position) -> int:
        """A value; the offset behind it."""
        self.note(path, self.lines.position(offset), key)
        first = self.text[offset : offset + 1]
        if first == "[":
            return self.list(offset, path)
        if first == "{":
            return self.object(offset, path)
        found = _STRING.match(self.text, offset) or _SCALAR.match(self.text, offset)
        return offset + 1 if found is None else found.end()

    def list(self, offset: int, path: Path) -> int:
        number, offset = 0, self.between(offset + 1)
        while not self.text.startswith("]", offset):
            at = self.lines.position(offset)
            offset = self.between(self.value(offset, (*path, number), at))
            number += 1
            if self.text.startswith(",", offset):
                offset = self.between(offset + 1)
        return offset + 1

    def object(self, offset: int, path: Path) -> int:
        offset = self.between(offset + 1)
        while not self.text.startswith("}", offset):
            offset = self.between(self.pair(offset, path))
            if self.text.startswith(",", offset):
                offset = self.between(offset + 1)
        return offset + 1
