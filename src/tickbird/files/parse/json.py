"""JSON with places: the standard library's own reader tells none."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from tickbird.files.parse.nodes import DEEPEST, Lines, Node, Position, Unreadable

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_LITERALS = {"true": True, "false": False, "null": None}
# What some writers leave in the place of a number.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")
Remark = tuple[Position, str]


def read_json(text: str) -> tuple[Node, list[Remark]]:
    """The value of a text, and what is wrong with it although it can be read: names that stand twice."""
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
        found = _SPACE.match(self.text, offset)
        return offset if found is None else found.end()

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
            found, end = self.string(start)
            return Node(found, at), end
        for word, meaning in _LITERALS.items():
            if self.text.startswith(word, start):
                return Node(meaning, at), start + len(word)
        if word := next((word for word in _NO_NUMBERS if self.text.startswith(word, start)), ""):
            self.remarks.append((at, f"{word} is not a storable number."))
            return Node(0, at), start + len(word)
        if number := _NUMBER.match(self.text, start):
            whole, fraction, exponent = number.groups()
            try:
                made = float(number[0]) if fraction or exponent else int(whole)
            except ValueError:
                self.remarks.append((at, "the number is too long."))
                made = 0
            if made in (float("inf"), float("-inf")):
                self.remarks.append((at, f"{number[0][:40]} is too large."))
                made = 0
            return Node(made, at), number.end()
        raise self.wrong("the text ends too early" if start >= len(self.text) else "a value is missing here", start)

    def string(self, start: int) -> tuple[str, int]:
        try:
            found, end = _DECODER.raw_decode(self.text, start)
        except JSONDecodeError as error:
            raise self.wrong(error.msg[:1].lower() + error.msg[1:].removesuffix(" at"), error.pos) from None
        return str(found), end

    def object(self, start: int, at: Position, depth: int) -> tuple[Node, int]:
        found: dict[str, Node] = {}
        end = self.space(start + 1)
        if self.text.startswith("}", end):
            return Node(found, at), end + 1
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
            if name in found:
                self.remarks.append((key, twice(name, found[name].key)))
            else:
                found[name] = node
            end = self.space(end)
            if self.text.startswith("}", end):
                return Node(found, at), end + 1
            end = self.comma(end)

    def list(self, start: int, at: Position, depth: int) -> tuple[Node, int]:
        found: list[Node] = []
        end = self.space(start + 1)
        if self.text.startswith("]", end):
            return Node(found, at), end + 1
        while True:
            node, end = self.value(end, depth + 1)
            found.append(node)
            end = self.space(end)
            if self.text.startswith("]", end):
                return Node(found, at), end + 1
            end = self.comma(end)

    def comma(self, offset: int) -> int:
        if not self.text.startswith(",", offset):
            raise self.wrong("a ',' or the end of this list or object is missing here", offset)
        return self.space(offset + 1)


def twice(name: str, first: Position | None) -> str:
    """That a name stands twice in one object."""
    return f"{name[:60]!r} is defined twice" + (f", first in line {first[0]}." if first else ".")
