"""Reader of policies, by their kind in the table of policy fields."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from tickbird.domain.schedules import kinds
from tickbird.domain.schedules.definition import Backoff, check_payload
from tickbird.domain.schedules.dependencies import After, after
from tickbird.domain.schedules.fields import POLICIES
from tickbird.domain.text import check_name
from tickbird.files.fields import BACKOFF, DEPENDENCY
from tickbird.files.parse.nodes import Node, kind_of
from tickbird.files.value_reader import WRONG, Values


class Policies(Values):
    """Reads each policy alone. Checks that involve several policies come later, in Definition."""

    def policy(self, name: str, node: Node, tz: Any) -> Any:
        policy, value = POLICIES[name], node.value
        if policy.can_state_none and value is False:
            return None
        match policy.kind:
            case kinds.Choice() as kind:
                return value if value in kind.choices else self.expected_choice(node, name, kind.choices)
            case kinds.Number() as kind:
                return self.number(node, name, kind)
            case kinds.Flag():
                return value if isinstance(value, bool) else self.expected(node, "true or false", name)
            case kinds.Instant():
                return WRONG if tz is WRONG else self.instant(node, name, tz)
            case kinds.Duration():
                return self.length(node, name)
            case kinds.Names():
                return self.names(node, name)
            case kinds.Days():
                return self.days(node, name)
            case kinds.Payload():
                return self.payload(node, name)
            case kinds.ExponentialBackoff():
                return self.backoff(node, name)
            case kinds.Dependencies():
                return self.dependencies(node, name)
        return self.text(node, name)

    def number(self, node: Node, name: str, kind: kinds.Number) -> Any:
        """Read a whole number, or a name for one, such as a priority."""
        if isinstance(node.value, str) and kind.names:
            named = node.value in kind.names
            return kind.names[node.value] if named else self.expected_choice(node, name, tuple(kind.names))
        is_whole = isinstance(node.value, int) and not isinstance(node.value, bool)
        return node.value if is_whole else self.expected(node, "a whole number", name)

    def payload(self, node: Node, name: str) -> Any:
        """Read an object, or a string that contains one as JSON."""
        value = node.value
        if isinstance(value, str):
            try:
                payload = json.loads(value)
            except (ValueError, RecursionError) as error:
                self.wrong(
                    node.at,
                    f"payload is a string, but not valid JSON ({str(error)[:100]}). Correct it, or write an object.",
                )
                return WRONG
            if not isinstance(payload, dict):
                return self.expected(Node(payload, node.at), "an object", name)
            return WRONG if self.checked(node, lambda: check_payload(payload)) is WRONG else payload
        if not isinstance(value, dict):
            return self.expected(node, "an object, or a string that contains one as JSON", name)
        before = len(self.diagnostics)
        self.only_json(node)
        if len(self.diagnostics) > before:
            return WRONG
        payload = node.plain
        return WRONG if self.checked(node, lambda: check_payload(payload)) is WRONG else payload

    def only_json(self, node: Node) -> None:
        """Report each value that JSON cannot represent."""
        value = node.value
        if isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                self.only_json(item)
        elif isinstance(value, float) and not isfinite(value):
            self.wrong(node.at, f"payload: {value} cannot be stored as a number. Put it in quotes.")
        elif not isinstance(value, bool | int | float | str | None):
            self.wrong(node.at, f"payload: {kind_of(value)} cannot be stored. Put it in quotes.")

    def backoff(self, node: Node, name: str) -> Any:
        """Read a backoff: its base, or an object with base and max."""
        if not isinstance(node.value, dict):
            base = self.length(node, name)
            return base if base is WRONG else Backoff(base=base)
        read: dict[str, Any] = {}
        for field, value in node.value.items():
            if field in BACKOFF:
                read[field] = self.length(value, f"{name}: {field}")
            else:
                self.unknown(field, value, BACKOFF, name)
        if WRONG in read.values() or len(read) < len(node.value):
            return WRONG
        return Backoff(**read)

    def dependencies(self, node: Node, name: str) -> Any:
        items = node.value if isinstance(node.value, list) else [node]
        read = [self.dependency(item, name) for item in items]
        return WRONG if WRONG in read else tuple(read)

    def dependency(self, node: Node, name: str) -> After | Any:
        """Read one dependency: `after`, `within` and optionally `wait`."""
        if not isinstance(node.value, dict):
            return self.expected(node, 'objects such as { after = "load", within = "24h" }', name)
        before = len(self.diagnostics)
        for field, value in node.value.items():
            if field not in DEPENDENCY:
                self.unknown(field, value, DEPENDENCY, name)
        for field in ("after", "within"):
            if field not in node.value:
                self.wrong(node.at, f"{name}: {field} is missing.")
        values = node.value
        other = self.text(values["after"], f"{name}: after") if "after" in values else WRONG
        durations = {
            field: self.length(values[field], f"{name}: {field}") for field in ("within", "wait") if field in values
        }
        if len(self.diagnostics) > before:
            return WRONG
        return self.checked(node, lambda: after(check_name(other, name), durations["within"], durations.get("wait")))
