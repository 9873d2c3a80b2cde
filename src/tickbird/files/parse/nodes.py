"""Nodes: values with their location in the file. All formats are parsed to nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

# Schedule files are not nested deeper, and recursive parsers need a limit.
DEEPEST = 64
Position = tuple[int, int]


@dataclass(slots=True)
class Node:
    """A scalar, a list of nodes or an object of nodes, with its line and column, and those of its key."""

    value: Any
    at: Position | None = None
    key: Position | None = None

    @property
    def plain(self) -> Any:
        """The value without locations."""
        if isinstance(self.value, list):
            return [item.plain for item in self.value]
        if isinstance(self.value, dict):
            return {name: item.plain for name, item in self.value.items()}
        return self.value


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A file, and a line and a column in it, both from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}:{self.column}"


class Unreadable(Exception):
    """The text is not valid in its format."""

    def __init__(self, reason: str, at: Position | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class Lines:
    """Converts offsets of a text to lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        end = text.find("\n")
        while end >= 0:
            self._starts.append(end + 1)
            end = text.find("\n", end + 1)

    def position(self, offset: int) -> Position:
        """Return line and column, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def nodes_of(value: Any, depth: int = 0) -> Node:
    """Convert plain values to nodes without locations."""
    if depth > DEEPEST:
        raise Unreadable(f"is nested more than {DEEPEST} deep")
    if isinstance(value, Mapping):
        return Node({str(name): nodes_of(item, depth + 1) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return Node([nodes_of(item, depth + 1) for item in value])
    return Node(value)


def kind_of(value: Any) -> str:
    """Return the type of a value in words, for messages."""
    if value is None:
        return "nothing (null)"
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "true or false"),
        (int, "a whole number"),
        (float, "a number"),
        (str, "a text"),
        (datetime, "a date with a time"),
        (date, "a date"),
        (time, "a time"),
        (list, "a list"),
        (dict, "an object"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), type(value).__name__)
