"""TOML with locations: the standard library parses the values, and a scan of the same text finds their locations.

The scan runs only on valid TOML, so it validates nothing. A bug in it could give a wrong location, never a wrong value.
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
    """Parse TOML; raise Unreadable at the first syntax error."""
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise Unreadable(f"is nested more than {DEEPEST} deep") from None
    except ValueError as error:
        words = str(error)
        match = _WHERE.search(words)
        at = (int(match[1]), int(match[2])) if match and match[1] else None
        if match and at is None:
            at = Lines(text).position(len(text))
        words = _WHERE.sub("", words)
        raise Unreadable(words[:1].lower() + words[1:200], at) from None
    return _build(value, (), _Scan(text).places, 0)


def _build(value: Any, path: Path, places: dict[Path, tuple[Position, Position]], depth: int) -> Node:
    at, key = places.get(path, ((1, 1), None))
    if depth > DEEPEST:
        raise Unreadable(f"is nested more than {DEEPEST} deep", at)
    if isinstance(value, dict):
        value = {name: _build(item, (*path, name), places, depth + 1) for name, item in value.items()}
    elif isinstance(value, list):
        value = [_build(item, (*path, number), places, depth + 1) for number, item in enumerate(value)]
    return Node(value, at, key)


class _Scan:
    """The locations of all values and keys of a text."""

    def __init__(self, text: str) -> None:
        # The standard library does the same, so offsets agree.
        self.text = text.replace("\r\n", "\n")
        self.lines = Lines(self.text)
        self.places: dict[Path, tuple[Position, Position]] = {}
        # Number of tables in each array of tables up to here.
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
        match = _BETWEEN.match(self.text, offset)
        return offset if match is None else match.end()

    def space(self, offset: int) -> int:
        match = _SPACE.match(self.text, offset)
        return offset if match is None else match.end()

    def key(self, offset: int) -> tuple[list[tuple[str, Position]], int]:
        """Return the parts of a dotted key with their locations, and the offset after the key and its space."""
        parts: list[tuple[str, Position]] = []
        while True:
            offset = self.space(offset)
            at = self.lines.position(offset)
            if match := _BARE.match(self.text, offset):
                parts.append((match[0], at))
            elif match := _STRING.match(self.text, offset):
                parts.append((tomllib.loads(f"name = {match[0]}")["name"], at))
            else:
                raise Unreadable("a key is missing here", at)
            offset = self.space(match.end())
            if not self.text.startswith(".", offset):
                return parts, offset
            offset += 1

    def note(self, path: Path, value: Position, key: Position) -> None:
        """Record the first location of a value and its key."""
        self.places.setdefault(path, (value, key))

    def table(self, parts: list[tuple[str, Position]], several: bool) -> Path:
        """Return the path of a table header. In an array of tables, it is that of the newest table."""
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
        """Scan a key with its value and return the offset after it."""
        parts, offset = self.key(offset)
        offset = self.space(offset + 1)
        for name, at in parts[:-1]:
            path = (*path, name)
            self.note(path, at, at)
        name, at = parts[-1]
        return self.value(offset, (*path, name), at)

    def value(self, offset: int, path: Path, key: Position) -> int:
        """Scan a value and return the offset after it."""
        self.note(path, self.lines.position(offset), key)
        first = self.text[offset : offset + 1]
        if first == "[":
            return self.list(offset, path)
        if first == "{":
            return self.object(offset, path)
        match = _STRING.match(self.text, offset) or _SCALAR.match(self.text, offset)
        return offset + 1 if match is None else match.end()

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
