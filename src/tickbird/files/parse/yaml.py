"""YAML with locations, from parser events: YAML 1.2 scalars; no anchors, aliases or tags."""

from __future__ import annotations

import re
from typing import Any

from tickbird.files.parse.json import Remark, twice
from tickbird.files.parse.nodes import DEEPEST, Lines, Node, Position, Unreadable

_INT = re.compile(r"[-+]?[0-9]+", re.ASCII)
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LITERALS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NO_NUMBERS = frozenset(
    sign + word for sign in ("", "-", "+") for word in (".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN")
)
# Text in YAML 1.2, booleans in YAML 1.1.
_OLD = frozenset(form for word in ("y", "n", "yes", "no", "on", "off") for form in (word, word.title(), word.upper()))
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STAR = "a text that begins with *, such as a cron expression, needs quotes"


def read_yaml(text: str) -> tuple[Node, list[Remark]]:
    """Parse one document; also return remarks on errors that do not prevent parsing."""
    reader = _read(text, several=False)
    if not reader.roots:
        raise Unreadable("is empty")
    return reader.roots[0], reader.remarks


def read_yaml_documents(text: str) -> list[Node]:
    """Parse all documents of a text."""
    return _read(text, several=True).roots


def _read(text: str, *, several: bool) -> _Reader:
    try:
        import yaml
    except ImportError:
        raise Unreadable("reading YAML needs PyYAML: pip install 'tickbird[yaml]', or write TOML or JSON") from None
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader(yaml, several)
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.reader.ReaderError as error:
        # PyYAML reports a byte offset, or none, so the position is searched here.
        match = _FORBIDDEN.search(text)
        at = None if match is None else Lines(text).position(match.start())
        raise Unreadable(f"contains a character that YAML does not allow ({error.reason})", at) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(str(part) for part in (error.problem, error.context) if part)
        words += f"; {_STAR}" if "alias" in words else ""
        if mark is not None and _line(text, mark.line)[mark.column : mark.column + 1] == "\t":
            words = "a tab is not allowed for indentation. Use spaces"
        raise Unreadable(words, None if mark is None else (mark.line + 1, mark.column + 1)) from None
    return reader


def _line(text: str, number: int) -> str:
    lines = text.split("\n", number + 1)
    return lines[number] if number < len(lines) else ""


class _Reader:
    """Builds nodes from events, without recursion, so that deep nesting cannot exhaust the stack."""

    def __init__(self, yaml: Any, several: bool) -> None:
        self.yaml = yaml
        self.several = several
        self.roots: list[Node] = []
        self.remarks: list[Remark] = []
        # Open lists and objects. An open object has the key of the next value.
        self.open: list[Node] = []
        self.keys: list[tuple[str, Position] | None] = []
        self.documents = 0

    def take(self, event: Any) -> None:
        yaml = self.yaml
        at = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1 and not self.several:
                raise Unreadable("a second document begins here. A file must contain only one", at)
        elif isinstance(event, yaml.AliasEvent):
            raise Unreadable(f"aliases are not supported (*{event.anchor}). Write out the value. Also, {_STAR}", at)
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self.open.pop()
            self.keys.pop()
        elif isinstance(event, yaml.NodeEvent):
            self._refuse_magic(event, at)
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event, at)
            else:
                self._container([] if isinstance(event, yaml.SequenceStartEvent) else {}, at)

    def _refuse_magic(self, event: Any, at: Position) -> None:
        if event.anchor is not None:
            raise Unreadable(f"anchors are not supported (&{event.anchor}). Write out the value", at)
        if event.tag is not None:
            raise Unreadable(f"tags are not supported ({event.tag}). Write plain values", at)

    def _container(self, value: Any, at: Position) -> None:
        if self.open and isinstance(self.open[-1].value, dict) and self.keys[-1] is None:
            raise Unreadable("a name must be a text, not a list or an object", at)
        if len(self.open) > DEEPEST:
            raise Unreadable(f"is nested more than {DEEPEST} deep", at)
        node = Node(value, at)
        self._put(node)
        self.open.append(node)
        self.keys.append(None)

    def _scalar(self, event: Any, at: Position) -> None:
        if self.open and isinstance(self.open[-1].value, dict) and self.keys[-1] is None:
            # A key is always text, even if it is 123 or no.
            self.keys[-1] = (event.value, at)
            return
        plain = event.implicit[0]
        self._put(Node(self._meaning(event.value, at) if plain else event.value, at))

    def _put(self, node: Node) -> None:
        if not self.open:
            self.roots.append(node)
            return
        parent = self.open[-1].value
        if isinstance(parent, list):
            parent.append(node)
            return
        key = self.keys[-1]
        assert key is not None
        name, node.key = key
        self.keys[-1] = None
        if name in parent:
            self.remarks.append((node.key, twice(name, parent[name].key)))
        else:
            parent[name] = node

    def _meaning(self, text: str, at: Position) -> Any:
        """Return the value of an unquoted scalar."""
        if text in _LITERALS:
            return _LITERALS[text]
        if text in _OLD:
            self.remarks.append(
                (at, f"{text!r} is text in some YAML versions and a boolean in others. Use quotes, or true or false.")
            )
            return text
        if text in _NO_NUMBERS:
            self.remarks.append((at, f"{text} cannot be stored as a number. Put it in quotes."))
            return None
        try:
            if _INT.fullmatch(text):
                digits = text.lstrip("+-")
                if len(digits) > 1 and digits.startswith("0"):
                    self.remarks.append(
                        (at, f"{text} is a different number in other YAML versions. Use quotes, or omit the zeros.")
                    )
                return int(text)
            if _BASED.fullmatch(text):
                return int(text, 0)
            if _FLOAT.fullmatch(text):
                number = float(text)
                if number in (float("inf"), float("-inf")):
                    self.remarks.append((at, f"{text[:40]} is too large. Put it in quotes."))
                    return None
                return number
        except ValueError:
            self.remarks.append((at, "the number is too long. Put it in quotes."))
            return None
        return text
