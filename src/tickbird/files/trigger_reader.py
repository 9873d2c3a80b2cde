"""When schedules of a file tick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every, read_step
from tickbird.domain.triggers.rrule.rrule import RRule
from tickbird.domain.triggers.trigger import MAX_MEMBERS, AnyOf, at
from tickbird.files.fields import MEMBER, TRIGGERS
from tickbird.files.parse.nodes import Node
from tickbird.files.value_reader import WRONG, Values

# What belongs to one kind of trigger only.
_OWNERS = {"anchor": "every", "dtstart": "rrule", "exdate": "rrule", "rdate": "rrule"}


class Triggers(Values):
    """Reads triggers, with what may stand beside them."""

    def zone(self, fields: Mapping[str, Node]) -> Any:
        """The zone beside a trigger; None where none is given."""
        if (node := fields.get("tz")) is None:
            return None
        name = self.text(node, "tz")
        return name if name is WRONG else self.checked(node, lambda: zone(name).name)

    def trigger(self, fields: Mapping[str, Node], node: Node, tz: Any, depth: int = 0) -> Any:
        """When it ticks: exactly one of the triggers, with what may stand beside it."""
        given = [name for name in TRIGGERS if name in fields]
        if len(given) != 1:
            text = f"has {' and '.join(given)}" if given else "has none"
            at = fields[given[1]].key if given else node.key or node.at
            self.wrong(at, f"trigger: needs exactly one of {', '.join(TRIGGERS)}; it {text}.")
            return WRONG
        [kind] = given
        for name, owner in _OWNERS.items():
            if name in fields and kind != owner:
                self.wrong(fields[name].key, f"{name}: belongs to {owner}, not to {kind}.")
        value = fields[kind]
        if tz is WRONG:
            # The rest of it is looked at all the same.
            self._trigger(kind, value, fields, "UTC", depth)
            return WRONG
        return self._trigger(kind, value, fields, tz, depth)

    def _trigger(self, kind: str, node: Node, fields: Mapping[str, Node], tz: str | None, depth: int) -> Any:
        if kind == "cron":
            text = self.text(node, "cron")
            return text if text is WRONG else self.checked(node, lambda: cron(text, tz or "UTC"))
        if kind == "every":
            return self.every(node, fields.get("anchor"), tz or "UTC")
        if kind == "rrule":
            return self.rrule(node, fields, tz or "UTC")
        if kind == "at":
            instant = self.instant(node, "at", tz)
            return instant if instant is WRONG else self.checked(node, lambda: at(instant))
        return self.any_of(node, tz, depth)

    def every(self, node: Node, anchor: Node | None, tz: str) -> Any:
        """Steps, as a text, in seconds, or by unit."""
        start: Any = None
        if anchor is not None:
            start = self.moment(anchor, "anchor")
        value, units = node.value, node.plain
        if isinstance(value, str):
            units = self.checked(node, lambda: read_step(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            units = {"seconds": value}
        elif not isinstance(value, dict):
            return self.expected(node, 'a text such as "10m", seconds, or an object such as { months = 1 }', "every")
        if units is WRONG or start is WRONG:
            return WRONG
        return self.checked(node, lambda: Every(units, start, tz))

    def rrule(self, node: Node, fields: Mapping[str, Node], tz: str) -> Any:
        """A recurrence rule with its start, and the dates that it leaves out or adds."""
        rule = self.text(node, "rrule")
        start = self.moment(fields["dtstart"], "dtstart") if "dtstart" in fields else None
        dates: dict[str, Any] = {"exdate": [], "rdate": []}
        for name in dates:
            if (listed := fields.get(name)) is None:
                continue
            if not isinstance(listed.value, list):
                dates[name] = [self.expected(listed, "a list of dates with times", name)]
            else:
                dates[name] = [self.moment(item, name) for item in listed.value]
        if any(value is WRONG for value in (rule, start, *dates["exdate"], *dates["rdate"])):
            return WRONG
        return self.checked(node, lambda: RRule(rule, start, tz, dates["exdate"], dates["rdate"]))

    def any_of(self, node: Node, tz: str | None, depth: int) -> Any:
        """Several triggers; those without a zone take that of the schedule."""
        if not isinstance(node.value, list) or not 1 <= len(node.value) <= MAX_MEMBERS or depth:
            words = f'a list of 1 to {MAX_MEMBERS} objects such as {{ cron = "0 3 * * *" }}'
            if not depth and isinstance(node.value, list):
                self.wrong(node.at, f"any_of: expected {words}, not {len(node.value):,} of them.")
                return WRONG
            return self.expected(node, words if not depth else "no any_of within another", "any_of")
        members: list[Any] = []
        for each in node.value:
            if not isinstance(each.value, dict):
                members.append(self.expected(each, "an object with one trigger", "any_of"))
                continue
            for name, value in each.value.items():
                if name not in MEMBER:
                    self.unknown(name, value, MEMBER, "a trigger")
            own = self.zone(each.value)
            members.append(self.trigger(each.value, each, tz if own is None else own, depth + 1))
        if any(member is WRONG for member in members):
            return WRONG
        return self.checked(node, lambda: AnyOf(*members))
