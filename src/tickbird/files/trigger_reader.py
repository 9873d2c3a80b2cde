"""Reader of triggers, with their time zone and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.every import read_step
from tickbird.domain.triggers.form import FormOption, TriggerForm
from tickbird.domain.triggers.trigger import FORMS, MAX_MEMBERS, AnyOf
from tickbird.files.fields import MEMBER, TRIGGERS
from tickbird.files.parse.nodes import Node
from tickbird.files.value_reader import WRONG, Values

# The form that an option belongs to.
_OWNERS = {option.name: form.name for form in FORMS.values() for option in form.options}


class Triggers(Values):
    """Reads triggers, with the fields next to them."""

    def zone(self, fields: Mapping[str, Node]) -> Any:
        """Return the time zone; None if the fields set none."""
        if (node := fields.get("tz")) is None:
            return None
        name = self.text(node, "tz")
        return name if name is WRONG else self.checked(node, lambda: zone(name).name)

    def trigger(self, fields: Mapping[str, Node], node: Node, tz: Any, depth: int = 0) -> Any:
        """Read the trigger: exactly one form, with its options."""
        given = [name for name in TRIGGERS if name in fields]
        if len(given) != 1:
            text = " and ".join(given) or "none of them"
            at = fields[given[1]].key if given else node.key or node.at
            self.wrong(at, f"trigger needs exactly one of {', '.join(TRIGGERS)}, but has {text}.")
            return WRONG
        [kind] = given
        for name, owner in _OWNERS.items():
            if name in fields and kind != owner:
                self.wrong(fields[name].key, f"{name} is an option of {owner}, not of {kind}. Remove it.")
        value = fields[kind]
        if tz is WRONG:
            # Read the trigger anyway, to report its other errors.
            self._trigger(kind, value, fields, "UTC", depth)
            return WRONG
        return self._trigger(kind, value, fields, tz, depth)

    def _trigger(self, kind: str, node: Node, fields: Mapping[str, Node], tz: str | None, depth: int) -> Any:
        form = FORMS.get(kind)
        if form is None:
            return self.any_of(node, tz, depth)
        document = {kind: self._value(form, node, tz)}
        for option in form.options:
            if option.name in fields:
                document[option.name] = self._option(option, fields[option.name])
        if any(value is WRONG for value in document.values()):
            return WRONG
        return self.checked(node, lambda: form.read(document, tz or "UTC"))

    def _value(self, form: TriggerForm, node: Node, tz: str | None) -> Any:
        if form.kind == "instant":
            return self.instant(node, form.name, tz)
        return self.text(node, form.name) if form.kind == "text" else self.step(node, form.name)

    def _option(self, option: FormOption, node: Node) -> Any:
        if option.kind == "moment":
            return self.moment(node, option.name)
        if option.kind == "object":
            return node.plain if isinstance(node.value, dict) else self.expected(node, "an object", option.name)
        if not isinstance(node.value, list):
            return self.expected(node, "a list of dates with times", option.name)
        dates = [self.moment(item, option.name) for item in node.value]
        return WRONG if any(date is WRONG for date in dates) else dates

    def step(self, node: Node, name: str) -> Any:
        """Return the step by unit. It is given as text, in seconds, or by unit."""
        value = node.value
        if isinstance(value, str):
            return self.checked(node, lambda: read_step(value))
        if isinstance(value, int) and not isinstance(value, bool):
            return {"seconds": value}
        if not isinstance(value, dict):
            return self.expected(node, 'a text such as "10m", seconds, or an object such as { months = 1 }', name)
        return node.plain

    def any_of(self, node: Node, tz: str | None, depth: int) -> Any:
        """Read several triggers. The default of their time zones is the schedule's."""
        if not isinstance(node.value, list) or not 1 <= len(node.value) <= MAX_MEMBERS or depth:
            words = f'a list of 1 to {MAX_MEMBERS} objects such as {{ cron = "0 3 * * *" }}'
            if not depth and isinstance(node.value, list):
                self.wrong(node.at, f"any_of must be {words}, not {len(node.value):,} of them.")
                return WRONG
            if depth:
                self.wrong(node.at, "any_of cannot contain another any_of. List its triggers directly.")
                return WRONG
            return self.expected(node, words, "any_of")
        members: list[Any] = []
        for member in node.value:
            if not isinstance(member.value, dict):
                members.append(self.expected(member, "an object with one trigger", "any_of"))
                continue
            for name, value in member.value.items():
                if name not in MEMBER:
                    self.unknown(name, value, MEMBER, "a trigger")
            own = self.zone(member.value)
            members.append(self.trigger(member.value, member, tz if own is None else own, depth + 1))
        if any(member is WRONG for member in members):
            return WRONG
        return self.checked(node, lambda: AnyOf(*members))
