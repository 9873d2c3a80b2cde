"""JSON with locations, which the parser of the standard library does not report."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from tickbird.files.parse.nodes import DEEPEST, Lines, Node, Position, Unreadable

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_LITERALS = {"true": True, "false": False, "null": None}
# Not valid JSON, but some programs write them.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
Remark = tuple[Position, str]


def read_json(text: str) -> tuple[Node, list[Remark]]:
    """Parse a text; also return remarks on errors that do not prevent parsing, such as duplicate names."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Lines(text)
        self.remarks: list[Remark] = []

    def read(self) -> tuple[Node, list[Remark]]:
        node, end = self.value(self.space(0), 0)
        end = self.space(end)
        if end != len(self.text):
            raise self.wrong("unexpected text after the end of the document", end)
        return node, self.remarks

    def space(self, offset: int) -> int:
        match = _SPACE.match(self.text, offset)
        return offset if match is None else match.end()

    def wrong(self, reason: str, offset: int) -> Unreadable:
        return Unreadable(reason, self.lines.position(offset))

    def value(self, start: int, depth: int) -> tuple[Node, int]:
        at, first = self.lines.position(start), self.text[start : start + 1]
        if depth > DEEPEST:
            raise self.wrong(f"is nested more than {DEEPEST} deep", start)
        if first == "{":
            return self.object(start, at, depth)
        if first == "[":
            return self.list(start, at, depth)
        if first == '"':
            text, end = self.string(start)
            return Node(text, at), end
        for word, meaning in _LITERALS.items():
            if self.text.startswith(word, start):
                return Node(meaning, at), start + len(word)
        if word := next((word for word in _NO_NUMBERS if self.text.startswith(word, start)), ""):
            self.remarks.append((at, f"{word} cannot be stored as a number. Put it in quotes."))
            return Node(0, at), start + len(word)
        if number := _NUMBER.match(self.text, start):
            whole, fraction, exponent = number.groups()
            try:
                value = float(number[0]) if fraction or exponent else int(whole)
            except ValueError:
                self.remarks.append((at, "the number is too long. Put it in quotes."))
                value = 0
            if value in (float("inf"), float("-inf")):
                self.remarks.append((at, f"{number[0][:40]} is too large. Put it in quotes."))
                value = 0
            return Node(value, at), number.end()
        raise self.wrong("the text ends too early" if start >= len(self.text) else "a value is missing here", start)

    def string(self, start: int) -> tuple[str, int]:
        try:
            text, end = _DECODER.raw_decode(self.text, start)
        except JSONDecodeError as error:
            raise self.wrong(error.msg[:1].lower() + error.msg[1:].removesuffix(" at"), error.pos) from None
        return str(text), end

    def object(self, start: int, at: Position, depth: int) -> tuple[Node, int]:
        members: dict[str, Node] = {}
        end = self.space(start + 1)
        if self.text.startswith("}", end):
            return Node(members, at), end + 1
        while True:
            if not self.text.startswith('"', end):
                raise self.wrong("a name in double quotes is missing here", end)
            key = self.lines.position(end)
            name, end = self.string(end)
            end = self.space(end)
            if not self.text.startswith(":", end):
                raise self.wrong("a ':' is missing here", end)
            node, end = self.value(self.space(end + 1), depth + 1)
            node.key = key
            if name in members:
                self.remarks.append((key, twice(name, members[name].key)))
            else:
                members[name] = node
            end = self.space(end)
            if self.text.startswith("}", end):
                return Node(members, at), end + 1
            end = self.comma(end)

    def list(self, start: int, at: Position, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        end = self.space(start + 1)
        if self.text.startswith("]", end):
            return Node(items, at), end + 1
        while True:
            node, end = self.value(end, depth + 1)
            items.append(node)
            end = self.space(end)
            if self.text.startswith("]", end):
                return Node(items, at), end + 1
            end = self.comma(end)

    def comma(self, offset: int) -> int:
        if not self.text.startswith(",", offset):
            raise self.wrong("a ',' or the end of this list or object is missing here", offset)
        return self.space(offset + 1)


def twice(name: str, first: Position | None) -> str:
    """Return the remark on a duplicate name."""
    return f"{name[:60]!r} is defined twice" + (f", first in line {first[0]}." if first else ".")
