"""What else schedules of a file say: their policies, each by its kind in the table of fields."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from tickbird.domain.schedules.definition import Backoff, check_payload
from tickbird.domain.schedules.dependencies import After, after
from tickbird.domain.text import check_name
from tickbird.files.fields import BACKOFF, DEPENDENCY, POLICIES
from tickbird.files.parse.nodes import Node, kind_of
from tickbird.files.value_reader import WRONG, Values


class Policies(Values):
    """Reads policies, as far as each can be told without the others."""

    def policy(self, name: str, node: Node, tz: Any) -> Any:
        """The value of a policy, as far as it can be told without the others."""
        described = POLICIES[name]
        kind, value = described.kind, node.value
        if described.can_be_none and value is False:
            return None
        if kind == "text":
            return self.text(node, name)
        if kind == "choice":
            if value in described.choices and isinstance(value, str):
                return value
            return self.expected_choice(node, name, described.choices)
        if kind == "whole":
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return value if is_whole else self.expected(node, "a whole number", name)
        if kind == "flag":
            return value if isinstance(value, bool) else self.expected(node, "true or false", name)
        if kind == "instant":
            return WRONG if tz is WRONG else self.instant(node, name, tz)
        if kind == "length":
            return self.length(node, name)
        if kind == "names":
            return self.names(node, name)
        if kind == "days":
            return self.days(node, name)
        return {"payload": self.payload, "backoff": self.backoff, "dependencies": self.dependencies}[kind](node, name)

    def payload(self, node: Node, name: str) -> Any:
        """An object of JSON values, or a text that holds one."""
        value = node.value
        if isinstance(value, str):
            try:
                found = json.loads(value)
            except (ValueError, RecursionError) as error:
                self.wrong(node.at, f"payload: is a text, and not one of JSON ({str(error)[:100]}).")
                return WRONG
            if not isinstance(found, dict):
                return self.expected(Node(found, node.at), "an object", name)
            return WRONG if self.checked(node, lambda: check_payload(found)) is WRONG else found
        if not isinstance(value, dict):
            return self.expected(node, "an object, or a text that holds one as JSON", name)
        before = len(self.diagnostics)
        self.only_json(node)
        if len(self.diagnostics) > before:
            return WRONG
        found = node.plain
        return WRONG if self.checked(node, lambda: check_payload(found)) is WRONG else found

    def only_json(self, node: Node) -> None:
        """Note each value that JSON does not have."""
        value = node.value
        if isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                self.only_json(each)
        elif isinstance(value, float) and not isfinite(value):
            self.wrong(node.at, f"payload: {value} is no number that can be stored.")
        elif not isinstance(value, bool | int | float | str | None):
            self.wrong(node.at, f"payload: {kind_of(value)} cannot be stored as such; put it in quotes.")

    def backoff(self, node: Node, name: str) -> Any:
        """The first wait, or the first and the longest."""
        if not isinstance(node.value, dict):
            base = self.length(node, name)
            return base if base is WRONG else Backoff(base=base)
        read: dict[str, Any] = {}
        for each, value in node.value.items():
            if each in BACKOFF:
                read[each] = self.length(value, f"{name}: {each}")
            else:
                self.unknown(each, value, BACKOFF, name)
        if WRONG in read.values() or len(read) < len(node.value):
            return WRONG
        return Backoff(**read)

    def dependencies(self, node: Node, name: str) -> Any:
        """The schedules that must have succeeded."""
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.dependency(each, name) for each in items]
        return WRONG if WRONG in read else tuple(read)

    def dependency(self, node: Node, name: str) -> After | Any:
        """One schedule, how recently it must have succeeded, and how long to wait for it."""
        if not isinstance(node.value, dict):
            return self.expected(node, 'objects such as { after = "load", within = "24h" }', name)
        before = len(self.diagnostics)
        for each, value in node.value.items():
            if each not in DEPENDENCY:
                self.unknown(each, value, DEPENDENCY, name)
        for needed in ("after", "within"):
            if needed not in node.value:
                self.wrong(node.at, f"{name}: {needed} is missing.")
        values = node.value
        other = self.text(values["after"], f"{name}: after") if "after" in values else WRONG
        lengths = {each: self.length(values[each], f"{name}: {each}") for each in ("within", "wait") if each in values}
        if len(self.diagnostics) > before:
            return WRONG
        return self.checked(node, lambda: after(check_name(other, name), lengths["within"], lengths.get("wait")))
